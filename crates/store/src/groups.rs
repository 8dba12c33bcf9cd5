//! Which instances of a group come with their run, and how many outputs at a time.

use mainspring_core::ids::TaskNo;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::TaskRow;
use std::collections::BTreeMap;

/// Instances of a group that are no success. Each that was opened has a row, and the group's row is
/// written with every change of them: whoever looks for these from the cursor back knows when the
/// last one is found. In a run of 100,000 of which a few are at work, they are the last few; and
/// where all have succeeded nobody looks at all. An index of their facts would answer at once too,
/// but both writes of every instance would pay for it, and on PostgreSQL no update would stay on
/// its page any more.
pub(crate) fn unsuccessful(group: &TaskRow) -> u32 {
    group.group.as_ref().map_or(0, |group| group.next.saturating_sub(group.success))
}

/// Of all rows of a run, in their order, those that it is loaded with.
pub(crate) fn loaded(rows: Vec<TaskRow>) -> Vec<TaskRow> {
    let own = rows.iter().filter(|row| row.task.index.is_none());
    let mut left: BTreeMap<TaskNo, u32> = own.map(|row| (row.task.no, unsuccessful(row))).collect();
    let mut is_wanted = |row: &TaskRow| match left.get_mut(&row.task.no) {
        _ if row.task.index.is_none() => true,
        Some(left) if *left > 0 && row.fact != Fact::Success => {
            *left -= 1;
            true
        }
        _ => false,
    };
    let mut found: Vec<TaskRow> = rows.into_iter().rev().filter(|row| is_wanted(row)).collect();
    found.reverse();
    found
}

/// A page of outputs ends with the one that reaches this: what two readers may hold at once.
pub(crate) const OUTPUTS_PAGE_BYTES: usize = 4 * 1024 * 1024;
