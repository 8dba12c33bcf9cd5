//! `cancel`, `pause`, `resume`, `retry`: orders about a run or a task. Each is durable when it is
//! answered.

use crate::args::{CancelArgs, Format, OrderArgs, PlaceArgs, RetryArgs};
use crate::client::wire::{Run, Task};
use crate::client::{Ask, changing, new_key, run_id};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::{data, out};
use anyhow::{Result, bail};
use serde_json::json;

pub fn cancel(args: &CancelArgs) -> Result<Exit> {
    let force = if args.force { Some("true") } else { None };
    order(&args.order, "cancel", |ask| ask.with_some("force", force.as_ref()))
}

pub fn pause(args: &OrderArgs) -> Result<Exit> {
    order(args, "pause", |ask| ask)
}

pub fn resume(args: &OrderArgs) -> Result<Exit> {
    order(args, "resume", |ask| ask)
}

pub fn retry(args: &RetryArgs) -> Result<Exit> {
    data::block_on(async {
        let client = changing(&args.place).await?;
        let id = run_id(&client, &args.run).await?;
        if let Some(index) = args.index {
            let [task] = args.tasks.as_slice() else {
                bail!("--index is for one task: name that one and no other");
            };
            let ask = Ask::post(&["runs", &id, "tasks", task, "retry"]).key(new_key());
            let answer = client.answer(&ask.with("index", &index.to_string())).await?;
            return show_task(&answer, args.output);
        }
        let mut ask = Ask::post(&["runs", &id, "retry"]).key(new_key());
        if !args.tasks.is_empty() {
            ask = ask.json(&json!({ "tasks": args.tasks }))?;
        }
        let answer = client.answer(&ask).await?;
        show_run(&answer, args.output, &args.place)
    })
}

fn order(args: &OrderArgs, verb: &str, with: impl FnOnce(Ask) -> Ask) -> Result<Exit> {
    data::block_on(async {
        let client = changing(&args.place).await?;
        let id = run_id(&client, &args.run).await?;
        let Some(task) = &args.task else {
            let ask = with(Ask::post(&["runs", &id, verb]).key(new_key()));
            let answer = client.answer(&ask).await?;
            return show_run(&answer, args.output, &args.place);
        };
        let ask = Ask::post(&["runs", &id, "tasks", task, verb]).key(new_key());
        let ask = with(ask.with_some("index", args.index.as_ref()));
        show_task(&client.answer(&ask).await?, args.output)
    })
}

pub fn show_run(answer: &Tree, format: Format, place: &PlaceArgs) -> Result<Exit> {
    let run: Run = answer.read()?;
    document(format, answer, || Ok(format!("run {}: {}\n", run.id, run.status)))?;
    if !run.is_final() && format == Format::Table {
        let command = place.command(&["watch", &run.id]);
        out::say(&out::dim(&format!("to watch it: {command}\n")));
    }
    Ok(Exit::Success)
}

pub fn show_task(answer: &Tree, format: Format) -> Result<Exit> {
    let task: Task = answer.read()?;
    document(format, answer, || {
        let stopping = match &task.stopping {
            Some(why) => format!(", being stopped: {why}"),
            None => String::new(),
        };
        let held = if task.held.is_some() && task.status != "paused" { ", held" } else { "" };
        let fan = task.fan().map(|fan| format!(", {}", fan.text())).unwrap_or_default();
        Ok(format!("task {}: {}{fan}{held}{stopping}\n", task.title(), task.status))
    })?;
    Ok(Exit::Success)
}
