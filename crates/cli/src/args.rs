//! The command line.

use crate::limits;
use clap::{Args, Parser, Subcommand, ValueEnum};
use mainspring_core::kernel::limit::Bound;
use std::num::NonZeroU32;
use std::path::PathBuf;

mod anew;
mod bulk;
mod db;
mod remote;

pub use anew::{AddArgs, RerunArgs};
pub use bulk::{BULK_HELP, BulkArgs};
pub use db::{DbArgs, DbCommand, KeptArgs};
pub use remote::*;

/// A durable workflow engine in one binary.
#[derive(Debug, Parser)]
#[command(name = "mainspring", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  mainspring run build.yaml                     run a workflow to its end
  mainspring run build.yaml --input day=monday  give it input
  mainspring run --resume                       go on with a run that was cut off
  mainspring runs                               what was run here
  mainspring show last                          the last run and its tasks
  mainspring logs last compile                  what a task wrote
  mainspring output last compile                what it put out, as JSON
  mainspring validate *.yaml                    check without running
  mainspring graph build.yaml --format svg      draw its tasks
  mainspring explain-code E205                  what an error means

With a server (--server URL, MAINSPRING_SERVER, or one at work in the data folder):
  mainspring apply build.yaml                   deploy a workflow
  mainspring trigger build --follow             start a run and watch it
  mainspring logs last compile -f               follow what a task writes
  mainspring cancel last                        stop a run
  mainspring approvals                          what waits for a person
  mainspring approve last review                let it go on
  mainspring tiers set gpu --limit 4            change a limit, at once

Results go to stdout, everything else to stderr. Colours only on a terminal; NO_COLOR is respected.";

const RUN_HELP: &str = "\
Progress goes to stderr, the summary (or with `-o json` one document {run, tasks}) to stdout.
Ctrl-C or SIGTERM once cancels the run and waits until its processes are gone; twice kills them
at once and leaves: the run can then be resumed.

Examples:
  mainspring run build.yaml
  mainspring run build.yaml --input name=Ada --input 'tags=[\"a\", \"b\"]' --input db.port=5432
  mainspring run - < build.yaml
  mainspring run --resume
  mainspring run --resume 0198c1d2

Exit codes:
  0    success
  1    the run failed
  2    a bad definition, input or usage, or another process works in the data folder: nothing was
       started
  3    the data folder cannot be used: nothing was started; or the store failed under a run (disk
       full, folder read-only): it can be resumed
  130  the run was cancelled, or left at once by a second Ctrl-C";

const GRAPH_HELP: &str = "\
A dashed edge says when it is satisfied, if that is not the success of the other task. A double
border is `on_failure: run`, a dashed one `allow_failure`, a round one `noop`. A stack is a fan-out,
with how many instances it has as far as the file says; a diamond or a hexagon has an `if`.

