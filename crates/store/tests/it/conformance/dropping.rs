//! Old runs: which they are, how they go, and that their numbers stay used.

use super::begin::{accept, begin, key, load};
use crate::asking::{ask, commit, register};
use crate::rows::{
    OTHER, SCHEDULER, attempt, attempt_id, head, instance, parent, plain, progress, run_id, task,
};
use mainspring_core::json::Json;
use mainspring_core::kernel::finalizer::Step;
use mainspring_core::kernel::row::{AttemptRow, Counts, Log, RunHead, RunProgress, RunStatus};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_core::world::input::Forgotten;
use mainspring_store::{Expired, Fence, RunsQuery, Store};

fn large_head(number: u64) -> RunHead {
    let input = Json::parse(&format!("[\"{}\"]", "x".repeat(10_000))).unwrap();
    RunHead { input, ..head(number) }
}

fn belongings(number: u64) -> Vec<Change> {
    let row =
        AttemptRow { task: plain(0), step: Step::Work, attempt: attempt(1, number), output: None };
    vec![
        Change::PutTask(key(number), task(plain(0))),
        Change::NewAttempt(key(number), row),
        Change::NewLog(key(number), attempt_id(number), Log::Blob { bytes: 1 }),
    ]
}

pub fn a_run_goes_with_all_that_belongs_to_it(store: &dyn Store) {
    let fence = begin(store);
    for number in [1, 2] {
        let progress = progress(RunStatus::Failed, number);
        let mut changes = vec![Change::NewRun(large_head(number), progress)];
        changes.extend(belongings(number));
        commit(store, fence, changes).unwrap();
    }
    commit(store, fence, vec![Change::DropRun(key(1), 1)]).unwrap();
    assert_eq!(ask(store.run(run_id(1))), None);
    assert_eq!(ask(store.attempts(key(1))), []);
    assert_eq!(ask(store.log(key(1), attempt_id(1))), None);
    let listed = ask(store.runs(RunsQuery { limit: 10, ..RunsQuery::default() }));
    assert_eq!(listed.iter().map(|(head, _)| head.id).collect::<Vec<_>>(), [run_id(2)]);
    assert_eq!(load(store, 2).tasks.len(), 1);
    assert_eq!(load(store, 2).head, large_head(2));
    assert_eq!(ask(store.attempts(key(2))).len(), 1);
    assert!(ask(store.log(key(2), attempt_id(2))).is_some());
    commit(store, fence, belongings(1)).expect_err("there is no such run any more");
    // Nothing of the old run is found again under its key.
    accept(store, begin(store), 1, RunStatus::Running);
    assert_eq!((load(store, 1).tasks.len(), load(store, 1).head), (0, head(1)));
}

/// 1 has the children 2 and 3, and 3 has 4; 5 is nobody's.
fn family(store: &dyn Store, fence: Fence) {
    for (number, above) in [(1, None), (2, Some(1)), (3, Some(1)), (4, Some(3)), (5, None)] {
        let parent = above.map(|above| parent(above, plain(0)));
        let finished_at = Some(Timestamp(10));
        let progress = RunProgress { finished_at, ..progress(RunStatus::Failed, number) };
        let mut changes = vec![Change::NewRun(RunHead { parent, ..large_head(number) }, progress)];
        changes.extend(belongings(number));
        commit(store, fence, changes).unwrap();
    }
}

pub fn children_go_with_their_parent_and_not_before(store: &dyn Store) {
    let fence = begin(store);
    family(store, fence);
    let found = ask(store.expired(Timestamp(20), 10));
    assert_eq!(found.iter().map(|expired| expired.run.id).collect::<Vec<_>>(), [1, 5].map(run_id));
    assert_eq!(found[0].children, [2, 3, 4].map(run_id));
    assert_eq!(found[0].logs, [1, 2, 3, 4].map(attempt_id));
    assert_eq!((found[0].rows, found[1].rows), (3, 0), "a row of each child, and their tasks");
    assert_eq!(found[1].children, []);
    commit(store, fence, vec![Change::DropRun(key(1), 99)]).unwrap();
    assert!(ask(store.run(run_id(4))).is_some(), "it has another stamp, and so all stay");
    commit(store, fence, vec![Change::DropRun(key(1), 1)]).unwrap();
    for number in 1..=4 {
        assert_eq!(ask(store.run(run_id(number))), None);
        assert_eq!(ask(store.attempts(key(number))), []);
        assert_eq!(ask(store.log(key(number), attempt_id(number))), None);
    }
    assert_eq!(load(store, 5).tasks.len(), 1);
}

