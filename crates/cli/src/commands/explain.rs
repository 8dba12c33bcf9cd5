//! `mainspring explain`: why each task of a run that has no outcome is not running now.

use crate::args::{ExplainArgs, Format};
use crate::client::wire::{Explained, Explanation, Told};
use crate::client::{Ask, Client, ClientError, look, run_id};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::{data, find, out, table};
use anyhow::Result;
use mainspring_core::ids::TaskNo;
use mainspring_core::view::explain::Wanted;
use mainspring_engine::explain::{Subject, TASKS_MAX, explained};
use std::path::Path;
use std::time::{Duration, Instant};

/// `mainspring run` closes its door a little before it lets go of the folder.
const LEAVING_MAX: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

pub fn explain(args: &ExplainArgs) -> Result<Exit> {
    let whole = data::block_on(async {
        look(
            &args.look.place,
            async |client| asked(client, args).await,
            async || stored(args).await,
        )
        .await
    })?;
    let told: Explanation = whole.read()?;
    if args.look.output == Format::Table && told.tasks.is_empty() && told.reasons.is_empty() {
        out::say(&format!("the run is {}: nothing is to be explained\n", told.status));
        return Ok(Exit::Success);
    }
    document(args.look.output, &whole, || Ok(shown(&told, args)))?;
    Ok(Exit::Success)
}

async fn asked(client: &Client, args: &ExplainArgs) -> Result<Tree> {
    let id = run_id(client, &args.run).await?;
    let mut ask = Ask::get(&["runs", &id, "explain"]);
    if let Some(task) = &args.task {
        ask = ask.with("task", task);
    }
    if let Some(from) = &args.from {
        ask = ask.with("from", from);
    }
    Ok(client.answer(&ask).await?)
}

/// Nobody is at work: what is stored says the rest. Beside somebody it would not: limits and what
/// is under way are known to them alone.
async fn stored(args: &ExplainArgs) -> Result<Tree> {
    unattended(&args.look.place.data.folder).await?;
    let store = data::open(&args.look.place.data, &args.look.database)?.store;
    let (run, definition) = find::run(&*store, &args.run).await?;
    let wanted = match (&args.task, &args.from) {
        (Some(task), _) => Wanted::Only(find::task(&definition, task)?),
        (None, Some(from)) => Wanted::From(find::task(&definition, from)?, TASKS_MAX),
        (None, None) => Wanted::From(TaskNo(0), TASKS_MAX),
    };
    let subject = Subject { run: &run, definition: &definition };
    let now = mainspring_exec::now();
    Ok(Tree::of(&explained(&*store, subject, wanted, (None, now)).await?)?)
}

/// Fails if somebody is at work in the folder and stays there.
async fn unattended(folder: &Path) -> Result<(), ClientError> {
    let until = Instant::now() + LEAVING_MAX;
    while let Some(pid) = data::holder(folder) {
        if Instant::now() > until {
            return Err(ClientError::Nobody(format!(
                "process {pid} is at work in the data folder {}, and does not answer there: ask \
                 again in a moment, or look at its log",
                folder.display()
            )));
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(())
}

fn shown(told: &Explanation, args: &ExplainArgs) -> String {
    let mut text = format!("{} {}: {}\n", out::tame(&told.workflow), told.run, told.status);
    for reason in &told.reasons {
        text.push_str(&format!("  {}\n", out::tame(&reason.text)));
    }
    let mut table = table::table(&["TASK", "STATE", "WHY"]);
    for task in &told.tasks {
        add(&mut table, task);
        task.instances.iter().for_each(|instance| add(&mut table, instance));
    }
    if !told.tasks.is_empty() {
        text.push('\n');
        text.push_str(&table::text(&table));
    }
    if let Some(next) = &told.next {
        let command = args.look.place.command(&["explain", &args.run, "--from", next]);
        text.push_str(&format!("more: {command}\n"));
    }
    text
}

/// One row for each reason.
fn add(table: &mut comfy_table::Table, task: &Explained) {
    let index = task.index.map(|index| format!("[{index}]")).unwrap_or_default();
    for (position, Told { text }) in task.reasons.iter().enumerate() {
        let (name, state) = match position {
            0 => (format!("{}{index}", out::tame(&task.name)), task.status.clone()),
            _ => (String::new(), String::new()),
        };
        table.add_row([name, state, out::tame(text)]);
    }
}
