//! How SQLite goes about each statement: whatever grows with the runs is reached by an index.

use super::{
    additions, approvals, attempts, audit, bulks, cache, idempotency_keys, instances, limits, logs,
    run_drop, runs, schedulers, signals, tasks, versions, workflows,
};
use crate::sqlite::schema;
use mainspring_core::kernel::fact::Fact;
use rusqlite::Connection;

/// All but those on tokens and limits, which are few and read whole, and the lists of runs, which have a
/// test of their own.
const STATEMENTS: &[&str] = &[
    schedulers::REGISTER,
    schedulers::BURY,
    schedulers::ADOPT,
    schedulers::MARK,
    schedulers::LAST_RUN,
    schedulers::LAST_STAMP,
    schedulers::EPOCH,
    schedulers::ORDINAL,
    versions::INSERT,
    versions::NUMBERED,
    versions::LATEST,
    versions::LIST,
    workflows::PUT,
    workflows::LOAD,
    workflows::LIST,
    runs::INSERT,
    runs::INSERT_INPUT,
    runs::PUT,
    runs::EXISTS,
    runs::KNOWN,
    runs::UNFINISHED,
    runs::LOAD,
    runs::LOAD_BY_KEY,
    runs::CHANGED,
    run_drop::EXPIRED,
    run_drop::BELOW,
    run_drop::DROP,
    run_drop::DROP_CHILD,
    tasks::PUT,
    tasks::ALL,
    tasks::ABOVE,
    instances::UNSUCCESSFUL,
    instances::ONE,
    instances::OUTPUTS,
    instances::NEXT_GROUP,
    instances::LAST_INDEX,
    instances::INTO_HISTORY,
    instances::DROP,
    attempts::INSERT,
    attempts::OF_RUN,
    attempts::OF_TASK,
    logs::INSERT,
    logs::LOAD,
    logs::OUTSIDE_OF_RUN,
    logs::OUTSIDE,
    signals::INSERT,
    signals::NEWEST,
    additions::INSERT,
    additions::OF_RUN,
    approvals::PUT,
    approvals::DROP,
    approvals::LIST,
    approvals::OF_RUN,
    limits::PUT,
    limits::PUT_LEDGER,
    cache::PUT,
    cache::DROP_EXPIRED,
    cache::DROP_OF_RUN,
    cache::LOAD,
    idempotency_keys::INSERT,
    idempotency_keys::LOAD,
    idempotency_keys::LET_GO,
    idempotency_keys::HAS_OLD,
    idempotency_keys::DROP,
    bulks::INSERT,
    bulks::END,
    bulks::HAS_OLD,
    bulks::DROP,
    audit::INSERT,
    audit::LIST,
];

fn plan(conn: &Connection, sql: &str) -> String {
    let mut explain = conn.prepare(&format!("explain query plan {sql}")).unwrap();
    let nulls = vec![rusqlite::types::Null; explain.parameter_count()];
    let steps = explain.query_map(rusqlite::params_from_iter(nulls), |row| row.get("detail"));
    steps.unwrap().map(Result::unwrap).collect::<Vec<String>>().join("; ")
}

fn database() -> Connection {
    let mut conn = Connection::open_in_memory().unwrap();
    schema::migrate(&mut conn, "x".as_ref()).unwrap();
    conn
}

#[test]
fn no_statement_scans_or_sorts() {
    let conn = database();
    let bulks = [bulks::loading(), bulks::unfinished_first()];
    let bulks = bulks.iter().map(String::as_str);
    for sql in STATEMENTS.iter().chain(&run_drop::DROP_ROWS).copied().chain(bulks) {
        // The whole of two is what a start loads, of the third what was just found.
        let plan = plan(&conn, sql).replace("SCAN runs USING INDEX runs_unfinished", "");
        let plan = plan.replace("SCAN bulks USING INDEX bulks_unfinished", "");
        let plan = plan.replace("SCAN below", "");
        assert!(!plan.contains("SCAN "), "{sql}: {plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{sql}: {plan}");
    }
}

#[test]
fn what_is_looked_for_by_its_end_is_sought_there() {
    let conn = database();
    let seeks = [
        (runs::CHANGED, "USING INDEX runs_by_stamp (owner=? AND stamp>?)"),
        (run_drop::BELOW, "USING INDEX runs_by_parent (parent=?)"),
        (run_drop::EXPIRED, "USING INDEX runs_by_age (created_at<?)"),
        (idempotency_keys::HAS_OLD, "USING INDEX idempotency_keys_free (created_at<?)"),
        (idempotency_keys::DROP, "USING INDEX idempotency_keys_free (created_at<?)"),
        (bulks::HAS_OLD, "INDEX bulks_finished (finished_at<?)"),
        (bulks::DROP, "INDEX bulks_finished (finished_at<?)"),
        (idempotency_keys::LET_GO, "USING INDEX idempotency_keys_by_run (run=?)"),
        (versions::LIST, "(workflow=? AND number<?)"),
        (tasks::ABOVE, "USING PRIMARY KEY (run=? AND no>?)"),
        (instances::UNSUCCESSFUL, "USING PRIMARY KEY (run=? AND no=? AND ix>?)"),
        (instances::OUTPUTS, "USING PRIMARY KEY (run=? AND no=? AND ix>?)"),
        (attempts::OF_TASK, "(run=? AND no=? AND ix=?)"),
        (approvals::LIST, "USING COVERING INDEX approvals_by_age ((since,run,no,ix)>(?,?,?,?))"),
        (signals::NEWEST, "USING PRIMARY KEY (run=?)"),
        (additions::OF_RUN, "USING PRIMARY KEY (run=?)"),
        (cache::DROP_EXPIRED, "USING INDEX cache_by_expiry (expires_at<?)"),
        (cache::DROP_OF_RUN, "USING INDEX cache_of_blobs (run=?)"),
    ];
    for (sql, seek) in seeks {
        let plan = plan(&conn, sql);
        assert!(plan.contains(seek), "{sql}: {plan}");
    }
    for facts in [&[][..], &[Fact::Failed, Fact::Cancelled]] {
        let plan = plan(&conn, &instances::listing(facts));
        let seek = "USING PRIMARY KEY (run=? AND no=? AND ix>?)";
        assert!(plan.contains(seek) && !plan.contains("TEMP B-TREE"), "{plan}");
    }
}
