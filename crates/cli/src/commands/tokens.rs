//! `mainspring tokens`: who may ask a server.

use crate::args::{Format, PlaceArgs, TokensCommand};
use crate::client::wire::{NewToken, Token};
use crate::client::{Ask, Client, changing};
use crate::exit::Exit;
use crate::print::{Tree, document};
use crate::{data, out, table, time_text};
use anyhow::{Context as _, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, Serialize)]
struct Document {
    items: Vec<Tree>,
}

pub fn tokens(command: &TokensCommand) -> Result<Exit> {
    data::block_on(async {
        match command {
            TokensCommand::List { place, output } => list(place, *output).await?,
            TokensCommand::Create { name, role, expires, place, output } => {
                let body = NewToken { name, role, expires_in_seconds: *expires };
                return create(place, &body, *output).await;
            }
            TokensCommand::Revoke { id, place, output } => {
                changing(place).await?.done(&Ask::delete(&["tokens", id])).await?;
                let whole = json!({ "id": id, "revoked": true });
                document(*output, &whole, || Ok(format!("token {id}: revoked\n")))?;
            }
        }
        Ok(Exit::Success)
    })
}

async fn list(place: &PlaceArgs, format: Format) -> Result<()> {
    let client = changing(place).await?;
    // There are few, and they come all at once.
    let whole: Document = client.answer(&Ask::get(&["tokens"])).await?;
    if whole.items.is_empty() && format == Format::Table {
        out::say("no tokens: whoever reaches the server may do anything\n");
        return Ok(());
    }
    document(format, &whole, || {
        let mut table = table::table(&["TOKEN", "NAME", "ROLE", "CREATED (UTC)", "EXPIRES (UTC)"]);
        for token in &whole.items {
            let token: Token = token.read()?;
            table.add_row([
                token.id,
                out::tame(&token.name),
                token.role,
                time_text::moment(token.created_at),
                token.expires_at.map_or_else(|| "never".to_owned(), time_text::moment),
            ]);
        }
        Ok(table::text(&table))
    })
}

async fn create(place: &PlaceArgs, body: &NewToken<'_>, format: Format) -> Result<Exit> {
    if out::is_closed() {
        bail!("stdout is closed, and the secret is shown nowhere else: no token was made");
    }
    let client = changing(place).await?;
    let made: Tree = client.answer(&Ask::post(&["tokens"]).json(body)?).await?;
    let token: Token = made.read()?;
    document(format, &made, || {
        let until = match token.expires_at {
            Some(at) => format!(", until {} UTC", time_text::moment(at)),
            None => String::new(),
        };
        out::say(&format!(
            "token {} '{}', {}{until}. This is its secret; it is shown only now:\n",
            token.id,
            out::tame(&token.name),
            token.role
        ));
        Ok(token.secret.clone().unwrap_or_default() + "\n")
    })?;
    match out::is_unread() {
        true => take_back(&client, &token.id).await,
        false => Ok(Exit::Success),
    }
}

/// A token whose secret nobody has is of no use, and one that somebody may have half of is worse.
async fn take_back(client: &Client, id: &str) -> Result<Exit> {
    let why = out::failure().unwrap_or("nobody reads it");
    client.done(&Ask::delete(&["tokens", id])).await.with_context(|| {
        format!(
            "the secret could not be written to stdout ({why}), and token {id} could not be \
             revoked: do that with `mainspring tokens revoke {id}`"
        )
    })?;
    out::error(&anyhow!(
        "the secret could not be written to stdout ({why}): token {id} was revoked again; create \
         it where the secret can be read"
    ));
    Ok(Exit::Failed)
}
