//! The configuration: what `mainspring server` would be told if it were started here.

use super::Finding;
use crate::args::{Cli, DoctorArgs, ServerArgs};
use crate::embedded::processes_default;
use crate::server::{Settings, file};
use anyhow::{Context as _, Error, Result};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};
use std::ffi::OsString;

const CHECK: &str = "config";

/// Read by the parser of `server` itself, so that variables and the file count as they do there.
pub fn settings(args: &DoctorArgs, given: &ArgMatches) -> Result<Settings> {
    let place = &args.look.place;
    let is_typed = given.value_source("folder") == Some(ValueSource::CommandLine);
    let flags: [(&str, Option<OsString>); 5] = [
        ("--data", is_typed.then(|| place.data.folder.clone().into())),
        ("--database", args.look.database.url.clone().map(Into::into)),
        ("--config", args.config.clone().map(Into::into)),
        ("--workdir", args.workdir.clone().map(Into::into)),
        ("--secrets-dir", args.secrets_dir.clone().map(Into::into)),
    ];
    let mut words: Vec<OsString> = vec!["mainspring".into(), "server".into()];
    for (flag, value) in flags {
        words.extend(value.into_iter().flat_map(|value| [flag.into(), value]));
    }
    let matches = Cli::command().try_get_matches_from(words)?;
    let (_, given) = matches.subcommand().context("the parser asks for a command")?;
    Settings::gather(&ServerArgs::from_arg_matches(given)?, given, processes_default())
}

pub fn good(settings: &Settings) -> Finding {
    Finding::ok(
        CHECK,
        match &settings.config {
            Some(path) => format!("{} can be read", path.display()),
            None => format!("there is no {}: flags, variables and defaults hold", file::DEFAULT),
        },
    )
}

/// In one line, and without the text that is wrong: it may hold a password.
pub fn bad(error: &Error) -> Finding {
    let said = match error.downcast_ref::<clap::Error>() {
        Some(error) => error.to_string().lines().next().unwrap_or_default().to_owned(),
        None => file::without_quotes(&format!("{error:#}")),
    };
    let lines: Vec<&str> = said.lines().map(|line| line.trim_end_matches(':')).collect();
    let to_do = "correct it; `mainspring server --print-config` then shows every value and where \
                 it came from. What else a server would use is not known before";
    Finding::problem(CHECK, lines.join(": "), to_do)
}
