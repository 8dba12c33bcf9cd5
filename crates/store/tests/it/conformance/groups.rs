//! Groups: which instances come with their run, how they are listed, and how they go back.

use super::begin::{accept, begin, key, load};
use crate::asking::{ask, commit};
use crate::rows::{attempt, attempt_id, blob, group, instance, json, plain, run_id, task};
use mainspring_core::error::TaskError;
use mainspring_core::evaluate::InstanceOutput;
use mainspring_core::ids::{TaskNo, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::finalizer::Step;
use mainspring_core::kernel::group::{Closed, Group};
use mainspring_core::kernel::row::{
    Attempt, AttemptEnd, AttemptRow, Cancelled, RunStatus, TaskRow,
};
use mainspring_core::output::Output;
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{Fence, InstancesQuery, Store, StoredRun};

fn put(store: &dyn Store, fence: Fence, rows: &[TaskRow]) {
    let changes = rows.iter().map(|row| Change::PutTask(key(1), row.clone())).collect();
    commit(store, fence, changes).unwrap();
}

fn found(no: u32, index: u32, fact: Fact) -> TaskRow {
    TaskRow { fact, ..task(instance(no, index)) }
}

/// One that succeeded, with an attempt of its own.
fn done(no: u32, index: u32, output: Option<Output>) -> TaskRow {
    let end = Some(AttemptEnd::Success);
    let attempt = Attempt { end, ..attempt(1, u64::from(index)) };
    TaskRow { attempt: Some(attempt), output, ..found(no, index, Fact::Success) }
}

fn indexes(rows: &[TaskRow]) -> Vec<u32> {
    rows.iter().filter_map(|row| row.task.index).collect()
}

pub fn a_group_is_read_as_it_was_written(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let cancelled = Closed::Cancel(Cancelled::ByName);
    let closed = [None, Some(Closed::FailFast), Some(cancelled), Some(Closed::Chosen)];
    let rows: Vec<TaskRow> = (0..)
        .zip(closed)
        .map(|(no, closed)| {
            let group = Group {
                waiting: 3,
                worker_done: 2,
                taken: 9,
                taken_from: 8,
                count: u32::MAX,
                opened_at: closed.map(|_| Timestamp(5)),
                next: 7,
                success: 4,
                failed: 2,
                cancelled: 1,
                delayed: 5,
                held: 6,
                attempts: 9,
                numbered_from: 3,
                closed,
                worked: closed.is_some(),
                copied: closed.is_none(),
            };
            let error = closed.map(|_| Box::new(TaskError::exit(2)));
            let output = Some(json("[1, null]"));
            TaskRow { group: Some(Box::new(group)), error, output, ..task(plain(no)) }
        })
        .collect();
    put(store, fence, &rows);
    assert_eq!(load(store, 1).tasks, rows);
}

pub fn a_run_comes_with_the_instances_that_are_no_success(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let mut open = vec![task(plain(0)), group(1, 6, 2)];
    open.extend([
        found(1, 0, Fact::Failed),
        found(1, 2, Fact::Running),
        found(1, 3, Fact::Delayed),
        found(1, 5, Fact::Cancelled),
    ]);
    let past = group(2, 3, 3);
    let mut failed = vec![TaskRow { fact: Fact::Failed, ..group(3, 3, 2) }];
    failed.push(found(3, 1, Fact::Failed));
    let last = task(plain(4));
    let successes = [done(1, 1, None), done(1, 4, None), done(3, 0, None), done(3, 2, None)];
    let past_ones = [done(2, 0, None), done(2, 1, None), done(2, 2, None)];
    for rows in [
        &open[..],
        std::slice::from_ref(&past),
        &failed,
        std::slice::from_ref(&last),
        &successes,
        &past_ones,
    ] {
        put(store, fence, rows);
    }
    let mut expected = [open, vec![past], failed, vec![last]].concat();
    assert_eq!(load(store, 1).tasks, expected);
    let outline = ask(store.outline(run_id(1))).expect("the run is stored");
    expected.retain(|row| row.task.index.is_none());
    assert_eq!(outline, StoredRun { tasks: expected, ..load(store, 1) });
    assert_eq!(ask(store.outline(run_id(2))), None);
}

/// As many rows as no store reads at once, without looking which they are.
pub fn a_large_run_comes_with_the_same(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let (mut rows, mut expected) = (Vec::new(), Vec::new());
    for no in 0..300 {
        // By turns a plain task, a group at work, one that is through, and one without instances;
        // two groups meet, one is the first and one the last.
        let (own, instances) = match no % 5 {
            0 => (group(no, 6, 3), 6),
            1 | 4 => (group(no, 4, 4), 4),
            2 => (group(no, 0, 0), 0),
            _ => (task(plain(no)), 0),
        };
        let fact = |index| if no % 5 == 0 && index % 2 == 1 { Fact::Failed } else { Fact::Success };
        let instances = (0..instances).map(|index| found(no, index, fact(index)));
        let instances: Vec<TaskRow> = instances.collect();
        expected.push(own.clone());
        expected.extend(instances.iter().filter(|row| row.fact == Fact::Failed).cloned());
        rows.push(own);
        rows.extend(instances);
    }
    put(store, fence, &rows);
    assert_eq!(load(store, 1).tasks, expected);
}

/// The rows that are looked for are the last ones: those before are passed over, and so are those
/// of a task that does not say how many it has.
pub fn a_groups_row_says_how_many_instances_to_look_for(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let rows: Vec<TaskRow> = (0..5).map(|index| found(1, index, Fact::Running)).collect();
    put(store, fence, &rows);
    put(store, fence, &[found(3, 0, Fact::Running)]);
    for (next, success, expected) in [(5, 0, 0..5), (5, 3, 3..5), (9, 0, 0..5), (2, 3, 0..0)] {
        put(store, fence, &[group(1, next, success), task(plain(2))]);
        let tasks = load(store, 1).tasks;
        assert_eq!(indexes(&tasks), expected.collect::<Vec<u32>>(), "{next} {success}");
        assert_eq!(tasks.last(), Some(&task(plain(2))));
    }
}

pub fn instances_are_listed_in_pages(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    accept(store, fence, 2, RunStatus::Running);
    let facts = [Fact::Success, Fact::Failed, Fact::Running, Fact::Success, Fact::Cancelled];
    let mut rows: Vec<TaskRow> =
        (0..).zip(facts).map(|(index, fact)| found(1, index, fact)).collect();
    rows.push(found(1, u32::MAX, Fact::Failed));
    put(store, fence, &[&[group(1, 6, 2), found(0, 1, Fact::Failed)], &rows[..]].concat());
    let list = |from, limit, facts: &[Fact]| {
        let query = InstancesQuery { from, limit, facts: facts.to_vec() };
        ask(store.instances(key(1), TaskNo(1), query))
    };
    assert_eq!(list(0, 100, &[]), rows);
    assert_eq!(list(1, 2, &[]), rows[1..3]);
    assert_eq!(list(5, 2, &[]), rows[5..]);
    assert_eq!(list(0, 0, &[]), []);
    assert_eq!(indexes(&list(0, 9, &[Fact::Failed])), [1, u32::MAX]);
    assert_eq!(indexes(&list(0, 1, &[Fact::Failed])), [1]);
    assert_eq!(indexes(&list(2, 9, &[Fact::Failed, Fact::Cancelled])), [4, u32::MAX]);
    assert_eq!(list(0, 9, &[Fact::Skipped]), []);
    assert_eq!(ask(store.instances(key(2), TaskNo(1), InstancesQuery::default())), []);
    for row in &rows {
        let index = row.task.index.unwrap();
        assert_eq!(ask(store.instance(key(1), TaskNo(1), index)).as_ref(), Some(row));
    }
    assert_eq!(ask(store.instance(key(1), TaskNo(1), 77)), None);
    assert_eq!(ask(store.instance(key(2), TaskNo(1), 0)), None);
}

/// What failed to land among them: whether that counts is not the store's to say.
pub fn outputs_of_instances_are_read_in_pages(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let told = |index, fact, output| InstanceOutput { index, fact, output };
    let small = [
        told(0, Fact::Success, json("0")),
        told(2, Fact::Failed, blob(2)),
        told(3, Fact::WorkerDone, json("[3]")),
        told(u32::MAX, Fact::Cancelled, json("null")),
    ];
    let row = |it: &InstanceOutput| TaskRow {
        fact: it.fact,
        ..done(1, it.index, Some(it.output.clone()))
    };
    let mut rows: Vec<TaskRow> = small.iter().map(row).collect();
    rows.extend([done(1, 1, None), done(0, 0, Some(json("5")))]);
    rows.push(TaskRow { output: Some(json("[0]")), ..group(1, 5, 5) });
    put(store, fence, &rows);
    let outputs = |no, from, limit| ask(store.outputs(key(1), TaskNo(no), from, limit));
    assert_eq!(outputs(1, 0, 100), small);
    assert_eq!(outputs(1, 0, 2), small[..2]);
    assert_eq!(outputs(1, 3, 1), small[2..3]);
    assert_eq!(outputs(1, 4, 9), small[3..]);
    assert_eq!(outputs(1, 0, 0), []);
    assert_eq!(outputs(2, 0, 9), []);
}

/// Whoever asks for thousands is not given gigabytes.
pub fn a_page_of_large_outputs_is_shorter(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    let large = json(&format!("\"{}\"", "x".repeat(256 * 1024 - 2)));
    for half in [0..12, 12..24] {
        let rows: Vec<TaskRow> = half.map(|index| done(1, index, Some(large.clone()))).collect();
        put(store, fence, &rows);
    }
    let (mut from, mut pages) = (0, Vec::new());
    loop {
        let page = ask(store.outputs(key(1), TaskNo(1), from, 1_000));
        let Some(last) = page.last() else { break };
        assert!(page.iter().all(|it| it.output == large));
        from = last.index + 1;
        pages.push(page.len());
    }
    assert_eq!(pages, [16, 8]);
}

pub fn instances_that_go_back_leave_their_attempts_to_the_history(store: &dyn Store) {
    let fence = begin(store);
    for run in [1, 2] {
        accept(store, fence, run, RunStatus::Running);
    }
    let refused = Some(AttemptEnd::Refused("busy".into()));
    let refused = Attempt { end: refused, ..attempt(1, 30) };
    let rows = [
        group(1, 5, 2),
        done(1, 0, Some(json("[0]"))),
        done(1, 1, Some(blob(1))),
        found(1, 2, Fact::Cancelled),
        TaskRow { attempt: Some(refused), ..found(1, 3, Fact::Cancelled) },
        done(1, 4, None),
        done(2, 0, None),
        TaskRow { attempt: Some(attempt(1, 50)), ..task(plain(3)) },
    ];
    put(store, fence, &rows);
    commit(store, fence, vec![Change::PutTask(key(2), done(1, 0, None))]).unwrap();
    let history = |row: &TaskRow| AttemptRow {
        task: row.task,
        step: Step::Work,
        attempt: row.attempt.clone().unwrap(),
        output: row.output.clone(),
    };
    // What the batch says itself stands, and so does what was there before.
    let mut known = history(&rows[1]);
    known.output = None;
    let mut said = history(&rows[5]);
    said.output = Some(json("4"));
    commit(store, fence, vec![Change::NewAttempt(key(1), known.clone())]).unwrap();
    let fresh = TaskRow { attempts: 1, ..found(1, 2, Fact::Dispatched) };
    let back = TaskRow { fact: Fact::Open, ..group(1, 1, 0) };
    let changes = vec![
        Change::PutTask(key(1), fresh.clone()),
        Change::SendBackInstances(key(1), TaskNo(1)),
        Change::PutTask(key(1), back.clone()),
        Change::SendBackInstances(key(1), TaskNo(7)),
        Change::NewAttempt(key(1), said.clone()),
    ];
    commit(store, fence, changes).unwrap();
    let expected = [known, history(&rows[2]), said];
    assert_eq!(ask(store.attempts(key(1))), expected);
    assert_eq!(load(store, 1).tasks, [back, fresh.clone(), rows[7].clone()]);
    let all = InstancesQuery { limit: 9, ..InstancesQuery::default() };
    assert_eq!(ask(store.instances(key(1), TaskNo(1), all.clone())), [fresh]);
    assert_eq!(ask(store.instances(key(1), TaskNo(2), all.clone())), rows[6..7]);
    assert_eq!(ask(store.instances(key(2), TaskNo(1), all)).len(), 1);
    assert_eq!(ask(store.attempts(key(2))), []);
}

pub fn instances_of_an_unknown_run_do_not_go_back(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    put(store, fence, &[done(1, 0, None)]);
    let changes = vec![
        Change::SendBackInstances(key(1), TaskNo(1)),
        Change::SendBackInstances(key(2), TaskNo(1)),
    ];
    commit(store, fence, changes).unwrap_err();
    let task = TaskRef { no: TaskNo(1), index: Some(0) };
    assert_eq!(ask(store.attempts_of(key(1), task)), []);
    let kept = ask(store.instance(key(1), TaskNo(1), 0)).unwrap();
    assert_eq!(kept.attempt.map(|attempt| attempt.id), Some(attempt_id(0)));
}
