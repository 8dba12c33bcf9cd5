//! What is known of a run on a server: states, as they are heard of.

use super::standing::{Live, Standing, Tally};
use super::step::{Step, What};
use crate::client::wire::{Awaits, Error, Run, Task};
use crate::fan::{Fan, NAMED_MAX};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub struct Watched {
    run: Option<Run>,
    tasks: BTreeMap<String, Task>,
    /// Failed instances that were named, a few of each fan-out.
    named: BTreeMap<String, BTreeSet<u32>>,
}

impl Watched {
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    pub fn put_run(&mut self, run: Run) {
        self.run = Some(run);
    }

    /// Takes over a task's state; says what a person wants to know of it.
    pub fn put_task(&mut self, task: Task) -> Vec<Step> {
        let before = self.tasks.get(&task.name);
        if before.is_some_and(|before| is_older(&task, before)) {
            return Vec::new();
        }
        let whats: Vec<What> = match task.fan() {
            None => news(before, &task).into_iter().collect(),
            Some(fan) => self.group_news(before, (&task, fan)),
        };
        let steps = whats.into_iter().map(|what| step(&task, what)).collect();
        self.tasks.insert(task.name.clone(), task);
        steps
    }

    /// How many more of a fan-out's failed instances would be named if they were known.
    pub fn unnamed(&self, task: &Task) -> usize {
        let failed = task.fan().map_or(0, |fan| fan.failed as usize);
        let named = self.named.get(&task.name).map_or(0, BTreeSet::len);
        failed.min(NAMED_MAX).saturating_sub(named)
    }

    /// A failed instance, which is told of once, if at all.
    pub fn put_failed(&mut self, instance: &Task) -> Option<Step> {
        let named = self.named.entry(instance.name.clone()).or_default();
        if named.len() >= NAMED_MAX || !named.insert(instance.index?) {
            return None;
        }
        news(None, instance).map(|what| step(instance, what))
    }

    fn group_news(&self, before: Option<&Task>, (now, fan): (&Task, Fan)) -> Vec<What> {
        let then = before.and_then(Task::fan).unwrap_or_default();
        if now.is_live() {
            return match before.is_some_and(Task::is_live) {
                false => vec![What::Opened(fan.total)],
                true if fan.has_news_since(then) => vec![What::Advanced(fan)],
                true => Vec::new(),
            };
        }
        let is_new = before.is_none_or(|before| before.status != now.status);
        let took = now.finished_at.zip(now.started_at).map(|(end, since)| end.since(since));
        let what = match now.status.as_str() {
            "success" if now.reason.as_deref() == Some("copied") => is_new.then_some(What::Copied),
            "success" => is_new.then_some(What::Gathered(fan, took)),
            _ => news(before, now),
        };
        let named = self.named.get(&now.name).map_or(0, BTreeSet::len);
        let more = fan.failed.saturating_sub(u32::try_from(named).unwrap_or(u32::MAX));
        let more = (is_new && now.is_settled() && more > 0).then_some(What::MoreFailed(more));
        more.into_iter().chain(what).collect()
    }
}

fn step(task: &Task, what: What) -> Step {
    let landing = task.finalizer.as_ref().filter(|_| task.status == "worker_done");
    Step {
        task: task.title().into(),
        attempts: task.attempt,
        tries: landing.map_or((task.tries, task.tries_max), |finalizer| {
            (finalizer.tries, finalizer.tries_max)
        }),
        what,
    }
}

impl Standing for Watched {
    fn live(&self) -> Vec<Live<'_>> {
        let at_work = |task: &&Task| task.is_live() || task.is_landing();
        let live = self.tasks.values().filter(at_work).map(|task| {
            let landing = task.finalizer.as_ref().and_then(|it| it.started_at);
            let since = landing.or(task.started_at).unwrap_or_else(mainspring_exec::now);
            Live { name: task.name.as_str(), since, fan: task.fan() }
        });
        let mut live: Vec<_> = live.collect();
        live.sort_by_key(|task| task.since);
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
    if now.status == "worker_done" {
        return landing_news(before, now);
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
        ("success", _) if reason == Some("cached") => Some(What::Cached),
        ("success", _) if reason == Some("copied") => Some(What::Copied),
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
        ("waiting", _) => Some(What::Waiting(now.awaits.as_ref().map(Awaits::text)?)),
        ("skipped", _) if reason == Some("condition") => Some(What::Skipped),
        ("pending" | "ready", Some(error)) => Some(What::Retrying(error, now.retry_at?)),
        ("pending" | "ready", None) => Some(What::Refused(refused?.to_owned(), now.retry_at?)),
        _ => None,
    }
}

