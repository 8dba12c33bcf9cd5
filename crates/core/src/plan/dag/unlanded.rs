//! Who may open on work that has not landed: whoever waits for it over a `completed` or `started`
//! edge only.

use crate::ids::TaskNo;
use crate::spec::definition::{Definition, When};
use std::collections::BTreeSet;

/// Whether a task may open before what another one did has landed, or failed to.
pub fn may_precede_landing(definition: &Definition, reader: TaskNo, above: TaskNo) -> bool {
    definition.task(above).finalize.is_some() && !waits_for_end(definition, reader, above)
}

/// Some chain of dependencies leads from the reader to the end of the other task.
fn waits_for_end(definition: &Definition, reader: TaskNo, above: TaskNo) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([reader]), vec![reader]);
    while let Some(no) = open.pop() {
        for edge in &definition.task(no).depends_on {
            let is_end = match edge.when {
                When::Merged | When::Failed | When::Finished => true,
                When::Completed | When::Started => false,
            };
            if is_end && edge.upstream == above {
                return true;
            }
            // What is blocked is finished too, and need not have waited for anything.
            if edge.when != When::Finished && seen.insert(edge.upstream) {
                open.push(edge.upstream);
            }
        }
    }
    false
}
