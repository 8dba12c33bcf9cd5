//! The workflow's concurrency group.

use super::super::code::Code;
use super::super::definition::{ConcurrencyGroup, OnConflict};
use super::super::format::CONCURRENCY_GROUP;
use super::super::report::Report;
use super::super::tree::Field;
use super::edges::Numbers;
use super::fields::Fields;
use super::mention::{self, Inputs, Instance, Secrets, Sight};
use super::{expect, template};
use crate::expr::{Root, Text};
use crate::limits::TIER_PERMITS_MAX;

const CONFLICTS: &[(&str, OnConflict)] = &[
    ("queue", OnConflict::Queue),
    ("skip", OnConflict::Skip),
    ("cancel_previous", OnConflict::CancelPrevious),
];

pub fn group(field: Field<'_>, inputs: &Inputs, report: &mut Report) -> Option<ConcurrencyGroup> {
    let fields = Fields::read(field, &CONCURRENCY_GROUP, report)?;
    let given = fields.required("key", "A concurrency group", report);
    let key = given.and_then(|given| key(given, inputs, report));
    let limit = fields.get("limit");
    let limit = limit.map(|given| expect::integer(given, 1..=i64::from(TIER_PERMITS_MAX), report));
    let on_conflict = fields.get("on_conflict");
    let on_conflict = on_conflict.map(|given| expect::word(given, CONFLICTS, report));
    Some(ConcurrencyGroup {
        key: key?,
        limit: u32::try_from(limit.unwrap_or(Some(1))?).ok()?,
        on_conflict: on_conflict.unwrap_or(Some(OnConflict::Queue))?,
    })
}

/// It is worked out before there is a run, so that only what is known by then may be named.
fn key(field: Field<'_>, inputs: &Inputs, report: &mut Report) -> Option<Text> {
    let given = template::text(field, report)?;
    if given.value.fixed().is_some_and(|text| text.trim().is_empty()) {
        let message = "The key of a concurrency group is empty.";
        report.add(Code::BadText, field.place(), message).hint("write a name, or a template");
        return None;
    }
    let numbers = Numbers::default();
    let sight = Sight {
        numbers: &numbers,
        inputs,
        of: mention::Of::Run,
        secrets: Secrets::Hidden,
        instance: Instance::Whole,
    };
    for mention in given.mentions.iter() {
        let why = match &mention.reference.root {
            Root::Input => {
                sight.check(std::slice::from_ref(mention), &mut Vec::new(), report);
                continue;
            }
            Root::ScheduledFor => continue,
            Root::RunId => "every run has another, so that none would ever meet",
            _ => "the key is worked out before the run begins",
        };
        let message = format!("`{}` cannot be a part of the key: {why}.", mention.reference.root);
        let hint = "name fields of `input`, or `run.scheduled_for`";
        report.add(Code::UnknownReference, mention.spot.place(), message).hint(hint);
    }
    Some(given.value)
}
