//! The built-in merge queue, as a finalizer.

use super::super::code::Code;
use super::super::definition::Landing;
use super::super::format::shape::SHELL_LINE_BYTES_MAX;
use super::super::format::{GIT_MERGE, NO_EFFECT_ON_MERGES};
use super::super::report::Report;
use super::super::tree::Field;
use super::env::{bounded, filled};
use super::fields::Fields;
use super::mention::Given;
use super::{expect, template};
use crate::limits::{ENV_VALUE_BYTES_MAX, KILL_GRACE_DEFAULT, LOG_BYTES_DEFAULT};
use crate::work_git::{MergeStrategy, UpdateCheckout};
use std::sync::Arc;

pub fn git_merge<'n>(
    field: Field<'n>,
    beside: &Fields<'n>,
    report: &mut Report,
) -> Option<Given<'n, Landing>> {
    for other in beside.iter().filter(|it| NO_EFFECT_ON_MERGES.contains(&it.name)) {
        let message = format!("`{}` has no effect on a `git_merge`.", other.name);
        report.add(Code::NoEffect, other.name_place, message).hint("leave it out");
    }
    let fields = Fields::read(field, &GIT_MERGE, report)?;
    let strategy = [("squash", MergeStrategy::Squash), ("merge", MergeStrategy::Merge)];
    let update = [("never", UpdateCheckout::Never), ("clean", UpdateCheckout::Clean)];
    let strategy = fields.get("strategy").map(|f| expect::word(f, &strategy, report));
    let update_checkout = fields.get("update_checkout").map(|f| expect::word(f, &update, report));
    let verify = fields.get("verify").map(|f| verify(f, report));
    let into = fields.required("into", "A git merge", report)?;
    filled(into, ENV_VALUE_BYTES_MAX, report)?;
    let Given { value: into, mentions } = template::text(into, report)?;
    let value = Landing {
        into,
        verify: verify.map_or(Some(None), |given| given.map(Some))?,
        strategy: strategy.unwrap_or(Some(MergeStrategy::Squash))?,
        update_checkout: update_checkout.unwrap_or(Some(UpdateCheckout::Never))?,
        kill_grace: KILL_GRACE_DEFAULT,
        log_bytes_max: LOG_BYTES_DEFAULT,
    };
    Some(Given { value, mentions })
}

/// A line for the shell. It is told what it needs in variables.
fn verify(field: Field<'_>, report: &mut Report) -> Option<Arc<str>> {
    let line = expect::text(field, report)?;
    if line.trim().is_empty() {
        let message = "`verify` is empty.";
        report.add(Code::BadText, field.place(), message).hint("write `verify: ./verify.sh`");
        return None;
    }
    bounded("verify", line, (field.place(), SHELL_LINE_BYTES_MAX), report).map(Arc::from)
}

/// What it lands is the branch of a workspace.
pub fn no_workspace(field: Field<'_>, report: &mut Report) {
    let message = "`git_merge` lands the branch of a workspace: the task needs the field \
                   `workspace`.";
    report
        .add(Code::MissingField, field.name_place, message)
        .hint("add `workspace: { git: { repo: ., base: main } }` to the task");
}
