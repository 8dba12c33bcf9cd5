//! The definition that a run goes by: that of its version, with everything that was added to it.
//! Whoever shows, checks or carries on a run asks here.

use mainspring_core::kernel::row::{AdditionRow, RunHead, RunProgress, VersionRow};
use mainspring_core::spec::definition::Definition;
use mainspring_core::spec::{self, Context};
use mainspring_store::{ReadError, Store};
use std::sync::Arc;

/// Reads a version's text, which was checked when it was deployed.
pub fn parse(row: &VersionRow) -> Result<Arc<Definition>, ReadError> {
    let (number, workflow) = (row.number, &row.workflow);
    let parsed = spec::parse(&row.text, &Context::STORED).map_err(|diagnostics| {
        let first = diagnostics.first().map_or("it is empty", |first| first.message.as_str());
        ReadError::Damaged(format!("version {number} of '{workflow}' can't be read: {first}"))
    })?;
    Ok(Arc::new(parsed.definition))
}

/// Of a run, whose version is known.
pub async fn of_run(
    store: &dyn Store,
    (head, progress): (&RunHead, &RunProgress),
    (text, version): (&str, &Arc<Definition>),
) -> Result<Arc<Definition>, ReadError> {
    if progress.additions == 0 {
        return Ok(Arc::clone(version));
    }
    let rows = additions(store, head, progress).await?;
    let texts = rows.iter().map(|row| &*row.text);
    let whole = spec::with_additions((text, version), texts).map_err(|diagnostics| {
        let first = diagnostics.first().map_or("it is empty", |first| first.message.as_str());
        ReadError::Damaged(format!("what was added to run {} can't be read: {first}", head.id))
    })?;
    Ok(Arc::new(whole))
}

/// What was added to a run when it was as it is here: there may be more by now.
pub async fn additions(
    store: &dyn Store,
    head: &RunHead,
    progress: &RunProgress,
) -> Result<Vec<AdditionRow>, ReadError> {
    let mut rows = match progress.additions {
        0 => Vec::new(),
        _ => store.additions(head.key).await?,
    };
    rows.truncate(progress.additions as usize);
    if !rows.iter().map(|row| row.number).eq(1..=progress.additions) {
        let (id, count) = (head.id, progress.additions);
        let what = format!("tasks were added to run {id} {count} times, {} are there", rows.len());
        return Err(ReadError::Damaged(what));
    }
    Ok(rows)
}
