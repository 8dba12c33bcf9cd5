//! From the acceptance of a run to its end, for whoever started it.

use super::{Ending, Start, follow, print};
use crate::args::{Format, PlaceArgs};
use crate::client::wire::Run;
use crate::client::{Ask, Client};
use crate::exit::Exit;
use crate::out;
use crate::print::{Tree, document};
use crate::progress::Reporter;
use anyhow::Result;
use std::sync::Arc;

pub async fn until_over(
    client: &Arc<Client>,
    run: &Run,
    reporter: Reporter,
    (place, format): (&PlaceArgs, Format),
) -> Result<Exit> {
    let count = run.count("total");
    let tasks = if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") };
    out::say(&format!("run {} of {}, {tasks}\n", run.id, run.workflow));
    match follow(client, &run.id, Start::Fresh, reporter).await? {
        Ending::Final => print(client, &run.id, place, format).await,
        Ending::Left => {
            let command = place.command(&["watch", &run.id]);
            out::say(&format!("the run goes on. To watch it: {command}\n"));
            if format != Format::Table {
                let now: Tree = client.answer(&Ask::get(&["runs", &run.id])).await?;
                document(format, &now, || Ok(String::new()))?;
            }
            Ok(Exit::Cancelled)
        }
    }
}
