//! `mainspring runs`: the list, newest first.

use crate::args::{Format, RunsArgs};
use crate::exit::Exit;
use crate::{data, out, table, time_text};
use anyhow::Result;
use mainspring_core::view::shapes::{RunView, run_view};
use mainspring_store::{RunsQuery, Store as _};
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    items: Vec<RunView>,
}

pub fn runs(args: RunsArgs) -> Result<Exit> {
    let store = data::open(&args.data)?;
    let RunsArgs { statuses, workflow, limit, output, .. } = args;
    let query = RunsQuery { statuses, workflow, limit, ..RunsQuery::default() };
    let found = data::block_on(async { Ok(store.runs(query).await?) })?;
    let items: Vec<RunView> = found.iter().map(|(head, run)| run_view(head, run)).collect();
    match output {
        Format::Json => out::result(&(serde_json::to_string_pretty(&Document { items })? + "\n")),
        Format::Table if items.is_empty() => out::say("no runs\n"),
        Format::Table => out::result(&listed(&items)),
    }
    Ok(Exit::Success)
}

fn listed(runs: &[RunView]) -> String {
    let mut table = table::table(&["RUN", "WORKFLOW", "STATE", "TASKS", "CREATED (UTC)", "TOOK"]);
    for run in runs {
        let count = |word| run.tasks.get(word).copied().unwrap_or(0);
        let settled = ["success", "failed", "cancelled", "skipped"].map(count);
        let done: u32 = settled.iter().sum();
        table.add_row([
            run.id.to_string(),
            run.workflow.clone(),
            run.status.word().to_owned(),
            format!("{done}/{}", count("total")),
            time_text::moment(run.created_at),
            time_text::took(run.started_at, run.finished_at),
        ]);
    }
    table::text(&table)
}
