//! A batch is written whole, or refused whole.

use super::begin::{accept, begin, key, load};
use crate::asking::{ask, commit};
use crate::rows::{
    OTHER, SCHEDULER, attempt, attempt_id, head, plain, progress, run_id, task, version,
};
use mainspring_core::kernel::finalizer::Step;
use mainspring_core::kernel::row::{AttemptRow, Log, RunHead, RunProgress, RunStatus};
use mainspring_core::world::batch::Change;
use mainspring_store::{CommitError, Store};
use std::sync::mpsc;

#[track_caller]
fn assert_refused(result: &Result<(), CommitError>) {
    assert!(matches!(result, Err(CommitError::Failed { .. })), "{result:?}");
}

pub fn changes_may_come_in_any_order(store: &dyn Store) {
    let fence = begin(store);
    let changes = vec![
        Change::NewLog(key(1), attempt_id(1), Log::File { bytes: 9 }),
        Change::PutTask(key(1), task(plain(0))),
        Change::PutRun(key(1), progress(RunStatus::Running, 2)),
        Change::NewRun(head(1), progress(RunStatus::Pending, 1)),
    ];
    commit(store, fence, changes).unwrap();
    let run = load(store, 1);
    assert_eq!((run.progress.status, run.tasks.len()), (RunStatus::Running, 1));
}

pub fn commits_are_answered_in_order(store: &dyn Store) {
    let fence = begin(store);
    let (answered, answers) = mpsc::channel();
    for number in 0..50_u64 {
        let answered = answered.clone();
        let change = match number {
            0 => Change::NewRun(head(1), progress(RunStatus::Running, 0)),
            stamp => Change::PutRun(key(1), progress(RunStatus::Running, stamp)),
        };
        let done = Box::new(move |result: Result<(), CommitError>| {
            answered.send((number, result.is_ok())).unwrap();
        });
        store.commit(fence, vec![change], done);
    }
    drop(answered);
    let expected: Vec<(u64, bool)> = (0..50).map(|number| (number, true)).collect();
    assert_eq!(answers.into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(load(store, 1).progress.stamp, 49);
}

pub fn progress_of_an_unknown_run_is_refused(store: &dyn Store) {
    let fence = begin(store);
    let result = commit(store, fence, vec![Change::PutRun(key(1), progress(RunStatus::Failed, 1))]);
    assert_refused(&result);
    assert_eq!(ask(store.run(run_id(1))), None);
}

pub fn rows_of_an_unknown_run_are_refused(store: &dyn Store) {
    let row = AttemptRow { task: plain(0), step: Step::Work, attempt: attempt(1, 1), output: None };
    assert_refused(&commit(store, begin(store), vec![Change::PutTask(key(1), task(plain(0)))]));
    assert_refused(&commit(store, begin(store), vec![Change::NewAttempt(key(1), row)]));
    let log = Change::NewLog(key(1), attempt_id(1), Log::File { bytes: 1 });
    assert_refused(&commit(store, begin(store), vec![log]));
    assert_eq!(ask(store.attempts(key(1))), []);
}

pub fn a_run_is_never_written_over(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let same_id = RunHead { key: key(2), ..head(1) };
    let same_key = RunHead { id: run_id(2), ..head(1) };
    for head in [head(1), same_id, same_key] {
        let change = Change::NewRun(head, progress(RunStatus::Pending, 5));
        assert_refused(&commit(store, begin(store), vec![change]));
    }
    assert_eq!(load(store, 1).progress.status, RunStatus::Running);
}

pub fn an_unknown_owner_is_refused(store: &dyn Store) {
    let foreign = RunProgress { owner: OTHER, ..progress(RunStatus::Running, 1) };
    let change = Change::NewRun(head(1), foreign.clone());
    assert_refused(&commit(store, begin(store), vec![change]));
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    assert_refused(&commit(store, fence, vec![Change::PutRun(key(1), foreign)]));
    assert_eq!(load(store, 1).progress.owner, SCHEDULER);
}

pub fn a_refused_batch_leaves_nothing(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let row = AttemptRow { task: plain(0), step: Step::Work, attempt: attempt(1, 1), output: None };
    let changes = vec![
        Change::NewVersion(version("build", 1, "text")),
        Change::NewRun(head(2), progress(RunStatus::Pending, 2)),
        Change::PutRun(key(1), progress(RunStatus::Success, 2)),
        Change::PutTask(key(1), task(plain(0))),
        Change::NewAttempt(key(1), row),
        Change::NewLog(key(1), attempt_id(1), Log::File { bytes: 1 }),
        Change::PutTask(key(3), task(plain(0))),
    ];
    assert_refused(&commit(store, fence, changes));
    assert_eq!(ask(store.version("build", None)), None);
    assert_eq!(ask(store.run(run_id(2))), None);
    let run = load(store, 1);
    assert_eq!((run.progress.status, run.tasks.len()), (RunStatus::Running, 0));
    assert_eq!(ask(store.attempts(key(1))), []);
    assert_eq!(ask(store.log(key(1), attempt_id(1))), None);
    accept(store, begin(store), 2, RunStatus::Pending);
}

/// It may build on what is not there, whether or not it was handed over before that was known.
pub fn nothing_is_written_after_a_batch_that_failed(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let (fate, fates) = mpsc::channel();
    let hand_over = |change: Change| {
        let fate = fate.clone();
        store.commit(fence, vec![change], Box::new(move |result| fate.send(result).unwrap()));
    };
    let new = |number| Change::NewRun(head(number), progress(RunStatus::Pending, 2));
    hand_over(new(2));
    hand_over(Change::PutTask(key(9), task(plain(0))));
    hand_over(new(3));
    let [first, second, third] = [(); 3].map(|()| fates.recv().unwrap());
    // The first shares its fate with the second when both were written together.
    assert_eq!(ask(store.run(run_id(2))).is_some(), first.is_ok());
    assert_refused(&second);
    assert_refused(&third);
    assert_refused(&commit(store, fence, vec![new(4)]));
    for number in [3, 4] {
        assert_eq!(ask(store.run(run_id(number))), None);
    }
    accept(store, begin(store), 4, RunStatus::Pending);
}
