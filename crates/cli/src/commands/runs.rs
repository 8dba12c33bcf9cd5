//! `mainspring runs`: the list, newest first.

use crate::args::{Format, RunsArgs};
use crate::client::wire::{Parent, Run};
use crate::client::{Ask, Client, items, look, run_id};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::{data, find, out, table, time_text};
use anyhow::Result;
use mainspring_core::view::shapes::run_listed;
use mainspring_store::RunsQuery;
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    items: Vec<Tree>,
}

pub fn runs(args: &RunsArgs) -> Result<Exit> {
    let output = args.look.output;
    let items = data::block_on(async {
        look(
            &args.look.place,
            async |client| asked(client, args).await,
            async || stored(args).await,
        )
        .await
    })?;
    if items.is_empty() && output == Format::Table {
        out::say("no runs\n");
        return Ok(Exit::Success);
    }
    let whole = Document { items };
    document(output, &whole, || listed(&whole.items))?;
    Ok(Exit::Success)
}

async fn asked(client: &Client, args: &RunsArgs) -> Result<Vec<Tree>> {
    let mut ask = Ask::get(&["runs"])
        .with_some("workflow", args.workflow.as_ref())
        .with_some("since", args.since.as_ref())
        .with_some("until", args.until.as_ref());
    for status in &args.statuses {
        ask = ask.with("status", status.word());
    }
    for (key, value) in &args.labels {
        ask = ask.with("label", &format!("{key}={value}"));
    }
    if let Some(parent) = &args.parent {
        ask = ask.with("parent", &run_id(client, parent).await?);
    }
    Ok(items(client, &ask, args.limit).await?)
}

async fn stored(args: &RunsArgs) -> Result<Vec<Tree>> {
    let store = data::open(&args.look.place.data, &args.look.database)?.store;
    let parent = match &args.parent {
        Some(parent) => Some(find::run_id(&*store, parent).await?),
        None => None,
    };
    let query = RunsQuery {
        parent,
        statuses: args.statuses.clone(),
        workflow: args.workflow.clone(),
        since: args.since,
        until: args.until,
        labels: args.labels.clone(),
        limit: args.limit,
        ..RunsQuery::default()
    };
    let found = store.runs(query).await?;
    Ok(found
        .iter()
        .map(|(head, run)| Tree::of(&run_listed(head, run)))
        .collect::<Result<_, _>>()?)
}

fn listed(runs: &[Tree]) -> Result<String> {
    let runs: Vec<Run> = runs.iter().map(Tree::read).collect::<Result<_, _>>()?;
    let mut head = vec!["RUN", "WORKFLOW", "STATE", "TASKS", "CREATED (UTC)", "TOOK"];
    let has_children = runs.iter().any(|run| run.parent.is_some());
    if has_children {
        head.push("CHILD OF");
    }
    let mut table = table::table(&head);
    for run in &runs {
        let mut row = vec![
            run.id.clone(),
            run.workflow.clone(),
            run.status.clone(),
            format!("{}/{}", run.done(), run.count("total")),
            time_text::moment(run.created_at),
            time_text::took(run.started_at, run.finished_at),
        ];
        if has_children {
            row.push(run.parent.as_ref().map(Parent::text).unwrap_or_default());
        }
        table.add_row(row);
    }
    Ok(table::text(&table))
}
