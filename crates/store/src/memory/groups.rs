//! Groups and their instances.

use super::model::Model;
use crate::contract::InstancesQuery;
use crate::groups::{OUTPUTS_PAGE_BYTES, loaded};
use mainspring_core::evaluate::InstanceOutput;
use mainspring_core::ids::{RunKey, TaskNo, TaskRef};
use mainspring_core::kernel::finalizer::Step;
use mainspring_core::kernel::row::{AttemptEnd, AttemptRow, TaskRow};
use std::collections::BTreeMap;

impl Model {
    /// What a run is loaded with.
    pub(super) fn tasks_of(&self, run: RunKey) -> Vec<TaskRow> {
        let rows = self.tasks.get(&run).into_iter().flat_map(|rows| rows.values());
        loaded(rows.cloned().collect())
    }

    /// In the order of their indexes.
    fn instances_from(&self, run: RunKey, no: TaskNo, from: u32) -> impl Iterator<Item = &TaskRow> {
        let at = move |index| TaskRef { no, index: Some(index) };
        let rows = self.tasks.get(&run).into_iter();
        rows.flat_map(move |rows| rows.range(at(from)..=at(u32::MAX))).map(|(_, row)| row)
    }

    /// How many instances the groups of a run have, by the highest index of each.
    pub(super) fn instance_rows(&self, run: RunKey) -> u64 {
        let rows = self.tasks.get(&run).into_iter().flat_map(|rows| rows.keys());
        let places = rows.filter_map(|task| Some((task.no, task.index?)));
        // In order, so that the last one of each group stays.
        let highest: BTreeMap<TaskNo, u32> = places.collect();
        highest.values().map(|index| u64::from(*index) + 1).sum()
    }

    pub fn instances(&self, run: RunKey, no: TaskNo, query: &InstancesQuery) -> Vec<TaskRow> {
        let is_wanted = |row: &&TaskRow| query.facts.is_empty() || query.facts.contains(&row.fact);
        let found = self.instances_from(run, no, query.from).filter(is_wanted);
        found.take(query.limit).cloned().collect()
    }

    pub fn instance(&self, run: RunKey, no: TaskNo, index: u32) -> Option<TaskRow> {
        self.tasks.get(&run)?.get(&TaskRef { no, index: Some(index) }).cloned()
    }

    pub fn outputs(&self, run: RunKey, no: TaskNo, from: u32, limit: usize) -> Vec<InstanceOutput> {
        let outputs = self.instances_from(run, no, from).filter_map(|row| {
            let (index, output) = (row.task.index?, row.output.clone()?);
            Some(InstanceOutput { index, fact: row.fact, output })
        });
        let mut bytes = 0;
        let has_room = |found: &InstanceOutput| {
            let before = bytes;
            bytes += found.output.to_text().len();
            before < OUTPUTS_PAGE_BYTES
        };
        outputs.take(limit).take_while(has_room).collect()
    }

    /// Instances leave their attempts to the history, unless their starts were refused: those
    /// gave their numbers back.
    pub(super) fn send_back(&mut self, run: RunKey, no: TaskNo) {
        let gone: Vec<TaskRow> = self.instances_from(run, no, 0).cloned().collect();
        for row in gone {
            self.tasks.entry(run).or_default().remove(&row.task);
            let TaskRow { task, attempt: Some(attempt), output, .. } = row else { continue };
            if !matches!(attempt.end, Some(AttemptEnd::Refused(_))) {
                self.append(run, AttemptRow { task, step: Step::Work, attempt, output });
            }
        }
    }
}
