//! Tasks that were added to runs.

use crate::postgres::cells::Cells;
use crate::postgres::columns::Columns;
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::AdditionRow;
use tokio_postgres::Row;

const INSERT: &str = "
    insert into additions (run, number, text, \"by\", at)
    select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
    on conflict do nothing";
const OF_RUN: &str = "
    select run, number, text, \"by\", at from additions where run = $1 order by number";

pub(in crate::postgres) fn insert<'a>(rows: &'a [(RunKey, &'a AdditionRow)]) -> Step<'a> {
    let params = Columns::of(rows)
        .and(|(run, _)| run.0)
        .and(|(_, row)| i64::from(row.number))
        .text(|(_, row)| &row.text)
        .text(|(_, row)| &row.by)
        .and(|(_, row)| row.at.0)
        .params();
    Step { sql: INSERT, params }
}

/// In the order of their numbers.
pub(in crate::postgres) async fn of_run(
    session: &Session,
    run: RunKey,
) -> Result<Vec<AdditionRow>, Fault> {
    let rows = session.rows(&Step { sql: OF_RUN, params: vec![Box::new(run.0)] }).await?;
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Result<AdditionRow, Fault> {
    let mut cells = Cells::of(row, "additions", 2);
    let _run: i64 = cells.take()?;
    let number = cells.number()?;
    let text = cells.text()?.into();
    Ok(AdditionRow { number, text, by: cells.text()?, at: cells.time()? })
}
