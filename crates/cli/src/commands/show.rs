//! `mainspring show`: one run, its tasks in the words of its owner, their attempts.

use crate::args::{Format, ShowArgs};
use crate::exit::Exit;
use crate::{data, find, out, table, time_text};
use anyhow::Result;
use mainspring_core::ids::TaskNo;
use mainspring_core::kernel::row::AttemptRow;
use mainspring_core::kernel::rows::Rows;
use mainspring_core::view::shapes::{self, AttemptView, RunView, TaskView};
use mainspring_store::Store as _;
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    run: RunView,
    tasks: Vec<Task>,
}

#[derive(Serialize)]
struct Task {
    #[serde(flatten)]
    task: TaskView,
    attempts: Vec<AttemptView>,
}

pub fn show(args: &ShowArgs) -> Result<Exit> {
    let store = data::open(&args.data)?;
    let document = data::block_on(async {
        let (stored, definition) = find::run(&store, &args.run).await?;
        let history = store.attempts(stored.head.key).await?;
        let mut rows = Rows::new(definition.tasks.len());
        stored.tasks.into_iter().for_each(|row| rows.put(row));
        let run = (&stored.head, &stored.progress);
        let (run, tasks) = shapes::show(&definition, run, &rows, mainspring_exec::now());
        Ok(Document { run, tasks: with_attempts(tasks, &rows, &history) })
    })?;
    match args.output {
        Format::Json => out::result(&(serde_json::to_string_pretty(&document)? + "\n")),
        Format::Table => out::result(&drawn(&document)),
    }
    Ok(Exit::Success)
}

fn with_attempts(tasks: Vec<TaskView>, rows: &Rows, mut history: &[AttemptRow]) -> Vec<Task> {
    let attempts = |(position, task)| {
        let no = TaskNo::from_position(position);
        // The history is in order of tasks, as they are.
        let end = history.iter().position(|past| past.task.no != no).unwrap_or(history.len());
        let (own, rest) = history.split_at(end);
        history = rest;
        let attempts = rows.get(no).map(|row| shapes::attempts(own, row)).unwrap_or_default();
        Task { task, attempts }
    };
    tasks.into_iter().enumerate().map(attempts).collect()
}

fn drawn(document: &Document) -> String {
    let Document { run, tasks } = document;
    let took = time_text::took(run.started_at, run.finished_at);
    let mut text = format!("run       {}\n", run.id);
    let mut field = |name: &str, value: &str| text.push_str(&format!("{name:9} {value}\n"));
    field("workflow", &format!("{}, version {}", run.workflow, run.version));
    field("state", run.status.word());
    field("created", &format!("{} UTC by {}", time_text::moment(run.created_at), run.triggered_by));
    field("took", &took);
    field("input", &shortened(run.input.as_str()));
    if let Some(error) = &run.error {
        field("error", &format!("{}: {}", error.class, out::tame(&error.message)));
    }
    let counts: Vec<String> = run.tasks.iter().map(|(word, n)| format!("{n} {word}")).collect();
    field("tasks", &counts.join(", "));
    text.push('\n');
    text.push_str(&task_table(tasks));
    if tasks.iter().any(|task| task.attempts.len() > 1) {
        text.push_str("\nTasks with more than one attempt:\n\n");
        text.push_str(&attempt_table(tasks));
    }
    text
}

fn shortened(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 200;
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

fn task_table(tasks: &[Task]) -> String {
    let head = ["TASK", "STATE", "ATTEMPT", "STARTED (UTC)", "TOOK", "WHY"];
    let mut table = table::table(&head);
    for Task { task, .. } in tasks {
        table.add_row([
            task.name.clone(),
            task.status.text().to_owned(),
            if task.attempt == 0 { String::new() } else { task.attempt.to_string() },
            task.started_at.map(time_text::moment).unwrap_or_default(),
            time_text::took(task.started_at, task.finished_at),
            why(task),
        ]);
    }
    table::text(&table)
}

fn why(task: &TaskView) -> String {
    let mut parts: Vec<String> = task.reason.iter().cloned().collect();
    if let Some(stopping) = task.stopping {
        parts.push(format!("being stopped: {stopping:?}").to_lowercase());
    }
    if let Some(error) = &task.error {
        parts.push(format!("{}: {}", error.class, out::tame(&error.message)));
    }
    if let Some(at) = task.retry_at {
        parts.push(format!("again at {}", time_text::clock(at)));
    }
    parts.join("; ")
}

fn attempt_table(tasks: &[Task]) -> String {
    let head = ["TASK", "ATTEMPT", "STATE", "STARTED (UTC)", "TOOK", "WHY"];
    let mut table = table::table(&head);
    for task in tasks.iter().filter(|task| task.attempts.len() > 1) {
        for attempt in &task.attempts {
            let error = attempt.error.as_ref();
            table.add_row([
                task.task.name.clone(),
                attempt.attempt.to_string(),
                attempt.status.to_owned(),
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
