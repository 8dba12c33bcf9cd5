//! Fan-out: how many instances a task has, and of what.

use super::super::code::Code;
use super::super::definition::{Each, FailureStrategy, FanOut, Path, Times};
use super::super::report::{Report, listed, quoted};
use super::super::tree::Field;
use super::edges::Numbers;
use super::expect;
use super::fields::Fields;
use super::mention::{Named, Spot};
use super::task::Around;
use crate::json::Json;
use crate::limits::FANOUT_MAX;
use std::ops::RangeInclusive;

/// What `defaults` may say of fan-outs.
#[derive(Clone, Copy, Debug, Default)]
pub struct FanSettings {
    pub concurrency: Option<u32>,
    pub failure_strategy: Option<FailureStrategy>,
}

pub fn fan_settings(fields: &Fields<'_>, report: &mut Report) -> FanSettings {
    let strategies = [
        ("collect_errors", FailureStrategy::CollectErrors),
        ("fail_fast", FailureStrategy::FailFast),
        ("ignore_errors", FailureStrategy::IgnoreErrors),
    ];
    FanSettings {
        concurrency: fields
            .get("concurrency")
            .and_then(|field| whole(field, 1..=FANOUT_MAX, report)),
        failure_strategy: fields
            .get("failure_strategy")
            .and_then(|field| expect::word(field, &strategies, report)),
    }
}

/// A fan-out, and the tasks that it names.
pub fn fan_out<'n>(
    fields: &Fields<'n>,
    around: &Around<'_, 'n>,
    settings: FanSettings,
    report: &mut Report,
) -> (Option<FanOut>, Vec<Named<'n>>) {
    let (foreach, parallel) = (fields.get("foreach"), fields.get("parallel"));
    let mut named = Vec::new();
    if foreach.is_none() && parallel.is_none() {
        for name in ["concurrency", "failure_strategy"] {
            if let Some(field) = fields.get(name) {
                let message = format!("`{name}` has no effect on a task that is no fan-out.");
                let hint = "leave it out, or add `foreach:` or `parallel:`";
                report.add(Code::NoEffect, field.name_place, message).hint(hint);
            }
        }
        return (None, named);
    }
    let (numbers, max_fanout) = (around.numbers, around.max_fanout);
    let foreach = foreach.map(|field| each(field, numbers, &mut named, report));
    let parallel = parallel.map(|field| times(field, (numbers, max_fanout), &mut named, report));
    // What could not be read was reported: the task is refused with it.
    let fan_out = FanOut {
        parallel: parallel.flatten(),
        foreach: foreach.flatten(),
        concurrency: settings.concurrency,
        failure_strategy: settings.failure_strategy.unwrap_or(FailureStrategy::CollectErrors),
    };
    (Some(fan_out), named)
}

fn each<'n>(
    field: Field<'n>,
    numbers: &Numbers<'_>,
    named: &mut Vec<Named<'n>>,
    report: &mut Report,
) -> Option<Each> {
    if field.value.items().is_some() {
        if expect::template_within(field, report) {
            return None;
        }
        return Some(Each::Fixed(Json::from_value(&field.value.to_json())));
    }
    if field.value.text().is_none() {
        let hint = "write `task.field`, the place of a list in what a task puts out, or a list";
        expect::wrong(field, "a list, or where one is", Some(hint), report);
        return None;
    }
    path(field, numbers, named, report).map(Each::From)
}

fn times<'n>(
    field: Field<'n>,
    (numbers, max_fanout): (&Numbers<'_>, u32),
    named: &mut Vec<Named<'n>>,
    report: &mut Report,
) -> Option<Times> {
    if field.value.int().is_some() {
        // None is as good a number as any: the task is a success at once.
        return whole(field, 0..=max_fanout, report).map(Times::Fixed);
    }
    let digits = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = field.value.text().filter(digits).filter(|text| !numbers.contains_key(text));
    if let Some(number) = number {
        let hint = format!("leave out the quotes: `{}: {number}`", field.name);
        expect::wrong(field, "a number, or where one is", Some(&hint), report);
        return None;
    }
    if field.value.text().is_none() {
        let hint = "write a number, or `task.field`, the place of one in what a task puts out";
        expect::wrong(field, "a number, or where one is", Some(hint), report);
        return None;
    }
    path(field, numbers, named, report).map(Times::From)
}

fn whole(field: Field<'_>, range: RangeInclusive<u32>, report: &mut Report) -> Option<u32> {
    let range = i64::from(*range.start())..=i64::from(*range.end());
    expect::integer(field, range, report).and_then(|value| u32::try_from(value).ok())
}

/// `discover.files`: the name of a task, which may itself have dots, and fields of its output.
fn path<'n>(
    field: Field<'n>,
    numbers: &Numbers<'_>,
    named: &mut Vec<Named<'n>>,
    report: &mut Report,
) -> Option<Path> {
    let text = expect::text(field, report)?;
    if text.contains(['[', ']']) {
        let message = format!("{} is not a path: it has names only.", quoted(text));
        let hint = "write `task.field`; what is inside a list the task can put out by a name";
        report.add(Code::BadText, field.place(), message).hint(hint);
        return None;
    }
    let ends = text.match_indices('.').map(|(at, _)| at).chain([text.len()]);
    // The longest name that is one.
    let known = ends.rev().find_map(|end| Some((end, *numbers.get(&text[..end])?)));
    let Some((end, task)) = known else {
        let first = text.split('.').next().unwrap_or_default();
        let hint = report
            .did_you_mean(first, numbers.keys().copied())
            .or_else(|| listed("the tasks are", numbers.keys().copied()));
        let message = format!("There is no task {}.", quoted(first));
        report.add(Code::UnknownDependency, field.place(), message).maybe_hint(hint);
        return None;
    };
    let rest = text[end..].split('.').skip(1);
    let fields: Vec<&str> = rest.collect();
    if fields.iter().any(|name| name.is_empty()) {
        let message = format!("{} names a field without a name.", quoted(text));
        report.add(Code::BadText, field.place(), message).hint("write `task.field`");
        return None;
    }
    named.push(Named { task, spot: Spot::Here(field.place()) });
    Some(Path { task, fields: fields.into_iter().map(Into::into).collect() })
}