Examples:
  mainspring graph build.yaml                   Mermaid, for a Markdown page
  mainspring graph build.yaml --format svg > build.svg
  mainspring graph build.yaml --format dot | dot -Tpng > build.png";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a workflow file to its end, in this process
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// List runs, newest first
    Runs(RunsArgs),
    /// Show a run, its tasks and their attempts; or one task, or one instance of a fan-out
    Show(ShowArgs),
    /// Say why each task of a run that has no outcome is not running now
    Explain(ExplainArgs),
    /// List the instances of a fan-out that have been started
    Instances(InstancesArgs),
    /// Print what a run, a task or an instance put out, as JSON
    Output(OutputArgs),
    /// Print what a task wrote to stdout and stderr
    Logs(LogsArgs),
    /// Serve the HTTP API, schedule and carry out runs
    #[command(after_help = SERVER_HELP)]
    Server(ServerArgs),
    /// Check workflow files; exit code 0 when all are good, else 2
    Validate(ValidateArgs),
    /// Draw a workflow's tasks and what they wait for
    #[command(after_help = GRAPH_HELP)]
    Graph(GraphArgs),
    /// Print the JSON Schema of workflow files, for editors
    Schema,
    /// Tell what an error code means and how to mend it; without a code, list them all
    ExplainCode(ExplainCodeArgs),
    /// Deploy workflow files to a server; the same text twice makes no new version
    Apply(ApplyArgs),
    /// List workflows, or compare the versions of one
    Workflows(WorkflowsArgs),
    /// Start a run of a workflow on a server
    #[command(after_help = TRIGGER_HELP)]
    Trigger(TriggerArgs),
    /// Watch a run on a server until it ends
    Watch(WatchArgs),
    /// Cancel a run, or one of its tasks
    Cancel(CancelArgs),
    /// Pause a run or a task: no new attempt starts
    Pause(OrderArgs),
    /// Lift the pause of a run or a task
    Resume(OrderArgs),
    /// Run again what failed or was cancelled, in the same run
    Retry(RetryArgs),
    /// Run a run anew, as another run: from its beginning, or from one of its tasks
    #[command(after_help = TRIGGER_HELP)]
    Rerun(RerunArgs),
    /// Do something to all runs that a filter names
    #[command(after_help = BULK_HELP)]
    Bulk(BulkArgs),
    /// Add tasks to a run that has not ended
    Add(AddArgs),
    /// List what waits for a person, what has waited longest first
    Approvals(ListArgs),
    /// Approve a task that waits for it
    Approve(DecideArgs),
    /// Reject a task that waits for an approval
    Reject(DecideArgs),
    /// Send a signal to a run; it is kept if nothing waits for it yet
    Signal(SignalArgs),
    /// Delete a workflow; its history stays until retention takes it
    Delete(DeleteArgs),
    /// List limits, who holds them and who waits for them; or change one
    Tiers(TiersArgs),
    /// List, make and revoke the tokens of a server
    Tokens(TokensArgs),
    /// List who changed what on a server, newest first
    Audit(ListArgs),
    /// Migrate, check, copy or shrink the database, without a server
    Db(DbArgs),
    /// Print a script that completes commands: `source <(mainspring completions bash)`
    Completions(CompletionsArgs),
    /// Land a branch, as told on stdin: started by an engine, for an attempt
    #[command(hide = true)]
    GitMerge,
    /// Check that all is well here, and say what to do if not; exit code 1 when it is not
    Doctor(DoctorArgs),
}

const SERVER_HELP: &str = "\
Values come from flags, else from MAINSPRING_… variables, else from the configuration file, else
from defaults; --print-config shows each value and where it came from.

SIGTERM or Ctrl-C drains: no new attempt starts, processes that run get --drain time to end, what
is left is stopped and starts again in the next life, uncounted. A second signal leaves at once.
SIGHUP reads limits anew: max_processes and tiers.

Examples:
  mainspring server
  mainspring server --listen 127.0.0.1:9000 --data /var/lib/mainspring
  mainspring server --print-config";

#[derive(Clone, Debug, Args)]
pub struct ServerArgs {
    /// Where to listen; may be given more than once [default: 127.0.0.1:8070]
    #[arg(long, value_name = "ADDRESS", env = "MAINSPRING_LISTEN", value_delimiter = ',')]
    pub listen: Vec<std::net::SocketAddr>,
    #[command(flatten)]
    pub kept: KeptArgs,
    /// Where processes start that do not say otherwise [default: the current directory]
    #[arg(long, value_name = "DIR", env = "MAINSPRING_WORKDIR")]
    pub workdir: Option<PathBuf>,
    /// Processes at once [default: 4 for each core]
    #[arg(long, value_name = "N", env = "MAINSPRING_MAX_PROCESSES")]
    pub max_processes: Option<NonZeroU32>,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// A variable of this environment that tasks see; may be given more than once
    #[arg(long, value_name = "NAME", env = "MAINSPRING_PASS_ENV", value_delimiter = ',', value_parser = variable_name)]
    pub pass_env: Vec<String>,
    /// Where secrets are: one file each, named as the secret [default: secrets in the data folder]
    #[arg(long, value_name = "DIR", env = "MAINSPRING_SECRETS_DIR")]
    pub secrets_dir: Option<PathBuf>,
    /// Listen beyond this machine although no token is asked for
    #[arg(long, env = "MAINSPRING_INSECURE")]
    pub insecure: bool,
    /// A name beside its addresses that the server answers to while no token is asked for
    #[arg(long = "host", value_name = "NAME", env = "MAINSPRING_HOSTS", value_delimiter = ',')]
    pub hosts: Vec<String>,
    /// Certificate chain for TLS, PEM
    #[arg(long, value_name = "FILE", env = "MAINSPRING_TLS_CERTIFICATE")]
    pub tls_certificate: Option<PathBuf>,
    /// Private key for TLS, PEM
    #[arg(long, value_name = "FILE", env = "MAINSPRING_TLS_KEY")]
    pub tls_key: Option<PathBuf>,
    /// How long runs are kept after their end, like 30d [default: 30d]
    #[arg(long, value_name = "DURATION", env = "MAINSPRING_RETENTION")]
    pub retention: Option<String>,
    /// How long processes may go on when the server is asked to end [default: 30s]
    #[arg(long, value_name = "DURATION", env = "MAINSPRING_DRAIN")]
    pub drain: Option<String>,
    /// How long the head of a request, and then its body, may take to arrive; a head never
    /// longer than 10s [default: 30s]
    #[arg(long, value_name = "DURATION", env = "MAINSPRING_READ_TIMEOUT")]
    pub read_timeout: Option<String>,
    /// Print the configuration with the origin of each value, and leave
    #[arg(long)]
    pub print_config: bool,
}

