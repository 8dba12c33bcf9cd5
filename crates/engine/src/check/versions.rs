//! Workflows and their versions.

use super::findings::Findings;
use mainspring_core::check::{Promise, Violation};
use mainspring_core::spec;
use mainspring_store::{Inventory, Numbered, ReadError};

const PAGE: usize = 1_000;

pub(super) async fn check(store: &dyn Inventory, to: &mut Findings) -> Result<(), ReadError> {
    let mut after = String::new();
    loop {
        let names = store.names(&after, PAGE).await;
        let Some(names) = to.readable(None, names)? else { return Ok(()) };
        let Some(last) = names.last() else { return Ok(()) };
        after.clone_from(last);
        for name in &names {
            workflow(store, name, to).await?;
        }
    }
}

async fn workflow(store: &dyn Inventory, name: &str, to: &mut Findings) -> Result<(), ReadError> {
    let numbered = store.numbered(name).await;
    let Some(Numbered { row, versions }) = to.readable(None, numbered)? else { return Ok(()) };
    let mut wrong = |what: String| {
        to.add(None, Violation::new(Promise::Versions, format!("workflow '{name}' {what}")));
    };
    match row {
        None => wrong("has versions, and is not among the workflows".to_owned()),
        Some(row) if !versions.iter().copied().eq(1..=row.latest) => {
            let (latest, found) = (row.latest, versions.len());
            wrong(format!("should have the versions 1 to {latest}, and {found} are there"));
        }
        Some(_) => {}
    }
    to.looked.workflows += 1;
    for number in versions {
        version(store, (name, number), to).await?;
    }
    Ok(())
}

async fn version(
    store: &dyn Inventory,
    (workflow, number): (&str, u32),
    to: &mut Findings,
) -> Result<(), ReadError> {
    let row = store.version(workflow, Some(number)).await;
    let Some(Some(row)) = to.readable(None, row)? else { return Ok(()) };
    to.looked.versions += 1;
    let what = match spec::parse(&row.text, &spec::Context::STORED) {
        Err(found) => {
            let first = found.first().map_or("it is empty", |first| first.message.as_str());
            format!("cannot be read: {first}")
        }
        Ok(parsed) if parsed.hash != row.hash => "has another text than its hash".to_owned(),
        Ok(parsed) if *parsed.definition.name != *workflow => {
            format!("calls itself '{}'", parsed.definition.name)
        }
        Ok(_) => return Ok(()),
    };
    let what = format!("version {number} of '{workflow}' {what}");
    to.add(None, Violation::new(Promise::Versions, what));
    Ok(())
}
