//! `mainspring doctor`: what is well, what is not, and what to do about it.

mod config;
mod executors;
mod folder;
mod machine;
mod secrets;
mod server;
mod store;

use crate::args::{DataArgs, DatabaseArgs, DoctorArgs, Format, PlaceArgs};
use crate::exit::Exit;
use crate::print::document;
use crate::server::Settings;
use crate::{data, out};
use anyhow::Result;
use clap::ArgMatches;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    Warning,
    Problem,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_do: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, state: State::Ok, found: found.into(), to_do: None }
    }

    fn warning(check: &'static str, found: impl Into<String>, to_do: impl Into<String>) -> Self {
        Self { check, state: State::Warning, found: found.into(), to_do: Some(to_do.into()) }
    }

    fn problem(check: &'static str, found: impl Into<String>, to_do: impl Into<String>) -> Self {
        Self { check, state: State::Problem, found: found.into(), to_do: Some(to_do.into()) }
    }
}

#[derive(Serialize)]
struct Document {
    well: bool,
    findings: Vec<Finding>,
}

/// `given` is what was given to `doctor`.
pub fn doctor(args: &DoctorArgs, given: &ArgMatches) -> Result<Exit> {
    let output = args.look.output;
    let findings = looked(args, given)?;
    let well = findings.iter().all(|it| it.state != State::Problem);
    let whole = Document { well, findings };
    document(output, &whole, || Ok(whole.findings.iter().map(drawn).collect()))?;
    if output == Format::Table && !well {
        out::say("not all is well\n");
    }
    Ok(if well { Exit::Success } else { Exit::Failed })
}

fn looked(args: &DoctorArgs, given: &ArgMatches) -> Result<Vec<Finding>> {
    let place = &args.look.place;
    // A server elsewhere has a folder and a configuration of its own.
    if place.server.is_some() {
        return machine_and_server(place);
    }
    let settings = match config::settings(args, given) {
        Ok(settings) => settings,
        Err(error) => return Ok(vec![config::bad(&error), machine::open_files()]),
    };
    let place =
        PlaceArgs { data: DataArgs { folder: settings.data.value.clone() }, ..place.clone() };
    let mut findings = vec![config::good(&settings)];
    findings.extend(kept(&settings, &place.data)?);
    findings.push(executors::executors(&settings.workdir.value));
    findings.extend(machine_and_server(&place)?);
    Ok(findings)
}

/// What is kept, and who works on it.
fn kept(settings: &Settings, data: &DataArgs) -> Result<Vec<Finding>> {
    let database = DatabaseArgs { url: settings.database.value.clone() };
    let mut findings = vec![folder::folder(&data.folder)];
    findings.extend(folder::holder(&data.folder));
    findings.push(data::block_on(store::database(data, &database))?);
    findings.extend(secrets::folder(&settings.secrets_dir));
    Ok(findings)
}

fn machine_and_server(place: &PlaceArgs) -> Result<Vec<Finding>> {
    let mut findings = vec![machine::disk_space(&place.data.folder), machine::open_files()];
    findings.extend(data::block_on(server::server(place))?);
    Ok(findings)
}

fn drawn(finding: &Finding) -> String {
    let state = match finding.state {
        State::Ok => out::green("ok     "),
        State::Warning => out::yellow("warning"),
        State::Problem => out::red("problem"),
    };
    let mut text = format!("{state}  {:12} {}\n", finding.check, out::tame(&finding.found));
    if let Some(to_do) = &finding.to_do {
        text.push_str(&format!("         {:12} to do: {}\n", "", out::tame(to_do)));
    }
    text
}
