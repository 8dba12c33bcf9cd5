//! `mainspring watch`: a run on a server, until it ends.

use crate::args::WatchArgs;
use crate::client::wire::Run;
use crate::client::{Ask, changing, run_id};
use crate::exit::Exit;
use crate::progress::Reporter;
use crate::remote::{self, Ending, Start};
use crate::{data, out};
use anyhow::Result;

pub fn watch(args: &WatchArgs) -> Result<Exit> {
    data::block_on(async {
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
    })
}
