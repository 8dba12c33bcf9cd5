//! Lists, page by page.

use super::ask::Ask;
use super::error::ClientError;
use super::http::Client;
use crate::print::Tree;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// What a server gives at once at most.
const PAGE_MAX: usize = 1_000;
/// When one item is looked for.
const PAGE_FIRST: usize = 10;

#[derive(Deserialize)]
struct Page {
    items: Vec<Tree>,
    next_cursor: Option<String>,
}

/// The first items of a list, as many as are wanted.
pub async fn items(client: &Client, ask: &Ask, wanted: usize) -> Result<Vec<Tree>, ClientError> {
    let mut items = Vec::new();
    let mut cursor: Option<String> = None;
    while items.len() < wanted {
        let size = (wanted - items.len()).min(PAGE_MAX);
        let page = page(client, ask, (size, cursor.as_ref())).await?;
        items.extend(page.items);
        match page.next_cursor {
            Some(next) if cursor.as_ref() != Some(&next) => cursor = Some(next),
            _ => break,
        }
    }
    items.truncate(wanted);
    Ok(items)
}

/// The first item of a list that is wanted, however far down it is.
pub async fn first<T: DeserializeOwned>(
    client: &Client,
    ask: &Ask,
    is_wanted: impl Fn(&T) -> bool,
) -> Result<Option<T>, ClientError> {
    let mut cursor: Option<String> = None;
    // Most often it is among the very first; each page after that is larger.
    let mut size = PAGE_FIRST;
    loop {
        let page = page(client, ask, (size, cursor.as_ref())).await?;
        for item in page.items {
            let item = item.read().map_err(|error| client.foreign(&error.to_string()))?;
            if is_wanted(&item) {
                return Ok(Some(item));
            }
        }
        match page.next_cursor {
            Some(next) if cursor.as_ref() != Some(&next) => cursor = Some(next),
            _ => return Ok(None),
        }
        size = (size * 10).min(PAGE_MAX);
    }
}

async fn page(
    client: &Client,
    ask: &Ask,
    (size, cursor): (usize, Option<&String>),
) -> Result<Page, ClientError> {
    let ask = ask.clone().with("limit", &size.to_string()).with_some("cursor", cursor);
    client.answer(&ask).await
}
