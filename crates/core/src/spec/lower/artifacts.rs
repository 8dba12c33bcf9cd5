//! Files that tasks leave for each other.

use super::super::artifact_path;
use super::super::code::Code;
use super::super::definition::{Action, Artifacts, Task};
use super::super::format::ARTIFACTS;
use super::super::place::Place;
use super::super::report::{Report, listed, quoted};
use super::super::tree::Field;
use super::edges::Numbers;
use super::fields::Fields;
use super::mention::{Given, Mention, Named, Spot};
use super::{expect, template};
use crate::expr::Text;
use crate::ids::TaskNo;
use crate::limits::ARTIFACTS_MAX;
use crate::work::ArtifactWanted;

/// Files that a task wants, and where it says so.
#[derive(Clone, Debug, Default)]
pub struct Wanting {
    pub wanted: Vec<(ArtifactWanted, Place)>,
}

pub fn artifacts<'n>(
    field: Field<'n>,
    numbers: &Numbers<'_>,
    named: &mut Vec<Named<'n>>,
    report: &mut Report,
) -> Option<(Given<'n, Artifacts>, Wanting)> {
    let fields = Fields::read(field, &ARTIFACTS, report)?;
    let (out, mentions) = fields.get("out").map(|out| leaves(out, report)).unwrap_or_default();
    let wanted = fields.get("in").map(|want| wants(want, numbers, named, report));
    let wanted = wanted.unwrap_or_default();
    let artifacts = Artifacts {
        out: out.into(),
        wanted: wanted.iter().map(|(wanted, _)| wanted.clone()).collect(),
    };
    Some((Given { value: artifacts, mentions: mentions.into() }, Wanting { wanted }))
}

fn items<'n>(field: Field<'n>, report: &mut Report) -> Vec<Field<'n>> {
    let items = expect::list(field, "write `[path, path]`", report);
    let items: Vec<Field<'n>> =
        items.into_iter().flatten().map(|value| Field { value, ..field }).collect();
    if items.len() > ARTIFACTS_MAX {
        let message = format!("{} artifacts; at most {ARTIFACTS_MAX} are allowed.", items.len());
        let hint = "pack them into one file";
        report.add(Code::BadArtifact, field.name_place, message).hint(hint);
        return Vec::new();
    }
    items
}

fn leaves<'n>(field: Field<'n>, report: &mut Report) -> (Vec<Text>, Vec<Mention<'n>>) {
    let mut paths: Vec<Text> = Vec::new();
    let mut mentions = Vec::new();
    for item in items(field, report) {
        let Some(given) = template::text(item, report) else { continue };
        if let Some(why) = given.value.fixed().and_then(artifact_path::problem) {
            let message = format!("The path {} {why}.", quoted(given.value.source()));
            let hint = "write a path below the task's directory, such as `out/report.csv`";
            report.add(Code::BadArtifact, item.place(), message).hint(hint);
        } else if paths.contains(&given.value) {
            let message = format!("The artifact {} is given twice.", quoted(given.value.source()));
            report.add(Code::BadArtifact, item.place(), message).hint("keep one of them");
        } else {
            paths.push(given.value);
            mentions.extend(given.mentions.iter().cloned());
        }
    }
    (paths, mentions)
}

/// `task`, or `task/path`.
fn wants<'n>(
    field: Field<'n>,
    numbers: &Numbers<'_>,
    named: &mut Vec<Named<'n>>,
    report: &mut Report,
) -> Vec<(ArtifactWanted, Place)> {
    let mut wanted: Vec<(ArtifactWanted, Place)> = Vec::new();
    for item in items(field, report) {
        let Some(text) = item.value.scalar() else {
            expect::wrong(item, "the name of a task", Some("write `task` or `task/path`"), report);
            continue;
        };
        let (name, path) =
            text.split_once('/').map_or((text, None), |(name, path)| (name, Some(path)));
        let Some(&task) = numbers.get(name) else {
            let hint = report
                .did_you_mean(name, numbers.keys().copied())
                .or_else(|| listed("the tasks are", numbers.keys().copied()));
            let message = format!("There is no task {}.", quoted(name));
            report.add(Code::UnknownDependency, item.place(), message).maybe_hint(hint);
            continue;
        };
        named.push(Named { task, spot: Spot::Here(item.place()) });
        let one = ArtifactWanted { task, path: path.map(str::to_owned) };
        if wanted.iter().any(|(other, _)| *other == one) {
            let message = format!("{} is given twice.", quoted(text));
            report.add(Code::BadArtifact, item.place(), message).hint("keep one of them");
        } else {
            wanted.push((one, item.place()));
        }
    }
    wanted
}

/// What is wanted has to be left by someone.
pub fn check<'t>(
    task_of: impl Fn(TaskNo) -> Option<&'t Task>,
    wanting: &[Wanting],
    report: &mut Report,
) {
    for (ArtifactWanted { task, path }, place) in wanting.iter().flat_map(|it| &it.wanted) {
        let Some(task) = task_of(*task) else { continue };
        let name = quoted(&task.name);
        let out: &[Text] = match &task.action {
            Action::Process(process) => &process.artifacts.out,
            _ => &[],
        };
        if out.is_empty() {
            let message = format!("The task {name} leaves no artifacts.");
            let hint = format!("add `artifacts: {{ out: [path] }}` to {name}");
            report.add(Code::BadArtifact, *place, message).hint(hint);
        } else if let Some(path) = path
            && out.iter().all(|it| it.fixed().is_some_and(|fixed| fixed != path))
        {
            let names = || out.iter().filter_map(Text::fixed);
            let hint = report
                .did_you_mean(path, names())
                .or_else(|| listed(&format!("{name} leaves"), names()));
            let message = format!("The task {name} leaves no artifact {}.", quoted(path));
            report.add(Code::BadArtifact, *place, message).maybe_hint(hint);
        }
    }
}
