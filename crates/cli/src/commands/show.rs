//! `mainspring show`: one run, its tasks in the words of its owner, their attempts.

use crate::args::{Format, ShowArgs};
use crate::client::wire::{Blob, Parent, Run, Task};
use crate::client::{Ask, Client, items, look, run_id};
use crate::exit::Exit;
use crate::print::{Tree, document, size};
use crate::{data, find, out, table, time_text};
use anyhow::{Context as _, Result};
use mainspring_core::ids::TaskNo;
use mainspring_core::json::Json;
use mainspring_core::kernel::row::AttemptRow;
use mainspring_core::kernel::rows::Rows;
use mainspring_core::view::shapes::{self, TaskView, run_listed};
use mainspring_store::RunsQuery;
use serde::Serialize;
use std::collections::BTreeMap;

/// `mainspring runs --parent` lists all of them.
const CHILDREN_MAX: usize = 20;

#[derive(Serialize)]
struct Document {
    run: Tree,
    /// The child runs, newest first: not more than are well shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<Tree>,
    /// Each with its attempts.
    tasks: Vec<Tree>,
}

pub fn show(args: &ShowArgs) -> Result<Exit> {
    let whole = data::block_on(async {
        look(
            &args.look.place,
            async |client| asked(client, args).await,
            async || stored(args).await,
        )
        .await
    })?;
    document(args.look.output, &whole, || drawn(&whole))?;
    Ok(Exit::Success)
}

async fn asked(client: &Client, args: &ShowArgs) -> Result<Document> {
    let id = run_id(client, &args.run).await?;
    let run: Tree = client.answer(&Ask::get(&["runs", &id])).await?;
    let mut tasks = items(client, &Ask::get(&["runs", &id, "tasks"]), usize::MAX).await?;
    let read: Vec<Task> = tasks.iter().map(Tree::read).collect::<Result<_, _>>()?;
    // A table shows attempts only where there were several.
    let least = if args.look.output == Format::Table { 2 } else { 1 };
    let mut attempts = match read.iter().any(|task| task.attempt >= least) {
        true => by_task(items(client, &Ask::get(&["runs", &id, "attempts"]), usize::MAX).await?)?,
        false => BTreeMap::new(),
    };
    for (tree, task) in tasks.iter_mut().zip(&read) {
        let own = attempts.remove(&task.name).unwrap_or_default();
        tree.add("attempts", Tree::List(own));
    }
    let children = match read.iter().any(|task| task.kind.as_deref() == Some("workflow")) {
        true => items(client, &Ask::get(&["runs"]).with("parent", &id), CHILDREN_MAX).await?,
        false => Vec::new(),
    };
    Ok(Document { run, children, tasks })
}

/// Attempts by the names of their tasks, in the order they came.
fn by_task(attempts: Vec<Tree>) -> Result<BTreeMap<String, Vec<Tree>>> {
    let mut by_task: BTreeMap<String, Vec<Tree>> = BTreeMap::new();
    for mut attempt in attempts {
        let task = attempt.take("task").context("an attempt without its task")?;
        by_task.entry(task.read()?).or_default().push(attempt);
    }
    Ok(by_task)
}

async fn stored(args: &ShowArgs) -> Result<Document> {
    let store = data::open(&args.look.place.data, &args.look.database)?.store;
    let (stored, definition) = find::run(&*store, &args.run).await?;
    let mut history = store.attempts(stored.head.key).await?;
    history.retain(|past| past.task.index.is_none());
    let mut rows = Rows::new(definition.tasks.len());
    stored.tasks.into_iter().for_each(|row| rows.put(row));
    let query =
        RunsQuery { parent: Some(stored.head.id), limit: CHILDREN_MAX, ..RunsQuery::default() };
    let children = store.runs(query).await?;
    let children: Vec<Tree> = children
        .iter()
        .map(|(head, progress)| Tree::of(&run_listed(head, progress)))
        .collect::<Result<_, _>>()?;
    let run = (&stored.head, &stored.progress);
    let (run, tasks) = shapes::show(&definition, run, &rows, mainspring_exec::now());
    let tasks = with_attempts(&tasks, &rows, &history)?;
    Ok(Document { run: Tree::of(&run)?, children, tasks })
}

