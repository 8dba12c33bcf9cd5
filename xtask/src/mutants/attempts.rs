//! Breakages of what is decided about attempts: how they start, end and are tried again.

use super::mutant::{Mutant, mutant};

const ADVANCE: &str = "crates/core/src/world/advance.rs";
const ASK: &str = "crates/core/src/world/ask.rs";
const AGAIN: &str = "crates/core/src/kernel/again.rs";
const OVERDUE: &str = "crates/core/src/world/overdue.rs";
const REPORT: &str = "crates/core/src/world/report.rs";
const TIMERS: &str = "crates/core/src/world/timers.rs";

#[rustfmt::skip] // One below the other, the passage and what takes its place.
pub const MUTANTS: &[Mutant] = &[
    mutant("fencing-ignored", "a report must name the current attempt", REPORT, (
        "row.live_attempt().filter(|(id, _)| *id == ticket.attempt).map(|_| row)",
        "row.live_attempt().map(|_| row)",
    )),
    mutant("ended-twice", "a settled task takes no report", REPORT, (
        "row.live_attempt().filter(|(id, _)| *id == ticket.attempt).map(|_| row)",
        "row.attempt.as_ref().filter(|it| it.id == ticket.attempt).map(|_| row)",
    )),
    mutant("never-started-twice", "an attempt is started again once", REPORT, (
        "number != self.epoch || !self.asked_after.remove(&ticket.attempt)",
        "number != self.epoch",
    )),
    mutant("former-question", "an answer to a former question is refused", REPORT, (
        "number != self.epoch || !self.asked_after.remove(&ticket.attempt)",
        "!self.asked_after.remove(&ticket.attempt)",
    )),
    mutant("never-started-ignored", "what was never started is started", REPORT, (
        "self.start_again(now, ticket)",
        "()",
    )),
    mutant("unknown-ignored", "what nobody knows of is lost", REPORT, (
        "self.lost(now, ticket, log)",
        "drop(log)",
    )),
    mutant("stopped-once", "what is being stopped is stopped again after a load", REPORT, (
        "                if let Some(why) = stopping {
                    self.effect(Effect::Stop(self.executor(ticket), Stop { ticket, why }));
                }",
        "                drop(stopping);",
    )),
    mutant("start-opens-nothing", "a start is followed by what waits for it", REPORT, (
        "        self.follow(key, no);",
        "",
    )),
    mutant("cascade-forgotten", "an end is followed by what it opens and dooms", REPORT, (
        "        self.follow(key, task.no);
        self.pass_checkpoint(now, key, task.no);",
        "        self.pass_checkpoint(now, key, task.no);",
    )),
    mutant("losses-uncounted", "losses are counted", REPORT, (
        "            row.losses = losses;",
        "",
    )),
    mutant("loss-while-stopping", "unknown while stopping settles as that reason", REPORT, (
        "self.ended(now, ticket, gone(log))",
        "self.lost(now, ticket, log)",
    )),
    mutant("no-retry-delay", "a retry waits for its delay", REPORT, (
        "            step(row, Event::PutOff);
            row.until = Some(now + pause);",
        "            step(row, Event::PutOff);
            row.until = Some(now);",
    )),
    mutant("cancel-by-exit", "stopped by a cancel means cancelled", REPORT, (
        "(stopping, ended.outcome)",
        "match (stopping, &ended.outcome) {
            (Some(Stopping::Cancel), Outcome::Success(_) | Outcome::Failed(_)) => {
                (None, ended.outcome)
            }
            _ => (stopping, ended.outcome),
        }",
    )),
    mutant("timeout-by-exit", "a timeout is a timeout whatever the exit", REPORT, (
        "(stopping, ended.outcome)",
        "match (stopping, &ended.outcome) {
            (Some(Stopping::Timeout), Outcome::Success(_) | Outcome::Failed(_)) => {
                (None, ended.outcome)
            }
            _ => (stopping, ended.outcome),
        }",
    )),
    mutant("pause-counts", "stopped for a pause is not a failure", REPORT, (
        "                    step(row, Event::PutOff);
                    row.until = Some(now);",
        "                    step(row, Event::PutOff);
                    row.until = Some(now);
                    row.tries += 1;",
    )),
    mutant("settled-when-stopped", "cancelled means that the work is gone", REPORT, (
        "        self.draft.task(key, ticket.task);
        self.effect(Effect::Stop(self.executor(ticket), Stop { ticket, why }));",
        "        self.draft.task(key, ticket.task);
        self.effect(Effect::Stop(self.executor(ticket), Stop { ticket, why }));
        if why == Stopping::Cancel {
            self.finish(Timestamp(0), ticket, AttemptEnd::Cancelled, |row| {
                step(row, Event::Cancelled);
                row.hold = None;
            });
        }",
    )),
    mutant("cancel-stops-nothing", "what is cancelled is told to stop", REPORT, (
        "        self.draft.task(key, ticket.task);
        self.effect(Effect::Stop(self.executor(ticket), Stop { ticket, why }));",
        "        self.draft.task(key, ticket.task);
        if why != Stopping::Cancel {
            self.effect(Effect::Stop(self.executor(ticket), Stop { ticket, why }));
        }",
    )),
    mutant("number-of-a-refused-start", "a refused start uses no number", REPORT, (
        "            row.attempts -= 1;",
        "",
    )),
    mutant("refusals-forgotten", "refused starts count against the start timeout", REPORT, (
        "            row.refused_for = Span(so_far.0 + pause.0);",
        "            row.refused_for = pause;",
    )),
    mutant("end-not-durable", "an end is in the batch that follows from it", REPORT, (
        "        self.draft.task(key, task);
        self.forget_attempt(now, ticket);",
        "        self.forget_attempt(now, ticket);",
    )),
    mutant("kill-not-told", "a kill that is not confirmed in time needs somebody", OVERDUE, (
        "run.progress.unconfirmed_since.get_or_insert(now);",
        "",
    )),
    mutant("kill-told-for-ever", "what is gone needs nobody", OVERDUE, (
        "run.progress.unconfirmed_since = None;",
        "",
    )),
    mutant("kill-begins-anew", "a kill is late from the first order on", REPORT, (
        "row.until.get_or_insert(now + KILL_CONFIRMED_WITHIN);",
        "row.until = Some(now + KILL_CONFIRMED_WITHIN);",
    )),
    mutant("never-settled", "an end that is durable is settled", REPORT, (
        "        self.effect(Effect::Settle(self.executor(ticket), ticket));",
        "",
    )),
    mutant("start-not-stored", "a start is stored with the next commit", REPORT, (
        "        self.draft.riding(ticket.run, ticket.task, now);",
        "",
    )),
    mutant("refused-while-stopping", "a refused start that is being stopped is over", REPORT, (
        "row.stopping.is_some()",
        "false",
    )),
    mutant("unheard-start-forgotten", "the end says that it had started", REPORT, (
        "ended.started",
        "false",
    )),
    mutant("loss-is-failure", "a worker that died is a loss, not a failure", REPORT, (
        "error.class == ErrorClass::WorkerLost",
        "false",
    )),
    mutant("start-timeout-is-timeout", "what never started did not run too long", REPORT, (
        "if started { Stopping::Timeout } else { Stopping::StartTimeout }",
        "Stopping::Timeout",
    )),
    mutant("start-not-durable", "a dispatch is in the batch that starts it", ADVANCE, (
        "«self.draft.task(key, task);»
        let run = self.runs.get(&key)",
        "",
    )),
    mutant("double-dispatch", "what is dispatched is not ready any more", ADVANCE, (
        "«self.draft.task(key, task);»
        let run = self.runs.get(&key)",
        "self.draft.task(key, task);
        self.enqueue(key, task.no);",
    )),
    mutant("history-dropped", "a superseded attempt goes into the history", ADVANCE, (
        "(!refused).then_some(AttemptRow { task: row.task, step: Step::Work, attempt, output })",
        "(refused && !refused).then_some(AttemptRow { task: row.task, step: Step::Work, attempt, output })",
    )),
    mutant("outputs-withheld", "an attempt is told what those above it put out", ASK, (
        "row.and_then(|row| row.readable_output().cloned())",
        "None",
    )),
    mutant("stale-agenda", "what was opened is looked at again before it starts", ADVANCE, (
        "!run.is_startable(no, now)",
        "false",
    )),
    mutant("retries-off-by-one", "N retries make N+1 tries", AGAIN, (
        "tries > retries.max",
        "tries >= retries.max",
    )),
    mutant("once-is-often", "on_lost: fail is final", AGAIN, (
        "on_lost == OnLost::Fail || losses > LOSSES_MAX",
        "losses > LOSSES_MAX",
    )),
    mutant("timeout-from-dispatch", "a timeout counts from the start", TIMERS, (
        "attempt?.started_at? + task.timeout",
        "attempt?.dispatched_at + task.timeout",
    )),
];
