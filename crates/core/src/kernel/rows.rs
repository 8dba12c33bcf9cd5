//! The task rows of one run, found by number. There is none before there is something to say.

use crate::ids::{TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::row::TaskRow;

#[derive(Clone, Debug, Default)]
pub struct Rows(Vec<Option<Box<TaskRow>>>);

impl Rows {
    pub fn new(task_count: usize) -> Self {
        Self(vec![None; task_count])
    }

    /// Makes room for tasks that were added.
    pub fn grow(&mut self, task_count: usize) {
        self.0.resize(self.0.len().max(task_count), None);
    }

    pub fn get(&self, no: TaskNo) -> Option<&TaskRow> {
        self.0.get(no.position())?.as_deref()
    }

    /// The row, made if there was none.
    pub fn entry(&mut self, no: TaskNo) -> &mut TaskRow {
        self.0[no.position()].get_or_insert_with(|| Box::new(TaskRow::new(TaskRef::plain(no))))
    }

    pub fn put(&mut self, row: TaskRow) {
        let position = row.task.no.position();
        self.0[position] = Some(Box::new(row));
    }

    pub fn fact(&self, no: TaskNo) -> Fact {
        self.get(no).map_or(Fact::None, |row| row.fact)
    }

    /// What it is to those that depend on it: a group that is open is as one task whose work is
    /// done once that of all its instances is.
    pub fn stands_as(&self, no: TaskNo) -> Fact {
        let row = self.get(no);
        let worked = row.and_then(|row| row.group.as_ref()).is_some_and(|group| group.worked);
        match self.fact(no) {
            Fact::Open if worked => Fact::WorkerDone,
            fact => fact,
        }
    }

    pub fn ever_started(&self, no: TaskNo) -> bool {
        self.get(no).is_some_and(|row| row.ever_started)
    }

    pub fn is_held(&self, no: TaskNo) -> bool {
        self.get(no).is_some_and(|row| row.hold.is_some())
    }

    pub fn iter(&self) -> impl Iterator<Item = &TaskRow> {
        self.0.iter().filter_map(|row| row.as_deref())
    }
}
