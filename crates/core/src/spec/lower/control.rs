//! What a control task waits for.

use super::super::code::Code;
use super::super::control::{
    Approval, ChildOf, Control, Decider, OnReject, OnSilence, OnTimeout, Sleep, WaitFor,
};
use super::super::format::{APPROVAL, NOT_BESIDE_WORKFLOW, SLEEP, WAIT};
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::duration::{Zero, duration};
use super::env::filled;
use super::fields::Fields;
use super::mention::Given;
use super::{expect, name, template};
use crate::expr::Text;
use crate::kernel::record::Role;
use crate::limits::{APPROVAL_BY_MAX, ENV_VALUE_BYTES_MAX, NAME_BYTES_MAX, SIGNAL_KEY_CHARS_MAX};
use crate::time::{Span, Timestamp};
use std::sync::Arc;

const MOMENT_HINT: &str = "write it like `\"2030-01-31T06:00:00Z\"`, with its zone";

pub fn sleep<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Control>> {
    if !field.value.is_map() {
        // A duration is read here, so that a mistake has its place; a template is read later.
        if !field.value.is_template() {
            duration(field, Zero::Allowed, report)?;
        }
        let Given { value, mentions } = template::text(field, report)?;
        return Some(Given { value: Control::Sleep(Sleep::For(value)), mentions });
    }
    let fields = Fields::read(field, &SLEEP, report)?;
    let until = fields.required("until", "`sleep`", report)?;
    let text = text(until, report)?;
    if let Some(fixed) = text.value.fixed()
        && fixed.parse::<Timestamp>().is_err()
    {
        let message = format!("{} is not a moment.", quoted(fixed));
        report.add(Code::BadDuration, until.place(), message).hint(MOMENT_HINT);
        return None;
    }
    let Given { value, mentions } = text;
    Some(Given { value: Control::Sleep(Sleep::Until(value)), mentions })
}

pub fn wait<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Control>> {
    let fields = Fields::read(field, &WAIT, report)?;
    let words = [("fail", OnTimeout::Fail), ("continue", OnTimeout::Continue)];
    let on_timeout = fields.get("on_timeout").map(|given| expect::word(given, &words, report));
    let timeout = timeout(&fields, report);
    let signal = fields.required("signal", "`wait`", report);
    let signal = signal?;
    let Given { value: signal, mentions } = signal_key(signal, report)?;
    let on_timeout = on_timeout.unwrap_or(Some(OnTimeout::Fail))?;
    let wait = WaitFor { signal, timeout: timeout?, on_timeout };
    Some(Given { value: Control::Wait(wait), mentions })
}

pub fn approval<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Control>> {
    let fields = Fields::read(field, &APPROVAL, report)?;
    let silence =
        [("reject", OnSilence::Reject), ("approve", OnSilence::Approve), ("fail", OnSilence::Fail)];
    let reject = [("fail", OnReject::Fail), ("continue", OnReject::Continue)];
    let on_timeout = fields.get("on_timeout").map(|given| expect::word(given, &silence, report));
    let on_reject = fields.get("on_reject").map(|given| expect::word(given, &reject, report));
    let timeout = timeout(&fields, report);
    let by = fields.get("by").map(|given| deciders(given, report));
    let message = fields.required("message", "`approval`", report);
    let Given { value: message, mentions } = text(message?, report)?;
    let approval = Approval {
        message,
        by: by.unwrap_or_else(|| Some(Vec::new()))?,
        timeout: timeout?,
        on_timeout: on_timeout.unwrap_or(Some(OnSilence::Reject))?,
        on_reject: on_reject.unwrap_or(Some(OnReject::Fail))?,
    };
    Some(Given { value: Control::Approval(Arc::new(approval)), mentions })
}

/// The name of another workflow, which may be deployed later. Its version stands beside it.
pub fn child<'n>(
    field: Field<'n>,
    task: &Fields<'n>,
    report: &mut Report,
) -> Option<Given<'n, Control>> {
    for given in task.iter().filter(|given| NOT_BESIDE_WORKFLOW.contains(&given.name)) {
        let message = format!("`{}` does not go with `workflow`.", given.name);
        report
            .add(Code::BesideWorkflow, given.name_place, message)
            .hint("say it in the tasks of the other workflow")
            .related(field.name_place, "the task runs another workflow");
    }
    let version = task.get("version").map(|given| version(given, report));
    let workflow = expect::text(field, report)?;
    let good = name::check(workflow, "a workflow", field.place(), report);
    let child = ChildOf {
        workflow: workflow.into(),
        version: version.unwrap_or(Some(None))?,
        timeout: None,
    };
    good.then(|| Given { value: Control::Child(child), mentions: [].into() })
}

/// The outer `None` is a mistake.
fn version(field: Field<'_>, report: &mut Report) -> Option<Option<u32>> {
    let number = expect::integer(field, 1..=i64::from(u32::MAX), report)?;
    Some(u32::try_from(number).ok())
}

/// The outer `None` is a mistake, the inner one for ever.
fn timeout(fields: &Fields<'_>, report: &mut Report) -> Option<Option<Span>> {
    match fields.get("timeout") {
        None => Some(None),
        Some(given) => duration(given, Zero::Refused, report).map(Some),
    }
}

fn text<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Text>> {
    filled(field, ENV_VALUE_BYTES_MAX, report)?;
    template::text(field, report)
}

/// How long one with templates is turns out when it waits.
fn signal_key<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Text>> {
    let given = text(field, report)?;
    let chars =
        field.value.text().filter(|_| !field.value.is_template()).map(|it| it.chars().count());
    if let Some(chars) = chars.filter(|chars| *chars > SIGNAL_KEY_CHARS_MAX) {
        let message =
            format!("`signal` has {chars} characters, at most {SIGNAL_KEY_CHARS_MAX} are allowed.");
        report.add(Code::BadText, field.place(), message).hint("choose a shorter key");
        return None;
    }
    Some(given)
}

/// One, or a list with at least one.
fn deciders(field: Field<'_>, report: &mut Report) -> Option<Vec<Decider>> {
    let hint = "write the name of a token or a role, or a list of them";
    let Some(items) = field.value.items() else {
        if field.value.text().is_none() {
            expect::wrong(field, "a name or a list of names", Some(hint), report);
            return None;
        }
        return decider(field, report).map(|decider| vec![decider]);
    };
    if items.len() == 0 || items.len() > APPROVAL_BY_MAX {
        let message = format!("`by` must have from 1 to {APPROVAL_BY_MAX} names.");
        report.add(Code::OutOfRange, field.place(), message).hint("leave it out for everybody");
        return None;
    }
    let found: Vec<Option<Decider>> =
        items.map(|item| decider(Field { value: item, ..field }, report)).collect();
    found.into_iter().collect()
}

fn decider(field: Field<'_>, report: &mut Report) -> Option<Decider> {
    expect::text(field, report)?;
    let decider = filled(field, NAME_BYTES_MAX, report).map(Decider::of)?;
    // Every decision changes a run, which is more than looking on.
    if matches!(&decider, Decider::Role(role) if *role < Role::Operator) {
        let message = format!("The role `{}` may look, and decide nothing.", decider.word());
        let hint = "write `operator`, or leave `by` out: then whoever may steer runs may decide";
        report.add(Code::NoDecider, field.place(), message).hint(hint);
    }
    Some(decider)
}