fn with_attempts(tasks: &[TaskView], rows: &Rows, mut history: &[AttemptRow]) -> Result<Vec<Tree>> {
    let attempts = |(position, task)| {
        let no = TaskNo::from_position(position);
        // The history is in order of tasks, as they are.
        let end = history.iter().position(|past| past.task.no != no).unwrap_or(history.len());
        let (own, rest) = history.split_at(end);
        history = rest;
        let attempts = rows.get(no).map(|row| shapes::attempts(own, row)).unwrap_or_default();
        let mut tree = Tree::of(task)?;
        tree.add("attempts", Tree::of(&attempts)?);
        Ok(tree)
    };
    tasks.iter().enumerate().map(attempts).collect()
}

fn drawn(whole: &Document) -> Result<String> {
    let run: Run = whole.run.read()?;
    let tasks: Vec<Task> = whole.tasks.iter().map(Tree::read).collect::<Result<_, _>>()?;
    let took = time_text::took(run.started_at, run.finished_at);
    let mut text = format!("run       {}\n", run.id);
    let mut field = |name: &str, value: &str| text.push_str(&format!("{name:9} {value}\n"));
    field("workflow", &format!("{}, version {}", run.workflow, run.version));
    field("state", &run.status);
    if let Some(held) = &run.held {
        field("held", &format!("{} UTC by {}", time_text::moment(held.at), out::tame(&held.by)));
    }
    if let Some(needed) = &run.attention {
        let what = match needed.why.as_str() {
            "kill_unconfirmed" => "something was told to end and is not known to be gone",
            other => other,
        };
        let since = time_text::moment(needed.since);
        field("attention", &format!("{since} UTC: {}; explain says more", out::tame(what)));
    }
    let by = out::tame(&run.triggered_by);
    field("created", &format!("{} UTC by {by}", time_text::moment(run.created_at)));
    if let Some(parent) = &run.parent {
        field("child of", &format!("{}, attempt {}", parent.text(), parent.attempt));
    }
    if let Some(former) = &run.retry_of {
        field("anew", &format!("what run {} was", out::tame(former)));
    }
    field("took", &took);
    if let Some(input) = &run.input {
        field("input", &shortened(input.as_str()));
    }
    if let Some(output) = put_out(run.output.as_ref(), run.output_blob.as_ref()) {
        field("output", &output);
    }
    if !run.labels.is_empty() {
        let labels = run.labels.iter().map(|(key, value)| format!("{key}={value}"));
        field("labels", &out::tame(&labels.collect::<Vec<_>>().join(", ")));
    }
    if run.priority != 0 {
        field("priority", &run.priority.to_string());
    }
    if let Some(error) = &run.error {
        field("error", &format!("{}: {}", error.class, out::tame(&error.message)));
    }
    let counts: Vec<String> = run.tasks.iter().map(|(word, n)| format!("{n} {word}")).collect();
    field("tasks", &counts.join(", "));
    text.push('\n');
    text.push_str(&task_table(&tasks));
    if !whole.children.is_empty() {
        text.push_str("\nChild runs, newest first:\n\n");
        text.push_str(&child_table(&whole.children)?);
    }
    let mut several = tasks.iter().filter(|task| task.attempts.len() > 1).peekable();
    if several.peek().is_some() {
        text.push_str("\nTasks with more than one attempt:\n\n");
        text.push_str(&attempt_table(several));
    }
    Ok(text)
}

