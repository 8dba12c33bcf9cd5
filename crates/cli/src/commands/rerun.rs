//! `mainspring rerun`: a run that has ended once more, as another run.

use crate::args::RerunArgs;
use crate::client::wire::Run;
use crate::client::{Ask, changing, new_key, run_id};
use crate::data;
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::progress::Reporter;
use crate::remote;
use anyhow::Result;
use serde_json::{Map, Value};

pub fn rerun(args: &RerunArgs) -> Result<Exit> {
    data::block_on(async {
        let client = changing(&args.place).await?;
        let id = run_id(&client, &args.run).await?;
        // With a key a request can be repeated when its answer was lost.
        let key = args.key.clone().unwrap_or_else(new_key);
        let ask = Ask::post(&["runs", &id, "rerun"]).json(&body(args))?.key(key);
        let accepted: Tree = client.answer(&ask).await?;
        let run: Run = accepted.read()?;
        if args.wait || args.follow {
            let reporter = if args.follow { Reporter::new() } else { Reporter::Quiet };
            return remote::until_over(&client, &run, reporter, (&args.place, args.output)).await;
        }
        document(args.output, &accepted, || {
            let Run { id: new, workflow, version, .. } = &run;
            Ok(format!("run {new} of {workflow}, version {version}, runs {id} anew\n"))
        })?;
        Ok(Exit::Success)
    })
}

fn body(args: &RerunArgs) -> Map<String, Value> {
    let version = args.latest.then(|| ("version".to_owned(), "latest".into()));
    let from = args.from.as_ref().map(|task| ("from".to_owned(), task.as_str().into()));
    from.into_iter().chain(version).collect()
}
