//! Who decides.

use crate::contract::{Fence, Registration};
use crate::grouped::Marks;
use crate::postgres::cells::Cells;
use crate::postgres::columns::{number, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step, WRITE};
use mainspring_core::ids::{RunKey, SchedulerId};

/// Ordinals go on from the highest: a row is never removed.
const REGISTER: &str = "
    insert into schedulers (ordinal, id, epoch)
    values ((select coalesce(max(ordinal), 0) + 1 from schedulers), $1, 1)
    on conflict (id) do update set epoch = schedulers.epoch + 1
    returning id, ordinal, epoch, next_run, next_stamp";
/// Whoever registers holds the lock on the database: the others are dead. They are fenced off
/// before what they left unfinished is taken from them.
const BURY: &str = "
    update schedulers set epoch = epoch + 1
    where id <> $1 and ordinal in (
        select owner from runs where status in ('pending', 'running', 'paused', 'cancelling'))";
/// As one commit of its new owner's, whose number is the next one free.
const ADOPT: &str = "
    update runs set owner = mine.ordinal, stamp = mine.next
    from (select ordinal, greatest(next_stamp, 1 + coalesce(
                     (select max(stamp) from runs where owner = schedulers.ordinal), 0)) as next
          from schedulers where id = $1) mine
    where status in ('pending', 'running', 'paused', 'cancelling')
      and owner <> mine.ordinal";
const LAST_RUN: &str = "select max(key) from runs where key >= $1 and key < $2";
const LAST_STAMP: &str = "select max(stamp) from runs where owner = $1";
/// Divides by nothing unless the fence is the current one, which makes the server refuse all
/// that was sent behind it. The row is held, so that no other life begins before this commit.
const FENCE: &str = "
    select 1 / (select count(*) from
        (select 1 from schedulers where id = $1 and epoch = $2 for share) current)";
const ORDINAL: &str = "select id, ordinal from schedulers where id = $1";
const MARK: &str = "
    update schedulers set next_run = greatest(next_run, $2),
                          next_stamp = greatest(next_stamp, $3)
    where id = $1";

pub(in crate::postgres) async fn register(
    session: &Session,
    scheduler: SchedulerId,
) -> Result<Registration, Fault> {
    let steps = [REGISTER, BURY, ADOPT]
        .map(|sql| Step { sql, params: vec![Box::new(uuid(scheduler.as_bytes()))] });
    let registered = session.transaction(WRITE, &steps).await.map_err(|broken| broken.error)?;
    let row = registered.first().and_then(|rows| rows.first());
    let mut cells = Cells::of(row.ok_or(Fault::Fenced)?, "schedulers", 1);
    cells.id()?;
    let ordinal: u32 = cells.number()?;
    let epoch: u64 = cells.number()?;
    let marks = Marks { next_run: cells.number()?, next_stamp: cells.number()? };
    // From here on no former life can add to what is read.
    let Marks { next_run, next_stamp } = marks.raised_to(shown(session, ordinal).await?);
    Ok(Registration { fence: Fence { scheduler, epoch }, ordinal, next_run, next_stamp })
}

/// The next free numbers as rows show them.
async fn shown(session: &Session, ordinal: u32) -> Result<Marks, Fault> {
    let range = RunKey::range(ordinal);
    let steps = [
        Step { sql: LAST_RUN, params: vec![Box::new(range.start.0), Box::new(range.end.0)] },
        Step { sql: LAST_STAMP, params: vec![Box::new(i64::from(ordinal))] },
    ];
    let mut last = Vec::new();
    for rows in session.snapshot(&steps).await? {
        let row = rows.first().ok_or_else(|| Fault::Damaged("no highest number".to_owned()))?;
        last.push(Cells::of(row, "runs", 0).take::<Option<i64>>()?);
    }
    let [last_run, last_stamp] = last[..] else {
        return Err(Fault::Damaged("two questions have two answers".to_owned()));
    };
    let last_stamp = last_stamp.and_then(|stamp| u64::try_from(stamp).ok());
    Ok(Marks {
        next_run: last_run.map_or(0, |key| RunKey(key).sequence()) + 1,
        next_stamp: last_stamp.unwrap_or(0) + 1,
    })
}

pub(in crate::postgres) fn fence(fence: Fence) -> Step<'static> {
    let Fence { scheduler, epoch } = fence;
    let params: Vec<_> =
        vec![Box::new(uuid(scheduler.as_bytes())) as _, Box::new(number(epoch)) as _];
    Step { sql: FENCE, params }
}

pub(in crate::postgres) fn mark(scheduler: SchedulerId, marks: Marks) -> Step<'static> {
    let params: Vec<_> = vec![
        Box::new(uuid(scheduler.as_bytes())) as _,
        Box::new(number(marks.next_run)) as _,
        Box::new(number(marks.next_stamp)) as _,
    ];
    Step { sql: MARK, params }
}

pub(in crate::postgres) async fn ordinal(
    session: &Session,
    scheduler: SchedulerId,
) -> Result<Option<i64>, Fault> {
    let step = Step { sql: ORDINAL, params: vec![Box::new(uuid(scheduler.as_bytes()))] };
    let Some(row) = session.row(&step).await? else { return Ok(None) };
    let mut cells = Cells::of(&row, "schedulers", 1);
    cells.id()?;
    cells.take().map(Some)
}
