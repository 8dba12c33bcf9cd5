//! What is known of a run on a server: states, as they are heard of.

use super::standing::{Standing, Tally};
use super::step::{Step, What};
use crate::client::wire::{Run, Task};
use crate::out;
use mainspring_core::time::Timestamp;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Watched {
    run: Option<Run>,
    tasks: BTreeMap<String, Task>,
}

impl Watched {
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    pub fn put_run(&mut self, run: Run) {
        self.run = Some(run);
    }

    /// Takes over a task's state; says what a person wants to know of it.
    pub fn put_task(&mut self, task: Task) -> Option<Step> {
        let before = self.tasks.get(&task.name);
        if before.is_some_and(|before| is_older(&task, before)) {
            return None;
        }
        let step = news(before, &task).map(|what| Step {
            task: out::tame(&task.name).into(),
            attempts: task.attempt,
            tries: (task.tries, task.tries_max),
            what,
        });
        self.tasks.insert(task.name.clone(), task);
        step
    }
}

impl Standing for Watched {
    fn live(&self) -> Vec<(&str, Timestamp)> {
        let live = self.tasks.values().filter(|task| task.is_live());
        let since = |task: &Task| task.started_at.unwrap_or_else(mainspring_exec::now);
        let mut live: Vec<_> = live.map(|task| (task.name.as_str(), since(task))).collect();
        live.sort_by_key(|(_, since)| *since);
        live
    }

    fn tally(&self) -> Tally {
        let Some(run) = &self.run else { return Tally::default() };
        Tally { total: run.count("total"), done: run.done(), failed: run.count("failed") }
    }
}

/// What was asked for may be ahead of what was on its way.
fn is_older(task: &Task, known: &Task) -> bool {
    task.attempt < known.attempt
        || (task.attempt == known.attempt && task.is_live() && known.is_settled())
}

/// What changed from one state to the next, if a person cares.
fn news(before: Option<&Task>, now: &Task) -> Option<What> {
    if now.is_live() {
        let same = before.is_some_and(|it| it.is_live() && it.attempt == now.attempt);
        return (!same).then_some(What::Started);
    }
    // From pending to ready is no news.
    let waits = |task: &Task| matches!(task.status.as_str(), "pending" | "ready");
    let is_same = |before: &Task| {
        (before.status == now.status || (waits(before) && waits(now)))
            && before.attempt == now.attempt
            && before.retry_at == now.retry_at
    };
    if before.is_some_and(is_same) {
        return None;
    }
    let error = now.error.clone();
    let reason = now.reason.as_deref();
    let refused = reason.and_then(|reason| reason.strip_prefix("start_refused: "));
    match (now.status.as_str(), error) {
        ("success", _) => {
            let took = now.finished_at.zip(now.started_at);
            Some(What::Success(took.map(|(end, start)| end.since(start))))
        }
        ("failed", Some(error)) => Some(What::Failed(error)),
        ("failed", None) => {
            Some(What::NeverStarted(reason.unwrap_or("no reason is known").to_owned()))
        }
        // With a reason they follow from something else, and are told of at the end.
        ("cancelled", _) if reason.is_none() => Some(What::Cancelled),
        ("skipped", _) if reason == Some("condition") => Some(What::Skipped),
        ("pending" | "ready", Some(error)) => Some(What::Retrying(error, now.retry_at?)),
        ("pending" | "ready", None) => Some(What::Refused(refused?.to_owned(), now.retry_at?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn said(states: &[Value]) -> Vec<String> {
        let mut watched = Watched::default();
        let mut heard = Vec::new();
        for state in states {
            let mut whole = json!({"name": "a", "attempt": 1, "tries": 0, "tries_max": 2});
            let fields = whole.as_object_mut().expect("an object");
            fields.extend(state.as_object().expect("an object").clone());
            let task = serde_json::from_value(whole).expect("a task");
            if let Some(step) = watched.put_task(task) {
                let line = step.line(Timestamp(0));
                heard.push(anstream::adapter::strip_str(&line).to_string());
            }
        }
        heard
    }

    #[test]
    fn steps_are_told_once() {
        let (start, end) = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:02Z");
        let heard = said(&[
            json!({"status": "pending", "attempt": 0}),
            json!({"status": "dispatched"}),
            json!({"status": "running", "started_at": start}),
            json!({"status": "pending", "tries": 1, "retry_at": "1970-01-01T00:00:01Z",
                "error": {"class": "exit", "message": "exited with code 1"}}),
            json!({"status": "ready", "tries": 1, "retry_at": "1970-01-01T00:00:01Z",
                "error": {"class": "exit", "message": "exited with code 1"}}),
            json!({"status": "running", "attempt": 2, "started_at": start}),
            json!({"status": "success", "attempt": 2, "started_at": start, "finished_at": end}),
            json!({"status": "running", "attempt": 2, "started_at": start}),
            json!({"status": "success", "attempt": 2, "started_at": start, "finished_at": end}),
        ]);
        let again =
            "retrying   a in 1s (at 00:00:01Z): try 1 of 2 failed: exit: exited with code 1";
        assert_eq!(heard[0], "started    a");
        assert_eq!(heard[1], again);
        assert_eq!(heard[heard.len() - 2..], ["started    a, attempt 2", "success    a in 2s"]);
        assert_eq!(heard.len(), 4, "{heard:?}");
    }

    #[test]
    fn what_follows_from_something_else_is_left_to_the_end() {
        assert!(said(&[json!({"status": "blocked", "reason": "upstream_failed: b"})]).is_empty());
        assert!(said(&[json!({"status": "cancelled", "reason": "run_cancelled"})]).is_empty());
        assert_eq!(said(&[json!({"status": "cancelled"})]), ["cancelled  a"]);
    }
}
