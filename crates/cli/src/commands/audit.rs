//! `mainspring audit`: who changed what, newest first.

use crate::args::{Format, ListArgs};
use crate::client::wire::Audited;
use crate::client::{Ask, changing, items};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::{data, out, table, time_text};
use anyhow::Result;
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    items: Vec<Tree>,
}

pub fn audit(args: &ListArgs) -> Result<Exit> {
    let items = data::block_on(async {
        let client = changing(&args.place).await?;
        Ok(items(&client, &Ask::get(&["audit"]), args.limit).await?)
    })?;
    if items.is_empty() && args.output == Format::Table {
        out::say("nothing was changed yet\n");
        return Ok(Exit::Success);
    }
    let whole = Document { items };
    document(args.output, &whole, || {
        let mut table = table::table(&["AT (UTC)", "BY", "FROM", "ACTION", "TARGET"]);
        for one in &whole.items {
            let one: Audited = one.read()?;
            let row = [one.by, one.from, one.action, one.target].map(|text| out::tame(&text));
            table.add_row([time_text::moment(one.at)].into_iter().chain(row));
        }
        Ok(table::text(&table))
    })?;
    Ok(Exit::Success)
}
