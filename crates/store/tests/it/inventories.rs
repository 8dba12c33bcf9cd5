//! Everything that is stored, for whoever checks it.

use crate::asking::{ask, commit, register};
use crate::rows::{
    SCHEDULER, attempt, blob, cache_key, group, head, instance, json, progress, run_id, task,
};
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{RunStatus, TaskRow};
use mainspring_core::output::Output;
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{CachedSuccess, Inventory, Postgres, Sqlite};

fn on_both(case: impl Fn(&dyn Inventory)) {
    let folder = tempfile::tempdir().unwrap();
    case(&Sqlite::open(&folder.path().join("db")).unwrap());
    let database = mainspring_throwaway::database();
    case(&Postgres::open(&database.url()).unwrap());
}

fn key(number: u64) -> RunKey {
    RunKey::new(1, number)
}

#[test]
fn a_whole_run_has_every_instance_and_of_their_outputs_the_names() {
    on_both(|store| {
        let fence = register(store, SCHEDULER).fence;
        let done = |index: u32, output| TaskRow {
            fact: Fact::Success,
            attempt: Some(attempt(1, index.into())),
            output,
            ..task(instance(0, index))
        };
        let own = TaskRow { output: Some(json("[1, 2]")), ..group(0, 3, 3) };
        let rows = [own, done(0, Some(json("[7]"))), done(1, Some(blob(1))), done(2, None)];
        let mut changes = vec![Change::NewRun(head(1), progress(RunStatus::Success, 1))];
        changes.extend(rows.iter().map(|row| Change::PutTask(key(1), row.clone())));
        commit(store, fence, changes).unwrap();
        let mut expected = rows.to_vec();
        expected[1].output = Some(Output::null());
        let whole = ask(store.whole_run(key(1))).unwrap();
        assert_eq!(whole.run.tasks, expected);
        assert_eq!(ask(store.whole_run(key(2))), None);
    });
}

#[test]
fn cached_successes_are_read_in_pages_and_dangle_without_their_blobs() {
    on_both(|store| {
        let fence = register(store, SCHEDULER).fence;
        let row = |key: CacheKey, run, output| CachedSuccess {
            row: CacheRow { key, run: run_id(run), output, expires_at: Timestamp(1) },
            dangles: false,
        };
        let other = CacheKey { workflow: "zzz".into(), ..cache_key("a", 0) };
        let mut rows = [
            row(cache_key("a", 1), 1, Some(blob(1))),
            row(cache_key("a", 2), 9, Some(json("1"))),
            row(cache_key("b", 0), 9, None),
            row(other, 9, Some(blob(2))),
        ];
        rows[3].dangles = true;
        let mut changes = vec![Change::NewRun(head(1), progress(RunStatus::Success, 1))];
        changes.extend(rows.iter().map(|cached| Change::PutCache(cached.row.clone())));
        commit(store, fence, changes).unwrap();
        for limit in 1..=5 {
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page = ask(store.cached_successes(after.as_ref(), limit));
                let Some(last) = page.last() else { break };
                after = Some(last.row.key.clone());
                found.extend(page);
            }
            assert_eq!(found, rows, "{limit} at a time");
        }
    });
}
