//! Two versions of a workflow, task by task. Tasks are told apart by their names, and so are
//! those they depend on: numbers move when a task is put in between.

use crate::spec::definition::{Definition, Task, When};
use serde::Serialize;

/// Names of tasks, in the order of their version.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskChanges {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    /// In both, and not the same.
    pub changed: Vec<String>,
}

pub fn task_changes(before: &Definition, after: &Definition) -> TaskChanges {
    let lacks = |other: &Definition, task: &&Task| other.task_no(&task.name).is_none();
    let differs = |task: &&Task| {
        let former = before.task_no(&task.name).map(|no| before.task(no));
        former.is_some_and(|former| !is_same((before, former), (after, task)))
    };
    TaskChanges {
        added: names(after.tasks.iter().filter(|task| lacks(before, task))),
        removed: names(before.tasks.iter().filter(|task| lacks(after, task))),
        changed: names(after.tasks.iter().filter(differs)),
    }
}

fn names<'a>(tasks: impl Iterator<Item = &'a Task>) -> Vec<String> {
    tasks.map(|task| task.name.to_string()).collect()
}

fn is_same((before, old): (&Definition, &Task), (after, new): (&Definition, &Task)) -> bool {
    let without_edges = |task: &Task| Task { depends_on: Vec::new(), ..task.clone() };
    edges(before, old) == edges(after, new) && without_edges(old) == without_edges(new)
}

/// By name, in whatever order they were written.
fn edges<'a>(definition: &'a Definition, task: &Task) -> Vec<(&'a str, When)> {
    let edges = task.depends_on.iter();
    let mut named: Vec<_> =
        edges.map(|edge| (&*definition.task(edge.upstream).name, edge.when)).collect();
    named.sort_unstable();
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec;

    fn check(before: &str, after: &str, expected: [&[&str]; 3]) {
        let parse = |tasks: &str| {
            let text = format!("name: w\ntasks:\n{tasks}");
            spec::parse(&text, &spec::Context::STORED).expect("valid").definition
        };
        let TaskChanges { added, removed, changed } = task_changes(&parse(before), &parse(after));
        assert_eq!([&added[..], &removed, &changed], expected, "{before}{after}");
    }

    #[test]
    fn tasks_are_compared_by_name() {
        let two = "  a: { run: x }\n  b: { run: y, depends_on: [a] }\n";
        check(two, two, [&[], &[], &[]]);
        check(two, "  a: { run: x }\n", [&[], &["b"], &[]]);
        check("  a: { run: x }\n", two, [&["b"], &[], &[]]);
        check(two, "  a: { run: z }\n  b: { run: y, depends_on: [a] }\n", [&[], &[], &["a"]]);
        check(two, "  a: { run: x }\n  b: { run: y }\n", [&[], &[], &["b"]]);
    }

    #[test]
    fn a_task_in_between_changes_no_other() {
        let before =
            "  a: { noop: {} }\n  b: { noop: {} }\n  c: { noop: {}, depends_on: [a, b] }\n";
        let after = "  n: { noop: {} }\n  b: { noop: {} }\n  a: { noop: {} }\n  c: { noop: {}, depends_on: [b, a] }\n";
        check(before, after, [&["n"], &[], &[]]);
    }
}
