//! Strings that some database somewhere does not take as they are.

use super::begin::{begin, key, load};
use crate::asking::{ask, commit};
use crate::rows::{attempt, head, plain, progress, task, version};
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::json::Json;
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::kernel::record::{AuditRow, IdempotencyKey, KeyAnswer, KeyRow};
use mainspring_core::kernel::row::{
    Attempt, AttemptEnd, CancelCause, Hold, RunError, RunHead, RunProgress, RunStatus, TaskRow,
    WorkflowRow,
};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{RunsQuery, Store};

/// U+0000, what stands for it where it cannot be stored, quotes, other planes.
const ODD: &[&str] = &[
    "\0",
    "a\0b",
    "\u{1}",
    "\u{1}0",
    "\\u0000",
    "\\",
    "'\"{}",
    "\u{7f}\u{FFFD}\u{FFFE}",
    "\u{10FFFF}e\u{301}",
];

fn odd_run(number: u64, odd: &str) -> (RunHead, RunProgress) {
    let head = RunHead {
        workflow: odd.into(),
        input: Json::from_value(&serde_json::json!({ odd: odd })),
        labels: [(odd.to_owned(), odd.to_owned()), ("plain".to_owned(), odd.to_owned())].into(),
        triggered_by: odd.to_owned(),
        workdir: odd.to_owned(),
        ..head(number)
    };
    let progress = RunProgress {
        hold: Some(Hold { by: odd.to_owned(), at: Timestamp(1) }),
        cancel: Some(CancelCause::Asked(odd.to_owned())),
        error: Some(RunError { class: ErrorClass::ALL[0], message: odd.to_owned() }),
        output: Some(Json::from_value(&serde_json::json!({ odd: odd })).into()),
        ..progress(RunStatus::Paused, number)
    };
    (head, progress)
}

fn odd_task(no: u32, odd: &str, end: AttemptEnd) -> TaskRow {
    TaskRow {
        attempt: Some(Attempt { end: Some(end), ..attempt(1, 1) }),
        hold: Some(Box::new(Hold { by: odd.to_owned(), at: Timestamp(1) })),
        output: Some(Json::from_value(&serde_json::json!([odd])).into()),
        ..task(plain(no))
    }
}

pub fn strings_are_read_as_they_were_written(store: &dyn Store) {
    let fence = begin(store);
    for (number, odd) in (1..).zip(ODD) {
        let (head, progress) = odd_run(number, odd);
        let tasks = [
            odd_task(0, odd, AttemptEnd::Refused((*odd).into())),
            odd_task(1, odd, AttemptEnd::Failed(TaskError::new(ErrorClass::ALL[0], *odd).into())),
            TaskRow {
                error: Some(TaskError::new(ErrorClass::ALL[0], *odd).into()),
                ..task(plain(2))
            },
        ];
        let mut changes = vec![Change::NewRun(head.clone(), progress.clone())];
        changes.extend(tasks.iter().map(|row| Change::PutTask(key(number), row.clone())));
        commit(store, fence, changes).unwrap_or_else(|error| panic!("{odd:?}: {error}"));
        let stored = load(store, number);
        assert_eq!((stored.head, stored.progress), (head, progress), "{odd:?}");
        assert_eq!(stored.tasks, tasks, "{odd:?}");
    }
}

pub fn odd_names_are_found_and_ordered_by_their_bytes(store: &dyn Store) {
    let fence = begin(store);
    let mut names: Vec<&str> = ODD.to_vec();
    names.extend(["a", "B", "ä", "z", "Z", "a b", "a-b", "ab"]);
    for (number, name) in (1..).zip(&names) {
        let (head, progress) = odd_run(number, name);
        let at = Timestamp(1);
        let workflow = WorkflowRow {
            name: (*name).into(),
            latest: 1,
            created_at: at,
            updated_at: at,
            deleted_at: None,
        };
        let answer = KeyAnswer::Version { number: 1, is_new: true };
        let key = KeyRow { key: idempotency_key(name), answer, created_at: at };
        let cache_key = CacheKey { workflow: (*name).into(), task: (*name).into(), hash: [1; 32] };
        let cached =
            CacheRow { key: cache_key.clone(), run: head.id, output: None, expires_at: at };
        let audit = AuditRow {
            at,
            by: (*name).into(),
            from: (*name).into(),
            action: (*name).into(),
            target: (*name).to_owned(),
        };
        let changes = vec![
            Change::NewRun(head, progress),
            Change::PutWorkflow(workflow),
            Change::NewVersion(version(name, 1, name)),
            Change::NewKey(key.clone()),
            Change::NewAudit(audit.clone()),
            Change::PutCache(cached.clone()),
        ];
        commit(store, fence, changes).unwrap_or_else(|error| panic!("{name:?}: {error}"));
        assert_eq!(ask(store.version(name, None)), Some(version(name, 1, name)), "{name:?}");
        assert_eq!(ask(store.key(&key.key)), Some(key), "{name:?}");
        assert_eq!(ask(store.audit(None, 1))[0].row, audit, "{name:?}");
        assert_eq!(ask(store.cached(&cache_key)), Some(cached), "{name:?}");
        let labels = vec![((*name).to_owned(), (*name).to_owned())];
        let query = RunsQuery { labels, limit: 9, ..RunsQuery::default() };
        assert_eq!(ask(store.runs(query)).len(), 1, "{name:?}");
        let workflow = Some((*name).to_owned());
        let query = RunsQuery { workflow, limit: 9, ..RunsQuery::default() };
        assert_eq!(ask(store.runs(query)).len(), 1, "{name:?}");
    }
    names.sort_unstable();
    let listed = ask(store.workflows(None, 100));
    assert_eq!(listed.iter().map(|row| &*row.name).collect::<Vec<_>>(), names);
    let after = ask(store.workflows(Some(names[2]), 2));
    assert_eq!(after.iter().map(|row| &*row.name).collect::<Vec<_>>(), names[3..5]);
}

fn idempotency_key(name: &str) -> IdempotencyKey {
    IdempotencyKey { principal: name.into(), route: name.into(), key: name.into(), body: [7; 32] }
}
