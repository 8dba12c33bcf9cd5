//! Finding a run on a server by what a person typed.

use super::ask::Ask;
use super::error::ClientError;
use super::http::Client;
use super::page::{first, items};
use super::wire::Run;
use mainspring_core::ids::RunId;

/// Runs looked through for the beginning of an id, newest first.
const LOOKED_AT_MAX: usize = 10_000;

/// `last`, a whole id, or the beginning of exactly one.
pub async fn run_id(client: &Client, wanted: &str) -> Result<String, ClientError> {
    if wanted.parse::<RunId>().is_ok() {
        return Ok(wanted.to_owned());
    }
    let usage = |text: String| Err(ClientError::Usage(text));
    if wanted == "last" {
        // Child runs are begun by others, and are newer than what a person has just started.
        let newest = first(client, &Ask::get(&["runs"]), |run: &Run| run.parent.is_none()).await?;
        return match newest {
            Some(run) => Ok(run.id),
            None => usage("nothing has been run there yet".to_owned()),
        };
    }
    let wanted = wanted.to_ascii_lowercase();
    let is_beginning = wanted.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if wanted.is_empty() || !is_beginning {
        return usage(format!("`{wanted}` is no run: give its id, the beginning of it, or `last`"));
    }
    let mut found: Vec<String> = Vec::new();
    for run in items(client, &Ask::get(&["runs"]), LOOKED_AT_MAX).await? {
        let id = run.read::<Run>().map_err(|it| client.foreign(&it.to_string()))?.id;
        if id.starts_with(&wanted) {
            found.push(id);
        }
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => usage(format!("no run's id begins with `{wanted}`: `mainspring runs` lists them")),
        [first, second, ..] => {
            usage(format!("`{wanted}` is not clear: {first} and {second} begin with it"))
        }
    }
}
