//! Commands that talk to a server, or read what one left.

use super::{AddArgs, BulkArgs, Command, DataArgs, Format, RerunArgs};
use crate::data;
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Subcommand};
use clap_complete::Shell;
use mainspring_core::kernel::record::Role;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::spec::duration;
use mainspring_core::time::Timestamp;
use mainspring_core::view::word::Word;
use std::num::ParseIntError;
use std::path::PathBuf;
use std::str::FromStr;

pub const TRIGGER_HELP: &str = "\
Without --wait and --follow it ends as soon as the run is durable.

Exit codes with --wait or --follow:
  0    success
  1    the run failed
  2    there is no such workflow, or its input is wrong: nothing was started
  3    no server answers
  130  the run was cancelled, or Ctrl-C was pressed here: then it goes on";

#[derive(Clone, Debug, Args)]
pub struct PlaceArgs {
    /// The server: `http://…`, `https://…` or `unix:PATH`. Without it, the one at work in the
    /// data folder
    #[arg(long, value_name = "URL", env = "MAINSPRING_SERVER")]
    pub server: Option<String>,
    /// What to prove with who asks. Others on this machine can see it in a command line: better
    /// use --token-file or the environment
    #[arg(long, env = "MAINSPRING_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// A file with the token in it; wins over --token
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataArgs,
}

/// For commands that look into the database when no server is there to ask.
#[derive(Clone, Debug, Args)]
pub struct DatabaseArgs {
    /// The PostgreSQL database of a server that is not at work, read instead of the file in the
    /// data folder
    #[arg(
        long = "database",
        value_name = "URL",
        env = "MAINSPRING_DATABASE",
        hide_env_values = true
    )]
    pub url: Option<String>,
}

/// For commands that only look, and print one document.
#[derive(Clone, Debug, Args)]
pub struct LookArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub database: DatabaseArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

impl PlaceArgs {
    /// A command a person can copy, that talks to the same server.
    pub fn command(&self, words: &[&str]) -> String {
        match &self.server {
            Some(url) => {
                let words: Vec<&str> = words.iter().copied().chain(["--server", url]).collect();
                data::command_alone(&words)
            }
            None => data::command(words, &self.data.folder),
        }
    }
}

impl Command {
    /// A data folder that was typed wins over a server that the environment names, and a limit on
    /// processes over the one that it names otherwise.
    pub fn prefer_flags(&mut self, matches: &ArgMatches) {
        let mut given = matches;
        while let Some((_, below)) = given.subcommand() {
            given = below;
        }
        let source = |id: &str| given.try_contains_id(id).ok().and_then(|_| given.value_source(id));
        let is_typed = source("folder") == Some(ValueSource::CommandLine);
        if is_typed
            && source("server") == Some(ValueSource::EnvVariable)
            && let Some(place) = self.place_mut()
        {
            place.server = None;
        }
        if let Self::Run(args) = self
            && source("tiers") == Some(ValueSource::EnvVariable)
            && let Some(max) = args.max_processes
        {
            args.limits.set_processes(max);
        }
    }

