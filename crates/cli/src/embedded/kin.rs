//! Child runs while their parent is followed: their steps are told as those of the task that began
//! them, `convert/fetch`, and what of them runs is in the picture. Of the children of instances,
//! which may be thousands, only failures are told.

use crate::progress::{Board, Live, Reporter, Standing, Step, Tally};
use mainspring_core::ids::{RunId, RunKey};
use mainspring_core::kernel::row::{Parent, RunHead, RunStatus};
use mainspring_engine::definitions;
use mainspring_engine::events::Event;
use mainspring_store::Store;
use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Kin {
    key: RunKey,
    /// How the tasks of a run begin: nothing for the run that is followed.
    prefixes: BTreeMap<RunId, Prefix>,
    boards: BTreeMap<RunKey, Relative>,
}

#[derive(Clone, Debug, Default)]
struct Prefix {
    text: String,
    is_of_instance: bool,
}

#[derive(Debug)]
struct Relative {
    board: Board,
    is_of_instance: bool,
}

impl Kin {
    pub fn of(run: RunId, key: RunKey) -> Self {
        let prefixes = BTreeMap::from([(run, Prefix::default())]);
        Self { key, prefixes, boards: BTreeMap::new() }
    }

    /// Takes over what became durable, of the run that is followed or of a child.
    pub async fn apply(&mut self, own: &mut Board, event: Event, store: &dyn Store) -> Vec<Step> {
        let key = match &event {
            Event::Run(head, _) => head.key,
            Event::Task(key, _) => *key,
        };
        if key == self.key {
            return own.apply(event);
        }
        if let Event::Run(head, _) = &event {
            self.meet(head, store).await;
        }
        let Some(relative) = self.boards.get_mut(&key) else { return Vec::new() };
        let mut steps = relative.board.apply(event);
        if relative.is_of_instance {
            steps.retain(Step::is_failure);
        }
        steps
    }

    /// Whose child a run is, and by what its tasks are called.
    async fn meet(&mut self, head: &RunHead, store: &dyn Store) {
        if self.prefixes.contains_key(&head.id) {
            return;
        }
        let Some(prefix) = head.parent.as_deref().and_then(|parent| self.below(parent)) else {
            return;
        };
        let version = store.version(&head.workflow, Some(head.version)).await;
        let Ok(Some(version)) = version else { return };
        let Ok(definition) = definitions::parse(&version) else { return };
        let board = Board::below(&prefix.text, definition);
        let is_of_instance = prefix.is_of_instance;
        self.boards.insert(head.key, Relative { board, is_of_instance });
        self.prefixes.insert(head.id, prefix);
    }

    fn below(&self, parent: &Parent) -> Option<Prefix> {
        let above = self.prefixes.get(&parent.run)?;
        let index = parent.task.index.map(|index| format!("[{index}]")).unwrap_or_default();
        Some(Prefix {
            text: format!("{}{}{index}/", above.text, parent.name),
            is_of_instance: above.is_of_instance || parent.task.index.is_some(),
        })
    }

    /// Forgets those that are over: what there was to tell of them has been told.
    pub fn tick(&mut self, own: &Board, reporter: &mut Reporter) {
        let is_over = |board: &Board| board.status().is_some_and(RunStatus::is_final);
        self.boards.retain(|_, relative| !is_over(&relative.board));
        reporter.tick(&self.family(own), mainspring_exec::now());
    }

    pub fn family<'a>(&'a self, own: &'a Board) -> Family<'a> {
        Family { own, kin: self }
    }
}

/// All of them as one picture.
pub struct Family<'a> {
    own: &'a Board,
    kin: &'a Kin,
}

impl Standing for Family<'_> {
    fn live(&self) -> Vec<Live<'_>> {
        let children = self.kin.boards.values().map(|relative| &relative.board);
        let mut live: Vec<Live<'_>> =
            std::iter::once(self.own).chain(children).flat_map(Board::live).collect();
        live.sort_by_key(|task| task.since);
        live
    }

    /// Of the run that is followed: how many tasks there will be below is not known.
    fn tally(&self) -> Tally {
        self.own.tally()
    }
}