fn child_table(children: &[Tree]) -> Result<String> {
    let mut table = table::table(&["RUN", "WORKFLOW", "STATE", "OF TASK", "ATTEMPT", "TOOK"]);
    for child in children {
        let run: Run = child.read()?;
        let parent = run.parent.as_ref();
        table.add_row([
            run.id.clone(),
            run.workflow.clone(),
            run.status.clone(),
            parent.map(Parent::title).unwrap_or_default(),
            parent.map(|parent| parent.attempt.to_string()).unwrap_or_default(),
            time_text::took(run.started_at, run.finished_at),
        ]);
    }
    Ok(table::text(&table))
}

/// What was put out, or how large it is.
pub fn put_out(output: Option<&Json>, blob: Option<&Blob>) -> Option<String> {
    match (output, blob) {
        (Some(output), _) => Some(shortened(output.as_str())),
        (None, Some(blob)) => Some(format!("{}: `mainspring output` prints it", size(blob.bytes))),
        (None, None) => None,
    }
}

fn shortened(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 200;
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    out::tame(&shown)
}

fn task_table(tasks: &[Task]) -> String {
    let mut head = vec!["TASK", "STATE", "ATTEMPT", "STARTED (UTC)", "TOOK", "WHY"];
    let has_fans = tasks.iter().any(|task| task.instances.is_some());
    if has_fans {
        head.insert(2, "INSTANCES");
    }
    let mut table = table::table(&head);
    for task in tasks {
        let fan = task.fan();
        let is_tried = task.attempt > 0 && fan.is_none();
        let mut row = vec![
            task.title(),
            task.status.clone(),
            if is_tried { task.attempt.to_string() } else { String::new() },
            task.started_at.map(time_text::moment).unwrap_or_default(),
            time_text::took(task.started_at, task.finished_at),
            why(task),
        ];
        if has_fans {
            row.insert(2, fan.map(|fan| fan.text()).unwrap_or_default());
        }
        table.add_row(row);
    }
    table::text(&table)
}

pub fn why(task: &Task) -> String {
    let mut parts: Vec<String> = task.reason.iter().map(|reason| out::tame(reason)).collect();
    if let Some(held) = &task.held {
        parts.push(format!("held by {}", out::tame(&held.by)));
    }
    if let Some(stopping) = &task.stopping {
        parts.push(format!("being stopped: {stopping}"));
    }
    if let Some(error) = &task.error {
        parts.push(format!("{}: {}", error.class, out::tame(&error.message)));
    }
    if let Some(child) = task.child.as_ref().filter(|_| task.awaits.is_none()) {
        parts.push(format!("run {}", out::tame(child)));
    }
    if let Some(awaits) = &task.awaits {
        parts.push(format!("waits {}", awaits.text()));
    }
    let finalizer = task.finalizer.as_ref().filter(|_| task.status == "worker_done");
    if let Some(error) = finalizer.and_then(|it| it.error.as_ref()) {
        parts.push(format!("{}: {}", error.class, out::tame(&error.message)));
    }
    let again = task.retry_at.or_else(|| finalizer?.retry_at);
    if let Some(at) = again {
        parts.push(format!("again at {}", time_text::clock(at)));
    }
    parts.join("; ")
}

/// Every attempt of these tasks.
pub fn attempt_table<'a>(tasks: impl Iterator<Item = &'a Task>) -> String {
    let head = ["TASK", "ATTEMPT", "STATE", "STARTED (UTC)", "TOOK", "WHY"];
    let mut table = table::table(&head);
    for task in tasks {
        for attempt in &task.attempts {
            let error = attempt.error.as_ref();
            table.add_row([
                task.title(),
                match attempt.role.as_str() {
                    "finalize" => format!("{} finalize", attempt.attempt),
                    _ => attempt.attempt.to_string(),
                },
                attempt.status.clone(),
                attempt.started_at.map(time_text::moment).unwrap_or_default(),
                time_text::took(attempt.started_at, attempt.finished_at),
                error
                    .map(|it| format!("{}: {}", it.class, out::tame(&it.message)))
                    .unwrap_or_default(),
            ]);
        }
    }
    table::text(&table)
}