    fn place_mut(&mut self) -> Option<&mut PlaceArgs> {
        Some(match self {
            Self::Runs(RunsArgs { look: LookArgs { place, .. }, .. })
            | Self::Show(ShowArgs { look: LookArgs { place, .. }, .. })
            | Self::Instances(InstancesArgs { look: LookArgs { place, .. }, .. })
            | Self::Explain(ExplainArgs { look: LookArgs { place, .. }, .. })
            | Self::Output(OutputArgs { place, .. })
            | Self::Doctor(DoctorArgs { look: LookArgs { place, .. }, .. })
            | Self::Logs(LogsArgs { place, .. })
            | Self::Apply(ApplyArgs { place, .. })
            | Self::Workflows(WorkflowsArgs {
                command: Some(WorkflowsCommand::Diff(DiffArgs { look: LookArgs { place, .. }, .. })),
                ..
            })
            | Self::Workflows(WorkflowsArgs {
                command: None, list: ListArgs { place, .. }, ..
            })
            | Self::Audit(ListArgs { place, .. })
            | Self::Trigger(TriggerArgs { place, .. })
            | Self::Watch(WatchArgs { place, .. })
            | Self::Pause(OrderArgs { place, .. })
            | Self::Resume(OrderArgs { place, .. })
            | Self::Cancel(CancelArgs { order: OrderArgs { place, .. }, .. })
            | Self::Retry(RetryArgs { place, .. })
            | Self::Rerun(RerunArgs { place, .. })
            | Self::Add(AddArgs { place, .. })
            | Self::Bulk(BulkArgs { place, .. })
            | Self::Approvals(ListArgs { place, .. })
            | Self::Approve(DecideArgs { place, .. })
            | Self::Reject(DecideArgs { place, .. })
            | Self::Signal(SignalArgs { place, .. })
            | Self::Delete(DeleteArgs { place, .. }) => place,
            Self::Tiers(TiersArgs { command: None, place, .. })
            | Self::Tiers(TiersArgs { command: Some(TiersCommand::Set { place, .. }), .. }) => {
                place
            }
            Self::Tokens(TokensArgs { command }) => match command {
                TokensCommand::List { place, .. }
                | TokensCommand::Create { place, .. }
                | TokensCommand::Revoke { place, .. } => place,
            },
            _ => return None,
        })
    }
}

#[derive(Debug, Args)]
pub struct RunsArgs {
    #[command(flatten)]
    pub look: LookArgs,
    /// Only runs in this state; may be given more than once
    #[arg(long = "status", value_name = "STATE", value_parser = status)]
    pub statuses: Vec<RunStatus>,
    /// Only runs of this workflow
    #[arg(long)]
    pub workflow: Option<String>,
    /// Only runs with this label; may be given more than once
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// Only runs accepted at this moment or later, like 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub since: Option<Timestamp>,
    /// Only runs accepted before this moment
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub until: Option<Timestamp>,
    /// Only children of this run
    #[arg(long, value_name = "RUN")]
    pub parent: Option<String>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one::<usize>)]
    pub limit: usize,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Its id, the beginning of it, or `last`
    pub run: String,
    /// Only this task, with its attempts
    pub task: Option<String>,
    /// Of a fan-out, the instance with this index, from 0
    #[arg(long, value_name = "N", requires = "task")]
    pub index: Option<u32>,
    #[command(flatten)]
    pub look: LookArgs,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Its id, the beginning of it, or `last`
    pub run: String,
    /// This task alone; of a fan-out, with more of its instances
    pub task: Option<String>,
    /// Tasks from this one on: 100 are told of at a time
    #[arg(long, value_name = "TASK", conflicts_with = "task")]
    pub from: Option<String>,
    #[command(flatten)]
    pub look: LookArgs,
}

#[derive(Debug, Args)]
pub struct InstancesArgs {
    /// Its id, the beginning of it, or `last`
    pub run: String,
    /// A fan-out
    pub task: String,
    /// Only instances in this state; may be given more than once
    #[arg(long = "status", value_name = "STATE", value_parser = word)]
    pub statuses: Vec<Word>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one::<usize>)]
    pub limit: usize,
    #[command(flatten)]
    pub look: LookArgs,
}

#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Its id, the beginning of it, or `last`
    pub run: String,
    /// What this task put out [default: the run as a whole]
    pub task: Option<String>,
    /// Of a fan-out, the instance with this index, from 0 [default: the list of all]
    #[arg(long, value_name = "N", requires = "task")]
    pub index: Option<u32>,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub database: DatabaseArgs,
}

