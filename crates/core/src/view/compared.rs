//! Two versions of a workflow, task by task. Tasks are told apart by their names, and so are
//! those they depend on: numbers move when a task is put in between.

use crate::ids::TaskNo;
use crate::spec::definition::{Action, Definition, Each, Task, Times, When};
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
    edges(before, old) == edges(after, new)
        && others(before, old) == others(after, new)
        && without_numbers(old) == without_numbers(new)
}

/// The task as it is written: numbers of other tasks say nothing.
fn without_numbers(task: &Task) -> Task {
    let mut task = Task { depends_on: Vec::new(), reads: Vec::new(), ..task.clone() };
    numbers(&mut task).into_iter().for_each(|no| *no = TaskNo(0));
    task
}

/// Other tasks that its fan-out and its artifacts name, in the order they are written.
fn others<'a>(definition: &'a Definition, task: &Task) -> Vec<&'a str> {
    let mut task = task.clone();
    numbers(&mut task).into_iter().map(|no| &*definition.task(*no).name).collect()
}

fn numbers(task: &mut Task) -> Vec<&mut TaskNo> {
    let mut numbers = Vec::new();
    if let Some(fan_out) = &mut task.fan_out {
        if let Some(Each::From(path)) = &mut fan_out.foreach {
            numbers.push(&mut path.task);
        }
        if let Some(Times::From(path)) = &mut fan_out.parallel {
            numbers.push(&mut path.task);
        }
    }
    if let Action::Process(process) = &mut task.action {
        numbers.extend(process.artifacts.wanted.iter_mut().map(|wanted| &mut wanted.task));
    }
    numbers
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
        let files = "  a: { run: x, artifacts: { out: [f] } }\n";
        let fan = "  b: { run: x, depends_on: [a], foreach: a.x, parallel: a, artifacts: { in: [a] } }\n  c: { run: \"echo ${{ tasks.a.output }}\", depends_on: [b] }\n";
        let before = format!("{files}{fan}");
        check(&before, &format!("  n: {{ noop: {{}} }}\n{before}"), [&["n"], &[], &[]]);
        let other = format!("{files}{}", fan.replace("foreach: a.x", "foreach: a.y"));
        check(&before, &other, [&[], &[], &["b"]]);
    }
}
