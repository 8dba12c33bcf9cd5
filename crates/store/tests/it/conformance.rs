//! One suite of cases for every store.

use crate::asking::{ask, commit, register};
use crate::rows::{
    OTHER, SCHEDULER, attempt, attempt_id, head, instance, plain, progress, run_id, task, version,
};
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::ids::{RunKey, TaskRef};
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{
    AttemptEnd, AttemptRow, CancelCause, Counts, Hold, Log, RunError, RunHead, RunProgress,
    RunStatus, Stopping, TaskRow,
};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{CommitError, Fence, Memory, RunsQuery, Sqlite, Store, StoredRun};
use std::sync::mpsc;

macro_rules! suite {
    ($($case:ident,)*) => {
        mod memory {
            use super::*;
            $(#[test] fn $case() { super::$case(&Memory::new()); })*
        }
        mod sqlite {
            use super::*;
            $(#[test] fn $case() {
                let folder = tempfile::tempdir().unwrap();
                super::$case(&Sqlite::open(&folder.path().join("db")).unwrap());
            })*
        }
    };
}

suite! {
    the_first_life_begins_with_epoch_one,
    a_new_life_goes_on_where_the_last_one_ended,
    schedulers_have_ordinals_of_their_own,
    an_old_life_is_fenced_off,
    a_scheduler_that_never_registered_is_fenced_off,
    a_run_is_read_as_it_was_written,
    a_large_input_is_read_as_it_was_written,
    progress_replaces_progress,
    a_task_row_is_read_as_it_was_written,
    a_task_row_replaces_the_former,
    tasks_are_ordered_by_number_and_index,
    changes_may_come_in_any_order,
    progress_of_an_unknown_run_is_refused,
    rows_of_an_unknown_run_are_refused,
    a_run_is_never_written_over,
    an_unknown_owner_is_refused,
    a_refused_batch_leaves_nothing,
    the_first_word_on_a_version_stands,
    the_latest_version_has_the_highest_number,
    history_is_ordered_and_append_only,
    a_number_may_be_used_again_after_a_refused_start,
    logs_are_kept_by_attempt,
    unfinished_runs_are_listed_oldest_first,
    runs_are_listed_newest_first_in_pages,
    runs_are_filtered_by_status_and_workflow,
    commits_are_answered_in_order,
    an_empty_batch_is_fenced_all_the_same,
}

fn begin(store: &dyn Store) -> Fence {
    register(store, SCHEDULER).fence
}

fn accept(store: &dyn Store, fence: Fence, number: u64, status: RunStatus) {
    let change = Change::NewRun(head(number), progress(status, number));
    commit(store, fence, vec![change]).unwrap();
}

fn load(store: &dyn Store, number: u64) -> StoredRun {
    ask(store.run(run_id(number))).expect("the run is stored")
}

fn key(number: u64) -> RunKey {
    RunKey::new(1, number)
}

#[track_caller]
fn assert_refused(result: &Result<(), CommitError>) {
    assert!(matches!(result, Err(CommitError::Failed { .. })), "{result:?}");
}

fn the_first_life_begins_with_epoch_one(store: &dyn Store) {
    let registration = register(store, SCHEDULER);
    assert_eq!(registration.fence, Fence { scheduler: SCHEDULER, epoch: 1 });
    assert_eq!((registration.ordinal, registration.next_run, registration.next_stamp), (1, 1, 1));
}

fn a_new_life_goes_on_where_the_last_one_ended(store: &dyn Store) {
    let fence = begin(store);
    let changes = vec![
        Change::NewRun(head(5), progress(RunStatus::Running, 30)),
        Change::NewRun(head(3), progress(RunStatus::Running, 40)),
    ];
    commit(store, fence, changes).unwrap();
    let registration = register(store, SCHEDULER);
    assert_eq!(registration.fence.epoch, 2);
    assert_eq!((registration.ordinal, registration.next_run, registration.next_stamp), (1, 6, 41));
}

fn schedulers_have_ordinals_of_their_own(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 9, RunStatus::Running);
    let other = register(store, OTHER);
    assert_eq!((other.ordinal, other.next_run, other.next_stamp), (2, 1, 1));
    assert_eq!(other.fence.epoch, 1);
    assert_eq!(register(store, SCHEDULER).ordinal, 1);
}

fn an_old_life_is_fenced_off(store: &dyn Store) {
    let old = begin(store);
    let new = begin(store);
    let change = Change::NewRun(head(1), progress(RunStatus::Pending, 1));
    let result = commit(store, old, vec![change.clone()]);
    assert!(matches!(result, Err(CommitError::Fenced)), "{result:?}");
    assert_eq!(ask(store.run(run_id(1))), None);
    commit(store, new, vec![change]).unwrap();
}

