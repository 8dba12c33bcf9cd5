//! Breakages of what is decided.

use super::mutant::Mutant;

const ADVANCE: &str = "crates/core/src/world/advance.rs";
const AGAIN: &str = "crates/core/src/kernel/again.rs";
const APPLY: &str = "crates/core/src/world/apply.rs";
const EDGE: &str = "crates/core/src/plan/dag/edge.rs";
const LOAD: &str = "crates/core/src/world/load.rs";
const ORDERS: &str = "crates/core/src/world/orders.rs";
const OUTCOME: &str = "crates/core/src/plan/dag/outcome.rs";
const REPORT: &str = "crates/core/src/world/report.rs";
const RETRY: &str = "crates/core/src/world/retry.rs";
const RUN: &str = "crates/core/src/world/run.rs";
const STATE: &str = "crates/core/src/world/state.rs";
const TAKE: &str = "crates/core/src/world/take.rs";

const fn mutant(
    name: &'static str,
    breaks: &'static str,
    file: &'static str,
    (old, new): (&'static str, &'static str),
) -> Mutant {
    Mutant { name, breaks, file, old, new }
}

#[rustfmt::skip] // One below the other, the passage and what takes its place.
pub const MUTANTS: &[Mutant] = &[
    mutant("fencing-ignored", "a report must name the current attempt", REPORT, (
        "(row.fact.is_live() && attempt.id == ticket.attempt).then_some(row)",
        "(row.fact.is_live() && attempt.number > 0).then_some(row)",
    )),
    mutant("ended-twice", "a settled task takes no report", REPORT, (
        "(row.fact.is_live() && attempt.id == ticket.attempt).then_some(row)",
        "(attempt.id == ticket.attempt).then_some(row)",
    )),
    mutant("never-started-twice", "an attempt is started again once", REPORT, (
        "if number != self.epoch || !self.asked_after.remove(&ticket.attempt) =>",
        "if number != self.epoch =>",
    )),
    mutant("former-question", "an answer to a former question is refused", REPORT, (
        "if number != self.epoch || !self.asked_after.remove(&ticket.attempt) =>",
        "if !self.asked_after.remove(&ticket.attempt) =>",
    )),
    mutant("cascade-forgotten", "an end is followed by what it opens and dooms", REPORT, (
        "        self.follow(key, no);
        self.ending.insert(key);
        self.restart_if_due(now, key, no);",
        "        self.ending.insert(key);
        self.restart_if_due(now, key, no);",
    )),
    mutant("losses-uncounted", "losses are counted", REPORT, (
        "            row.losses = losses;",
        "            let _ = losses;",
    )),
    mutant("loss-while-stopping", "unknown while stopping settles as that reason", REPORT, (
        "                Some(_) => self.ended(now, ticket, gone(log)),",
        "                Some(_) => self.lost(now, ticket, log),",
    )),
    mutant("no-retry-delay", "a retry waits for its delay", REPORT, (
        "            step(row, Event::PutOff);
            row.until = Some(now + pause);",
        "            step(row, Event::PutOff);
            row.until = Some(now.max(Timestamp(0)));",
    )),
    mutant("cancel-by-exit", "stopped by a cancel means cancelled", REPORT, (
        "            (Some(Stopping::Cancel), _) => {",
        "            (Some(Stopping::Cancel), Outcome::Stopped) => {",
    )),
    mutant("number-of-a-refused-start", "a refused start uses no number", REPORT, (
        "            row.attempts -= 1;",
        "            row.attempts -= 0;",
    )),
    mutant("never-settled", "an end that is durable is settled", REPORT, (
        "        self.effect(Effect::Settle(self.executor(ticket), ticket));",
        "        let _ = self.executor(ticket);",
    )),
    mutant("start-not-durable", "a dispatch is in the batch that starts it", ADVANCE, (
        "        self.draft.task(key, TaskRef::plain(no));
        self.start_again(",
        "        self.start_again(",
    )),
    mutant("double-dispatch", "what is dispatched is not ready any more", ADVANCE, (
        "        self.start_again(Ticket { run: key, task: TaskRef::plain(no), attempt: id });",
        "        self.start_again(Ticket { run: key, task: TaskRef::plain(no), attempt: id });
        self.enqueue(key, no);",
    )),
    mutant("history-dropped", "a superseded attempt goes into the history", ADVANCE, (
        "    (!refused).then_some(AttemptRow { task: row.task, attempt, output })",
        "    (refused && !refused).then_some(AttemptRow { task: row.task, attempt, output })",
    )),
    mutant("retries-off-by-one", "N retries make N+1 tries", AGAIN, (
        "if tries > retries.max || !retries.covers(class) {",
        "if tries >= retries.max || !retries.covers(class) {",
    )),
    mutant("once-is-often", "on_lost: fail is final", AGAIN, (
        "if task.on_lost == OnLost::Fail || losses > LOSSES_MAX {",
        "if losses > LOSSES_MAX {",
    )),
    mutant("outdated-accepted", "an older reading is noticed", APPLY, (
        "if last_stamp.is_some_and(|stamp| snapshot.progress.stamp < *stamp) {",
        "if last_stamp.is_some_and(|stamp| snapshot.progress.stamp > *stamp) {",
    )),
    mutant("refused-retry-stays", "a refusal changes nothing", APPLY, (
        "        if answer.is_err() {
            self.let_go(key);
        }",
        "",
    )),
    mutant("failed-by-success", "when: failed needs a failure", EDGE, (
        "        (When::Failed, Standpoint::Success) => Never(Doom::Skipped),",
        "        (When::Failed, Standpoint::Success) => Satisfied,",
    )),
    mutant("allowed-failure-blocks", "allow_failure satisfies merged edges", EDGE, (
        "(When::Merged | When::Completed, Standpoint::Failed) if upstream.allow_failure => Satisfied,",
        "(When::Merged | When::Completed, Standpoint::Failed) if upstream.allow_failure => Unmet,",
    )),
    mutant("started-is-forgotten", "started is for good", EDGE, (
        "        let started = ever_started
            ||",
        "        let started = (ever_started && fact == Fact::Failed)
            ||",
    )),
    mutant("allowed-failure-fails", "allow_failure handles a failure", OUTCOME, (
        "    shape.definition.task(no).allow_failure
        ||",
        "    (shape.definition.task(no).allow_failure && no.0 > 1)
        ||",
    )),
    mutant("cancelled-is-success", "a cancelled task cancels its run", OUTCOME, (
        "rows.iter().find(|row| row.fact == Fact::Cancelled);",
        "rows.iter().find(|row| row.fact == Fact::Cancelled && row.attempts > 0);",
    )),
    mutant("reattach-forgotten", "a load asks after live attempts", LOAD, (
        "            self.effect(Effect::Reattach(executor, question));",
        "            let _ = (executor, question);",
    )),
    mutant("timers-forgotten", "a load arms every timer", LOAD, (
        "            if let Some(at) = due(&row, definition.task(no)) {",
        "            if let Some(at) = due(&row, definition.task(no)).filter(|_| false) {",
    )),
    mutant("run-timer-forgotten", "a load arms the run's timer", LOAD, (
        "        self.put_run(Run::new(head, progress, blueprint, rows));",
        "        self.put_run(Run::new(head, progress, blueprint, rows));
        self.disarm_run(key);",
    )),
    mutant("delays-forgotten", "a restart does not shorten a delay", LOAD, (
        "            rows.put(row);",
        "            let until = row.until.map(|_| crate::time::Timestamp(0));
            rows.put(TaskRow { until, ..row });",
    )),
    mutant("pause-lets-run", "a paused task's attempt is stopped", ORDERS, (
        "        if fact.is_live() && stopping.is_none() {",
        "        if fact.is_live() && stopping.is_some() {",
    )),
    mutant("retry-keeps-tries", "a retry by a person resets tries", RETRY, (
        "            row.tries = 0;
",
        "",
    )),
    mutant("retry-keeps-no-start", "that it has started survives a retry", RETRY, (
        "            row.losses = 0;",
        "            row.losses = 0;
            row.ever_started = false;",
    )),
    mutant("hold-ignored", "a held task does not start", RUN, (
        "            && !self.rows.is_held(no)",
        "",
    )),
    mutant("pause-ignored", "a paused run starts nothing", RUN, (
        "        self.progress.status == RunStatus::Running
            &&",
        "        matches!(self.progress.status, RunStatus::Running | RunStatus::Paused)
            &&",
    )),
    mutant("cancel-ignored", "a cancelled run starts nothing", RUN, (
        "        self.progress.status == RunStatus::Running
            &&",
        "        matches!(self.progress.status, RunStatus::Running | RunStatus::Cancelling)
            &&",
    )),
    mutant("ends-before-cascade", "a run ends after the last cascade", RUN, (
        "            RunStatus::Running => self.unsettled == 0,",
        "            RunStatus::Running => self.progress.counts.live == 0,",
    )),
    mutant("paused-ends", "a paused run does not end", RUN, (
        "            RunStatus::Running => self.unsettled == 0,",
        "            RunStatus::Running | RunStatus::Paused => self.unsettled == 0,",
    )),
    mutant("unsettled-stays", "an outcome is counted", STATE, (
        "            (false, true) => run.unsettled -= 1,",
        "            (false, true) => {}",
    )),
    mutant("same-timer-not-armed", "a fired timer is armed for another fact", STATE, (
        "        if timer != timer_now || fact != fact_now {",
        "        if timer != timer_now {",
    )),
    mutant("stamps-stand-still", "stamps strictly grow", TAKE, (
        "        self.next_stamp += u64::from(touched);",
        "        let _ = touched;",
    )),
];
