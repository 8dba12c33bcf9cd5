//! The same for people: one short sentence for each reason.

use super::reason::{Behind, Evaluated, FullLimit, Reason};
use crate::kernel::row::Stopping;
use crate::limits::KILL_CONFIRMED_WITHIN;
use crate::time::{Span, Timestamp};
use crate::view::tiers::Holder;
use std::collections::BTreeMap;

/// Names in one sentence at most.
const NAMED_MAX: usize = 3;

impl Reason {
    /// As it is told at this moment.
    pub fn sentence(&self, now: Timestamp) -> String {
        let for_so_long = |since: &Timestamp| now.since(*since);
        match self {
            Self::Unattended => {
                "nobody is at work here: it goes on when a server is started".to_owned()
            }
            Self::MaxActiveRuns(it) => behind(it, "runs of the workflow"),
            Self::ConcurrencyGroup(it) => behind(it, "runs of the group"),
            Self::LetIn => "the run is about to begin".to_owned(),
            Self::RunPending => "the run is pending".to_owned(),
            Self::RunPaused { by, since, .. } => {
                format!("the run is paused by {by} for {}", for_so_long(since))
            }
            Self::RunCancelling { by: Some(by) } => {
                format!("the run is being cancelled by {by}")
            }
            Self::RunCancelling { by: None } => {
                "the run took longer than its timeout and is being ended".to_owned()
            }
            Self::Grace { until } => format!("its grace is over {}", ahead(*until, now)),
            Self::Ending => "every task is settled: the run is about to end".to_owned(),
            Self::Dependency { task, when, state } => {
                format!("waits for {task} {}: it is {state}", until_it(when))
            }
            Self::Held { by, since } => format!("held by {by} for {}", for_so_long(since)),
            Self::Limit(full) => limit(full, now),
            Self::Retry { at, message, .. } => {
                let after = message.as_ref().map(|it| format!(" after: {it}")).unwrap_or_default();
                format!("tried again {}{after}", ahead(*at, now))
            }
            Self::StartRefused { at, missing } => {
                format!("could not start: {missing}; tried again {}", ahead(*at, now))
            }
            Self::Starting => "nothing is in the way: it is about to start".to_owned(),
            Self::Dispatched { attempt, since } => {
                let told = for_so_long(since);
                format!("attempt {attempt} was handed over {told} ago and has not started yet")
            }
            Self::Running { attempt, since } => {
                format!("attempt {attempt} runs for {}", for_so_long(since))
            }
            Self::Stopping { why, reason, since } => {
                stopping(*why, *reason, since.map(|it| now.since(it)))
            }
            Self::Landing { attempt, since } => {
                format!("its work is done and lands, attempt {attempt} for {}", for_so_long(since))
            }
            Self::Evaluation { what } => evaluation(*what).to_owned(),
            waits => waits.of_waits(now),
        }
    }

    /// Of what is parked, and of fan-outs.
    fn of_waits(&self, now: Timestamp) -> String {
        match self {
            Self::Time { until } => format!("sleeps, and wakes {}", ahead(*until, now)),
            Self::Signal { key, until } => {
                format!("waits for the signal '{key}'{}", at_most(*until, None, now))
            }
            Self::Approval { message, by, until, on_timeout, decided } => {
                let by =
                    if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) };
                let decided = decided.map(|it| format!("; {it} already")).unwrap_or_default();
                let bound = at_most(*until, *on_timeout, now);
                format!("waits for an approval{by}{bound}: {message}{decided}")
            }
            Self::Child { run, until } => {
                format!("waits for its child, run {run}{}", at_most(*until, None, now))
            }
            Self::Finalizer { queue, retry_at, message, .. } => {
                let queue =
                    queue.as_ref().map(|it| format!(" in the queue {it}")).unwrap_or_default();
                let again = retry_at.map(|at| format!(", tried again {}", ahead(at, now)));
                let after = message.as_ref().map(|it| format!(" after: {it}")).unwrap_or_default();
                let again = again.unwrap_or_default();
                format!("its work is done and waits to be landed{queue}{again}{after}")
            }
            Self::Instances { counts } => instances(counts),
            Self::Concurrency { limit, at_work } => {
                format!("{at_work} of at most {limit} instances are at work at once")
            }
            Self::Backlog { delayed } => {
                format!("{delayed} instances wait for another try or to land: no more are opened")
            }
            _ => String::new(),
        }
    }
}

