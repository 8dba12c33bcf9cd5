//! `mainspring apply`: nothing is sent before all files are good.

use crate::args::{ApplyArgs, Format};
use crate::client::wire::Deployed;
use crate::client::{Ask, Client, changing, new_key};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::source::Source;
use crate::{data, draw, out};
use anyhow::{Context as _, Result};
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    items: Vec<Tree>,
}

pub fn apply(args: &ApplyArgs) -> Result<Exit> {
    let Some(sources) = checked(args)? else { return Ok(Exit::Usage) };
    let mut items = Vec::new();
    let sent = data::block_on(async {
        let client = changing(&args.place).await?;
        for source in sources {
            let name = source.name.clone();
            items.push(deploy(&client, source, args.output).await.context(name)?);
        }
        Ok(())
    });
    if args.output != Format::Table {
        // What was done before something failed is done.
        document(args.output, &Document { items }, || Ok(String::new()))?;
    }
    sent.map(|()| Exit::Success)
}

/// All files; None when something was wrong with one, all of which has been said.
fn checked(args: &ApplyArgs) -> Result<Option<Vec<Source>>> {
    let mut sources = Vec::new();
    let mut all_good = true;
    for path in &args.files {
        let source = Source::read(path)?;
        let found = source.parse_for_server().map(|parsed| parsed.warnings);
        all_good &= found.is_ok();
        let found = found.unwrap_or_else(|found| found);
        out::say(&draw::diagnostics(&source.name, &source.text(), &found));
        sources.push(source);
    }
    Ok(Some(sources).filter(|_| all_good))
}

async fn deploy(client: &Client, source: Source, format: Format) -> Result<Tree> {
    let ask = Ask::post(&["workflows"]).body("application/yaml", source.bytes).key(new_key());
    let tree: Tree = client.answer(&ask).await?;
    if format == Format::Table {
        let Deployed { name, version, is_new, is_back } = tree.read()?;
        let what = match (is_new, is_back) {
            (true, true) => out::green("created, and the workflow is back"),
            (true, false) => out::green("created"),
            (false, true) => out::green("is back"),
            (false, false) => out::dim("unchanged"),
        };
        out::result(&format!("{name}: version {version} {what}\n"));
    }
    Ok(tree)
}
