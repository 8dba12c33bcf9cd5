//! One sentence for each state. A state without one does not compile.

use super::tables::table;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::kernel::transition::Event;
use mainspring_core::view::word::Word;

fn list(head: &str, rows: impl Iterator<Item = (&'static str, &'static str)>) -> String {
    let rows: Vec<Vec<String>> =
        rows.map(|(word, says)| vec![word.to_owned(), says.to_owned()]).collect();
    table(&[head.to_owned(), "meaning".to_owned()], &rows)
}

pub fn runs() -> String {
    list("run", RunStatus::ALL.iter().map(|status| (status.word(), run(*status))))
}

pub fn words() -> String {
    list("task", Word::ALL.iter().map(|word| (word.text(), shown(*word))))
}

pub fn facts() -> String {
    list("fact", Fact::ALL.iter().map(|fact| (fact.word(), stored(*fact))))
}

pub fn events() -> String {
    list("event", Event::ALL.iter().map(|event| (event.word(), happened(*event))))
}

const fn run(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Pending => {
            "Accepted and durable, not yet picked up, or beyond `max_active_runs`."
        }
        RunStatus::Running => "Its tasks may start.",
        RunStatus::Paused => {
            "Held: no new attempt starts, what runs goes on, and it does not end before it is \
             resumed or cancelled. Its timeout goes on."
        }
        RunStatus::Cancelling => {
            "No new attempt starts, except of `always` tasks; whatever else is live is being stopped."
        }
        RunStatus::Success => "Everything is settled and no failure was left unhandled.",
        RunStatus::Failed => "A task failed and nothing handled it, or the run timed out.",
        RunStatus::Cancelled => "Someone cancelled it, or a task of it.",
    }
}

const fn shown(word: Word) -> &'static str {
    match word {
        Word::Pending => "A dependency is not satisfied yet, or a retry waits for its time.",
        Word::Ready => "It may start and waits for its limits.",
        Word::Dispatched => "An attempt is durable and handed to its executor.",
        Word::Running => "The executor said that it started.",
        Word::Waiting => "Parked: it waits for a timer, a signal, an approval or a child run.",
        Word::WorkerDone => "The work is done, its finalizer has not landed.",
        Word::Success => "Done.",
        Word::Failed => "Failed, with no retry left.",
        Word::Cancelled => "Cancelled, by itself, with its run or below a cancelled task.",
        Word::Skipped => "Not needed: its condition was false, or what it waited for cannot come.",
        Word::Blocked => "A task above it failed. A retry of that one revives it.",
        Word::Paused => "Held while it was pending or ready.",
    }
}

const fn stored(fact: Fact) -> &'static str {
    match fact {
        Fact::None => "No row, or a row kept for its numbers or its hold.",
        Fact::Delayed => "A retry or a refused start waits until its time.",
        Fact::Dispatched => "The attempt is durable and handed to its executor; takes permits.",
        Fact::Running => "The executor said that it started; takes permits.",
        Fact::Open => "A fan-out whose instances take their turns; takes no permits itself.",
        Fact::Waiting => "Parked; takes no permits.",
        Fact::WorkerDone => "The work is done; only its finalizer takes permits.",
        Fact::Success => "An outcome: it succeeded, or was decided so without an attempt.",
        Fact::Failed => "An outcome: it failed for good.",
        Fact::Cancelled => "An outcome: it was cancelled and the work is gone.",
        Fact::Skipped => "An outcome: its own condition was false.",
    }
}

const fn happened(event: Event) -> &'static str {
    match event {
        Event::Dispatched => "Dependencies satisfied, time come, not held, permits granted.",
        Event::Parked => "A control task began to wait.",
        Event::ConditionFalse => "Its condition was false when its dependencies were satisfied.",
        Event::DecidedSuccess => "Decided without an attempt: a noop.",
        Event::DecidedFailure => "Decided without an attempt: a bad reference or condition.",
        Event::Copied => "Its success in another run, which this one runs anew, was taken over.",
        Event::GroupOpened => "A fan-out opened, with at least one instance.",
        Event::GroupReopened => "Some instances of a fan-out were asked for again.",
        Event::InstanceRetried => "This instance of a fan-out is tried once more.",
        Event::Started => "The executor said that the attempt started.",
        Event::StartRefused => "The executor could not take the attempt; its number is not used.",
        Event::WorkDone => "The work is done and a finalizer follows.",
        Event::Succeeded => "The attempt succeeded, the wait was answered, the finalizer landed.",
        Event::FailedForGood => "Failed with no retry left.",
        Event::PutOff => "Failed with a retry left, lost with a loss left, stopped for a pause.",
        Event::Cancelled => "Cancelled, and the work is gone.",
        Event::Retried => "A person asked for it again.",
        Event::SentBack => "A task above it is retried and this one has to follow.",
    }
}
