//! The fields that a task and `defaults` share. A task's own field wins over the default as a
//! whole: maps are not merged, so that what a task says is all there is.

use super::super::code::Code;
use super::super::definition::{Cache, OnFailure, OnLost, OutputFrom, Retries, Workspace};
use super::super::format::{ACTIONS, CACHE, OWN_ONLY, TASK};
use super::super::output::OutputSchema;
use super::super::place::Place;
use super::super::report::{Report, quoted};
use super::super::schema::{self, Of};
use super::super::tree::Field;
use super::duration::{Zero, duration};
use super::env::{Env, env, filled};
use super::fan::{FanSettings, fan_settings};
use super::fields::Fields;
use super::label::labels;
use super::mention::Given;
use super::retries::retries;
use super::size::size;
use super::workspace::workspace;
use super::{expect, template, tier};
use crate::expr::{Expr, Text, Tree};
use crate::json::Json;
use crate::limits::{
    CACHE_TTL_DEFAULT, ENV_VALUE_BYTES_MAX, LOG_BYTES_MAX, PRIORITY_MAX, TASK_INPUT_BYTES_MAX,
};
use crate::time::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What was given; `None` where nothing was, or nothing good.
#[derive(Debug, Default)]
pub struct Settings<'n> {
    pub description: Option<String>,
    pub labels: Option<BTreeMap<String, String>>,
    pub on_failure: Option<OnFailure>,
    pub always: Option<bool>,
    pub grace: Option<Span>,
    pub allow_failure: Option<bool>,
    pub checkpoint: Option<bool>,
    pub condition: Option<Given<'n, Expr>>,
    pub input: Option<Given<'n, Tree>>,
    pub outputs: Option<OutputSchema>,
    pub cache: Option<Given<'n, Cache>>,
    pub retries: Option<Retries>,
    pub on_lost: Option<OnLost>,
    pub timeout: Option<Span>,
    pub start_timeout: Option<Span>,
    pub tier: Option<Arc<str>>,
    pub priority: Option<i32>,
    pub env: Option<Given<'n, Env>>,
    pub workdir: Option<Given<'n, Text>>,
    pub workspace: Option<Given<'n, Workspace>>,
    pub output: Option<OutputFrom>,
    pub kill_grace: Option<Span>,
    pub log_bytes_max: Option<u64>,
    pub fan: FanSettings,
}

impl<'n> Settings<'n> {
    /// These, and those of `default` that are not given here.
    pub fn over(self, default: &Self) -> Self {
        Self {
            description: self.description.or_else(|| default.description.clone()),
            labels: self.labels.or_else(|| default.labels.clone()),
            on_failure: self.on_failure.or(default.on_failure),
            always: self.always,
            grace: self.grace.or(default.grace),
            allow_failure: self.allow_failure.or(default.allow_failure),
            checkpoint: self.checkpoint,
            condition: self.condition.or_else(|| default.condition.clone()),
            input: self.input.or_else(|| default.input.clone()),
            outputs: self.outputs.or_else(|| default.outputs.clone()),
            cache: self.cache.or_else(|| default.cache.clone()),
            retries: self.retries.or_else(|| default.retries.clone()),
            on_lost: self.on_lost.or(default.on_lost),
            timeout: self.timeout.or(default.timeout),
            start_timeout: self.start_timeout.or(default.start_timeout),
            tier: self.tier.or_else(|| default.tier.clone()),
            priority: self.priority.or(default.priority),
            env: self.env.or_else(|| default.env.clone()),
            workdir: self.workdir.or_else(|| default.workdir.clone()),
            workspace: self.workspace.or_else(|| default.workspace.clone()),
            output: self.output.or(default.output),
            kill_grace: self.kill_grace.or(default.kill_grace),
            log_bytes_max: self.log_bytes_max.or(default.log_bytes_max),
            fan: FanSettings {
                concurrency: self.fan.concurrency.or(default.fan.concurrency),
                failure_strategy: self.fan.failure_strategy.or(default.fan.failure_strategy),
            },
        }
    }

