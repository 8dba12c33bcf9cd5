//! `mainspring tiers`: limits, who holds them, and what they are to be.

use crate::args::{TiersArgs, TiersCommand};
use crate::client::wire::{Holder, NewTier, Tier};
use crate::client::{Ask, changing};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::{data, out, table};
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

/// Holders named in the table; `-o json` has more of them.
const HOLDERS_MAX: usize = 3;

#[derive(Deserialize, Serialize)]
struct Document {
    items: Vec<Tree>,
}

pub fn tiers(args: &TiersArgs) -> Result<Exit> {
    data::block_on(async {
        match &args.command {
            None => list(args).await,
            Some(command) => set(command).await,
        }
    })
}

async fn list(args: &TiersArgs) -> Result<Exit> {
    let whole: Document = changing(&args.place).await?.answer(&Ask::get(&["tiers"])).await?;
    document(args.output, &whole, || {
        let head = ["TIER", "LIMIT", "RATE", "IN USE", "WAITING", "FROM", "HELD BY"];
        let mut table = table::table(&head);
        for tier in &whole.items {
            let tier: Tier = tier.read()?;
            table.add_row([
                out::tame(&tier.name),
                tier.limit.to_string(),
                tier.rate.clone().unwrap_or_default(),
                tier.in_use.to_string(),
                tier.waiting.to_string(),
                tier.source.clone(),
                held_by(&tier),
            ]);
        }
        Ok(table::text(&table))
    })?;
    Ok(Exit::Success)
}

fn held_by(tier: &Tier) -> String {
    let named =
        tier.holders.iter().take(HOLDERS_MAX).map(|Holder { run, workflow, task, index }| {
            let Some(task) = task else { return run.to_string() };
            let index = index.map(|index| format!("[{index}]")).unwrap_or_default();
            format!("{}.{}{index}", out::tame(workflow), out::tame(task))
        });
    let mut text = named.collect::<Vec<_>>().join(", ");
    if tier.in_use as usize > HOLDERS_MAX {
        text.push_str(&format!(", … {} more", tier.in_use as usize - HOLDERS_MAX));
    }
    text
}

async fn set(
    TiersCommand::Set { name, limit, rate, place, output }: &TiersCommand,
) -> Result<Exit> {
    if limit.is_none() && rate.is_none() {
        bail!("say what it is to be: --limit, --rate, or both");
    }
    // Null takes a rate away; a field that is absent leaves it.
    let rate = rate.as_deref().map(|rate| (rate != "none").then_some(rate));
    let ask = Ask::put(&["tiers"]).json(&NewTier { name, limit: *limit, rate })?;
    let made: Tree = changing(place).await?.answer(&ask).await?;
    let tier: Tier = made.read()?;
    document(*output, &made, || {
        let rate = tier.rate.as_ref().map(|rate| format!(", at most {rate}")).unwrap_or_default();
        let (name, limit) = (out::tame(&tier.name), tier.limit);
        Ok(format!("tier {name}: {limit} at once{rate}; {} in use\n", tier.in_use))
    })?;
    Ok(Exit::Success)
}
