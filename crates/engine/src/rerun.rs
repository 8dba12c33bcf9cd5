//! What a run that runs another one anew takes over: its rows, and whatever of them is in the blob
//! store, which is there under the new run's name before anything is decided. If nothing comes of
//! the new run, a sweep finds that it belongs to none.
//!
//! ```text
//!  former run ─► what is kept ─► contents copied ─► rows for the new run ─► world
//!                     ▲                │
//!                     └── lost: it and what is below it run again
//! ```

use crate::artifacts::{HandedOn, Place, hand_on};
use crate::clock::wall;
use crate::engine::{Engine, NotDone};
use crate::keeping::Keeping;
use mainspring_core::evaluate::OutputsError;
use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::kernel::row::{AdditionRow, RunHead};
use mainspring_core::kernel::rows::Rows;
use mainspring_core::output::Output;
use mainspring_core::plan::dag::graph::Graph;
use mainspring_core::plan::dag::kept::{Beginning, Former, Kept, Pinned, kept};
use mainspring_core::plan::dag::plan::Shape;
use mainspring_core::spec::definition::Definition;
use mainspring_core::world::input::{Again, Inherited};
use mainspring_store::StoredRun;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A final run that is to run anew.
#[derive(Clone, Debug)]
pub struct Rerun {
    pub former: StoredRun,
    /// The former run's definition, and the new one's.
    pub was: Arc<Definition>,
    pub definition: Arc<Definition>,
    pub pinned: Pinned,
    /// Of the new definition. None: everything runs again.
    pub from: Option<TaskNo>,
    /// What was added to the former run, if the new one goes by the same definition.
    pub added: Vec<AdditionRow>,
}

impl Engine {
    /// Prepares the new run: copies what it keeps. Nobody else may wait for that.
    pub async fn take_over(&self, rerun: Rerun) -> Result<Again, NotDone> {
        let keeping = Arc::clone(self.keeping());
        let prepared = tokio::task::spawn_blocking(move || rerun.prepare(&keeping));
        prepared.await.map_err(|_| NotDone::Stopped)?.map_err(NotDone::Unreadable)
    }
}

impl Rerun {
    /// An error is a blob store that cannot be reached.
    fn prepare(&self, keeping: &Keeping) -> Result<Again, String> {
        let id = new_id();
        let StoredRun { head, progress, .. } = &self.former;
        let added = (!self.added.is_empty()).then(|| Inherited {
            rows: self.added.clone(),
            definition: Arc::clone(&self.definition),
        });
        let again = |kept| Again { of: head.id, stamp: progress.stamp, id, kept, added };
        let Some(from) = self.from else { return Ok(again(Vec::new())) };
        let mut rows = Rows::new(self.was.tasks.len());
        let plain = self.former.tasks.iter().filter(|row| row.task.index.is_none());
        plain.for_each(|row| rows.put(row.clone()));
        let (was, new) = (Graph::new(&self.was), Graph::new(&self.definition));
        let former = Former { shape: Shape { definition: &self.was, graph: &was }, rows: &rows };
        let shape = Shape { definition: &self.definition, graph: &new };
        let (mut lost, mut copied) = (BTreeSet::new(), BTreeSet::new());
        loop {
            let begin = Beginning { from, pinned: self.pinned, lost: &lost };
            let kept = kept(former, shape, begin);
            match self.copy_all(keeping, id, &kept, &mut copied)? {
                None => return Ok(again(kept.into_iter().map(|kept| kept.row).collect())),
                Some(no) => lost.insert(no),
            };
        }
    }

    /// The first of which something is lost.
    fn copy_all(
        &self,
        keeping: &Keeping,
        to: RunId,
        kept: &[Kept],
        copied: &mut BTreeSet<TaskNo>,
    ) -> Result<Option<TaskNo>, String> {
        for kept in kept.iter().filter(|kept| self.has_contents(kept)) {
            if copied.contains(&kept.was) {
                continue;
            }
            match self.copy(keeping, to, kept) {
                Ok(()) => copied.insert(kept.was),
                Err(OutputsError::Lost(_)) => return Ok(Some(kept.was)),
                Err(OutputsError::Unreachable(what)) => return Err(what),
            };
        }
        Ok(None)
    }

    fn has_contents(&self, kept: &Kept) -> bool {
        let is_large = kept.row.output.as_ref().is_some_and(|output| output.inline().is_none());
        is_large || self.was.task(kept.was).leaves_files()
    }

    fn copy(&self, keeping: &Keeping, to: RunId, kept: &Kept) -> Result<(), OutputsError> {
        let RunHead { id, key, .. } = self.former.head;
        if let Some(Output::Blob(blob)) = &kept.row.output {
            keeping.copy(blob, id, to)?;
        }
        let task = self.was.task(kept.was);
        if !task.leaves_files() {
            return Ok(());
        }
        let attempt = kept.row.attempt.as_ref().map(|attempt| attempt.id);
        let from = Place { run: id, key, no: kept.was, task, attempt };
        hand_on(keeping, HandedOn { from, to, no: kept.row.task.no })
    }
}

fn new_id() -> RunId {
    let mut chance = [0; 10];
    getrandom::fill(&mut chance).expect("the operating system gives random bytes");
    RunId::from_parts(u64::try_from(wall().0 / 1_000).unwrap_or_default(), chance)
}
