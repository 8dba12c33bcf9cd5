//! Links between runs: whoever waits for a child has one that is not final, and a child has its
//! parent, and while it is not final somebody who waits for it.

use mainspring_core::check::{Promise, Violation};
use mainspring_core::ids::{RunId, TaskRef};
use mainspring_core::kernel::row::{Parent, TaskRow};
use mainspring_store::{Inventory, ReadError, StoredRun};

pub(super) async fn check(
    store: &dyn Inventory,
    run: &StoredRun,
) -> Result<Vec<Violation>, ReadError> {
    let mut found = Vec::new();
    let mut wrong = |what: String| found.push(Violation::new(Promise::Kin, what));
    for row in &run.tasks {
        let Some(id) = row.child() else { continue };
        let child = read(store, id).await?;
        if let Some(what) = child_of(run, row, child.as_ref()) {
            wrong(format!(
                "task number {}{} waits for run {id}, {what}",
                row.task.no.0,
                at(row.task)
            ));
        }
    }
    if let Some(parent) = &run.head.parent {
        let above = read(store, parent.run).await?;
        parent_of(run, parent, above.as_ref()).into_iter().for_each(wrong);
    }
    // Beside a server the two were read one after the other. Whatever links them changes both.
    match found.is_empty() || is_as_it_was(store, run).await? {
        true => Ok(found),
        false => Ok(Vec::new()),
    }
}

async fn is_as_it_was(store: &dyn Inventory, run: &StoredRun) -> Result<bool, ReadError> {
    let now = read(store, run.head.id).await?;
    Ok(now.is_some_and(|now| now.progress.stamp == run.progress.stamp))
}

fn parent_of(run: &StoredRun, parent: &Parent, above: Option<&StoredRun>) -> Option<String> {
    let Some(above) = above else {
        return Some(format!("its parent, run {}, is not there", parent.run));
    };
    let awaits = above.tasks.iter().find(|row| row.task == parent.task);
    let is_awaited = awaits.and_then(TaskRow::child) == Some(run.head.id);
    let is_lost = !run.progress.status.is_final() && !is_awaited;
    is_lost.then(|| format!("its parent, run {}, does not wait for it", parent.run))
}

/// One that cannot be read is told with itself.
async fn read(store: &dyn Inventory, id: RunId) -> Result<Option<StoredRun>, ReadError> {
    store.run(id).await
}

fn child_of(run: &StoredRun, row: &TaskRow, child: Option<&StoredRun>) -> Option<String> {
    let Some(child) = child else { return Some("which is not there".to_owned()) };
    let number = row.attempt.as_ref().map(|attempt| attempt.number);
    let is_its = |parent: &Parent| {
        (parent.run, parent.task) == (run.head.id, row.task) && Some(parent.attempt) == number
    };
    if !child.head.parent.as_deref().is_some_and(is_its) {
        return Some("which is not the child of this attempt".to_owned());
    }
    let status = child.progress.status;
    status.is_final().then(|| format!("which is {} already", status.word()))
}

fn at(task: TaskRef) -> String {
    task.index.map(|index| format!(", instance {index},")).unwrap_or_default()
}