/// Limits by name, over those of the configuration file.
#[derive(Clone, Debug, Args)]
pub struct LimitArgs {
    /// A limit by name, like `gpu=2` or with a rate `api=5@100/1m`; may be given more than once
    #[arg(long = "tier", value_name = "NAME=LIMIT", env = "MAINSPRING_TIERS", value_delimiter = ',', value_parser = limits::given)]
    pub tiers: Vec<(String, Bound)>,
}

impl LimitArgs {
    /// The limit on processes, if it is among them.
    fn set_processes(&mut self, max: NonZeroU32) {
        let of_processes = self.tiers.iter_mut().filter(|(name, _)| name == limits::PROCESSES);
        of_processes.for_each(|(_, bound)| bound.limit = max.get());
    }
}

#[derive(Clone, Debug, Args)]
pub struct DataArgs {
    /// Where the database and the logs are kept
    #[arg(long = "data", value_name = "DIR", env = "MAINSPRING_DATA", default_value = DATA_DEFAULT)]
    pub folder: PathBuf,
}

pub const DATA_DEFAULT: &str = ".mainspring";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Json,
    Yaml,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// The workflow; `-` reads it from stdin
    #[arg(required_unless_present = "resume")]
    pub file: Option<PathBuf>,
    /// A value of the run's input; `a.b=v` sets a field of an object. Text where the workflow's
    /// schema says string, else JSON if it is JSON, else text
    #[arg(long = "input", value_name = "KEY=VALUE", conflicts_with = "resume")]
    pub inputs: Vec<String>,
    /// The run's input as a JSON object; `--input` wins over it
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub input_file: Option<PathBuf>,
    /// A workflow that this one runs as a child; may be given more than once. What the data folder
    /// knows already need not be given
    #[arg(long = "with", value_name = "FILE", conflicts_with = "resume")]
    pub with: Vec<PathBuf>,
    #[command(flatten)]
    pub data: DataArgs,
    /// Go on with a run that was cut off: the last unfinished one, or the one named by its id or
    /// the beginning of it. Definition, input and directory are kept with the run
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last", conflicts_with = "file")]
    pub resume: Option<String>,
    /// Processes at once [default: 4 for each core]
    #[arg(long, value_name = "N")]
    pub max_processes: Option<NonZeroU32>,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// A variable of this environment that tasks see, beside PATH, HOME and LANG
    #[arg(long, value_name = "NAME", value_parser = variable_name)]
    pub pass_env: Vec<String>,
    /// Where secrets are: one file each, named as the secret [default: secrets in the data folder]
    #[arg(long, value_name = "DIR", env = "MAINSPRING_SECRETS_DIR")]
    pub secrets_dir: Option<PathBuf>,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Workflow files; `-` is stdin
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct GraphArgs {
    /// The workflow; `-` reads it from stdin
    pub file: PathBuf,
    #[arg(long, value_enum, default_value_t = Picture::Mermaid)]
    pub format: Picture,
}

/// What a workflow can be drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Picture {
    /// For Markdown
    Mermaid,
    /// For Graphviz
    Dot,
    /// A picture of its own
    Svg,
}

#[derive(Debug, Args)]
pub struct ExplainCodeArgs {
    /// Such as E205
    pub code: Option<String>,
}

/// A value has no place here: it is that of this environment.
pub fn variable_name(text: &str) -> Result<String, &'static str> {
    if text.contains('=') || text.is_empty() {
        return Err("a variable's name, without `=` and a value");
    }
    if text.starts_with("MAINSPRING_SECRET_") {
        return Err("secrets are not passed on to every task: name it where it is needed, as in \
                    `env: { TOKEN: { secret: NAME } }`");
    }
    if text.starts_with("MAINSPRING_") {
        return Err(
            "variables that begin with MAINSPRING_ are Mainspring's own: pass it on under \
                    another name",
        );
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