pub fn a_run_that_has_changed_is_not_dropped(store: &dyn Store) {
    let fence = begin(store);
    for (number, status) in (1..).zip(RunStatus::ALL) {
        accept(store, fence, number, *status);
        let mut changes = belongings(number);
        changes.push(Change::DropRun(key(number), number + 1));
        commit(store, fence, changes).unwrap();
        assert_eq!(load(store, number).tasks.len(), 1, "it has another stamp");
        commit(store, fence, vec![Change::DropRun(key(number), number)]).unwrap();
        assert_eq!(ask(store.run(run_id(number))).is_none(), status.is_final(), "{status:?}");
    }
    accept(store, fence, 8, RunStatus::Success);
    let changes = vec![
        Change::DropRun(key(8), 8),
        Change::DropRun(key(99), 1),
        Change::PutRun(key(8), progress(RunStatus::Running, 9)),
    ];
    commit(store, fence, changes).unwrap();
    assert_eq!(load(store, 8).progress.stamp, 9, "it was opened again in the same batch");
}

pub fn numbers_of_dropped_runs_stay_used(store: &dyn Store) {
    let fence = begin(store);
    register(store, OTHER);
    accept(store, fence, 5, RunStatus::Success);
    let marks = |next_run, next_stamp| Change::Marks { next_run, next_stamp };
    commit(store, fence, vec![Change::DropRun(key(5), 5), marks(6, 40), marks(3, 50)]).unwrap();
    commit(store, fence, vec![marks(2, 2)]).unwrap();
    let registration = register(store, SCHEDULER);
    assert_eq!((registration.next_run, registration.next_stamp), (6, 50), "marks never go down");
    accept(store, registration.fence, 7, RunStatus::Success);
    let stamped = Change::PutRun(key(7), progress(RunStatus::Success, 60));
    commit(store, registration.fence, vec![stamped]).unwrap();
    let registration = register(store, SCHEDULER);
    assert_eq!((registration.next_run, registration.next_stamp), (8, 61), "rows may show more");
    let other = register(store, OTHER);
    assert_eq!((other.next_run, other.next_stamp), (1, 1), "marks are the writer's own");
}

pub fn expired_runs_are_listed_oldest_first(store: &dyn Store) {
    let fence = begin(store);
    let ended = |number, status, finished_at: Option<i64>| {
        let finished_at = finished_at.map(Timestamp);
        let progress = RunProgress { finished_at, ..progress(status, number) };
        commit(store, fence, vec![Change::NewRun(head(number), progress)]).unwrap();
    };
    ended(4, RunStatus::Cancelled, Some(10));
    ended(1, RunStatus::Success, Some(99));
    ended(3, RunStatus::Success, Some(30));
    ended(2, RunStatus::Failed, Some(29));
    ended(5, RunStatus::Running, None);
    ended(6, RunStatus::Paused, Some(2));
    let tasks = [plain(0), plain(1), instance(1, 0), instance(1, 6), plain(2), instance(3, 2)];
    let counts = Counts { total: 4, ..Counts::default() };
    let finished_at = Some(Timestamp(10));
    let heavy = RunProgress { counts, finished_at, ..progress(RunStatus::Cancelled, 4) };
    let mut changes = vec![Change::PutRun(key(4), heavy)];
    changes.extend(tasks.map(|at| Change::PutTask(key(4), task(at))));
    commit(store, fence, changes).unwrap();
    let logs = [Log::File { bytes: 3 }, Log::Inline(vec![1].into()), Log::Blob { bytes: 0 }];
    for (id, log) in (1..).zip(logs) {
        commit(store, fence, vec![Change::NewLog(key(4), attempt_id(id), log)]).unwrap();
    }
    let expired = |number, logs: &[u64]| Expired {
        run: Forgotten { key: key(number), id: run_id(number), stamp: number },
        children: Vec::new(),
        rows: if number == 4 { 4 + 7 + 3 } else { 0 },
        logs: logs.iter().map(|id| attempt_id(*id)).collect(),
    };
    let found = |before, limit| ask(store.expired(Timestamp(before), limit));
    assert_eq!(found(30, 100), [expired(2, &[]), expired(4, &[1, 3])]);
    assert_eq!(found(30, 1), [expired(2, &[])]);
    assert_eq!(found(31, 2), [expired(2, &[]), expired(3, &[])]);
    assert_eq!(found(10, 100), []);
    assert_eq!(found(11, 100), [expired(4, &[1, 3])]);
    assert_eq!(found(31, 0), []);
}
