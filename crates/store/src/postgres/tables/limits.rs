//! Limits that somebody set, and what rates count. There are few of both: they are read whole.

use crate::contract::StoredLimits;
use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, number, structure};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use mainspring_core::kernel::ledger::LedgerRow;
use mainspring_core::kernel::limit::{Bound, LimitRow, Rate};
use mainspring_core::time::Span;
use tokio_postgres::Row;

const PUT: &str = "
    insert into limits (name, permits, rate_starts, rate_per)
    select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
    on conflict (name) do update set
        permits = excluded.permits, rate_starts = excluded.rate_starts,
        rate_per = excluded.rate_per";
const PUT_LEDGERS: &str = "
    insert into ledgers (name, starts)
    select * from unnest($1::text[], $2::text[])
    on conflict (name) do update set starts = excluded.starts";
const ALL: &str = "select name, permits, rate_starts, rate_per from limits order by name";
const LEDGERS: &str = "select name, starts from ledgers order by name";

pub(in crate::postgres) fn put<'a>(rows: &'a [&'a LimitRow]) -> Step<'a> {
    let params = Columns::of(rows)
        .text(|row| &row.name)
        .and(|row| i64::from(row.bound.limit))
        .and(|row| row.bound.rate.map(|rate| i64::from(rate.starts)))
        .and(|row| row.bound.rate.map(|rate| number(rate.per.0)))
        .params();
    Step { sql: PUT, params }
}

pub(in crate::postgres) fn put_ledgers<'a>(rows: &'a [&'a LedgerRow]) -> Step<'a> {
    let params = Columns::of(rows).text(|row| &row.name).and(|row| structure(&row.ledger)).params();
    Step { sql: PUT_LEDGERS, params }
}

pub(in crate::postgres) async fn all(session: &Session) -> Result<StoredLimits, Fault> {
    let answers = session.snapshot(&[everything(ALL), everything(LEDGERS)]).await?;
    let mut answers = answers.iter();
    let (set, ledgers) = (answers.next(), answers.next());
    Ok(StoredLimits {
        set: set.into_iter().flatten().map(read).collect::<Result<_, _>>()?,
        ledgers: ledgers.into_iter().flatten().map(read_ledger).collect::<Result<_, _>>()?,
    })
}

fn everything(sql: &'static str) -> Step<'static> {
    Step { sql, params: Vec::new() }
}

fn read(row: &Row) -> Result<LimitRow, Fault> {
    let mut cells = Cells::of(row, "limits", 1);
    let (name, limit) = (cells.text()?.into(), cells.number()?);
    let rate = match (cells.maybe_number()?, cells.maybe_number()?) {
        (Some(starts), Some(per)) => Some(Rate { starts, per: Span(per) }),
        (None, None) => None,
        _ => return Err(cells.contradiction("half a rate")),
    };
    Ok(LimitRow { name, bound: Bound { limit, rate } })
}

fn read_ledger(row: &Row) -> Result<LedgerRow, Fault> {
    let mut cells = Cells::of(row, "ledgers", 1);
    Ok(LedgerRow { name: cells.text()?.into(), ledger: cells.structure()? })
}
