//! `mainspring delete`: a workflow is hidden; its history stays.

use crate::args::DeleteArgs;
use crate::client::{Ask, changing};
use crate::data;
use crate::exit::Exit;
use crate::print::document;
use anyhow::{Context as _, Result};
use serde_json::json;

pub fn delete(args: &DeleteArgs) -> Result<Exit> {
    data::block_on(async {
        let client = changing(&args.place).await?;
        let mut ask = Ask::delete(&["workflows", &args.workflow]);
        if args.force {
            ask = ask.with("force", "true");
        }
        let done = client.done(&ask).await;
        if done.as_ref().is_err_and(|error| error.code() == Some("workflow_active")) {
            return done.map(|()| Exit::Success).context(
                "it is not deleted: wait until its runs have ended, or cancel them with --force",
            );
        }
        done?;
        let whole = json!({ "workflow": args.workflow, "deleted": true });
        document(args.output, &whole, || Ok(format!("workflow {}: deleted\n", args.workflow)))?;
        Ok(Exit::Success)
    })
}
