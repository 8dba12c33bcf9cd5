//! The check as a whole.

use super::findings::Findings;
use super::{records, runs, versions};
use crate::folder::DataFolder;
use crate::logs::LogPlaces;
use mainspring_core::check::{Promise, Violation};
use mainspring_core::ids::SchedulerId;
use mainspring_store::{Inventory, ReadError};

/// Where a database is at home.
#[derive(Clone, Debug)]
pub struct Home {
    pub logs: LogPlaces,
    /// Who works in the folder, if it says so.
    pub id: Option<SchedulerId>,
    /// The database is the folder's own, so that whoever works there owns all of it.
    pub is_embedded: bool,
}

impl Home {
    /// The folder's own database.
    pub fn embedded(logs: LogPlaces) -> Self {
        Self { is_embedded: true, ..Self::shared(logs) }
    }

    /// A database elsewhere, with the log files of what this folder's server ran.
    pub fn shared(logs: LogPlaces) -> Self {
        let id = DataFolder::id_of(&logs.folder).ok().flatten();
        Self { logs, id, is_embedded: false }
    }
}

/// Reads everything. An error is a database that cannot be read at all.
pub async fn check(store: &dyn Inventory, home: &Home) -> Result<Findings, ReadError> {
    let mut findings = Findings::default();
    let integrity = match store.integrity().await {
        // Too damaged to be looked through.
        Err(ReadError::Damaged(what)) => vec![what],
        answer => answer?,
    };
    for what in integrity {
        findings.add(None, Violation::new(Promise::Integrity, what));
    }
    let schedulers = store.schedulers().await;
    findings.readable(None, schedulers)?;
    versions::check(store, &mut findings).await?;
    runs::check(store, home, &mut findings).await?;
    records::check(store, &mut findings).await?;
    Ok(findings)
}
