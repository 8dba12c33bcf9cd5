//! `mainspring doctor`: what is well, what is not, and what to do about it.

mod folder;
mod machine;
mod secrets;
mod server;
mod store;

use crate::args::{DoctorArgs, Format, LookArgs};
use crate::exit::Exit;
use crate::print::document;
use crate::{data, out};
use anyhow::Result;
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

pub fn doctor(args: &DoctorArgs) -> Result<Exit> {
    let LookArgs { place, database, output } = &args.look;
    let folder = &place.data.folder;
    let mut findings = Vec::new();
    // A server elsewhere has a folder of its own.
    if place.server.is_none() {
        findings.push(folder::folder(folder));
        findings.extend(folder::holder(folder));
        findings.push(data::block_on(store::database(&place.data, database))?);
        findings.extend(secrets::folder(args)?);
    }
    findings.push(machine::disk_space(folder));
    findings.push(machine::open_files());
    findings.extend(data::block_on(server::server(place))?);
    let well = findings.iter().all(|it| it.state != State::Problem);
    let whole = Document { well, findings };
    document(*output, &whole, || Ok(whole.findings.iter().map(drawn).collect()))?;
    if *output == Format::Table && !well {
        out::say("not all is well\n");
    }
    Ok(if well { Exit::Success } else { Exit::Failed })
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
