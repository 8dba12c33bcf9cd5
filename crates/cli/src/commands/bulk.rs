//! `mainspring bulk`: one action on many runs, chosen by a filter. What is meant is shown first.

use crate::args::{BulkArgs, Format};
use crate::client::wire::{BulkProgress, Preview};
use crate::client::{Ask, Client, changing, new_key};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::{data, out, table, time_text};
use anyhow::{Result, bail};
use mainspring_core::time::Timestamp;
use serde_json::{Map, Value, json};
use std::io::{BufRead as _, IsTerminal as _};
use std::time::Duration;

/// Between two looks at how far it is.
const LOOK: Duration = Duration::from_millis(200);

pub fn bulk(args: &BulkArgs) -> Result<Exit> {
    data::block_on(async {
        let client = changing(&args.place).await?;
        let seen: Tree = client.answer(&ask(args, Purpose::Look)?).await?;
        let preview: Preview = seen.read()?;
        if args.dry_run {
            document(args.output, &seen, || Ok(shown(args, &preview)))?;
            return Ok(Exit::Success);
        }
        out::say(&shown(args, &preview));
        if preview.matched == 0 {
            return Ok(Exit::Success);
        }
        if !is_wanted(args)? {
            out::say("nothing was done\n");
            return Ok(Exit::Cancelled);
        }
        // With a key a request can be repeated when its answer was lost.
        let begun: Tree =
            client.answer(&ask(args, Purpose::Do(preview.until))?.key(new_key())).await?;
        until_over(&client, begun, args.output).await
    })
}

/// The first look only looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Look,
    /// To those that were there at this moment, and were shown.
    Do(Timestamp),
}

fn ask(args: &BulkArgs, purpose: Purpose) -> Result<Ask> {
    let mut filter = Map::new();
    let mut say = |name: &str, value: Option<Value>| {
        filter.extend(value.map(|value| (name.to_owned(), value)));
    };
    let words: Vec<&str> = args.statuses.iter().map(|status| status.word()).collect();
    say("status", (!words.is_empty()).then(|| json!(words)));
    say("workflow", args.workflow.as_ref().map(|name| json!(name)));
    say("since", args.since.map(|at| json!(at)));
    let until = match purpose {
        Purpose::Look => args.until,
        Purpose::Do(until) => Some(until),
    };
    say("until", until.map(|at| json!(at)));
    let labels: Vec<String> =
        args.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    say("label", (!labels.is_empty()).then(|| json!(labels)));
    let is_look = purpose == Purpose::Look;
    let mut body = json!({
        "action": args.action.word(), "filter": filter, "all": args.all && is_look,
        "dry_run": is_look,
    });
    if let Some(from) = &args.from {
        body["from"] = json!(from);
    }
    if args.latest {
        body["version"] = json!("latest");
    }
    Ok(Ask::post(&["runs", "bulk"]).json(&body)?)
}

fn shown(args: &BulkArgs, preview: &Preview) -> String {
    let Preview { matched, first, .. } = preview;
    let what = match matched {
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    };
    let mut text = format!("{} {what}\n", args.action.word());
    let mut table = table::table(&["RUN", "WORKFLOW", "STATE", "CREATED (UTC)"]);
    for run in first {
        let created = time_text::moment(run.created_at);
        table.add_row([run.id.clone(), out::tame(&run.workflow), run.status.clone(), created]);
    }
    if !first.is_empty() {
        text.push_str(&table::text(&table));
    }
    let more = matched.saturating_sub(first.len() as u64);
    if more > 0 {
        text.push_str(&out::dim(&format!("… and {more} more\n")));
    }
    text
}

fn is_wanted(args: &BulkArgs) -> Result<bool> {
    if args.yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        bail!("nobody is here to be asked: say --yes to go on, or --dry-run to look only");
    }
    out::say(&format!("{} them? [y/N] ", args.action.word()));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

async fn until_over(client: &Client, begun: Tree, format: Format) -> Result<Exit> {
    let mut now = begun;
    let mut said = String::new();
    loop {
        let progress: BulkProgress = now.read()?;
        let line = progress.line();
        if progress.finished_at.is_some() {
            document(format, &now, || Ok(format!("{line}\n{}", progress.told())))?;
            let is_whole = progress.refused == 0 && progress.failed == 0;
            return Ok(if is_whole { Exit::Success } else { Exit::Failed });
        }
        if line != said && std::io::stderr().is_terminal() {
            out::say(&out::dim(&format!("{line}\n")));
            said = line;
        }
        tokio::time::sleep(LOOK).await;
        now = client.answer(&Ask::get(&["runs", "bulk", &progress.id])).await?;
    }
}
