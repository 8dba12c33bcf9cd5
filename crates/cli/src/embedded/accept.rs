//! From a checked definition and input to a run that is durable.

use super::life::Life;
use mainspring_core::ids::RunId;
use mainspring_core::json::Json;
use mainspring_core::spec::definition::Definition;
use mainspring_core::world::input::{Deploy, Input, Refusal, Reply, Trigger};
use mainspring_engine::NotDone;
use mainspring_store::{ReadError, RunsQuery, Store as _};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Between two tries while the store fails; the engine's own patience ends them.
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// A definition that was checked.
#[derive(Clone, Debug)]
pub struct Checked {
    pub definition: Arc<Definition>,
    pub text: Arc<str>,
    pub hash: [u8; 32],
}

/// A run to be.
#[derive(Clone, Debug)]
pub struct Fresh {
    pub main: Checked,
    /// Workflows that it may run.
    pub others: Vec<Checked>,
    pub input: Json,
    /// Absolute.
    pub workdir: String,
    /// The key of its concurrency group.
    pub group: Option<Arc<str>>,
}

#[derive(Debug, thiserror::Error)]
pub enum NotAccepted {
    #[error("the engine refused the run")]
    Refused(#[source] Refusal),
    #[error("the database cannot be read")]
    Unreadable(#[source] ReadError),
    #[error("the store failed before the run was accepted")]
    Stopped,
    /// The store failed at the very moment, for good.
    #[error("the store failed, and whether the run was accepted is not known")]
    Unknown,
}

/// Stores the definition and starts a run of it.
pub async fn accept(life: &Life, fresh: &Fresh) -> Result<RunId, NotAccepted> {
    let newest = newest(life).await.map_err(NotAccepted::Unreadable)?;
    for other in &fresh.others {
        deploy(life, other).await?;
    }
    let version = deploy(life, &fresh.main).await?;
    loop {
        match life.engine.submit(Input::Trigger(trigger(fresh, version))).await {
            Ok(Reply::Accepted { run }) => return Ok(run),
            Ok(_) => unreachable!("a trigger is answered by a run"),
            Err(NotDone::Refused(why)) => return Err(NotAccepted::Refused(why)),
            Err(NotDone::Busy | NotDone::StoreAway | NotDone::Unreadable(_)) => {}
            Err(NotDone::UnknownOutcome | NotDone::Stopped) => {
                if let Some(run) = look(life, newest).await? {
                    return Ok(run);
                }
            }
        }
        tokio::time::sleep(TRY_AGAIN).await;
    }
}

async fn deploy(life: &Life, fresh: &Checked) -> Result<u32, NotAccepted> {
    loop {
        let deploy = Deploy {
            definition: Arc::clone(&fresh.definition),
            text: Arc::clone(&fresh.text),
            hash: fresh.hash,
        };
        match life.engine.submit(Input::Deploy(deploy)).await {
            Ok(Reply::Deployed { version, .. }) => return Ok(version),
            Ok(_) => unreachable!("a deploy is answered by a version"),
            Err(NotDone::Refused(why)) => return Err(NotAccepted::Refused(why)),
            Err(NotDone::Stopped) => return Err(NotAccepted::Stopped),
            // The same text twice makes no new version.
            Err(
                NotDone::UnknownOutcome
                | NotDone::Busy
                | NotDone::StoreAway
                | NotDone::Unreadable(_),
            ) => {}
        }
        tokio::time::sleep(TRY_AGAIN).await;
    }
}

fn trigger(fresh: &Fresh, version: u32) -> Trigger {
    Trigger {
        workflow: Arc::clone(&fresh.main.definition.name),
        version: Some(version),
        input: fresh.input.clone(),
        labels: BTreeMap::new(),
        priority: 0,
        triggered_by: "cli".to_owned(),
        workdir: fresh.workdir.clone(),
        group: fresh.group.clone(),
        again: None,
    }
}

/// Nobody else starts runs in a folder we hold: a run newer than the newest one is ours.
async fn look(life: &Life, before: Option<RunId>) -> Result<Option<RunId>, NotAccepted> {
    loop {
        match newest(life).await {
            Ok(newest) if newest != before => return Ok(newest),
            Ok(_) if !has_stopped(life) => return Ok(None),
            Ok(_) => return Err(NotAccepted::Stopped),
            Err(_) if has_stopped(life) => return Err(NotAccepted::Unknown),
            Err(_) => tokio::time::sleep(TRY_AGAIN).await,
        }
    }
}

fn has_stopped(life: &Life) -> bool {
    let mut stopped = std::pin::pin!(life.engine.stopped());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    stopped.as_mut().poll(&mut context).is_ready()
}

async fn newest(life: &Life) -> Result<Option<RunId>, ReadError> {
    let query = RunsQuery { limit: 1, ..RunsQuery::default() };
    let newest = life.store().runs(query).await?.into_iter().next();
    // It may have begun others by now.
    match newest {
        Some((head, _)) => Ok(Some(super::ground::root(life.store(), head).await?)),
        None => Ok(None),
    }
}
