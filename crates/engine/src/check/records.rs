//! What is kept of requests: keys, tokens, limits that were set, orders on many runs, the audit log.

use super::findings::Findings;
use mainspring_core::check::{Promise, Violation};
use mainspring_store::{Inventory, ReadError};

const PAGE: usize = 1_000;

pub(super) async fn check(store: &dyn Inventory, to: &mut Findings) -> Result<(), ReadError> {
    keys(store, to).await?;
    let tokens = store.tokens().await;
    to.looked.tokens = to.readable(None, tokens)?.map_or(0, |tokens| tokens.len() as u64);
    let limits = store.limits().await;
    to.readable(None, limits)?;
    let bulks = store.bulks().await;
    to.readable(None, bulks)?;
    audit(store, to).await
}

async fn keys(store: &dyn Inventory, to: &mut Findings) -> Result<(), ReadError> {
    let mut last = None;
    loop {
        let page = store.held_keys(last.as_ref(), PAGE).await;
        let Some(page) = to.readable(None, page)? else { return Ok(()) };
        for held in page.iter().filter(|held| held.dangles) {
            let key = &held.row.key;
            let what = format!(
                "key '{}' of {} for {} names a run that is not there",
                key.key, key.principal, key.route
            );
            to.add(None, Violation::new(Promise::Keys, what));
        }
        to.looked.keys += page.len() as u64;
        last = page.into_iter().last();
        if last.is_none() {
            return Ok(());
        }
    }
}

async fn audit(store: &dyn Inventory, to: &mut Findings) -> Result<(), ReadError> {
    let mut below = None;
    loop {
        let page = store.audit(below, PAGE).await;
        let Some(page) = to.readable(None, page)? else { return Ok(()) };
        to.looked.audit += page.len() as u64;
        match page.last() {
            Some(last) => below = Some(last.number),
            None => return Ok(()),
        }
    }
}
