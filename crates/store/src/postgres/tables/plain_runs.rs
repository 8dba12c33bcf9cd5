//! Runs that say what most of them say: nobody holds, cancels or waits for anything, and nothing
//! has failed. The server takes every column of a batch apart by itself, so half of the columns is
//! half of that work.

use super::runs::{Owned, is_large, kind_word, written_labels};
use crate::postgres::columns::{Columns, number, uuid};
use crate::postgres::session::Step;
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::{Counts, RunHead, RunProgress};
use mainspring_core::output::Output;

const INSERT: &str = "
    insert into runs (key, status, owner, stamp, started_at, opened_at, finished_at, output,
                      tasks_total, tasks_live, tasks_success, id, workflow, version, kind, input,
                      labels, priority, triggered_by, workdir, created_at, tasks_failed,
                      tasks_cancelled, tasks_skipped, tasks_waiting, tasks_worker_done, signals,
                      additions)
    select u.*, 0, 0, 0, 0, 0, 0, 0
    from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
                $7::bigint[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[], $12::uuid[],
                $13::text[], $14::bigint[], $15::text[], $16::text[], $17::text[],
                $18::integer[], $19::text[], $20::text[], $21::bigint[]) as u";
/// By place, as any other.
const PUT: &str = "
    with put as (
        update runs set status = t.status, owner = t.owner, stamp = t.stamp,
            started_at = t.started_at, opened_at = t.opened_at, finished_at = t.finished_at,
            output = t.output, tasks_total = t.total, tasks_live = t.live,
            tasks_success = t.success, tasks_failed = 0, tasks_cancelled = 0, tasks_skipped = 0,
            tasks_waiting = 0, tasks_worker_done = 0, signals = 0, additions = 0,
            held_by = null, held_at = null, cancel = null, error = null, alone_since = null,
            unconfirmed_since = null
        from (
            select u.*, (select known.ctid from runs known where known.key = u.key) as place
            from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[],
                        $6::bigint[], $7::bigint[], $8::text[], $9::bigint[], $10::bigint[],
                        $11::bigint[])
                 as u(key, status, owner, stamp, started_at, opened_at, finished_at, output,
                      total, live, success)
            offset 0) t
        where runs.ctid = t.place
        returning 1)
    select 1 / (count(*) = cardinality($1))::integer from put";

/// Whether there is nothing to say of it beyond the columns above.
pub(in crate::postgres) fn is_plain(progress: &RunProgress) -> bool {
    let RunProgress { hold, cancel, alone_since, unconfirmed_since, error, .. } = progress;
    let RunProgress { signals, additions, .. } = progress;
    let Counts { total, live, success, .. } = progress.counts;
    hold.is_none()
        && cancel.is_none()
        && alone_since.is_none()
        && unconfirmed_since.is_none()
        && error.is_none()
        && (*signals, *additions) == (0, 0)
        && progress.counts == Counts { total, live, success, ..Counts::default() }
}

/// The same of what is said once.
pub(in crate::postgres) fn has_plain_head(head: &RunHead) -> bool {
    head.parent.is_none() && head.group.is_none() && head.retry_of.is_none()
}

/// Parameters 1 to 11.
fn progress<'r, 'a, Run>(
    rows: &'r [Owned<'a, Run>],
    key: impl Fn(&Run) -> RunKey,
) -> Columns<'r, Owned<'a, Run>> {
    Columns::of(rows)
        .and(|row| key(&row.run).0)
        .and(|row| row.progress.status.word())
        .and(|row| row.owner)
        .and(|row| number(row.progress.stamp))
        .and(|row| row.progress.started_at.map(|at| at.0))
        .and(|row| row.progress.opened_at.map(|at| at.0))
        .and(|row| row.progress.finished_at.map(|at| at.0))
        .and(|row| row.progress.output.as_ref().map(Output::to_text))
        .and(|row| i64::from(row.progress.counts.total))
        .and(|row| i64::from(row.progress.counts.live))
        .and(|row| i64::from(row.progress.counts.success))
}

pub(in crate::postgres) fn insert<'a>(rows: &'a [Owned<'a, &'a RunHead>]) -> Step<'a> {
    let params = progress(rows, |head| head.key)
        .and(|row| uuid(row.run.id.as_bytes()))
        .text(|row| &row.run.workflow)
        .and(|row| i64::from(row.run.version))
        .and(|row| kind_word(row.run.kind))
        .and(|row| Some(row.run.input.as_str()).filter(|_| !is_large(row.run)))
        .and(|row| written_labels(&row.run.labels))
        .and(|row| row.run.priority)
        .text(|row| &row.run.triggered_by)
        .text(|row| &row.run.workdir)
        .and(|row| row.run.created_at.0)
        .params();
    Step { sql: INSERT, params }
}

pub(in crate::postgres) fn put<'a>(rows: &'a [Owned<'a, RunKey>]) -> Step<'a> {
    Step { sql: PUT, params: progress(rows, |run| *run).params() }
}
