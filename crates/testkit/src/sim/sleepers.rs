//! Runs that have left memory and only wait: what there is of them is in the store.

use crate::sim::library::Library;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::kernel::rows::Rows;
use mainspring_core::kernel::wait::Awaited;
use mainspring_core::plan::dag::graph::Graph;
use mainspring_core::plan::dag::plan::{Course, Plan, Shape};
use mainspring_core::world::World;
use mainspring_core::world::input::Named;
use mainspring_store::Model;
use std::sync::Arc;

/// What people can do about a run.
pub struct Sleeper {
    /// Itself, or a task of it.
    pub held: Option<(RunId, Option<Named>)>,
    /// A task that waits for somebody.
    pub waits: Option<(RunId, Named, Awaited)>,
}

pub fn asleep(world: &World, model: &Model, library: &Library) -> Vec<Sleeper> {
    let ids = world.asleep().map(|(_, asleep)| asleep.id);
    ids.filter_map(|id| sleeper(id, model, library)).collect()
}

fn sleeper(id: RunId, model: &Model, library: &Library) -> Option<Sleeper> {
    let stored = model.run(id)?;
    let definition = library.of(model, &stored.head);
    let graph = Graph::new(&definition);
    let mut rows = Rows::new(definition.tasks.len());
    stored.tasks.iter().for_each(|row| rows.put(row.clone()));
    let shape = Shape { definition: &definition, graph: &graph };
    let plan = Plan::new(shape, &rows, Course::of(&stored.progress));
    let named = |row: &TaskRow| Named {
        task: Arc::clone(&definition.task(row.task.no).name),
        index: row.task.index,
    };
    let mut tasks = stored.tasks.iter();
    let task =
        tasks.find(|row| row.hold.is_some() && !plan.is_settled(&rows, row.task.no)).map(named);
    let is_held = stored.progress.hold.is_some() || task.is_some();
    let asks = |row: &&TaskRow| !matches!(row.awaited(), None | Some(Awaited::Time));
    let waits = stored.tasks.iter().find(asks);
    Some(Sleeper {
        held: is_held.then(|| (id, task.filter(|_| stored.progress.hold.is_none()))),
        waits: waits.and_then(|row| Some((id, named(row), row.awaited()?.clone()))),
    })
}
