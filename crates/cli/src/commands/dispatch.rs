//! From the command line to a command, and from its outcome to an exit code.

use super::trouble::exit_of;
use super::{
    add, apply, approvals, audit, bulk, completions, db, delete, diff, doctor, explain,
    explain_code, graph, instances, logs, orders, output, rerun, run, runs,
};
use super::{schema, show, show_task, tiers, tokens, trigger, validate, watch, workflows};
use crate::args::{Cli, Command, WorkflowsCommand};
use crate::exit::Exit;
use crate::git_merge;
use crate::out;
use crate::server;
use anyhow::Result;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};
use std::process::ExitCode;

pub fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let mut cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    cli.command.prefer_flags(&matches);
    let exit = command(cli.command, &matches).unwrap_or_else(|error| {
        out::error(&error);
        exit_of(&error)
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

fn command(command: Command, matches: &ArgMatches) -> Result<Exit> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Runs(args) => runs::runs(&args),
        Command::Show(args) => match &args.task {
            None => show::show(&args),
            Some(task) => show_task::show(&args, task),
        },
        Command::Instances(args) => instances::instances(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Output(args) => output::output(&args),
        Command::Logs(args) => logs::logs(&args),
        Command::Server(args) => server::serve(&args, below(matches)),
        Command::Validate(args) => validate::validate(&args),
        Command::Graph(args) => graph::graph(&args),
        Command::Schema => schema::schema(),
        Command::ExplainCode(args) => explain_code::explain_code(&args),
        Command::Apply(args) => apply::apply(&args),
        Command::Workflows(args) => match &args.command {
            None => workflows::workflows(&args),
            Some(WorkflowsCommand::Diff(args)) => diff::diff(args),
        },
        Command::Trigger(args) => trigger::trigger(&args),
        Command::Watch(args) => watch::watch(&args),
        Command::Cancel(args) => orders::cancel(&args),
        Command::Pause(args) => orders::pause(&args),
        Command::Resume(args) => orders::resume(&args),
        Command::Retry(args) => orders::retry(&args),
        Command::Rerun(args) => rerun::rerun(&args),
        Command::Add(args) => add::add(&args),
        Command::Bulk(args) => bulk::bulk(&args),
        Command::Approvals(args) => approvals::approvals(&args),
        Command::Approve(args) => approvals::approve(&args),
        Command::Reject(args) => approvals::reject(&args),
        Command::Signal(args) => approvals::signal(&args),
        Command::Delete(args) => delete::delete(&args),
        Command::Tiers(args) => tiers::tiers(&args),
        Command::Tokens(args) => tokens::tokens(&args.command),
        Command::Audit(args) => audit::audit(&args),
        Command::Completions(args) => completions::completions(&args),
        Command::Db(args) => db::db(&args.command, below(below(matches))),
        Command::Doctor(args) => doctor::doctor(&args, below(matches)),
        Command::GitMerge => git_merge::run(),
    }
}

/// What was given to the command below.
fn below(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map(|(_, given)| given).expect("the parser asks for a command")
}
