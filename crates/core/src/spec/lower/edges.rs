//! Dependencies: names resolved to numbers.

use super::super::code::Code;
use super::super::definition::{Edge, When};
use super::super::format::DEPENDENCY;
use super::super::place::Place;
use super::super::report::{Report, listed, quoted};
use super::super::tree::{Field, Node};
use super::expect;
use super::fields::Fields;
use crate::ids::TaskNo;
use std::collections::BTreeMap;

/// Numbers of all tasks of the text, also of those with mistakes.
pub type Numbers<'n> = BTreeMap<&'n str, TaskNo>;

/// A dependency and where it is written.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    pub edge: Edge,
    pub place: Place,
    /// Where `when` is written, if it is.
    pub when_place: Option<Place>,
}

const WHEN: &[(&str, When)] = &[
    ("merged", When::Merged),
    ("success", When::Merged),
    ("completed", When::Completed),
    ("started", When::Started),
    ("failed", When::Failed),
    ("finished", When::Finished),
];

/// What other programs call these conditions.
const WHEN_ELSEWHERE: &[(&str, &str)] = &[
    ("always", "finished"),
    ("any", "finished"),
    ("done", "finished"),
    ("settled", "finished"),
    ("all_done", "finished"),
    ("succeeded", "success"),
    ("ok", "success"),
    ("on_success", "success"),
    ("error", "failed"),
    ("failure", "failed"),
    ("on_failure", "failed"),
    ("running", "started"),
];

/// The dependencies of the task `own`. One alone needs no list.
pub fn edges(
    field: Field<'_>,
    own: TaskNo,
    numbers: &Numbers<'_>,
    report: &mut Report,
) -> Vec<Written> {
    let items: Vec<_> = match field.value.items() {
        Some(items) => items.collect(),
        None if field.value.text().is_some() || field.value.is_map() => vec![field.value],
        None => {
            expect::wrong(field, "a list of task names", Some("write `[a, b]`"), report);
            return Vec::new();
        }
    };
    let mut first: BTreeMap<TaskNo, Place> = BTreeMap::new();
    let mut edges = Vec::with_capacity(items.len());
    for item in items {
        let Some(written) = edge(Field { value: item, ..field }, own, numbers, report) else {
            continue;
        };
        let Some(&before) = first.get(&written.edge.upstream) else {
            first.insert(written.edge.upstream, written.place);
            edges.push(written);
            continue;
        };
        report
            .add(Code::DuplicateDependency, written.place, twice(item))
            .hint("keep one of them")
            .related(before, "first given here");
    }
    edges
}

fn edge(
    item: Field<'_>,
    own: TaskNo,
    numbers: &Numbers<'_>,
    report: &mut Report,
) -> Option<Written> {
    if !item.value.is_map() {
        let upstream = upstream(item, own, numbers, report)?;
        let edge = Edge { upstream, when: When::Merged };
        return Some(Written { edge, place: item.place(), when_place: None });
    }
    let place = Field { name_place: item.place(), ..item };
    let fields = Fields::read(place, &DEPENDENCY, report)?;
    let when_field = fields.get("when");
    let when = when_field.map(|field| when(field, report));
    let task = fields.required("task", "A dependency", report)?;
    let upstream = upstream(task, own, numbers, report)?;
    let edge = Edge { upstream, when: when.unwrap_or(Some(When::Merged))? };
    let when_place = when_field.map(|field| field.place());
    Some(Written { edge, place: task.place(), when_place })
}

fn when(field: Field<'_>, report: &mut Report) -> Option<When> {
    let given = field.value.text().unwrap_or_default();
    let meant = WHEN_ELSEWHERE.iter().find(|(word, _)| *word == given);
    let Some((_, meant)) = meant else { return expect::word(field, WHEN, report) };
    let message = format!("There is no condition {}.", quoted(given));
    report.add(Code::UnknownWord, field.place(), message).hint(format!("did you mean `{meant}`?"));
    None
}

fn upstream(
    field: Field<'_>,
    own: TaskNo,
    numbers: &Numbers<'_>,
    report: &mut Report,
) -> Option<TaskNo> {
    let Some(name) = field.value.scalar() else {
        expect::wrong(field, "the name of a task", None, report);
        return None;
    };
    let place = field.place();
    match numbers.get(name) {
        Some(&no) if no == own => {
            let message = format!("The task {} depends on itself.", quoted(name));
            report.add(Code::SelfDependency, place, message).hint("leave it out");
            None
        }
        Some(&no) => Some(no),
        None => {
            let hint = report
                .did_you_mean(name, numbers.keys().copied())
                .or_else(|| as_list(name, numbers))
                .or_else(|| listed("the tasks are", numbers.keys().copied()));
            report
                .add(Code::UnknownDependency, place, format!("There is no task {}.", quoted(name)))
                .maybe_hint(hint);
            None
        }
    }
}

/// Several tasks in one text.
fn as_list(text: &str, numbers: &Numbers<'_>) -> Option<String> {
    let names: Vec<&str> = text.split([',', ' ']).filter(|name| !name.is_empty()).collect();
    let all_known = names.len() > 1 && names.iter().all(|name| numbers.contains_key(name));
    all_known.then(|| format!("write a list: `[{}]`", names.join(", ")))
}

fn twice(item: Node<'_>) -> String {
    let task = item.fields().into_iter().flatten().find(|field| field.name == "task");
    let name = task.map_or(item, |field| field.value).scalar().unwrap_or_default();
    format!("The dependency on {} is given twice.", quoted(name))
}

/// `on_failure: run` and `always: true` make every edge `finished`; another `when` beside them
/// contradicts that.
pub fn finish_all(written: &mut [Written], (given, what): (Place, &str), report: &mut Report) {
    for Written { edge, when_place, .. } in written {
        if let Some(place) = when_place
            && edge.when != When::Finished
        {
            let message = format!("`when: {}` contradicts `{what}`.", edge.when.word());
            let hint = format!("`{what}` waits until every dependency is settled");
            report
                .add(Code::WhenBesideOnFailure, *place, message)
                .hint(format!("{hint}: keep one of them"))
                .related(given, format!("`{what}` is given here"));
        }
        edge.when = When::Finished;
    }
}
