//! Tasks that are added to a run while it lives. They come behind those that it has: nothing that
//! is there changes its number, its edges or its state.

use crate::ids::RunKey;
use crate::kernel::row::{AdditionRow, RunStatus};
use crate::time::Timestamp;
use crate::world::batch::Change;
use crate::world::blueprint::Blueprint;
use crate::world::input::{Addition, Refusal, Reply};
use crate::world::run::{About, Run};
use crate::world::state::World;
use std::sync::Arc;

impl World {
    pub(super) fn add_tasks(
        &mut self,
        now: Timestamp,
        key: RunKey,
        addition: &Addition,
        by: &str,
    ) -> Result<Reply, Refusal> {
        let run = self.run_mut(key);
        let (status, version) = (run.progress.status, run.head.version);
        if !matches!(status, RunStatus::Pending | RunStatus::Running | RunStatus::Paused) {
            return Err(Refusal::RunIs(status));
        }
        if run.progress.additions != addition.after {
            return Err(Refusal::AddedMeanwhile);
        }
        let definition = Arc::clone(&addition.definition);
        let blueprint = Arc::new(Blueprint::new(definition, version, &mut self.limits));
        // What waits for a permit waits for it by the old blueprint.
        self.ready.remove_run(key);
        let run = self.run_mut(key);
        run.extend(blueprint);
        let number = run.progress.additions;
        let text = Arc::clone(&addition.text);
        self.draft.weigh(text.len());
        let row = AdditionRow { number, text, by: by.to_owned(), at: now };
        self.draft.add(Change::NewAddition(key, row));
        self.draft.run(key);
        self.refill(key, now);
        self.ending.insert(key);
        Ok(Reply::Done)
    }
}

impl Run {
    fn extend(&mut self, blueprint: Arc<Blueprint>) {
        let count = blueprint.definition.tasks.len();
        self.blueprint = blueprint;
        self.rows.grow(count);
        self.progress.additions += 1;
        self.progress.counts.total = u32::try_from(count).expect("bounded by TASKS_MAX");
        self.count_anew();
        // What is being worked out of those that were there before stays true, but for this.
        self.asked.remove(&About::RunOutput);
    }
}
