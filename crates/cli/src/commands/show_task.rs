//! `mainspring show RUN TASK`: one task, or one instance of a fan-out, with its attempts.

use super::show::{attempt_table, put_out, why};
use crate::args::ShowArgs;
use crate::client::wire::Task;
use crate::client::{Ask, Client, items, look, run_id};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::{data, find, out, time_text};
use anyhow::Result;
use mainspring_core::ids::TaskRef;
use mainspring_core::kernel::rows::Rows;
use mainspring_core::view::shapes;
use mainspring_core::world::input::Named;

pub fn show(args: &ShowArgs, task: &str) -> Result<Exit> {
    let whole = data::block_on(async {
        look(
            &args.look.place,
            async |client| asked(client, args, task).await,
            async || stored(args, task).await,
        )
        .await
    })?;
    document(args.look.output, &whole, || drawn(&whole))?;
    let shown: Task = whole.read()?;
    if shown.fan().is_some_and(|fan| fan.failed > 0) {
        let words = ["instances", &args.run, task, "--status", "failed"];
        let command = args.look.place.command(&words);
        out::say(&out::dim(&format!("which instances failed: {command}\n")));
    }
    Ok(Exit::Success)
}

async fn asked(client: &Client, args: &ShowArgs, task: &str) -> Result<Tree> {
    let id = run_id(client, &args.run).await?;
    let path = ["runs", &id, "tasks", task, "attempts"];
    let which = |ask: Ask| ask.with_some("index", args.index.as_ref());
    let mut tree: Tree = client.answer(&which(Ask::get(&path[..4]))).await?;
    let attempts = items(client, &which(Ask::get(&path)), usize::MAX).await?;
    tree.add("attempts", Tree::List(attempts));
    Ok(tree)
}

async fn stored(args: &ShowArgs, task: &str) -> Result<Tree> {
    let store = data::open(&args.look.place.data, &args.look.database)?.store;
    let (stored, definition) = find::run(&*store, &args.run).await?;
    let named = Named { task: task.into(), index: args.index };
    let row = find::row(&*store, (&stored, &definition), &named).await?;
    let no = find::task(&definition, task)?;
    let history = store.attempts_of(stored.head.key, TaskRef { no, index: args.index }).await?;
    let attempts = row.as_ref().map(|row| shapes::attempts(&history, row)).unwrap_or_default();
    let view = match (args.index, &row) {
        (Some(_), Some(row)) => {
            let rows = std::slice::from_ref(row);
            find::instances((&stored, &definition), no, rows).swap_remove(0)
        }
        _ => {
            let mut rows = Rows::new(definition.tasks.len());
            stored.tasks.iter().cloned().for_each(|row| rows.put(row));
            let run = (&stored.head, &stored.progress);
            let now = mainspring_exec::now();
            shapes::show(&definition, run, &rows, now).1.swap_remove(no.position())
        }
    };
    let mut tree = Tree::of(&view)?;
    tree.add("attempts", Tree::of(&attempts)?);
    Ok(tree)
}

fn drawn(tree: &Tree) -> Result<String> {
    let task: Task = tree.read()?;
    let mut text = format!("task      {}\n", task.title());
    let mut field = |name: &str, value: &str| text.push_str(&format!("{name:9} {value}\n"));
    field("state", &task.status);
    if let Some(counts) = &task.instances {
        let counts: Vec<String> = counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
        field("instances", &counts.join(", "));
    }
    let why = why(&task);
    if !why.is_empty() {
        field("why", &why);
    }
    if let Some(finalizer) = &task.finalizer {
        field("finalizer", &finalizer.text());
    }
    if let Some(started) = task.started_at {
        field("started", &format!("{} UTC", time_text::moment(started)));
        field("took", &time_text::took(task.started_at, task.finished_at));
    }
    if let Some(output) = put_out(task.output.as_ref(), task.output_blob.as_ref()) {
        field("output", &output);
    }
    if !task.attempts.is_empty() {
        text.push('\n');
        text.push_str(&attempt_table(std::iter::once(&task)));
    }
    Ok(text)
}