#[derive(Debug, Args)]
pub struct LogsArgs {
    /// Its id, the beginning of it, or `last`
    pub run: String,
    pub task: String,
    /// Of a fan-out, the instance with this index, from 0
    #[arg(long, value_name = "N")]
    pub index: Option<u32>,
    /// Go on as it is written, through later attempts, until the task is settled; with --attempt
    /// only that one
    #[arg(short, long)]
    pub follow: bool,
    /// Which attempt [default: the last]
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub attempt: Option<u32>,
    /// Only so many lines from the end; with --follow of what is there by now
    #[arg(long, value_name = "N")]
    pub tail: Option<usize>,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub database: DatabaseArgs,
    /// In front of each line when it was written, and to which stream
    #[arg(long)]
    pub timestamps: bool,
}

#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// Workflow files; `-` is stdin
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one::<usize>)]
    pub limit: usize,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct WorkflowsArgs {
    #[command(subcommand)]
    pub command: Option<WorkflowsCommand>,
    #[command(flatten)]
    pub list: ListArgs,
    #[command(flatten)]
    pub database: DatabaseArgs,
}

#[derive(Debug, Subcommand)]
pub enum WorkflowsCommand {
    /// Show what changed from one version of a workflow to another
    Diff(DiffArgs),
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The workflow
    pub name: String,
    /// The older version [default: the one before the newer]
    #[arg(value_parser = at_least_one::<u32>)]
    pub from: Option<u32>,
    /// The newer version [default: the latest]
    #[arg(value_parser = at_least_one::<u32>)]
    pub to: Option<u32>,
    #[command(flatten)]
    pub look: LookArgs,
}

