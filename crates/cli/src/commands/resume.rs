//! `mainspring run --resume`: a run that was cut off goes on where it stood.

use super::run::{carry_on, say_unfinished};
use crate::args::RunArgs;
use crate::embedded::{Follow, Ground, Life, Settings, root};
use crate::exit::Exit;
use crate::limits::{self, Tiers};
use crate::progress::Board;
use crate::signals::Signals;
use crate::{data, find, out};
use anyhow::{Result, bail};
use mainspring_core::ids::RunId;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::spec::definition::Definition;
use mainspring_core::world::input::{Command, Input, Order, Verb};
use mainspring_engine::Load;
use mainspring_engine::folder::FolderError;
use mainspring_store::{Sqlite, Store as _};

pub async fn resume(args: &RunArgs, wanted: &str) -> Result<Exit> {
    let mut signals = Signals::listen()?;
    // Nothing is made where nothing was.
    drop(data::open_file(&args.data)?);
    let tiers = limits::here(&args.limits, args.max_processes)?;
    let settings = Settings::new(args, &tiers)?;
    let ground = match Ground::take(&args.data.folder) {
        Ok(ground) => ground,
        Err(error) => return not_yet(&error),
    };
    let unfinished = ground.unfinished().await?;
    let run = choose(&ground.store, wanted, &unfinished).await?;
    let Some(stored) = ground.store.run(run).await? else {
        bail!("there is no run {run} here: `mainspring runs` lists them");
    };
    if let Some(parent) = &stored.head.parent {
        let root = root(&ground.store, stored.head.clone()).await?;
        let (name, above) = (&parent.name, parent.run);
        bail!("run {run} is the child of task '{name}' of run {above}: resume run {root}");
    }
    let status = stored.progress.status;
    if status.is_final() {
        bail!("run {run} is {}: there is nothing to resume", status.word());
    }
    let definition = find::definition(&*ground.store, &stored).await?;
    check_tiers(&definition, &tiers, &ground).await?;
    let others: Vec<RunId> = unfinished.into_iter().filter(|other| *other != run).collect();
    say_unfinished(&others, args);
    let life = match Life::begin(ground, Load::Only(vec![run]), settings).await {
        Ok(life) => life,
        Err(error) => return not_yet(&error),
    };
    out::say(&format!("run {run} of {} goes on\n", definition.name));
    match status {
        RunStatus::Cancelling => out::say("it was being cancelled: that goes on\n"),
        RunStatus::Paused => lift_hold(&life, run).await,
        _ => {}
    }
    let follow = Follow::new((run, stored.head.key), Board::of(definition, &stored), None);
    carry_on(args, life, follow, &mut signals).await
}

/// Tasks of a tier that nobody knows any more would wait for ever.
async fn check_tiers(definition: &Definition, tiers: &Tiers, ground: &Ground) -> Result<()> {
    let set = ground.store.limits().await?.set;
    let is_known = |tier: &str| {
        definition.tiers.contains_key(tier)
            || tiers.contains_key(tier)
            || set.iter().any(|row| *row.name == *tier)
    };
    let named = definition.tasks.iter().filter_map(|task| task.tier.as_deref());
    match named.into_iter().find(|tier| !is_known(tier)) {
        None => Ok(()),
        Some(tier) => bail!(
            "the run needs the tier '{tier}', and nothing here says what it is: give it with \
             `--tier {tier}=LIMIT`, or under [tiers] in mainspring.toml"
        ),
    }
}

/// A run is there, but cannot go on now.
fn not_yet(error: &anyhow::Error) -> Result<Exit> {
    let usage = error.chain().any(|cause| {
        matches!(
            cause.downcast_ref::<FolderError>(),
            Some(FolderError::Held { .. } | FolderError::BadId { .. })
        )
    });
    out::error(error);
    Ok(if usage { Exit::Usage } else { Exit::Store })
}

async fn choose(store: &Sqlite, wanted: &str, unfinished: &[RunId]) -> Result<RunId> {
    if wanted != "last" {
        return find::run_id(store, wanted).await;
    }
    match unfinished.last() {
        Some(run) => Ok(*run),
        None => bail!("every run here has ended: there is nothing to resume"),
    }
}

/// Whoever resumes a paused run from here wants it to go on.
async fn lift_hold(life: &Life, run: RunId) {
    let command = Command { run, order: Order::Run(Verb::Resume), by: "cli".to_owned() };
    if let Err(error) = life.engine.submit(Input::Command(command)).await {
        out::say(&format!("{}: its hold stays: {error}\n", out::yellow("warning")));
    }
}
