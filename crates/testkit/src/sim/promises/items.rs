//! What a fan-out is made of, worked out once more: what the task above it put out. Whoever need not
//! wait until the work has landed is made of the work, whatever becomes of it.

use crate::sim::promises::rows::row_of;
use mainspring_core::ids::{TaskNo, TaskRef};
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::output::Output;
use mainspring_core::spec::definition::{Definition, When};
use serde_json::Value;

/// The list that `reader` is made of; none when there is no list.
pub fn items(
    definition: &Definition,
    rows: &[TaskRow],
    (reader, source): (TaskNo, TaskNo),
    value: impl Fn(&Output) -> Json,
) -> Option<Vec<Value>> {
    let row = row_of(rows, TaskRef::plain(source))?;
    let is_work = definition.task(source).finalize.is_some() && !ends(definition, reader, source);
    let list = match &row.group {
        Some(group) if is_work && !group.copied => {
            return work(rows, source, group.count).map(|outputs| {
                let or_null =
                    |output: Option<&Output>| output.map_or(Value::Null, |it| value(it).to_value());
                outputs.into_iter().map(or_null).collect()
            });
        }
        None if is_work => row.output.as_ref(),
        _ => row.readable_output(),
    };
    list.and_then(|output| value(output).to_value().as_array().cloned())
}

/// What each instance put out, if all have done their work or come to their end.
fn work(rows: &[TaskRow], source: TaskNo, count: u32) -> Option<Vec<Option<&Output>>> {
    let one = |index| row_of(rows, TaskRef { no: source, index: Some(index) });
    let is_done = |row: &&TaskRow| row.fact == Fact::WorkerDone || row.fact.is_settled();
    (0..count).map(|index| Some(one(index).filter(is_done)?.output.as_ref())).collect()
}

/// Whether the reader cannot have opened before the other task had its outcome.
fn ends(definition: &Definition, reader: TaskNo, above: TaskNo) -> bool {
    definition.task(reader).depends_on.iter().any(|edge| match edge.when {
        When::Merged | When::Failed => {
            edge.upstream == above || ends(definition, edge.upstream, above)
        }
        When::Finished => edge.upstream == above,
        When::Completed | When::Started => ends(definition, edge.upstream, above),
    })
}
