//! What tasks did in the world, kept where no fault reaches it, and compared with the record.
//! Each attempt appends a line when it begins and one when it is done; the record must agree.

use crate::rig::Bench;
use serde_json::Value;
use std::collections::BTreeMap;

/// Shell lines for a task: the first thing it does, and the last.
pub const BEGIN: &str =
    "echo begin $MAINSPRING_TASK $MAINSPRING_ATTEMPT $MAINSPRING_ATTEMPT_ID >> effects";
pub const END: &str =
    "echo end $MAINSPRING_TASK $MAINSPRING_ATTEMPT $MAINSPRING_ATTEMPT_ID >> effects";

/// One attempt as the world saw it: where in the file its lines are.
#[derive(Debug)]
pub struct Seen {
    pub number: u64,
    pub id: String,
    pub began: usize,
    pub ended: Option<usize>,
}

#[derive(Debug)]
pub struct Oracle {
    /// By task, in the order they began.
    seen: BTreeMap<String, Vec<Seen>>,
    /// Says which round it is when something is wrong.
    round: String,
}

/// Tasks whose success was recorded, each with the attempt that had it.
pub type Successes = BTreeMap<String, u64>;

impl Oracle {
    /// Reads what happened. No attempt did anything twice.
    #[track_caller]
    pub fn new(bench: &Bench, round: impl Into<String>) -> Self {
        let mut oracle = Self { seen: BTreeMap::new(), round: round.into() };
        for (at, line) in bench.read("effects").lines().enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            let [what, task, number, id] = words[..] else { panic!("{}: {line}", oracle.round) };
            let attempts = oracle.seen.entry(task.to_owned()).or_default();
            let known = attempts.iter_mut().find(|seen| seen.id == id);
            match (what, known) {
                ("begin", None) => {
                    let number = number.parse().expect("a number");
                    attempts.push(Seen { number, id: id.to_owned(), began: at, ended: None });
                }
                ("end", Some(Seen { ended: ended @ None, .. })) => *ended = Some(at),
                _ => panic!("{}: an attempt ran twice: {line}", oracle.round),
            }
        }
        oracle
    }

    pub fn of(&self, task: &str) -> &[Seen] {
        self.seen.get(task).map_or(&[], Vec::as_slice)
    }

    /// Everything that ran is in the record under the same number, and nobody runs after or
    /// beside a success, which ran to its end.
    #[track_caller]
    pub fn agrees_with(&self, document: &Value) {
        let round = &self.round;
        for task in tasks(document) {
            let name = task["name"].as_str().expect("a name");
            let recorded = task["attempts"].as_array().cloned().unwrap_or_default();
            let seen = self.of(name);
            for one in seen {
                let row = recorded.iter().find(|row| row["id"] == *one.id);
                let row = row.unwrap_or_else(|| panic!("{round}: {one:?} is not in {task}"));
                assert_eq!(row["attempt"], one.number, "{round}: {task}");
            }
            let mut numbers: Vec<u64> = seen.iter().map(|one| one.number).collect();
            let in_order = numbers.is_sorted();
            numbers.dedup();
            assert!(in_order && numbers.len() == seen.len(), "{round}: {seen:?}");
            if task["status"] == "success" {
                let last = seen.last().unwrap_or_else(|| panic!("{round}: never ran: {task}"));
                assert_eq!(task["attempt"], last.number, "{round}: ran after its success: {task}");
                assert!(last.ended.is_some(), "{round}: not at its end: {task}");
            }
        }
        for name in self.seen.keys() {
            assert!(tasks(document).any(|task| task["name"] == **name), "{round}: {name}");
        }
    }

    /// What was recorded as a success at an earlier time is the same success now.
    #[track_caller]
    pub fn kept(&self, before: &Successes, document: &Value) {
        let after = successes(document);
        for (task, attempt) in before {
            assert_eq!(after.get(task), Some(attempt), "{}: {task} ran again", self.round);
        }
    }

    /// What nobody may see: `task` beginning before `upstream` had ended well.
    #[track_caller]
    pub fn began_after_the_end_of(&self, task: &str, upstream: &str) {
        let ended = self.of(upstream).last().and_then(|seen| seen.ended);
        for one in self.of(task) {
            let (round, began) = (&self.round, one.began);
            assert!(ended.is_some_and(|at| at < began), "{round}: {task} before {upstream}");
        }
    }
}

pub fn tasks(document: &Value) -> impl Iterator<Item = &Value> {
    document["tasks"].as_array().expect("tasks").iter()
}

pub fn successes(document: &Value) -> Successes {
    let done = tasks(document).filter(|task| task["status"] == "success");
    let one = |task: &Value| {
        let name = task["name"].as_str().expect("a name").to_owned();
        (name, task["attempt"].as_u64().expect("a number"))
    };
    done.map(one).collect()
}

/// How many of a task's attempts were lost.
pub fn losses(task: &Value) -> usize {
    let attempts = task["attempts"].as_array().map_or(&[][..], Vec::as_slice);
    attempts.iter().filter(|one| one["error"]["class"] == "worker_lost").count()
}
