//! `mainspring watch`: a run on a server, until it ends.

use crate::args::{DatabaseArgs, WatchArgs};
use crate::client::wire::Run;
use crate::client::{Ask, changing, has_left, run_id};
use crate::data::Rows;
use crate::embedded::{self, Finished};
use crate::exit::Exit;
use crate::progress::Reporter;
use crate::remote::{self, Ending, Start};
use crate::{data, find, out};
use anyhow::{Error, Result};

pub fn watch(args: &WatchArgs) -> Result<Exit> {
    data::block_on(async {
        match watched(args).await {
            Err(error) if has_left(&args.place, &error) => left(args, error).await,
            ended => ended,
        }
    })
}

async fn watched(args: &WatchArgs) -> Result<Exit> {
    let client = changing(&args.place).await?;
    let id = run_id(&client, &args.run).await?;
    let run: Run = client.answer(&Ask::get(&["runs", &id])).await?;
    out::say(&format!(
        "run {id} of {} is {}, {} of {} tasks done\n",
        run.workflow,
        run.status,
        run.done(),
        run.count("total")
    ));
    match remote::follow(&client, &id, Start::UnderWay, Reporter::new()).await? {
        Ending::Final => remote::print(&client, &id, &args.place, args.output).await,
        Ending::Left => {
            out::say("the run goes on\n");
            Ok(Exit::Cancelled)
        }
    }
}

/// `mainspring run` ends with its run: then the end is in the database.
async fn left(args: &WatchArgs, error: Error) -> Result<Exit> {
    let own = DatabaseArgs { url: None };
    let Ok(Rows { store, logs }) = data::open(&args.place.data, &own) else { return Err(error) };
    let (stored, definition) = find::run(&*store, &args.run).await?;
    let status = stored.progress.status;
    if !status.is_final() {
        return Err(error);
    }
    let named = &args.place.data.folder;
    let finished = Finished { store: &*store, logs: &logs, named, definition: &definition, stored };
    embedded::print(finished, args.output).await?;
    Ok(Exit::of_run(status.word()))
}