    /// Drops what was found too large to be copied into every task.
    pub fn forget_copied(&mut self) {
        (self.env, self.labels, self.description, self.workdir) = (None, None, None, None);
        (self.condition, self.input, self.cache, self.workspace) = (None, None, None, None);
    }

    /// How much its expressions read: each is looked at for each task.
    fn mentions(&self) -> usize {
        let counts = [
            self.condition.as_ref().map(|it| it.mentions.len()),
            self.input.as_ref().map(|it| it.mentions.len()),
            self.cache.as_ref().map(|it| it.mentions.len()),
            self.env.as_ref().map(|it| it.mentions.len()),
            self.workdir.as_ref().map(|it| it.mentions.len()),
            self.workspace.as_ref().map(|it| it.mentions.len()),
        ];
        counts.into_iter().flatten().sum()
    }
}

pub fn settings<'n>(
    fields: &Fields<'n>,
    tiers: &tier::Known<'_>,
    report: &mut Report,
) -> Settings<'n> {
    let get = |name| fields.get(name);
    let on_failure = [("skip", OnFailure::Skip), ("run", OnFailure::Run)];
    let on_lost = [("retry", OnLost::Retry), ("fail", OnLost::Fail)];
    let output = [("file", OutputFrom::File), ("stdout", OutputFrom::Stdout)];
    let no_zero = Zero::Refused;
    Settings {
        description: get("description").and_then(|f| expect::text(f, report)).map(str::to_owned),
        labels: get("labels").and_then(|f| labels(f, report)),
        on_failure: get("on_failure").and_then(|f| expect::word(f, &on_failure, report)),
        always: get("always").and_then(|f| expect::boolean(f, report)),
        grace: get("grace").and_then(|f| duration(f, no_zero, report)),
        allow_failure: get("allow_failure").and_then(|f| expect::boolean(f, report)),
        checkpoint: get("checkpoint").and_then(|f| expect::boolean(f, report)),
        condition: get("if").and_then(|f| template::expression(f, report)),
        input: get("input").and_then(|f| input(f, report)),
        outputs: get("outputs").and_then(|f| outputs(f, report)),
        cache: get("cache").and_then(|f| cache(f, report)),
        retries: get("retries").and_then(|f| retries(f, report)),
        on_lost: get("on_lost").and_then(|f| expect::word(f, &on_lost, report)),
        timeout: get("timeout").and_then(|f| duration(f, no_zero, report)),
        start_timeout: get("start_timeout").and_then(|f| duration(f, no_zero, report)),
        tier: get("tier").and_then(|f| tier::named(f, tiers, report)),
        priority: get("priority").and_then(|f| priority(f, report)),
        env: get("env").and_then(|f| env(f, report)),
        workdir: get("workdir").and_then(|f| workdir(f, report)),
        workspace: get("workspace").and_then(|f| workspace(f, report)),
        output: get("output").and_then(|f| expect::word(f, &output, report)),
        kill_grace: get("kill_grace").and_then(|f| duration(f, Zero::Allowed, report)),
        log_bytes_max: get("log_limit").and_then(|f| size(f, 1..=LOG_BYTES_MAX, report)),
        fan: fan_settings(fields, report),
    }
}

fn priority(field: Field<'_>, report: &mut Report) -> Option<i32> {
    let max = i64::from(PRIORITY_MAX);
    expect::integer(field, -max..=max, report).and_then(|value| i32::try_from(value).ok())
}

pub fn workdir<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Text>> {
    filled(field, ENV_VALUE_BYTES_MAX, report)?;
    template::text(field, report)
}

fn outputs(field: Field<'_>, report: &mut Report) -> Option<OutputSchema> {
    let schema = schema::lower(field, Of::Output, report)?;
    Some(OutputSchema::new(Json::from_value(&schema)))
}