fn a_scheduler_that_never_registered_is_fenced_off(store: &dyn Store) {
    begin(store);
    let result = commit(store, Fence { scheduler: OTHER, epoch: 1 }, Vec::new());
    assert!(matches!(result, Err(CommitError::Fenced)), "{result:?}");
}

fn full_head() -> RunHead {
    RunHead {
        input: Json::parse(r#"{"a": [1, "é\u0000"],  "b":null}"#).unwrap(),
        labels: [("team".to_owned(), "ü \"x\"".to_owned())].into(),
        priority: -7,
        triggered_by: "cli: me".to_owned(),
        parent: Some(run_id(99)),
        ..head(1)
    }
}

fn full_progress() -> RunProgress {
    RunProgress {
        hold: Some(Hold { by: "ada".to_owned(), at: Timestamp(1_700_000_000_123_456) }),
        cancel: Some(CancelCause::Asked("bob".to_owned())),
        started_at: Some(Timestamp(1)),
        opened_at: Some(Timestamp(2)),
        finished_at: Some(Timestamp(-3)),
        error: Some(RunError { class: ErrorClass::Timeout, message: "too 'long'".to_owned() }),
        counts: Counts { total: 6, live: 1, success: 2, failed: 3, cancelled: 4, skipped: 5 },
        ..progress(RunStatus::Paused, 8)
    }
}

fn a_run_is_read_as_it_was_written(store: &dyn Store) {
    let fence = begin(store);
    commit(store, fence, vec![Change::NewRun(full_head(), full_progress())]).unwrap();
    let expected = StoredRun { head: full_head(), progress: full_progress(), tasks: Vec::new() };
    assert_eq!(load(store, 1), expected);
    assert_eq!(ask(store.run(run_id(2))), None);
}

fn a_large_input_is_read_as_it_was_written(store: &dyn Store) {
    let fence = begin(store);
    let input = Json::parse(&format!("[\"{}\"]", "x".repeat(1_000_000))).unwrap();
    let head = RunHead { input: input.clone(), ..head(1) };
    commit(store, fence, vec![Change::NewRun(head, progress(RunStatus::Pending, 1))]).unwrap();
    commit(store, fence, vec![Change::PutRun(key(1), progress(RunStatus::Running, 2))]).unwrap();
    assert_eq!(load(store, 1).head.input, input);
    let listed = ask(store.runs(RunsQuery { limit: 1, ..RunsQuery::default() }));
    assert_eq!(listed[0].0.input, input);
}

fn progress_replaces_progress(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Pending);
    for progress in [full_progress(), progress(RunStatus::Success, 9)] {
        commit(store, fence, vec![Change::PutRun(key(1), progress.clone())]).unwrap();
        assert_eq!(load(store, 1).progress, progress);
    }
    let cancel = Some(CancelCause::RunTimeout);
    let timed_out = RunProgress { cancel, ..progress(RunStatus::Failed, 10) };
    commit(store, fence, vec![Change::PutRun(key(1), timed_out.clone())]).unwrap();
    assert_eq!(load(store, 1).progress, timed_out);
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
        refused_since: Some(Timestamp(44)),
        ever_started: true,
        hold: Some(Box::new(Hold { by: "policy".to_owned(), at: Timestamp(5) })),
        stopping: Some(Stopping::Timeout),
        output: Some(Json::parse(r#"{"n": 1.50}"#).unwrap()),
    }
}

fn a_task_row_is_read_as_it_was_written(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let ends = [
        AttemptEnd::Success,
        AttemptEnd::Failed(Box::new(TaskError::exit(3))),
        AttemptEnd::Failed(Box::new(TaskError::signal(9, "SIGKILL"))),
        AttemptEnd::Cancelled,
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
    let changes = tasks.iter().map(|row| Change::PutTask(key(1), row.clone())).collect();
    commit(store, fence, changes).unwrap();
    assert_eq!(load(store, 1).tasks, tasks);
}

fn a_task_row_replaces_the_former(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let former = full_task(instance(2, 5), AttemptEnd::Cancelled);
    commit(store, fence, vec![Change::PutTask(key(1), former)]).unwrap();
    commit(store, fence, vec![Change::PutTask(key(1), task(instance(2, 5)))]).unwrap();
    assert_eq!(load(store, 1).tasks, [task(instance(2, 5))]);
}

fn tasks_are_ordered_by_number_and_index(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    accept(store, fence, 2, RunStatus::Running);
    let ordered =
        [plain(0), plain(1), instance(1, 0), instance(1, 10), instance(1, u32::MAX), plain(11)];
    for at in [3, 0, 5, 1, 4, 2] {
        let changes = vec![
            Change::PutTask(key(1), task(ordered[at])),
            Change::PutTask(key(2), task(ordered[at])),
        ];
        commit(store, fence, changes).unwrap();
    }
    let found: Vec<TaskRef> = load(store, 1).tasks.iter().map(|row| row.task).collect();
    assert_eq!(found, ordered);
}

fn changes_may_come_in_any_order(store: &dyn Store) {
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

fn progress_of_an_unknown_run_is_refused(store: &dyn Store) {
    let fence = begin(store);
    let result = commit(store, fence, vec![Change::PutRun(key(1), progress(RunStatus::Failed, 1))]);
    assert_refused(&result);
    assert_eq!(ask(store.run(run_id(1))), None);
}

fn rows_of_an_unknown_run_are_refused(store: &dyn Store) {
    let fence = begin(store);
    let row = AttemptRow { task: plain(0), attempt: attempt(1, 1), output: None };
    assert_refused(&commit(store, fence, vec![Change::PutTask(key(1), task(plain(0)))]));
    assert_refused(&commit(store, fence, vec![Change::NewAttempt(key(1), row)]));
    let log = Change::NewLog(key(1), attempt_id(1), Log::File { bytes: 1 });
    assert_refused(&commit(store, fence, vec![log]));
    assert_eq!(ask(store.attempts(key(1))), []);
}

fn a_run_is_never_written_over(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let same_id = RunHead { key: key(2), ..head(1) };
    let same_key = RunHead { id: run_id(2), ..head(1) };
    for head in [head(1), same_id, same_key] {
        let change = Change::NewRun(head, progress(RunStatus::Pending, 5));
        assert_refused(&commit(store, fence, vec![change]));
    }
    assert_eq!(load(store, 1).progress.status, RunStatus::Running);
}

fn an_unknown_owner_is_refused(store: &dyn Store) {
    let fence = begin(store);
    let foreign = RunProgress { owner: OTHER, ..progress(RunStatus::Running, 1) };
    assert_refused(&commit(store, fence, vec![Change::NewRun(head(1), foreign.clone())]));
    accept(store, fence, 1, RunStatus::Running);
    assert_refused(&commit(store, fence, vec![Change::PutRun(key(1), foreign)]));
    assert_eq!(load(store, 1).progress.owner, SCHEDULER);
}

fn a_refused_batch_leaves_nothing(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let row = AttemptRow { task: plain(0), attempt: attempt(1, 1), output: None };
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
    accept(store, fence, 2, RunStatus::Pending);
}

fn the_first_word_on_a_version_stands(store: &dyn Store) {
    let fence = begin(store);
    for text in ["first", "second"] {
        commit(store, fence, vec![Change::NewVersion(version("build", 1, text))]).unwrap();
    }
    assert_eq!(ask(store.version("build", Some(1))), Some(version("build", 1, "first")));
}

fn the_latest_version_has_the_highest_number(store: &dyn Store) {
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

fn history_is_ordered_and_append_only(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let row = |task, number, id| AttemptRow { task, attempt: attempt(number, id), output: None };
    let ordered =
        [row(plain(0), 1, 9), row(plain(0), 2, 3), row(instance(0, 0), 1, 1), row(plain(2), 1, 2)];
    for at in [2, 0, 3, 1] {
        let change = Change::NewAttempt(key(1), ordered[at].clone());
        commit(store, fence, vec![change]).unwrap();
    }
    let mut again = ordered[1].clone();
    again.output = Some(Json::null());
    commit(store, fence, vec![Change::NewAttempt(key(1), again)]).unwrap();
    assert_eq!(ask(store.attempts(key(1))), ordered);
    assert_eq!(ask(store.attempts(key(2))), []);
}

fn a_number_may_be_used_again_after_a_refused_start(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let mut refused = attempt(1, 1);
    refused.end = Some(AttemptEnd::Refused("busy".into()));
    let mut failed = attempt(1, 2);
    failed.end = Some(AttemptEnd::Failed(Box::new(TaskError::exit(1))));
    let rows =
        [refused, failed].map(|attempt| AttemptRow { task: plain(0), attempt, output: None });
    let changes = rows.iter().map(|row| Change::NewAttempt(key(1), row.clone())).collect();
    commit(store, fence, changes).unwrap();
    assert_eq!(ask(store.attempts(key(1))), rows);
}

fn logs_are_kept_by_attempt(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let logs = [
        Log::Inline(vec![0, 255, 10].into()),
        Log::Inline(Vec::new().into()),
        Log::File { bytes: 1 << 40 },
        Log::File { bytes: 0 },
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
    assert_eq!(ask(store.log(key(2), attempt_id(1))), None);
}

fn unfinished_runs_are_listed_oldest_first(store: &dyn Store) {
    let fence = begin(store);
    register(store, OTHER);
    for (number, status) in [5, 1, 4, 2, 6, 3, 7].into_iter().zip(RunStatus::ALL) {
        accept(store, fence, number, *status);
    }
    let foreign = RunProgress { owner: OTHER, ..progress(RunStatus::Running, 1) };
    commit(store, fence, vec![Change::NewRun(head(8), foreign)]).unwrap();
    let expected = [1, 2, 4, 5].map(|number| (key(number), run_id(number)));
    assert_eq!(ask(store.unfinished(SCHEDULER)), expected);
    assert_eq!(ask(store.unfinished(OTHER)), [(key(8), run_id(8))]);
    commit(store, fence, vec![Change::PutRun(key(2), progress(RunStatus::Failed, 9))]).unwrap();
    commit(store, fence, vec![Change::PutRun(key(3), progress(RunStatus::Running, 9))]).unwrap();
    let expected = [1, 3, 4, 5].map(|number| (key(number), run_id(number)));
    assert_eq!(ask(store.unfinished(SCHEDULER)), expected);
}

fn numbers(store: &dyn Store, query: RunsQuery) -> Vec<u64> {
    ask(store.runs(query)).iter().map(|(head, _)| head.key.sequence()).collect()
}

fn runs_are_listed_newest_first_in_pages(store: &dyn Store) {
    let fence = begin(store);
    for number in [2, 4, 1, 3] {
        accept(store, fence, number, RunStatus::Success);
    }
    // Accepted in the same microsecond as run 3: the id decides.
    let twin = RunHead { created_at: Timestamp(3), ..head(5) };
    commit(store, fence, vec![Change::NewRun(twin, progress(RunStatus::Running, 5))]).unwrap();
    let page = |after, limit| RunsQuery { after, limit, ..RunsQuery::default() };
    assert_eq!(numbers(store, page(None, 100)), [4, 5, 3, 2, 1]);
    assert_eq!(numbers(store, page(None, 2)), [4, 5]);
    assert_eq!(numbers(store, page(Some((Timestamp(3), run_id(5))), 2)), [3, 2]);
    assert_eq!(numbers(store, page(Some((Timestamp(1), run_id(1))), 2)), [0_u64; 0]);
    assert_eq!(numbers(store, page(None, 0)), [0_u64; 0]);
}

fn runs_are_filtered_by_status_and_workflow(store: &dyn Store) {
    use RunStatus::{Cancelled, Cancelling, Failed, Pending, Running, Success};
    let fence = begin(store);
    for (number, status) in (1..).zip(RunStatus::ALL) {
        accept(store, fence, number, *status);
        let other = RunHead { workflow: "deploy".into(), ..head(number + 10) };
        commit(store, fence, vec![Change::NewRun(other, progress(*status, 1))]).unwrap();
    }
    let with = |statuses: &[RunStatus], workflow: Option<&str>| {
        let workflow = workflow.map(str::to_owned);
        let query = RunsQuery { statuses: statuses.to_vec(), workflow, after: None, limit: 100 };
        numbers(store, query)
    };
    assert_eq!(with(&[Failed], None), [16, 6]);
    assert_eq!(with(&[Running, Pending], None), [12, 11, 2, 1]);
    assert_eq!(with(&[Running, Success, Failed], None), [16, 15, 12, 6, 5, 2]);
    assert_eq!(with(&[], Some("deploy")), [17, 16, 15, 14, 13, 12, 11]);
    assert_eq!(with(&[Cancelled, Cancelling, Success], Some("build")), [7, 5, 4]);
    assert_eq!(with(RunStatus::ALL, Some("nothing")), [0_u64; 0]);
    let statuses = vec![Failed, Running, Failed];
    let after = Some((Timestamp(16), run_id(16)));
    let query = RunsQuery { statuses, workflow: None, after, limit: 2 };
    assert_eq!(numbers(store, query), [12, 6]);
}

fn commits_are_answered_in_order(store: &dyn Store) {
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

fn an_empty_batch_is_fenced_all_the_same(store: &dyn Store) {
    let old = begin(store);
    commit(store, old, Vec::new()).unwrap();
    begin(store);
    assert!(matches!(commit(store, old, Vec::new()), Err(CommitError::Fenced)));
}