/// What changed about a task whose work is done.
fn landing_news(before: Option<&Task>, now: &Task) -> Option<What> {
    let finalizer = now.finalizer.as_ref()?;
    let known = before.filter(|before| before.status == now.status);
    let Some(known) = known.and_then(|before| before.finalizer.as_ref()) else {
        return Some(What::WorkDone(None));
    };
    if finalizer.is_live() {
        return (finalizer.attempt != known.attempt).then_some(What::Landing);
    }
    if finalizer.retry_at == known.retry_at {
        return None;
    }
    let reason = now.reason.as_deref();
    let refused = reason.and_then(|reason| reason.strip_prefix("start_refused: "));
    let at = finalizer.retry_at?;
    match (refused, &finalizer.error) {
        (Some(why), _) => Some(What::Refused(why.to_owned(), at)),
        (None, Some(error)) if finalizer.tries + finalizer.losses > known.tries + known.losses => {
            let message = format!("its finalizer: {}", error.message);
            Some(What::Retrying(Error { class: error.class.clone(), message }, at))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_core::time::Timestamp;
    use serde_json::{Value, json};

    fn said(states: &[Value]) -> Vec<String> {
        let mut watched = Watched::default();
        let mut heard = Vec::new();
        for state in states {
            let mut whole = json!({"name": "a", "attempt": 1, "tries": 0, "tries_max": 2});
            let fields = whole.as_object_mut().expect("an object");
            fields.extend(state.as_object().expect("an object").clone());
            let task = serde_json::from_value(whole).expect("a task");
            for step in watched.put_task(task) {
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
    fn a_fan_out_is_told_of_in_counts() {
        let group = |status: &str, success: u32, failed: u32| {
            let instances = json!({"total": 200, "success": success, "failed": failed});
            json!({"status": status, "attempt": 0, "instances": instances})
        };
        let heard = said(&[
            json!({"status": "pending", "attempt": 0}),
            group("running", 0, 0),
            group("running", 7, 0),
            group("running", 30, 0),
            group("running", 39, 0),
            group("success", 190, 10),
        ]);
        let wanted = [
            "started    a, 200 instances",
            "running    a 30/200",
            "failed     … and 10 more instances of a",
            "success    a, 200 instances, 10 failed",
        ];
        assert_eq!(heard, wanted);
    }

    #[test]
    fn failed_instances_are_named_once_and_not_all() {
        let mut watched = Watched::default();
        let instance = |index: u32| -> Task {
            let error = json!({"class": "exit", "message": "exited with code 1"});
            let whole = json!({"name": "a", "index": index, "status": "failed", "attempt": 1,
                "tries": 1, "tries_max": 1, "error": error});
            serde_json::from_value(whole).expect("an instance")
        };
        let first = watched.put_failed(&instance(3)).expect("it is news").line(Timestamp(0));
        let first = anstream::adapter::strip_str(&first).to_string();
        assert_eq!(first, "failed     a[3]: exit: exited with code 1");
        assert!(watched.put_failed(&instance(3)).is_none());
        let told = (10..30).filter_map(|index| watched.put_failed(&instance(index))).count();
        assert_eq!(told, NAMED_MAX - 1);
    }

    #[test]
    fn what_follows_from_something_else_is_left_to_the_end() {
        assert!(said(&[json!({"status": "blocked", "reason": "upstream_failed: b"})]).is_empty());
        assert!(said(&[json!({"status": "cancelled", "reason": "run_cancelled"})]).is_empty());
        assert_eq!(said(&[json!({"status": "cancelled"})]), ["cancelled  a"]);
    }
}
