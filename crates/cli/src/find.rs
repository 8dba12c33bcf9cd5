//! Finding a run, a task or an instance by what a person typed.

use anyhow::{Result, bail};
use mainspring_core::ids::{RunId, TaskNo, TaskRef};
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::spec::definition::Definition;
use mainspring_core::view::shapes::{self, TaskView};
use mainspring_core::world::input::Named;
use mainspring_engine::definitions;
use mainspring_store::{RunsQuery, Store, StoredRun};
use std::sync::Arc;

const PAGE: usize = 1_000;
/// When the last run is looked for, which most often is among the newest.
const LAST_PAGE: usize = 100;
/// Tasks named in a message at most.
const NAMED_MAX: usize = 20;

/// A run with its tasks, without instances, and the definition it is pinned to.
pub async fn run(store: &dyn Store, wanted: &str) -> Result<(StoredRun, Arc<Definition>)> {
    let id = run_id(store, wanted).await?;
    match store.outline(id).await? {
        Some(stored) => {
            let definition = definition(store, &stored).await?;
            Ok((stored, definition))
        }
        None => bail!("there is no run {id} here: `mainspring runs` lists them"),
    }
}

/// The definition a run goes by: its version's, and what was added to it.
pub async fn definition(store: &dyn Store, stored: &StoredRun) -> Result<Arc<Definition>> {
    let (workflow, number) = (&stored.head.workflow, stored.head.version);
    let Some(version) = store.version(workflow, Some(number)).await? else {
        bail!("the database is damaged: version {number} of '{workflow}' is missing");
    };
    let Ok(parsed) = definitions::parse(&version) else {
        bail!("version {number} of '{workflow}' cannot be read by this Mainspring");
    };
    let run = (&stored.head, &stored.progress);
    Ok(definitions::of_run(store, run, (&version.text, &parsed)).await?)
}

/// `last`, a whole id, or the beginning of exactly one.
pub async fn run_id(store: &dyn Store, wanted: &str) -> Result<RunId> {
    if wanted == "last" {
        return last(store).await;
    }
    if let Ok(id) = wanted.parse() {
        return Ok(id);
    }
    let wanted = wanted.to_ascii_lowercase();
    let mut query = RunsQuery { limit: PAGE, ..RunsQuery::default() };
    let mut found: Vec<RunId> = Vec::new();
    loop {
        let page = store.runs(query.clone()).await?;
        found.extend(page.iter().map(|(head, _)| head.id).filter(|id| begins(*id, &wanted)));
        match page.last() {
            Some((head, _)) if page.len() == PAGE && found.len() < 2 => {
                query.after = Some((head.created_at, head.id));
            }
            _ => break,
        }
    }
    match found.as_slice() {
        [one] => Ok(*one),
        [] => bail!("no run's id begins with `{wanted}`: `mainspring runs` lists them"),
        [first, second, ..] => {
            bail!("`{wanted}` is not clear: {first} and {second} begin with it")
        }
    }
}

/// The newest run that somebody asked for. Child runs are begun by others, and are newer than
/// what a person has just started.
async fn last(store: &dyn Store) -> Result<RunId> {
    let mut query = RunsQuery { limit: LAST_PAGE, ..RunsQuery::default() };
    loop {
        let page = store.runs(query.clone()).await?;
        if let Some((head, _)) = page.iter().find(|(head, _)| head.parent.is_none()) {
            return Ok(head.id);
        }
        match page.last() {
            Some((head, _)) if page.len() == LAST_PAGE => {
                query.after = Some((head.created_at, head.id));
            }
            _ => bail!("nothing has been run here yet"),
        }
    }
}

fn begins(id: RunId, wanted: &str) -> bool {
    !wanted.is_empty() && id.to_string().starts_with(wanted)
}

/// A task by its name.
pub fn task(definition: &Definition, name: &str) -> Result<TaskNo> {
    if let Some(no) = definition.task_no(name) {
        return Ok(no);
    }
    let names = || definition.tasks.iter().map(|task| &*task.name);
    let near = names()
        .map(|known| (strsim::osa_distance(name, known), known))
        .filter(|(distance, known)| *distance <= (known.chars().count() / 3).clamp(1, 3))
        .min();
    if let Some((_, near)) = near {
        bail!("the run has no task `{name}`: did you mean `{near}`?");
    }
    let shown: Vec<&str> = names().take(NAMED_MAX).collect();
    let more = if definition.tasks.len() > NAMED_MAX { ", …" } else { "" };
    bail!("the run has no task `{name}`: it has {}{more}", shown.join(", "))
}

/// The row of a task or of an instance. None while there is nothing to say of a task.
pub async fn row(
    store: &dyn Store,
    (stored, definition): (&StoredRun, &Definition),
    named: &Named,
) -> Result<Option<TaskRow>> {
    // Says which name may have been meant.
    task(definition, &named.task)?;
    let own = |no| stored.tasks.iter().find(|row| row.task == TaskRef::plain(no));
    let task = named.find(definition, own)?;
    Ok(match task.index {
        None => own(task.no).cloned(),
        Some(index) => store.instance(stored.head.key, task.no, index).await?,
    })
}

/// Instances of a fan-out as they are shown.
pub fn instances(
    (stored, definition): (&StoredRun, &Definition),
    no: TaskNo,
    rows: &[TaskRow],
) -> Vec<TaskView> {
    let group = stored.tasks.iter().find(|row| row.task == TaskRef::plain(no));
    let now = mainspring_exec::now();
    let view = |(group, row)| shapes::instance(definition, (group, row), now);
    group.into_iter().flat_map(|group| rows.iter().map(move |row| (group, row))).map(view).collect()
}
