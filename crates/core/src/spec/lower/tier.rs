//! The workflow's own tiers, and the names that tasks may use.

use super::super::code::Code;
use super::super::format::TIER;
use super::super::parse::ServerTiers;
use super::super::report::{Report, listed, quoted};
use super::super::tree::Field;
use super::fields::Fields;
use super::{expect, name};
use crate::kernel::limit::{Bound, Rate};
use crate::limits::TIER_PERMITS_MAX;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Every tier that a task may name, also one whose limit was refused: one mistake is told once.
#[derive(Debug)]
pub struct Known<'k> {
    pub own: BTreeSet<&'k str>,
    pub server: ServerTiers<'k>,
}

pub fn own_names(field: Option<Field<'_>>) -> BTreeSet<&str> {
    field.and_then(|tiers| tiers.value.fields()).into_iter().flatten().map(|t| t.name).collect()
}

pub fn tiers(field: Field<'_>, report: &mut Report) -> Option<BTreeMap<Arc<str>, Bound>> {
    let mut tiers = BTreeMap::new();
    for tier in expect::map(field, "write `{name: limit}`, such as `{gpu: 2}`", report)? {
        let good_name = name::check(tier.name, "a tier", tier.name_place, report);
        let fields = tier.value.is_map().then(|| Fields::read(tier, &TIER, report));
        let (limit, rate) = match fields {
            Some(Some(fields)) => {
                let rate = fields.get("rate").map(|given| rate(given, report));
                (fields.required("limit", "A tier", report), rate)
            }
            Some(None) => (None, None),
            None => (Some(tier), None),
        };
        let limit =
            limit.and_then(|given| expect::integer(given, 1..=i64::from(TIER_PERMITS_MAX), report));
        if let (Some(limit), true, rate) = (limit, good_name, rate) {
            let limit = u32::try_from(limit).expect("in range");
            tiers.insert(tier.name.into(), Bound { limit, rate: rate.flatten() });
        }
    }
    Some(tiers)
}

/// `100/1m`.
fn rate(field: Field<'_>, report: &mut Report) -> Option<Rate> {
    let Some(text) = field.value.scalar() else {
        expect::wrong(field, "a rate", Some("write starts and a time, like `100/1m`"), report);
        return None;
    };
    let read: Result<Rate, String> = text.parse();
    if let Err(hint) = &read {
        let message = format!("{} is not a rate.", quoted(text));
        report.add(Code::OutOfRange, field.place(), message).hint(hint.clone());
    }
    read.ok()
}

/// The tier of a task.
pub fn named(field: Field<'_>, known: &Known<'_>, report: &mut Report) -> Option<Arc<str>> {
    let name = expect::text(field, report)?;
    let server = match known.server {
        ServerTiers::Any => return Some(name.into()),
        ServerTiers::Known(server) => server,
    };
    if known.own.contains(name) || server.contains(name) {
        return Some(name.into());
    }
    let tiers = || known.own.iter().copied().chain(server.iter().map(String::as_str));
    let near = report.did_you_mean(name, tiers());
    let add = "add it to the workflow's `tiers:` with its limit, or to the server's: `[tiers]` in \
               mainspring.toml, or `mainspring tiers set`";
    let hint = match listed("the tiers are", tiers()) {
        Some(list) => format!("{list}; or {add}"),
        None => add.to_owned(),
    };
    report
        .add(Code::UnknownTier, field.place(), format!("There is no tier {}.", quoted(name)))
        .hint(hint)
        .maybe_hint(near);
    None
}
