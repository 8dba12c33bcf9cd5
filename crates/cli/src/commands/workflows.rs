//! `mainspring workflows`: what is deployed.

use crate::args::{Format, WorkflowsArgs};
use crate::client::wire::Workflow;
use crate::client::{Ask, Client, items, look};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::{data, out, table, time_text};
use anyhow::Result;
use mainspring_core::json::Json;
use mainspring_core::spec;
use mainspring_core::time::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Serialize)]
struct Document {
    items: Vec<Tree>,
}

/// As a server shows it.
#[derive(Serialize)]
struct Stored {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    version: u32,
    kind: &'static str,
    labels: BTreeMap<String, String>,
    tasks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Json>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

pub fn workflows(args: &WorkflowsArgs) -> Result<Exit> {
    let list = &args.list;
    let items = data::block_on(async {
        let ask = Ask::get(&["workflows"]);
        let asked = async |client: &Arc<Client>| Ok(items(client, &ask, list.limit).await?);
        look(&list.place, asked, async || stored(args).await).await
    })?;
    if items.is_empty() && list.output == Format::Table {
        out::say("no workflows\n");
        return Ok(Exit::Success);
    }
    let whole = Document { items };
    document(list.output, &whole, || listed(&whole.items))?;
    Ok(Exit::Success)
}

async fn stored(args: &WorkflowsArgs) -> Result<Vec<Tree>> {
    let store = data::open(&args.list.place.data, &args.database)?.store;
    let mut found = Vec::new();
    for row in store.workflows(None, args.list.limit).await? {
        let Some(version) = store.version(&row.name, Some(row.latest)).await? else { continue };
        let Ok(parsed) = spec::parse(&version.text, &spec::Context::STORED) else { continue };
        let definition = parsed.definition;
        found.push(Tree::of(&Stored {
            name: row.name.to_string(),
            description: definition.description.as_deref().map(str::to_owned),
            version: row.latest,
            kind: "dag",
            labels: definition.labels.into_iter().collect(),
            tasks: definition.tasks.len(),
            input: definition.input_schema,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })?);
    }
    Ok(found)
}

fn listed(workflows: &[Tree]) -> Result<String> {
    let head = ["WORKFLOW", "VERSION", "TASKS", "UPDATED (UTC)", "DESCRIPTION"];
    let mut table = table::table(&head);
    for workflow in workflows {
        let workflow: Workflow = workflow.read()?;
        let description = workflow.description.unwrap_or_default();
        table.add_row([
            workflow.name,
            workflow.version.to_string(),
            workflow.tasks.to_string(),
            time_text::moment(workflow.updated_at),
            out::tame(description.lines().next().unwrap_or_default()),
        ]);
    }
    Ok(table::text(&table))
}
