//! Breakages of what is decided about runs: what opens, what ends, what people order, what
//! a load brings back.

use super::mutant::{Mutant, mutant};

const ACCEPT: &str = "crates/core/src/world/accept.rs";
const ADVANCE: &str = "crates/core/src/world/advance.rs";
const APPLY: &str = "crates/core/src/world/apply.rs";
const BACK: &str = "crates/core/src/plan/dag/back.rs";
const BELOW: &str = "crates/core/src/plan/dag/below.rs";
const DRAFT: &str = "crates/core/src/world/draft.rs";
const EDGE: &str = "crates/core/src/plan/dag/edge.rs";
const LOAD: &str = "crates/core/src/world/load.rs";
const PLAN: &str = "crates/core/src/plan/dag/plan.rs";
const ORDERS: &str = "crates/core/src/world/orders.rs";
const OUTCOME: &str = "crates/core/src/plan/dag/outcome.rs";
const RETRY: &str = "crates/core/src/world/retry.rs";
const RUN: &str = "crates/core/src/world/run.rs";
const STATE: &str = "crates/core/src/world/state.rs";
const TAKE: &str = "crates/core/src/world/take.rs";

#[rustfmt::skip] // One below the other, the passage and what takes its place.
pub const MUTANTS: &[Mutant] = &[
    mutant("failed-by-success", "when: failed needs a failure", EDGE, (
        "Never(Doom::Skipped)",
        "Satisfied",
    )),
    mutant("allowed-failure-blocks", "allow_failure satisfies merged edges", EDGE, (
        "upstream.allow_failure",
        "false",
    )),
    mutant("failure-blocks-nothing", "a failure blocks what depends on it", EDGE, (
        "            Never(Doom::Blocked)",
        "            Satisfied",
    )),
    mutant("blocked-is-skipped", "what a failure keeps from running is blocked, not skipped", EDGE, (
        "            Never(Doom::Blocked)",
        "            Never(Doom::Skipped)",
    )),
    mutant("first-cause-stays", "of several causes the strongest is shown", PLAN, (
        "*known >= Some(doom)",
        "known.is_some()",
    )),
    mutant("handler-ignored", "when: failed handles a failure if it succeeds", OUTCOME, (
        "rows.fact(*dependent) == Fact::Success",
        "rows.fact(*dependent) == Fact::Skipped",
    )),
    mutant("any-end-handles", "only a success handles a failure", OUTCOME, (
        "rows.fact(*dependent) == Fact::Success",
        "rows.fact(*dependent).is_settled()",
    )),
    mutant("cancel-stays-alone", "a cancel reaches what is below and has not begun", ORDERS, (
        "unsettled && (falls == Falls::ByRow || self.has_row_to_settle(key, no))",
        "unsettled && falls == Falls::ByRow && self.has_row_to_settle(key, no)",
    )),
    mutant("started-is-forgotten", "started is for good", EDGE, (
        "ever_started
            || matches!(fact, Fact::Running | Fact::Waiting | Fact::WorkerDone | Fact::Success)",
        "(ever_started && fact == Fact::Failed)
            || matches!(fact, Fact::Running | Fact::Waiting | Fact::WorkerDone | Fact::Success)",
    )),
    mutant("finally-stays", "on_failure: run runs after a failure", EDGE, (
        "(when, upstream.outcome)",
        "match (when, upstream.outcome) {
        (When::Finished, Standpoint::Failed) => (when, Standpoint::Open),
        _ => (when, upstream.outcome),
    }",
    )),
    mutant("allowed-failure-fails", "allow_failure handles a failure", OUTCOME, (
        "shape.definition.task(no).allow_failure",
        "(shape.definition.task(no).allow_failure && no.0 > 1)",
    )),
    mutant("cancelled-is-success", "a cancelled task cancels its run", OUTCOME, (
        "row.fact == Fact::Cancelled",
        "row.fact == Fact::Cancelled && row.attempts > 0",
    )),
    mutant("finally-handles", "a finally handles no failure", OUTCOME, (
        "shape.graph.edge(*edge).when == When::Failed",
        "matches!(shape.graph.edge(*edge).when, When::Failed | When::Finished)",
    )),
    mutant("named-cancel-revived", "a retry leaves what was cancelled by its own name", BACK, (
        "must || is_cancelled(run, above)",
        "true",
    )),
    mutant("cancel-outlives-retry", "a retry takes back what was cancelled with it", BACK, (
        "must || is_cancelled(run, above)",
        "must",
    )),
    mutant("retry-under-running", "what a retry has to take back must not be at work", BACK, (
        "must || is_made_of(run, no, above)",
        "is_made_of(run, no, above)",
    )),
    mutant("retry-keeps-handlers", "what ran because of a failure goes back with it", BACK, (
        "matches!(when, When::Failed | When::Finished)",
        "matches!(when, When::Finished)",
    )),
    mutant("cancel-reaches-live", "a cancel lets what has begun below go on", BELOW, (
        "!is_at_work(rows.fact(*dependent))",
        "true",
    )),
    mutant("cancel-through-finished", "a cancel does not go through finished edges", BELOW, (
        "when == When::Finished || !untouched",
        "!untouched",
    )),
    mutant("ends-before-cascade", "a run ends after the last cascade", RUN, (
        "self.unsettled == 0",
        "self.progress.counts.live == 0",
    )),
    mutant("hold-ignored", "a held task does not start", RUN, (
        "!self.rows.is_held(no)",
        "true",
    )),
    mutant("pause-ignored", "a paused run starts nothing", RUN, (
        "self.progress.status == RunStatus::Running",
        "matches!(self.progress.status, RunStatus::Running | RunStatus::Paused)",
    )),
    mutant("unsettled-stays", "an outcome is counted", STATE, (
        "run.unsettled -= 1",
        "()",
    )),
    mutant("permits-not-taken", "what is dispatched takes its permits", STATE, (
        "                self.limits.take(&set);",
        "                drop(set);",
    )),
    mutant("permits-not-released", "what has ended gives its permits back", STATE, (
        "                self.limits.give_back(&set);",
        "                drop(set);",
    )),
    mutant("same-timer-not-armed", "a fired timer is armed for another fact", STATE, (
        "timer != timer_now || fact != fact_now",
        "timer != timer_now",
    )),
    mutant("keys-twice", "every run has a key of its own", ACCEPT, (
        "        self.next_run += 1;",
        "",
    )),
    mutant("same-text-twice", "the same text twice makes no new version", ACCEPT, (
        "*hash != deploy.hash",
        "hash == hash",
    )),
    mutant("new-run-stays", "an accepted run is in the batch that answers", ACCEPT, (
        "        self.draft.new_runs.insert(key);",
        "",
    )),
    mutant("timeout-is-cancel", "a run that timed out has failed", OUTCOME, (
        "Some(CancelCause::RunTimeout) => «RunStatus::Failed»",
        "RunStatus::Cancelled",
    )),
    mutant("paused-ends", "a paused run does not end", ADVANCE, (
        "!run.is_over()",
        "!(run.is_over() || (run.progress.status == RunStatus::Paused && run.unsettled == 0))",
    )),
    mutant("outdated-accepted", "an older reading is noticed", APPLY, (
        "departed.is_some_and(|it| stamp < it.stamp)",
        "departed.is_some_and(|it| stamp > it.stamp)",
    )),
    mutant("refused-retry-stays", "a refusal changes nothing", APPLY, (
        "        if answer.is_err() {
            self.let_go(key);
        }",
        "",
    )),
    mutant("pause-lets-run", "a paused task's attempt is stopped", RUN, (
        "row.is_live() && row.stopping.is_none()",
        "row.is_live() && row.stopping.is_some()",
    )),
    mutant("resume-opens-nothing", "a resume looks at every task again", ORDERS, (
        "        self.refill(key, now);
        self.ending.insert(key);",
        "        self.ending.insert(key);",
    )),
    mutant("resumed-never-ends", "a resume ends what was over", ORDERS, (
        "        self.refill(key, now);
        self.ending.insert(key);",
        "        self.refill(key, now);",
    )),
    mutant("hold-not-durable", "a hold is stored", ORDERS, (
        "        self.change(key, task, |row| row.hold = Some(hold));
        self.draft.task(key, task);",
        "        self.change(key, task, |row| row.hold = Some(hold));",
    )),
    mutant("retry-unchecked", "a retry is for what has failed or was cancelled", RETRY, (
        "        check_state(run, named)?;",
        "",
    )),
    mutant("retry-skips-cancelled", "a retry of a run takes back what was cancelled", RETRY, (
        "    rows.filter(|row| matches!(row.fact, Fact::Failed | Fact::Cancelled))
        .map(|row| row.task.no)
        .collect()",
        "    rows.filter(|row| row.fact == Fact::Failed).map(|row| row.task.no).collect()",
    )),
    mutant("old-error-stays", "a run that opens again has no error", RETRY, (
        "            run.progress.error = None;",
        "",
    )),
    mutant("retry-keeps-tries", "a retry by a person resets tries", RETRY, (
        "    row.tries = 0;",
        "",
    )),
    mutant("retry-keeps-no-start", "that it has started survives a retry", RETRY, (
        "    row.losses = 0;",
        "    row.losses = 0;
    row.ever_started = false;",
    )),
    mutant("old-cancel-stays", "a retry lifts the cancel of its run", RETRY, (
        "            run.progress.cancel = None;",
        "",
    )),
    mutant("reattach-forgotten", "a load asks after live attempts", LOAD, (
        "            self.effect(Effect::Reattach(executor, question));",
        "            drop((executor, question));",
    )),
    mutant("stopping-forgotten", "a load knows what is being stopped, and why", LOAD, (
        "self.take_in(snapshot)",
        "{
            let rows = snapshot.tasks.into_iter();
            let tasks = rows.map(|row| TaskRow { stopping: None, ..row }).collect();
            self.take_in(RunSnapshot { tasks, ..snapshot })
        }",
    )),
    mutant("permits-forgotten", "a load takes the permits of what is live", LOAD, (
        "                self.limits.take(&set);",
        "                drop(set);",
    )),
    mutant("timers-forgotten", "a load arms every timer", LOAD, (
        "due(&row, definition.task(no))",
        "due(&row, definition.task(no)).filter(|_| false)",
    )),
    mutant("run-timer-forgotten", "a load arms the run's timer", LOAD, (
        "        self.put_run(run);",
        "        self.put_run(run);
        self.disarm_run(key);",
    )),
    mutant("delays-forgotten", "a restart does not shorten a delay", LOAD, (
        "            rows.put(row);",
        "            let until = row.until.map(|_| Timestamp(0));
            rows.put(TaskRow { until, ..row });",
    )),
    mutant("asked-after-forgotten", "a load remembers what it asks after", LOAD, (
        "            self.asked_after.insert(ticket.attempt);",
        "",
    )),
    mutant("final-run-stays", "a run that is over leaves memory", TAKE, (
        "            self.let_go(key);",
        "",
    )),
    mutant("stamps-stand-still", "stamps strictly grow", TAKE, (
        "        self.next_stamp += u64::from(touched);",
        "        let _ = touched;",
    )),
    mutant("start-rides-for-ever", "a start waits for a commit, but not for ever", DRAFT, (
        "self.riding_since.map(|since| since + STARTED_RIDES)",
        "None",
    )),
    mutant("batch-uncut", "a batch is cut at its limit", DRAFT, (
        "self.rows() >= BATCH_CHANGES_MAX",
        "false",
    )),
];
