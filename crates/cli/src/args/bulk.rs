//! One action on many runs.

use super::remote::{label, moment, status};
use super::{Format, PlaceArgs};
use clap::{Args, ValueEnum};
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::time::Timestamp;

pub const BULK_HELP: &str = "\
Shows what is meant and asks, unless --yes is given. Without --status those runs are meant that the
action can apply to: failed and cancelled ones for retry, all that have ended for rerun.

Exit codes:
  0    all of them were done, or none was meant
  1    some were refused or failed: they are told
  2    the filter is wrong, or there is nobody to be asked
  3    no server answers
  130  the answer was no";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BulkAction {
    Retry,
    Cancel,
    Rerun,
    Pause,
    Resume,
}

impl BulkAction {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::Rerun => "rerun",
            Self::Pause => "pause",
            Self::Resume => "resume",
        }
    }
}

#[derive(Debug, Args)]
pub struct BulkArgs {
    /// What to do to each run
    pub action: BulkAction,
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
    /// Every run that the action can apply to, instead of a filter
    #[arg(long, conflicts_with_all = ["statuses", "workflow", "labels", "since", "until"])]
    pub all: bool,
    /// Only show what is meant
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short, conflicts_with = "dry_run")]
    pub yes: bool,
    /// For rerun: the task that each begins from [default: everything runs again]
    #[arg(long, value_name = "TASK")]
    pub from: Option<String>,
    /// For rerun: with the workflow's latest version [default: with that of the run]
    #[arg(long)]
    pub latest: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}