#[derive(Debug, Args)]
pub struct TriggerArgs {
    /// The workflow
    pub name: String,
    /// A value of the run's input; `a.b=v` sets a field of an object. Text where the workflow's
    /// schema says string, else JSON if it is JSON, else text
    #[arg(long = "input", value_name = "KEY=VALUE")]
    pub inputs: Vec<String>,
    /// The run's input as a JSON object; `--input` wins over it
    #[arg(long, value_name = "FILE")]
    pub input_file: Option<PathBuf>,
    /// A label of the run; may be given more than once
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// Higher first
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub priority: i32,
    /// Which version [default: the latest]
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub version: Option<u32>,
    /// However often it is triggered with this key, there is one run
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Wait until the run has ended
    #[arg(long)]
    pub wait: bool,
    /// Wait, and show progress
    #[arg(long)]
    pub follow: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Its id, the beginning of it, or `last`
    pub run: String,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct OrderArgs {
    /// Its id, the beginning of it, or `last`
    pub run: String,
    /// Only this task
    pub task: Option<String>,
    /// Of a fan-out, only the instance with this index, from 0
    #[arg(long, value_name = "N", requires = "task")]
    pub index: Option<u32>,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct CancelArgs {
    #[command(flatten)]
    pub order: OrderArgs,
    /// Do not wait until the work is gone; it is recorded as abandoned
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct RetryArgs {
    /// Its id, the beginning of it, or `last`
    pub run: String,
    /// Only these tasks, and what follows from them [default: all that failed or were cancelled]
    pub tasks: Vec<String>,
    /// Of a fan-out, only the instance with this index, from 0: name that task and no other
    #[arg(long, value_name = "N", requires = "tasks")]
    pub index: Option<u32>,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct DecideArgs {
    /// Its id, the beginning of it, or `last`
    pub run: String,
    /// The approval
    pub task: String,
    /// Kept with the decision
    #[arg(long, value_name = "TEXT")]
    pub comment: Option<String>,
    /// Of a fan-out, only the instance with this index, from 0 [default: all that wait]
    #[arg(long, value_name = "N")]
    pub index: Option<u32>,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct SignalArgs {
    /// Its id, the beginning of it, or `last`
    pub run: String,
    /// What the task waits for
    pub key: String,
    /// JSON if it is JSON, else text [default: null]
    #[arg(allow_hyphen_values = true)]
    pub value: Option<String>,
    /// However often it is sent with this key, the run gets it once
    #[arg(long = "key", value_name = "KEY")]
    pub idempotency_key: Option<String>,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct DeleteArgs {
    pub workflow: String,
    /// Cancel its active runs first
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct TokensArgs {
    #[command(subcommand)]
    pub command: TokensCommand,
}

#[derive(Debug, Subcommand)]
pub enum TokensCommand {
    /// List tokens, without their secrets
    List {
        #[command(flatten)]
        place: PlaceArgs,
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
    },
    /// Make a token. Its secret goes to stdout, this once
    Create {
        /// Stands in records for whoever uses it
        name: String,
        #[arg(long, value_parser = roles())]
        role: String,
        /// For how long it is valid, like 12h or 30d [default: for good]
        #[arg(long, value_name = "TIME", value_parser = seconds)]
        expires: Option<u32>,
        #[command(flatten)]
        place: PlaceArgs,
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
    },
    /// Revoke a token, and every session opened with it
    Revoke {
        /// As `tokens list` shows it
        id: String,
        #[command(flatten)]
        place: PlaceArgs,
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
    },
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct TiersArgs {
    #[command(subcommand)]
    pub command: Option<TiersCommand>,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Subcommand)]
pub enum TiersCommand {
    /// Change a limit of the server, or add a tier; it takes effect at once and outlives the server
    Set {
        /// `total`, `executor:process`, `queue:NAME`, or a tier
        name: String,
        /// How many at once; 0 lets nothing start
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
        /// How many starts in any time of this length, like 100/1m; `none` for no such bound
        #[arg(long)]
        rate: Option<String>,
        #[command(flatten)]
        place: PlaceArgs,
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
    },
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub look: LookArgs,
    /// The configuration file of the server [default: mainspring.toml, if there is one]
    #[arg(long, value_name = "FILE", env = "MAINSPRING_CONFIG")]
    pub config: Option<PathBuf>,
    /// Where processes start [default: as mainspring.toml says, or the current directory]
    #[arg(long, value_name = "DIR", env = "MAINSPRING_WORKDIR")]
    pub workdir: Option<PathBuf>,
    /// Where secrets are [default: as mainspring.toml says, or secrets in the data folder]
    #[arg(long, value_name = "DIR", env = "MAINSPRING_SECRETS_DIR")]
    pub secrets_dir: Option<PathBuf>,
}

fn roles() -> PossibleValuesParser {
    PossibleValuesParser::new(Role::ALL.iter().map(|role| role.word()))
}

/// What is counted from one.
fn at_least_one<N: FromStr<Err = ParseIntError> + PartialOrd + From<u8>>(
    text: &str,
) -> Result<N, String> {
    match text.parse::<N>() {
        Ok(number) if number < N::from(1) => Err("it has to be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(error.to_string()),
    }
}

pub(super) fn status(word: &str) -> Result<RunStatus, String> {
    let words: Vec<&str> = RunStatus::ALL.iter().map(|status| status.word()).collect();
    RunStatus::ALL
        .iter()
        .copied()
        .find(|status| status.word() == word)
        .ok_or_else(|| format!("one of {}", words.join(", ")))
}

fn word(text: &str) -> Result<Word, String> {
    let words: Vec<&str> = Word::ALL.iter().map(|word| word.text()).collect();
    let known = Word::ALL.iter().copied().find(|word| word.text() == text);
    known.ok_or_else(|| format!("one of {}", words.join(", ")))
}

pub(super) fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write it as KEY=VALUE".to_owned()),
    }
}

pub(super) fn moment(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "write it like 2026-01-31T12:00:00Z".to_owned())
}

fn seconds(text: &str) -> Result<u32, String> {
    let span = duration(text).map_err(|why| why.to_string())?;
    match u32::try_from(span.to_std().as_secs()) {
        Ok(0) => Err("it has to last for a second at least".to_owned()),
        Ok(seconds) => Ok(seconds),
        Err(_) => Err(format!("at most {}d", u32::MAX / 86_400)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(seconds("90s"), Ok(90));
        assert_eq!(seconds("30d"), Ok(2_592_000));
        for wrong in ["", "30", "d", "0h", "-1d", "99999d", "1dd"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
