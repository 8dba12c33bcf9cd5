//! Lists, page by page.

use super::ask::Ask;
use super::error::ClientError;
use super::http::Client;
use crate::print::Tree;
use serde::Deserialize;

/// What a server gives at once at most.
const PAGE_MAX: usize = 1_000;

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
        let ask = ask.clone().with("limit", &size.to_string()).with_some("cursor", cursor.as_ref());
        let page: Page = client.answer(&ask).await?;
        items.extend(page.items);
        match page.next_cursor {
            Some(next) if cursor.as_ref() != Some(&next) => cursor = Some(next),
            _ => break,
        }
    }
    items.truncate(wanted);
    Ok(items)
}
