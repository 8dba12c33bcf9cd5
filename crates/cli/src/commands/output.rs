//! `mainspring output`: what a run, a task or an instance put out, as JSON, whatever its size.

use crate::args::OutputArgs;
use crate::client::{Ask, Client, look, run_id};
use crate::data::Rows;
use crate::exit::Exit;
use crate::{data, find, out};
use anyhow::{Error, Result, bail};
use mainspring_core::world::input::Named;
use mainspring_engine::outputs::{LOST_OUTPUT, OutputError, OutputText};
use std::io::Read as _;

const CHUNK_BYTES: u64 = 64 * 1024;

pub fn output(args: &OutputArgs) -> Result<Exit> {
    data::block_on(async {
        look(&args.place, async |client| asked(client, args).await, async || stored(args).await)
            .await
    })?;
    // One line, whatever comes after it.
    out::raw(b"\n");
    Ok(Exit::Success)
}

async fn asked(client: &Client, args: &OutputArgs) -> Result<()> {
    let id = run_id(client, &args.run).await?;
    let ask = match &args.task {
        None => Ask::get(&["runs", &id, "output"]),
        Some(task) => Ask::get(&["runs", &id, "tasks", task, "output"]),
    };
    let ask = ask.with_some("index", args.index.as_ref());
    let mut body = client.open(&ask).await?.into_body();
    let cut = |error| Error::from(error).context("this is not all of it");
    while let Some(piece) = client.piece(&mut body).await.map_err(cut)? {
        out::raw(&piece);
        if out::is_unread() {
            return Ok(());
        }
    }
    Ok(())
}

async fn stored(args: &OutputArgs) -> Result<()> {
    let Rows { store, logs } = data::open(&args.place.data, &args.database)?;
    let (stored, definition) = find::run(&*store, &args.run).await?;
    let output = match &args.task {
        None => stored.progress.output.clone(),
        Some(task) => {
            let named = Named { task: task.as_str().into(), index: args.index };
            let row = find::row(&*store, (&stored, &definition), &named).await?;
            row.and_then(|row| row.output)
        }
    };
    let Some(output) = output else {
        match &args.task {
            None => bail!("the run has put out nothing"),
            Some(task) => bail!("task `{task}` has put out nothing"),
        }
    };
    let mut text = OutputText::open(&logs.blobs, stored.head.id, &output).await.map_err(lost)?;
    let bytes = text.size();
    let mut chunk = Vec::new();
    let unread = |source| lost(OutputError::Unread { bytes, source });
    while text.by_ref().take(CHUNK_BYTES).read_to_end(&mut chunk).map_err(unread)? > 0 {
        out::raw(&chunk);
        chunk.clear();
        if out::is_unread() {
            return Ok(());
        }
    }
    Ok(())
}

/// Says what can be done about an output that is not there as it was put.
fn lost(error: OutputError) -> Error {
    match error.is_loss() {
        true => Error::new(error).context(format!("the output is lost: {LOST_OUTPUT}")),
        false => error.into(),
    }
}
