//! Rows of tasks that say what most of them say: one attempt that is at work or has succeeded. The
//! server takes every column of a batch apart by itself, so half of the columns is half of that work.

use super::attempts::index;
use super::tasks::{attempt, ending, ending_detail};
use crate::postgres::columns::{Columns, uuid};
use crate::postgres::session::Step;
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::output::Output;

/// Whole rows all the same: what is not given is what it is for such a row.
const PUT: &str = "
    insert into tasks (run, no, ix, fact, attempts, attempt_number, attempt_id, dispatched_at,
                       started_at, finished_at, ending, ever_started, settled_at, output,
                       tries, losses, refusals, refused_for)
    select u.*, 0, 0, 0, 0
    from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[],
                $7::uuid[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[],
                $12::boolean[], $13::bigint[], $14::text[]) as u
    on conflict (run, no, ix) do update set
        fact = excluded.fact, attempts = excluded.attempts,
        attempt_number = excluded.attempt_number, attempt_id = excluded.attempt_id,
        dispatched_at = excluded.dispatched_at, started_at = excluded.started_at,
        finished_at = excluded.finished_at, ending = excluded.ending,
        ever_started = excluded.ever_started, settled_at = excluded.settled_at,
        output = excluded.output, tries = 0, losses = 0, refusals = 0, refused_for = 0,
        until = null, ending_detail = null, held_by = null, held_at = null, stopping = null,
        cancelled = null, group_state = null, wait = null, finalizer = null";

/// Whether a row has nothing to say beyond the columns above.
pub(in crate::postgres) fn is_plain(row: &TaskRow) -> bool {
    let is_counted = row.tries > 0 || row.losses > 0 || row.refusals > 0 || row.refused_for.0 > 0;
    let is_moved = row.hold.is_some() || row.stopping.is_some() || row.cancelled.is_some();
    let has_parts = row.group.is_some() || row.wait.is_some() || row.finalizer.is_some();
    let has_more = row.until.is_some() || ending_detail(row).is_some();
    !(is_counted || is_moved || has_parts || has_more)
}

pub(in crate::postgres) fn put<'a>(rows: &'a [(RunKey, &'a TaskRow)]) -> Step<'a> {
    let params = Columns::of(rows)
        .and(|(run, _)| run.0)
        .and(|(_, row)| i64::from(row.task.no.0))
        .and(|(_, row)| index(row.task))
        .and(|(_, row)| row.fact.word())
        .and(|(_, row)| i64::from(row.attempts))
        .and(|(_, row)| attempt(row).map(|attempt| i64::from(attempt.number)))
        .and(|(_, row)| attempt(row).map(|attempt| uuid(attempt.id.as_bytes())))
        .and(|(_, row)| attempt(row).map(|attempt| attempt.dispatched_at.0))
        .and(|(_, row)| attempt(row).and_then(|attempt| attempt.started_at).map(|at| at.0))
        .and(|(_, row)| attempt(row).and_then(|attempt| attempt.finished_at).map(|at| at.0))
        .and(|(_, row)| ending(row))
        .and(|(_, row)| row.ever_started)
        .and(|(_, row)| row.settled_at.map(|at| at.0))
        .and(|(_, row)| row.output.as_ref().map(Output::to_text))
        .params();
    Step { sql: PUT, params }
}
