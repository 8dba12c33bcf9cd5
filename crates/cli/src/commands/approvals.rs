//! `approvals`, `approve`, `reject`, `signal`: what waits, and what is said to it.

use super::orders::{show_run, show_task};
use crate::args::{DecideArgs, Format, ListArgs, SignalArgs};
use crate::client::wire::Approval;
use crate::client::{Ask, changing, items, new_key, run_id};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::{data, out, table, time_text};
use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Serialize)]
struct Document {
    items: Vec<Tree>,
}

pub fn approvals(args: &ListArgs) -> Result<Exit> {
    let items = data::block_on(async {
        let client = changing(&args.place).await?;
        Ok(items(&client, &Ask::get(&["approvals"]), args.limit).await?)
    })?;
    if items.is_empty() && args.output == Format::Table {
        out::say("nothing waits for a decision\n");
        return Ok(Exit::Success);
    }
    let whole = Document { items };
    document(args.output, &whole, || {
        let columns = ["RUN", "WORKFLOW", "TASK", "SINCE (UTC)", "UNTIL (UTC)", "BY", "MESSAGE"];
        let mut table = table::table(&columns);
        for one in &whole.items {
            let one: Approval = one.read()?;
            let until = one.until.map(time_text::moment).unwrap_or_default();
            let by = one.by.as_ref().map(|by| by.join(", ")).unwrap_or_default();
            table.add_row([
                one.run.clone(),
                out::tame(&one.workflow),
                one.title(),
                time_text::moment(one.since),
                until,
                out::tame(&by),
                out::tame(&one.message),
            ]);
        }
        Ok(table::text(&table))
    })?;
    Ok(Exit::Success)
}

pub fn approve(args: &DecideArgs) -> Result<Exit> {
    decide(args, "approve")
}

pub fn reject(args: &DecideArgs) -> Result<Exit> {
    decide(args, "reject")
}

fn decide(args: &DecideArgs, verb: &str) -> Result<Exit> {
    data::block_on(async {
        let client = changing(&args.place).await?;
        let id = run_id(&client, &args.run).await?;
        let mut ask = Ask::post(&["runs", &id, "tasks", &args.task, verb]).key(new_key());
        if let Some(comment) = &args.comment {
            ask = ask.json(&json!({ "comment": comment }))?;
        }
        let ask = ask.with_some("index", args.index.as_ref());
        show_task(&client.answer(&ask).await?, args.output)
    })
}

pub fn signal(args: &SignalArgs) -> Result<Exit> {
    // What is JSON is taken as that, everything else as text: as with `--input`.
    let value = args
        .value
        .as_ref()
        .map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())));
    data::block_on(async {
        let client = changing(&args.place).await?;
        let id = run_id(&client, &args.run).await?;
        let ask = Ask::post(&["runs", &id, "signal"]);
        let mut ask = ask.json(&json!({ "key": args.key, "value": value }))?;
        if let Some(key) = &args.idempotency_key {
            ask = ask.key(key.clone());
        }
        let answer = client.answer(&ask).await?;
        show_run(&answer, args.output, &args.place)
    })
}
