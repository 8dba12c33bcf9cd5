//! `mainspring workflows diff`: what changed from one version of a workflow to another.

use crate::args::DiffArgs;
use crate::client::{Ask, Client, look};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::{data, out};
use anyhow::{Context as _, Result, anyhow, bail};
use mainspring_core::spec;
use mainspring_core::spec::definition::Definition;
use mainspring_server::routes::diff::{DiffView, Side, sides};
use mainspring_store::Store;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
struct Compared {
    from: u32,
    to: u32,
    tasks: Tasks,
    diff: String,
}

#[derive(Deserialize)]
struct Tasks {
    added: Vec<String>,
    removed: Vec<String>,
    changed: Vec<String>,
}

pub fn diff(args: &DiffArgs) -> Result<Exit> {
    let whole = data::block_on(async {
        look(
            &args.look.place,
            async |client| asked(client, args).await,
            async || stored(args).await,
        )
        .await
    })?;
    let compared: Compared = whole.read()?;
    document(args.look.output, &whole, || Ok(drawn(&compared.diff)))?;
    out::say(&summary(&compared));
    Ok(Exit::Success)
}

async fn asked(client: &Arc<Client>, args: &DiffArgs) -> Result<Tree> {
    let ask = Ask::get(&["workflows", &args.name, "diff"])
        .with_some("from", args.from.as_ref())
        .with_some("to", args.to.as_ref());
    Ok(client.answer(&ask).await?)
}

async fn stored(args: &DiffArgs) -> Result<Tree> {
    let store = data::open(&args.look.place.data, &args.look.database)?.store;
    let workflow = store.workflow(&args.name).await?.filter(|row| row.deleted_at.is_none());
    let Some(workflow) = workflow else {
        bail!("there is no workflow `{}` here: `mainspring workflows` lists them", args.name);
    };
    let (from, to) = sides(args.from, args.to, workflow.latest).map_err(|why| anyhow!(why))?;
    let (old, new) = (version(&*store, args, from).await?, version(&*store, args, to).await?);
    let from = Side { number: from, text: &old.0, definition: &old.1 };
    let to = Side { number: to, text: &new.0, definition: &new.1 };
    Ok(Tree::of(&DiffView::of(&args.name, from, to))?)
}

async fn version(
    store: &dyn Store,
    args: &DiffArgs,
    number: u32,
) -> Result<(Arc<str>, Definition)> {
    let name = &args.name;
    let row = store.version(name, Some(number)).await?;
    let row = row.with_context(|| format!("there is no version {number} of workflow `{name}`"))?;
    match spec::parse(&row.text, &spec::Context::STORED) {
        Ok(parsed) => Ok((row.text, parsed.definition)),
        Err(_) => bail!("version {number} of `{name}` cannot be read by this Mainspring"),
    }
}

fn drawn(diff: &str) -> String {
    let painted = diff.lines().map(|line| {
        let text = out::tame(line);
        match line.as_bytes().first() {
            Some(b'+') => out::green(&text) + "\n",
            Some(b'-') => out::red(&text) + "\n",
            Some(b'@') => out::dim(&text) + "\n",
            _ => text + "\n",
        }
    });
    painted.collect()
}

fn summary(compared: &Compared) -> String {
    let Compared { from, to, tasks, diff } = compared;
    if diff.is_empty() {
        return format!("version {from} and version {to} have the same text\n");
    }
    let parts = [("added", &tasks.added), ("removed", &tasks.removed), ("changed", &tasks.changed)];
    let named = parts.iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> =
        named.map(|(what, names)| format!("{what} {}", names.join(", "))).collect();
    let tasks = if parts.is_empty() { "the same".to_owned() } else { parts.join("; ") };
    format!("version {from} → {to}, tasks: {}\n", out::tame(&tasks))
}
