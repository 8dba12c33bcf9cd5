//! `mainspring trigger`: a run on a server, and if wanted its end.

use crate::args::TriggerArgs;
use crate::client::wire::{NewRun, Run, Version, Workflow};
use crate::client::{Ask, Client, ClientError, changing, new_key};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::progress::Reporter;
use crate::remote;
use crate::{data, inputs, out};
use anyhow::Result;
use mainspring_core::json::Json;
use mainspring_core::spec;

pub fn trigger(args: &TriggerArgs) -> Result<Exit> {
    data::block_on(async {
        let client = changing(&args.place).await?;
        let Some(ask) = request(&client, args).await? else { return Ok(Exit::Usage) };
        let accepted: Tree = client.answer(&ask).await?;
        let run: Run = accepted.read()?;
        if args.wait || args.follow {
            let reporter = if args.follow { Reporter::new() } else { Reporter::Quiet };
            return remote::until_over(&client, &run, reporter, (&args.place, args.output)).await;
        }
        document(args.output, &accepted, || {
            Ok(format!("run {} of {}, version {}\n", run.id, run.workflow, run.version))
        })?;
        Ok(Exit::Success)
    })
}

/// None when something was wrong with the input, all of which has been said.
async fn request(client: &Client, args: &TriggerArgs) -> Result<Option<Ask>> {
    let given = inputs::Given { inputs: &args.inputs, file: args.input_file.as_deref() };
    let schema = schema(client, args).await?;
    let input = match inputs::gather(&given, schema.as_ref()) {
        Ok(input) => input,
        Err(problems) => {
            for problem in problems {
                out::say(&format!("{}: {problem}\n", out::red("error")));
            }
            return Ok(None);
        }
    };
    let labels = args.labels.iter().cloned().collect();
    let body =
        NewRun { input: &input, labels: &labels, priority: args.priority, version: args.version };
    // With a key a request can be repeated when its answer was lost.
    let key = args.key.clone().unwrap_or_else(new_key);
    Ok(Some(Ask::post(&["workflows", &args.name, "runs"]).json(&body)?.key(key)))
}

/// Of the input: says what is text, and what is wrong before anything is sent.
async fn schema(client: &Client, args: &TriggerArgs) -> Result<Option<Json>, ClientError> {
    let Some(number) = args.version else {
        let workflow: Workflow = client.answer(&Ask::get(&["workflows", &args.name])).await?;
        return Ok(workflow.input);
    };
    let path = ["workflows", &args.name, "versions", &number.to_string()];
    let version: Version = client.answer(&Ask::get(&path)).await?;
    // A newer server may take what this program cannot read: it checks the input itself.
    let parsed = spec::parse(&version.text, &spec::Context::STORED).ok();
    Ok(parsed.and_then(|parsed| parsed.definition.input_schema))
}
