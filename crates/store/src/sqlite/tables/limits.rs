//! Limits that somebody set, and what rates count. There are few of both: they are read whole.

use crate::contract::StoredLimits;
use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use crate::sqlite::tables::runs::structure;
use mainspring_core::kernel::ledger::LedgerRow;
use mainspring_core::kernel::limit::{Bound, LimitRow, Rate};
use mainspring_core::time::Span;
use rusqlite::{Connection, Row, params};

pub(super) const PUT: &str = "
    insert into limits (name, permits, rate_starts, rate_per) values (?1, ?2, ?3, ?4)
    on conflict (name) do update set permits = ?2, rate_starts = ?3, rate_per = ?4";
pub(super) const PUT_LEDGER: &str = "
    insert into ledgers (name, starts) values (?1, ?2)
    on conflict (name) do update set starts = ?2";
const ALL: &str = "select name, permits, rate_starts, rate_per from limits order by name";
const LEDGERS: &str = "select name, starts from ledgers order by name";

pub(in crate::sqlite) fn put<'a>(
    conn: &Connection,
    rows: impl Iterator<Item = &'a LimitRow>,
) -> Result<(), Fault> {
    for LimitRow { name, bound } in rows {
        let (starts, per) = match bound.rate {
            Some(Rate { starts, per }) => (Some(starts), Some(per.0)),
            None => (None, None),
        };
        conn.prepare_cached(PUT)?.execute(params![&**name, bound.limit, starts, per])?;
    }
    Ok(())
}

pub(in crate::sqlite) fn put_ledgers<'a>(
    conn: &Connection,
    rows: impl Iterator<Item = &'a LedgerRow>,
) -> Result<(), Fault> {
    for LedgerRow { name, ledger } in rows {
        conn.prepare_cached(PUT_LEDGER)?.execute(params![&**name, structure(ledger)])?;
    }
    Ok(())
}

pub(in crate::sqlite) fn all(conn: &Connection) -> Result<StoredLimits, Fault> {
    let mut found = StoredLimits::default();
    let mut statement = conn.prepare_cached(ALL)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.set.push(read(row)?);
    }
    let mut statement = conn.prepare_cached(LEDGERS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut cells = Cells::of(row, "ledgers", 1);
        let name = cells.take::<String>()?.into();
        found.ledgers.push(LedgerRow { name, ledger: cells.structure()? });
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<LimitRow, Fault> {
    let mut cells = Cells::of(row, "limits", 1);
    let (name, limit) = (cells.take::<String>()?.into(), cells.take()?);
    let rate = match (cells.take::<Option<u32>>()?, cells.take::<Option<u64>>()?) {
        (Some(starts), Some(per)) => Some(Rate { starts, per: Span(per) }),
        (None, None) => None,
        _ => return Err(cells.contradiction("half a rate")),
    };
    Ok(LimitRow { name, bound: Bound { limit, rate } })
}
