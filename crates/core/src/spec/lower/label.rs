//! Labels: short words that people filter by.

use super::super::code::Code;
use super::super::format::shape::LABEL_VALUE_BYTES_MAX;
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::{expect, name};
use std::collections::BTreeMap;

pub fn labels(field: Field<'_>, report: &mut Report) -> Option<BTreeMap<String, String>> {
    let mut labels = BTreeMap::new();
    for label in expect::map(field, "write `{name: text}`", report)? {
        let good_name = name::check(label.name, "a label", label.name_place, report);
        let Some(value) = label.value.scalar() else {
            expect::wrong(label, "text", None, report);
            continue;
        };
        if value.len() > LABEL_VALUE_BYTES_MAX {
            let message = format!(
                "The label {} has {} bytes, at most {LABEL_VALUE_BYTES_MAX} are allowed.",
                quoted(label.name),
                value.len()
            );
            report.add(Code::BadText, label.place(), message);
        } else if good_name {
            labels.insert(label.name.to_owned(), value.to_owned());
        }
    }
    Some(labels)
}
