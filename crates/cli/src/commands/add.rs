//! `mainspring add`: more tasks for a run that has not ended.

use super::orders::show_run;
use crate::args::AddArgs;
use crate::client::{Ask, changing, new_key, run_id};
use crate::data;
use crate::exit::Exit;
use crate::source::Source;
use anyhow::Result;

pub fn add(args: &AddArgs) -> Result<Exit> {
    let source = Source::read(&args.file)?;
    data::block_on(async {
        let client = changing(&args.place).await?;
        let id = run_id(&client, &args.run).await?;
        // With a key a request can be repeated when its answer was lost.
        let key = args.key.clone().unwrap_or_else(new_key);
        let ask =
            Ask::post(&["runs", &id, "tasks"]).body("application/yaml", source.bytes).key(key);
        show_run(&client.answer(&ask).await?, args.output, &args.place)
    })
}
