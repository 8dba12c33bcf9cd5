//! Runs and tasks come back as they were written.

use super::begin::{accept, begin, key, load};
use crate::asking::{ask, commit};
use crate::rows::{
    attempt, attempt_id, blob, group, head, instance, json, parent, plain, progress, run_id, task,
};
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::ids::{TaskNo, TaskRef};
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::finalizer::{Finalizer, LiveAttempt};
use mainspring_core::kernel::row::{
    AttemptEnd, CancelCause, Cancelled, Counts, Hold, RunError, RunHead, RunProgress, RunStatus,
    Stopping, TaskRow,
};
use mainspring_core::kernel::wait::{Awaited, InTime, Wait};
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::work::CacheNote;
use mainspring_core::world::batch::Change;
use mainspring_store::{Store, StoredRun};

fn full_head() -> RunHead {
    RunHead {
        input: Json::parse(r#"{"a": [1, "é\u0000"],  "b":null}"#).unwrap(),
        labels: [("team".to_owned(), "ü \"x\"".to_owned())].into(),
        priority: -7,
        triggered_by: "cli: me".to_owned(),
        parent: Some(parent(99, instance(3, 4))),
        retry_of: Some(run_id(98)),
        ..head(1)
    }
}

fn full_progress() -> RunProgress {
    RunProgress {
        hold: Some(Hold { by: "ada".to_owned(), at: Timestamp(1_700_000_000_123_456) }),
        cancel: Some(CancelCause::Asked("bob".to_owned())),
        alone_since: Some(Timestamp(4)),
        unconfirmed_since: Some(Timestamp(5)),
        started_at: Some(Timestamp(1)),
        opened_at: Some(Timestamp(2)),
        finished_at: Some(Timestamp(-3)),
        error: Some(RunError { class: ErrorClass::Timeout, message: "too 'long'".to_owned() }),
        output: Some(json(r#"{"files":  ["@"]}"#)),
        signals: 9,
        additions: 4,
        counts: Counts {
            total: 6,
            live: 1,
            waiting: 7,
            worker_done: 8,
            success: 2,
            failed: 3,
            cancelled: 4,
            skipped: 5,
        },
        ..progress(RunStatus::Paused, 8)
    }
}

fn finalizer() -> Finalizer {
    Finalizer {
        fact: Fact::Running,
        attempt: Some(LiveAttempt {
            number: 4,
            id: attempt_id(78),
            dispatched_at: Timestamp(13),
            started_at: Some(Timestamp(14)),
        }),
        tries: 1,
        losses: 2,
        refusals: 3,
        refused_for: Span(45),
        refused: Some("ü\0".into()),
        error: Some(Box::new(TaskError::exit(1))),
        cache: Some(CacheNote { hash: [9; 32], ttl: Span(46) }),
        ..Finalizer::queued(Timestamp(12), None)
    }
}

fn full_task(at: TaskRef, end: AttemptEnd) -> TaskRow {
    let mut attempt = attempt(3, 77);
    attempt.started_at = Some(Timestamp(11));
    attempt.finished_at = Some(Timestamp(12));
    attempt.end = Some(end);
    TaskRow {
        task: at,
        fact: Fact::Delayed,
        until: Some(Timestamp(55)),
        attempts: 3,
        attempt: Some(attempt),
        tries: 2,
        losses: 1,
        refusals: 4,
        refused_for: Span(44),
        cancelled: Some(Cancelled::RunTimeout),
        ever_started: true,
        hold: Some(Box::new(Hold { by: "policy".to_owned(), at: Timestamp(5) })),
        stopping: Some(Stopping::Timeout),
        settled_at: Some(Timestamp(7)),
        output: Some(json(r#"{"n": 1.50}"#)),
        error: None,
        group: None,
        wait: Some(Box::new(Wait {
            on: Some(Awaited::Signal { key: "ü\0".into() }),
            taken: 3,
            in_time: Some(Box::new(InTime {
                number: 2,
                value: Json::parse(r#"{"n": 1.50}"#).unwrap(),
            })),
            child: Some(run_id(7)),
        })),
        finalizer: Some(Box::new(finalizer())),
    }
}

pub fn a_run_is_read_as_it_was_written(store: &dyn Store) {
    let fence = begin(store);
    commit(store, fence, vec![Change::NewRun(full_head(), full_progress())]).unwrap();
    let expected = StoredRun { head: full_head(), progress: full_progress(), tasks: Vec::new() };
    assert_eq!(load(store, 1), expected);
    assert_eq!(ask(store.run(run_id(2))), None);
}

pub fn a_large_input_is_read_as_it_was_written(store: &dyn Store) {
    let fence = begin(store);
    let input = Json::parse(&format!("[\"{}\"]", "x".repeat(1_000_000))).unwrap();
    let head = RunHead { input: input.clone(), ..head(1) };
    commit(store, fence, vec![Change::NewRun(head, progress(RunStatus::Pending, 1))]).unwrap();
    commit(store, fence, vec![Change::PutRun(key(1), progress(RunStatus::Running, 2))]).unwrap();
    assert_eq!(load(store, 1).head.input, input);
}

pub fn progress_replaces_progress(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Pending);
    let large = RunProgress { output: Some(blob(7)), ..progress(RunStatus::Success, 8) };
    for progress in [full_progress(), large, progress(RunStatus::Success, 9)] {
        commit(store, fence, vec![Change::PutRun(key(1), progress.clone())]).unwrap();
        assert_eq!(load(store, 1).progress, progress);
    }
    let cancel = Some(CancelCause::RunTimeout);
    let timed_out = RunProgress { cancel, ..progress(RunStatus::Failed, 10) };
    commit(store, fence, vec![Change::PutRun(key(1), timed_out.clone())]).unwrap();
    assert_eq!(load(store, 1).progress, timed_out);
}

pub fn a_task_row_is_read_as_it_was_written(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let ends = [
        AttemptEnd::Success,
        AttemptEnd::Cached,
        AttemptEnd::Copied,
        AttemptEnd::Failed(Box::new(TaskError::exit(3))),
        AttemptEnd::Failed(Box::new(TaskError::signal(9, "SIGKILL"))),
        AttemptEnd::Cancelled,
        AttemptEnd::Abandoned,
        AttemptEnd::Refused("no process to be had".into()),
    ];
    let mut tasks: Vec<TaskRow> =
        (0..).zip(ends).map(|(no, end)| full_task(plain(no), end)).collect();
    for (no, fact) in (100..).zip(Fact::ALL) {
        tasks.push(TaskRow { fact: *fact, ..task(plain(no)) });
    }
    for (no, stopping) in (200..).zip([Stopping::Pause, Stopping::Cancel, Stopping::Timeout]) {
        tasks.push(TaskRow { stopping: Some(stopping), ..task(plain(no)) });
    }
    for (no, cancelled) in (300..).zip(Cancelled::ALL) {
        tasks.push(TaskRow { cancelled: Some(*cancelled), ..task(plain(no)) });
    }
    tasks.push(TaskRow { output: Some(blob(3)), ..task(plain(400)) });
    let error = Some(Box::new(TaskError::new(ErrorClass::Logic, "no such field")));
    tasks.push(TaskRow { fact: Fact::Failed, error, ..task(plain(401)) });
    let changes = tasks.iter().map(|row| Change::PutTask(key(1), row.clone())).collect();
    commit(store, fence, changes).unwrap();
    assert_eq!(load(store, 1).tasks, tasks);
}

pub fn a_task_row_replaces_the_former(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    for at in [plain(1), plain(2), instance(2, 5)] {
        let former = full_task(at, AttemptEnd::Cancelled);
        let group = group(2, 1, 0).group;
        commit(store, fence, vec![Change::PutTask(key(1), TaskRow { group, ..former })]).unwrap();
        commit(store, fence, vec![Change::PutTask(key(1), task(at))]).unwrap();
    }
    assert_eq!(load(store, 1).tasks, [task(plain(1)), task(plain(2))]);
    let found = ask(store.instance(key(1), TaskNo(2), 5));
    assert_eq!(found, Some(task(instance(2, 5))));
}

pub fn tasks_are_ordered_by_number_and_index(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    accept(store, fence, 2, RunStatus::Running);
    let ordered = [
        task(plain(0)),
        group(1, 3, 0),
        task(instance(1, 0)),
        task(instance(1, 10)),
        task(instance(1, u32::MAX)),
        task(plain(11)),
    ];
    for at in [3, 0, 5, 1, 4, 2] {
        let row = || ordered[at].clone();
        let changes = vec![Change::PutTask(key(1), row()), Change::PutTask(key(2), row())];
        commit(store, fence, changes).unwrap();
    }
    assert_eq!(load(store, 1).tasks, ordered);
}
