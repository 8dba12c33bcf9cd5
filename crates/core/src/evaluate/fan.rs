//! How many instances a fan-out has, and of what.

use super::desk::{Desk, Stop};
use super::list::{Of, composed};
use super::question::{Answer, WorkDone};
use crate::expr::{Missing, Step, seek, what};
use crate::ids::TaskNo;
use crate::items::Items;
use crate::json::Json;
use crate::spec::definition::{Each, FanOut, Path, Times};
use std::sync::Arc;

pub(super) fn fan(desk: &Desk<'_>, no: TaskNo) -> Result<Answer, Stop> {
    let definition = &desk.around.definition;
    let task = definition.task(no);
    let fan_out = task.fan_out.as_ref().expect("only fan-outs are asked about");
    let items = fan_out.foreach.as_ref().map(|each| items(desk, each)).transpose()?;
    let times = match &fan_out.parallel {
        None => 1,
        Some(Times::Fixed(times)) => u64::from(*times),
        Some(Times::From(path)) => whole(desk, path)?,
    };
    let count = items.as_ref().map_or(1, |items| items.len() as u64).saturating_mul(times);
    match u32::try_from(count).ok().filter(|count| *count <= definition.max_fanout) {
        Some(count) => Ok(Answer::Fan { count, items: items.map(Arc::new) }),
        None => {
            let why = makes(desk, fan_out, items.as_ref(), times);
            Err(Stop::logic(format!(
                "it would have {count} instances{why}; at most {} are allowed. Raise \
                 `max_fanout`, or split the work",
                definition.max_fanout
            )))
        }
    }
}

/// Where so many instances come from: `: `a.files` has 300 items, `a.n` is 1000`.
fn makes(desk: &Desk<'_>, fan_out: &FanOut, items: Option<&Items>, times: u64) -> String {
    let each = match (&fan_out.foreach, items) {
        (Some(Each::From(path)), Some(items)) => {
            Some(format!("`{}` has {} items", written(desk, path), items.len()))
        }
        (Some(Each::Fixed(_)), Some(items)) => Some(format!("`foreach` has {} items", items.len())),
        _ => None,
    };
    let parallel = match &fan_out.parallel {
        Some(Times::From(path)) => Some(format!("`{}` is {times}", written(desk, path))),
        Some(Times::Fixed(times)) => Some(format!("`parallel` is {times}")),
        None => None,
    };
    let told: Vec<String> = each.into_iter().chain(parallel).collect();
    format!(": {}", told.join(", "))
}

fn items(desk: &Desk<'_>, each: &Each) -> Result<Items, Stop> {
    match each {
        Each::Fixed(list) => Ok(Items::of(list.clone()).expect("checked at deploy")),
        Each::From(path) => {
            let found = at(desk, path)?;
            let text = found.as_str().to_owned();
            Items::of(found).ok_or_else(|| wrong(desk, path, "a list", &text))
        }
    }
}

fn whole(desk: &Desk<'_>, path: &Path) -> Result<u64, Stop> {
    let found = at(desk, path)?;
    whole_number(found.as_str())
        .ok_or_else(|| wrong(desk, path, "a whole number, 0 or more,", found.as_str()))
}

/// Programs that know only one kind of number write `3.0`.
fn whole_number(text: &str) -> Option<u64> {
    let float = || {
        let number = text.parse::<f64>().ok()?;
        let is_whole = number.fract() == 0.0 && (0.0..=EXACT_MAX).contains(&number);
        is_whole.then_some(number as u64)
    };
    text.parse().ok().or_else(float)
}

/// Up to here a float says exactly which whole number it is.
const EXACT_MAX: f64 = (1_u64 << 53) as f64;

/// The value at a place in a task's output.
fn at(desk: &Desk<'_>, path: &Path) -> Result<Json, Stop> {
    let Some(output) = made_of(desk, path.task)? else {
        let message = format!("`{}` cannot be read: the task put out nothing", written(desk, path));
        return Err(Stop::logic(message));
    };
    if path.fields.is_empty() {
        return Ok(output);
    }
    let steps: Vec<Step> = path.fields.iter().cloned().map(Step::Field).collect();
    match seek(output.as_str(), &steps) {
        Ok(found) => Ok(Json::composed(found.to_owned())),
        Err(Missing { taken, why }) => {
            let fields = path.fields[..taken].to_vec();
            let into = written(desk, &Path { task: path.task, fields });
            let why = why.told(&into, &steps[taken]);
            Err(Stop::logic(format!("`{}` cannot be read: {why}", written(desk, path))))
        }
    }
}

/// What a fan-out is made of must be the same after a restart. Work that had not landed when it
/// opened may have failed to since.
fn made_of(desk: &Desk<'_>, no: TaskNo) -> Result<Option<Json>, Stop> {
    let upstream = desk.around.upstream.iter().find(|upstream| upstream.no == no);
    match upstream.and_then(|upstream| upstream.work.as_ref()) {
        None => Ok(desk.value_of(no)?),
        Some(WorkDone::Output(output)) => Ok(desk.value(output.as_ref())?),
        Some(WorkDone::List { count }) => composed(desk, (no, *count), Of::Worked).map(Some),
    }
}

fn wrong(desk: &Desk<'_>, path: &Path, wanted: &str, found: &str) -> Stop {
    Stop::logic(format!("`{}` must be {wanted} and is {}", written(desk, path), what(found)))
}

/// As in the definition.
fn written(desk: &Desk<'_>, path: &Path) -> String {
    let mut text = desk.around.definition.task(path.task).name.to_string();
    for field in &path.fields {
        text.push('.');
        text.push_str(field);
    }
    text
}
