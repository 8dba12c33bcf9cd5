//! Who asked for what.

use crate::contract::Audited;
use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, count, number};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use mainspring_core::kernel::record::AuditRow;
use tokio_postgres::Row;

/// Numbers go on from the highest: a row is never removed, and only one server writes. An
/// identity column would leave holes after batches that were rolled back.
const INSERT: &str = "
    insert into audit (number, at, \"by\", \"from\", action, target)
    select (select coalesce(max(number), 0) from audit) + u.place, u.at, u.who, u.address,
           u.action, u.target
    from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) with ordinality
         as u(at, who, address, action, target, place)";
const LIST: &str = "
    select number, at, \"by\", \"from\", action, target from audit
    where number < $1 order by number desc limit $2";

pub(in crate::postgres) fn insert<'a>(rows: &'a [&'a AuditRow]) -> Step<'a> {
    let params = Columns::of(rows)
        .and(|row| row.at.0)
        .text(|row| &row.by)
        .text(|row| &row.from)
        .text(|row| &row.action)
        .text(|row| &row.target)
        .params();
    Step { sql: INSERT, params }
}

pub(in crate::postgres) async fn list(
    session: &Session,
    below: Option<u64>,
    rows_max: usize,
) -> Result<Vec<Audited>, Fault> {
    let below = below.map_or(i64::MAX, number);
    let params: Vec<_> = vec![Box::new(below) as _, Box::new(count(rows_max)) as _];
    session.rows(&Step { sql: LIST, params }).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Audited, Fault> {
    let mut cells = Cells::of(row, "audit", 1);
    Ok(Audited {
        number: cells.number()?,
        row: AuditRow {
            at: cells.time()?,
            by: cells.text()?.into(),
            from: cells.text()?.into(),
            action: cells.text()?.into(),
            target: cells.text()?,
        },
    })
}
