//! From the command line to a command, and from its outcome to an exit code.

use super::{explain_code, graph, logs, run, runs, schema, show, validate};
use crate::args::{Cli, Command};
use crate::exit::Exit;
use crate::out;
use crate::server;
use clap::{CommandFactory as _, FromArgMatches as _};
use std::process::ExitCode;

pub fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let outcome = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Runs(args) => runs::runs(args),
        Command::Show(args) => show::show(&args),
        Command::Logs(args) => logs::logs(&args),
        Command::Server(args) => match matches.subcommand() {
            Some((_, given)) => server::serve(&args, given),
            None => unreachable!("a command was given"),
        },
        Command::Validate(args) => validate::validate(&args),
        Command::Graph(args) => graph::graph(&args),
        Command::Schema => schema::schema(),
        Command::ExplainCode(args) => explain_code::explain_code(&args),
    };
    let exit = outcome.unwrap_or_else(|error| {
        out::error(&error);
        Exit::Usage
    });
    match out::failure() {
        // Whoever asked must not take half an answer for a whole one.
        Some(why) if exit == Exit::Success => {
            out::say(&format!("{}: stdout cannot be written: {why}\n", out::red("error")));
            Exit::Failed.into()
        }
        _ => exit.into(),
    }
}
