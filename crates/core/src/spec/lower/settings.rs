//! The fields that a task and `defaults` share. A task's own field wins over the default as a
//! whole: maps are not merged, so that what a task says is all there is.

use super::super::code::Code;
use super::super::definition::{OnFailure, OnLost, OutputFrom, Retries};
use super::super::format::{ACTIONS, TASK};
use super::super::place::Place;
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::duration::{Zero, duration};
use super::env::{env, filled};
use super::fields::Fields;
use super::label::labels;
use super::retries::retries;
use super::size::size;
use super::{expect, tier};
use crate::json::Json;
use crate::limits::{ENV_VALUE_BYTES_MAX, LOG_BYTES_MAX, PRIORITY_MAX, TASK_INPUT_BYTES_MAX};
use crate::time::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What was given; `None` where nothing was, or nothing good.
#[derive(Debug, Default)]
pub struct Settings {
    pub description: Option<String>,
    pub labels: Option<BTreeMap<String, String>>,
    pub on_failure: Option<OnFailure>,
    pub allow_failure: Option<bool>,
    pub input: Option<Json>,
    pub retries: Option<Retries>,
    pub on_lost: Option<OnLost>,
    pub timeout: Option<Span>,
    pub start_timeout: Option<Span>,
    pub tier: Option<Arc<str>>,
    pub priority: Option<i32>,
    pub env: Option<BTreeMap<String, String>>,
    pub workdir: Option<String>,
    pub output: Option<OutputFrom>,
    pub kill_grace: Option<Span>,
    pub log_bytes_max: Option<u64>,
}

impl Settings {
    /// Drops what was found too large to be copied into every task.
    pub fn forget_copied(&mut self) {
        (self.env, self.labels, self.description, self.workdir) = (None, None, None, None);
    }
}

pub fn settings(fields: &Fields<'_>, tiers: &tier::Known<'_>, report: &mut Report) -> Settings {
    let get = |name| fields.get(name);
    let on_failure = [("skip", OnFailure::Skip), ("run", OnFailure::Run)];
    let on_lost = [("retry", OnLost::Retry), ("fail", OnLost::Fail)];
    let output = [("file", OutputFrom::File), ("stdout", OutputFrom::Stdout)];
    let no_zero = Zero::Refused;
    Settings {
        description: get("description").and_then(|f| expect::text(f, report)).map(str::to_owned),
        labels: get("labels").and_then(|f| labels(f, report)),
        on_failure: get("on_failure").and_then(|f| expect::word(f, &on_failure, report)),
        allow_failure: get("allow_failure").and_then(|f| expect::boolean(f, report)),
        input: get("input").and_then(|f| input(f, report)),
        retries: get("retries").and_then(|f| retries(f, report)),
        on_lost: get("on_lost").and_then(|f| expect::word(f, &on_lost, report)),
        timeout: get("timeout").and_then(|f| duration(f, no_zero, report)),
        start_timeout: get("start_timeout").and_then(|f| duration(f, no_zero, report)),
        tier: get("tier").and_then(|f| tier::named(f, tiers, report)),
        priority: get("priority").and_then(|f| priority(f, report)),
        env: get("env").and_then(|f| env(f, report)),
        workdir: get("workdir")
            .and_then(|f| filled(f, ENV_VALUE_BYTES_MAX, report))
            .map(str::to_owned),
        output: get("output").and_then(|f| expect::word(f, &output, report)),
        kill_grace: get("kill_grace").and_then(|f| duration(f, Zero::Allowed, report)),
        log_bytes_max: get("log_limit").and_then(|f| size(f, 1..=LOG_BYTES_MAX, report)),
    }
}

fn priority(field: Field<'_>, report: &mut Report) -> Option<i32> {
    let max = i64::from(PRIORITY_MAX);
    expect::integer(field, -max..=max, report).and_then(|value| i32::try_from(value).ok())
}

fn input(field: Field<'_>, report: &mut Report) -> Option<Json> {
    let _keys = expect::map(field, "write `{name: value}`", report)?;
    // Each value is at least two bytes of JSON: too many need not be written out to be refused.
    let few = field.value.count(TASK_INPUT_BYTES_MAX / 2) <= TASK_INPUT_BYTES_MAX / 2;
    let json = few.then(|| Json::from_value(&field.value.to_json()));
    let json = json.filter(|json| json.as_str().len() <= TASK_INPUT_BYTES_MAX);
    if json.is_none() {
        let message = format!("`input` has more than {TASK_INPUT_BYTES_MAX} bytes as JSON.");
        report.add(Code::BadText, field.place(), message).hint("put it in a file");
    }
    json
}

/// The keys of an `input` and where they stand.
pub type InputKeys<'n> = BTreeMap<&'n str, Place>;

pub fn input_keys(input: Field<'_>) -> InputKeys<'_> {
    input.value.fields().into_iter().flatten().map(|key| (key.name, key.name_place)).collect()
}

/// What `defaults` gives, and what is read again for each task.
#[derive(Debug, Default)]
pub struct Defaults<'n> {
    pub settings: Settings,
    pub input_keys: InputKeys<'n>,
    pub on_failure: Option<Field<'n>>,
}

pub fn defaults<'n>(
    field: Field<'n>,
    tiers: &tier::Known<'_>,
    report: &mut Report,
) -> Option<Defaults<'n>> {
    let fields = Fields::read(field, &TASK, report)?;
    for given in fields.iter() {
        if given.name == "depends_on" || ACTIONS.contains(&given.name) {
            let message = format!("{} cannot be a default.", quoted(given.name));
            report.add(Code::NotADefault, given.name_place, message).hint("give it to each task");
        }
    }
    Some(Defaults {
        settings: settings(&fields, tiers, report),
        input_keys: fields.get("input").map(input_keys).unwrap_or_default(),
        on_failure: fields.get("on_failure"),
    })
}

/// Copies that `defaults` make for so many tasks: bounded, as the text that asks for them is
/// small. Entries are pairs of `env` and `labels`; each costs about 150 bytes of memory.
const COPIED_ENTRIES_MAX: usize = 400_000;
const COPIED_BYTES_MAX: usize = 32 * 1024 * 1024;

pub fn check_copies(field: Field<'_>, given: &Settings, tasks: usize, report: &mut Report) -> bool {
    let maps = || given.env.iter().chain(given.labels.iter());
    let entries: usize = maps().map(BTreeMap::len).sum();
    let texts = given.description.iter().chain(given.workdir.iter()).map(String::len);
    let pairs = maps().flatten().map(|(key, value)| key.len() + value.len());
    let bytes: usize = texts.chain(pairs).sum();
    let good = entries * tasks <= COPIED_ENTRIES_MAX && bytes * tasks <= COPIED_BYTES_MAX;
    if !good {
        let message = format!("These defaults are too large to be copied into {tasks} tasks.");
        report
            .add(Code::DefaultsTooLarge, field.name_place, message)
            .hint("move long values into a file, or into the tasks that need them");
    }
    good
}
