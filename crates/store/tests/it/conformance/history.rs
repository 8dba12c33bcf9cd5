//! What is never written over: versions, superseded attempts, logs.

use super::begin::{accept, begin, key};
use crate::asking::{ask, commit};
use crate::rows::{attempt, attempt_id, instance, plain, version};
use mainspring_core::error::TaskError;
use mainspring_core::kernel::finalizer::Step;
use mainspring_core::kernel::row::{AttemptEnd, AttemptRow, Log, RunStatus};
use mainspring_core::output::Output;
use mainspring_core::world::batch::Change;
use mainspring_store::Store;

pub fn the_first_word_on_a_version_stands(store: &dyn Store) {
    let fence = begin(store);
    for text in ["first", "second"] {
        commit(store, fence, vec![Change::NewVersion(version("build", 1, text))]).unwrap();
    }
    assert_eq!(ask(store.version("build", Some(1))), Some(version("build", 1, "first")));
}

pub fn the_latest_version_has_the_highest_number(store: &dyn Store) {
    let fence = begin(store);
    for number in [1, 10, 2] {
        commit(store, fence, vec![Change::NewVersion(version("build", number, "x"))]).unwrap();
    }
    commit(store, fence, vec![Change::NewVersion(version("build2", 11, "x"))]).unwrap();
    assert_eq!(ask(store.version("build", None)), Some(version("build", 10, "x")));
    assert_eq!(ask(store.version("build", Some(2))), Some(version("build", 2, "x")));
    assert_eq!(ask(store.version("build", Some(3))), None);
    assert_eq!(ask(store.version("buil", None)), None);
}

pub fn history_is_ordered_and_append_only(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let row = |task, number, id| AttemptRow {
        task,
        step: Step::Work,
        attempt: attempt(number, id),
        output: None,
    };
    let ordered =
        [row(plain(0), 1, 9), row(plain(0), 2, 3), row(instance(0, 0), 1, 1), row(plain(2), 1, 2)];
    for at in [2, 0, 3, 1] {
        let change = Change::NewAttempt(key(1), ordered[at].clone());
        commit(store, fence, vec![change]).unwrap();
    }
    let mut again = ordered[1].clone();
    again.output = Some(Output::null());
    commit(store, fence, vec![Change::NewAttempt(key(1), again)]).unwrap();
    assert_eq!(ask(store.attempts(key(1))), ordered);
    assert_eq!(ask(store.attempts(key(2))), []);
    assert_eq!(ask(store.attempts_of(key(1), plain(0))), ordered[..2]);
    assert_eq!(ask(store.attempts_of(key(1), instance(0, 0))), ordered[2..3]);
    assert_eq!(ask(store.attempts_of(key(1), instance(2, 0))), []);
    assert_eq!(ask(store.attempts_of(key(2), plain(0))), []);
}

pub fn a_number_may_be_used_again_after_a_refused_start(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let mut refused = attempt(1, 1);
    refused.end = Some(AttemptEnd::Refused("busy".into()));
    let mut failed = attempt(1, 2);
    failed.end = Some(AttemptEnd::Failed(Box::new(TaskError::exit(1))));
    let rows = [refused, failed].map(|attempt| AttemptRow {
        task: plain(0),
        step: Step::Work,
        attempt,
        output: None,
    });
    let changes = rows.iter().map(|row| Change::NewAttempt(key(1), row.clone())).collect();
    commit(store, fence, changes).unwrap();
    assert_eq!(ask(store.attempts(key(1))), rows);
}

pub fn logs_are_kept_by_attempt(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let logs = [
        Log::Inline(vec![0, 255, 10].into()),
        Log::Inline(Vec::new().into()),
        Log::File { bytes: 1 << 40 },
        Log::File { bytes: 0 },
        Log::Blob { bytes: 1 << 40 },
        Log::Blob { bytes: 0 },
    ];
    for (id, log) in (1..).zip(&logs) {
        let change = Change::NewLog(key(1), attempt_id(id), log.clone());
        commit(store, fence, vec![change]).unwrap();
    }
    let again = Change::NewLog(key(1), attempt_id(1), Log::File { bytes: 5 });
    commit(store, fence, vec![again]).unwrap();
    for (id, log) in (1..).zip(logs) {
        assert_eq!(ask(store.log(key(1), attempt_id(id))), Some(log));
    }
    assert_eq!(ask(store.log(key(1), attempt_id(9))), None);
    let among: Vec<_> = [9, 1, 2, 3, 4, 5, 6].map(attempt_id).to_vec();
    let mut outside = ask(store.logs_outside(&among));
    outside.sort_unstable();
    assert_eq!(outside, [3, 4, 5, 6].map(attempt_id));
    assert_eq!(ask(store.logs_outside(&[])), []);
    assert_eq!(ask(store.log(key(2), attempt_id(1))), None);
}