fn ahead(at: Timestamp, now: Timestamp) -> String {
    match at.since(now) {
        Span::ZERO => "now".to_owned(),
        left => format!("in {left}"),
    }
}

fn at_most(until: Option<Timestamp>, then: Option<&str>, now: Timestamp) -> String {
    let then = then.map(|then| format!(", then {then}")).unwrap_or_default();
    until.map(|at| format!(", at most {}{then}", at.since(now))).unwrap_or_default()
}

fn until_it(when: &str) -> &'static str {
    match when {
        "completed" => "to have done its work",
        "started" => "to start",
        "failed" => "to fail",
        "finished" => "to be settled",
        _ => "to succeed",
    }
}

fn behind(it: &Behind, what: &str) -> String {
    let Behind { name, limit, active, runs } = it;
    let runs = listed(runs.iter().map(ToString::to_string), *active);
    format!("waits until fewer than {limit} {what} '{name}' are active: {runs}")
}

fn limit(full: &FullLimit, now: Timestamp) -> String {
    let FullLimit { name, limit, in_use, rate, frees_at, holders } = full;
    if let (Some(rate), Some(at)) = (rate, frees_at) {
        return format!("the rate {rate} of {name} lets the next one start {}", ahead(*at, now));
    }
    if *limit == 0 {
        return format!("{name} lets nothing start: its limit is 0");
    }
    let held = holders.iter().map(|Holder { workflow, task, index, run, .. }| {
        let task = task.as_ref().map(|task| format!(".{task}")).unwrap_or_default();
        let index = index.map(|index| format!("[{index}]")).unwrap_or_default();
        format!("{workflow}{task}{index} of {run}")
    });
    format!("{name} is full, {in_use} of {limit} in use: {}", listed(held, *in_use))
}

/// The first few, and how many more.
fn listed(names: impl Iterator<Item = String>, all: u32) -> String {
    let named: Vec<String> = names.take(NAMED_MAX).collect();
    let left = (all as usize).saturating_sub(named.len());
    let more = if left > 0 { format!(", and {left} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

fn instances(counts: &BTreeMap<&'static str, u32>) -> String {
    let total = counts.get("total").copied().unwrap_or(0);
    let states = counts.iter().filter(|(state, _)| **state != "total");
    let states: Vec<String> = states.map(|(state, count)| format!("{count} {state}")).collect();
    format!("of {total} instances {}", states.join(", "))
}

fn stopping(why: Stopping, reason: Option<&'static str>, so_long: Option<Span>) -> String {
    let why = match (why, reason) {
        (Stopping::Pause, _) => "a pause".to_owned(),
        (Stopping::Timeout, _) => "its timeout".to_owned(),
        (Stopping::StartTimeout, _) => "its start_timeout".to_owned(),
        (Stopping::Cancel, None) => "a cancel".to_owned(),
        (Stopping::Cancel, Some(reason)) => format!("a cancel ({reason})"),
    };
    let rest = match so_long {
        Some(it) if it >= KILL_CONFIRMED_WITHIN => {
            ", and is not known to be gone: `cancel --force` gives it up as abandoned"
        }
        _ => ", and counts until it is gone",
    };
    let so_long = so_long.map(|it| format!(" for {it}")).unwrap_or_default();
    format!("is being stopped{so_long} because of {why}{rest}")
}

const fn evaluation(what: Evaluated) -> &'static str {
    match what {
        Evaluated::Opening => {
            "its expressions are being worked out, from outputs in the blob store if they are large"
        }
        Evaluated::Instances => "what its next instances are is being worked out",
        Evaluated::List => "the list of what its instances put out is being made",
        Evaluated::Outputs => "what the run puts out is being worked out",
    }
}