fn cache<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Cache>> {
    let fields = Fields::read(field, &CACHE, report)?;
    let ttl = fields.get("ttl").map(|ttl| duration(ttl, Zero::Refused, report));
    let key = fields.required("key", "A cache", report)?;
    filled(key, ENV_VALUE_BYTES_MAX, report)?;
    let Given { value: key, mentions } = template::text(key, report)?;
    let cache = Cache { key, ttl: ttl.unwrap_or(Some(CACHE_TTL_DEFAULT))? };
    Some(Given { value: cache, mentions })
}

fn input<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Tree>> {
    let _keys = expect::map(field, "write `{name: value}`", report)?;
    // Each value is at least two bytes of JSON: too many need not be written out to be refused.
    let few = field.value.count(TASK_INPUT_BYTES_MAX / 2) <= TASK_INPUT_BYTES_MAX / 2;
    if !few || field.value.to_json().to_string().len() > TASK_INPUT_BYTES_MAX {
        let message = format!("`input` has more than {TASK_INPUT_BYTES_MAX} bytes as JSON.");
        report.add(Code::BadText, field.place(), message).hint("put it in a file");
        return None;
    }
    template::tree(field, report)
}

/// The keys of an `input` and where they stand.
pub type InputKeys<'n> = BTreeMap<&'n str, Place>;

pub fn input_keys(input: Field<'_>) -> InputKeys<'_> {
    input.value.fields().into_iter().flatten().map(|key| (key.name, key.name_place)).collect()
}

/// What `defaults` gives, and what is read again for each task.
#[derive(Debug, Default)]
pub struct Defaults<'n> {
    pub settings: Settings<'n>,
    pub input_keys: InputKeys<'n>,
    pub on_failure: Option<Field<'n>>,
    pub workdir: Option<Field<'n>>,
    pub workspace: Option<Field<'n>>,
    pub cache: Option<Field<'n>>,
}

pub fn defaults<'n>(
    field: Field<'n>,
    tiers: &tier::Known<'_>,
    report: &mut Report,
) -> Option<Defaults<'n>> {
    let fields = Fields::read(field, &TASK, report)?;
    for given in fields.iter() {
        if OWN_ONLY.contains(&given.name) || ACTIONS.contains(&given.name) {
            let message = format!("{} cannot be a default.", quoted(given.name));
            report.add(Code::NotADefault, given.name_place, message).hint("give it to each task");
        }
    }
    Some(Defaults {
        settings: settings(&fields, tiers, report),
        input_keys: fields.get("input").map(input_keys).unwrap_or_default(),
        on_failure: fields.get("on_failure"),
        workdir: fields.get("workdir"),
        workspace: fields.get("workspace"),
        cache: fields.get("cache"),
    })
}

/// Copies that `defaults` make for so many tasks: bounded, as the text that asks for them is
/// small. Entries are pairs of `env` and `labels`; each costs about 150 bytes of memory.
const COPIED_ENTRIES_MAX: usize = 400_000;
const COPIED_BYTES_MAX: usize = 32 * 1024 * 1024;

pub fn check_copies(
    field: Field<'_>,
    given: &Settings<'_>,
    tasks: usize,
    report: &mut Report,
) -> bool {
    let env = || given.env.iter().flat_map(|env| &env.value);
    let labels = || given.labels.iter().flatten();
    let entries = env().count() + labels().count() + given.mentions();
    let texts = given.description.iter().map(String::len);
    // The values of variables are shared.
    let pairs = labels().map(|(key, value)| key.len() + value.len());
    let bytes: usize = texts.chain(pairs).chain(env().map(|(name, _)| name.len())).sum();
    let good = entries * tasks <= COPIED_ENTRIES_MAX && bytes * tasks <= COPIED_BYTES_MAX;
    if !good {
        let message = format!("These defaults are too large to be copied into {tasks} tasks.");
        report
            .add(Code::DefaultsTooLarge, field.name_place, message)
            .hint("move long values into a file, or into the tasks that need them");
    }
    good
}
