//! `mainspring instances`: those of a fan-out that have been started.

use super::show::why;
use crate::args::{Format, InstancesArgs};
use crate::client::wire::Task;
use crate::client::{Ask, Client, items, look, run_id};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::{data, find, out, table, time_text};
use anyhow::{Result, bail};
use mainspring_core::view::shapes::TaskView;
use mainspring_store::InstancesQuery;
use serde::Serialize;

/// Rows read at a time.
const PAGE: usize = 1_000;

#[derive(Serialize)]
struct Document {
    items: Vec<Tree>,
}

pub fn instances(args: &InstancesArgs) -> Result<Exit> {
    let items = data::block_on(async {
        look(
            &args.look.place,
            async |client| asked(client, args).await,
            async || stored(args).await,
        )
        .await
    })?;
    if items.is_empty() && args.look.output == Format::Table {
        out::say("no instances\n");
        return Ok(Exit::Success);
    }
    let whole = Document { items };
    document(args.look.output, &whole, || listed(&whole.items))?;
    Ok(Exit::Success)
}

async fn asked(client: &Client, args: &InstancesArgs) -> Result<Vec<Tree>> {
    let id = run_id(client, &args.run).await?;
    let mut ask = Ask::get(&["runs", &id, "tasks", &args.task, "instances"]);
    for status in &args.statuses {
        ask = ask.with("status", status.text());
    }
    Ok(items(client, &ask, args.limit).await?)
}

async fn stored(args: &InstancesArgs) -> Result<Vec<Tree>> {
    let store = data::open(&args.look.place.data, &args.look.database)?.store;
    let (stored, definition) = find::run(&*store, &args.run).await?;
    let no = find::task(&definition, &args.task)?;
    if definition.task(no).fan_out.is_none() {
        bail!("task `{}` is not a fan-out: it has no instances", args.task);
    }
    let is_wanted =
        |view: &TaskView| args.statuses.is_empty() || args.statuses.contains(&view.status);
    let (mut items, mut from) = (Vec::new(), 0);
    while items.len() < args.limit {
        let query = InstancesQuery { from, limit: PAGE, ..InstancesQuery::default() };
        let rows = store.instances(stored.head.key, no, query).await?;
        let Some(last) = rows.last().and_then(|row| row.task.index) else { break };
        from = last.saturating_add(1);
        let views = find::instances((&stored, &definition), no, &rows);
        for view in views.iter().filter(|view| is_wanted(view)) {
            items.push(Tree::of(view)?);
        }
    }
    items.truncate(args.limit);
    Ok(items)
}

fn listed(instances: &[Tree]) -> Result<String> {
    let head = ["INDEX", "STATE", "ATTEMPT", "STARTED (UTC)", "TOOK", "WHY"];
    let mut table = table::table(&head);
    for instance in instances {
        let task: Task = instance.read()?;
        table.add_row([
            task.index.map(|index| index.to_string()).unwrap_or_default(),
            task.status.clone(),
            if task.attempt == 0 { String::new() } else { task.attempt.to_string() },
            task.started_at.map(time_text::moment).unwrap_or_default(),
            time_text::took(task.started_at, task.finished_at),
            why(&task),
        ]);
    }
    Ok(table::text(&table))
}
