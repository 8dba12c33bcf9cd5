//! The database: there, and readable. It is only looked at, so that it does not matter who holds
//! its lock: a server may work on it meanwhile.

use super::Finding;
use crate::args::{DataArgs, DatabaseArgs};
use crate::data;
use crate::print::size;
use anyhow::Result;
use mainspring_engine::folder::DataFolder;
use mainspring_server::socket;
use mainspring_store::{ConnectError, Postgres, RunsQuery, Store};
use std::path::Path;

const CHECK: &str = "database";

pub async fn database(data: &DataArgs, database: &DatabaseArgs) -> Result<Finding> {
    match &database.url {
        Some(url) => elsewhere(data, database, url).await,
        None => in_folder(data).await,
    }
}

/// The one that is named. Its URL may hold a password, and is not repeated.
async fn elsewhere(data: &DataArgs, database: &DatabaseArgs, url: &str) -> Result<Finding> {
    let parts = data::postgres_url(url).and_then(|url| Ok(Postgres::without_password(url)?));
    let (shown, _) = match parts {
        Ok(parts) => parts,
        Err(error) => {
            let to_do = "write it like postgres://user@host/database";
            return Ok(Finding::problem(CHECK, error.to_string(), to_do));
        }
    };
    let rows = match data::open(data, database) {
        Ok(rows) => rows,
        Err(error) => {
            let said = format!("{error:#}");
            return Ok(match error.downcast_ref::<ConnectError>() {
                Some(ConnectError::Empty(_)) => Finding::ok(CHECK, said),
                Some(ConnectError::Older { .. }) => Finding::warning(
                    CHECK,
                    said,
                    "start the server, or run `mainspring db migrate`",
                ),
                _ => Finding::problem(CHECK, said, "do what the message says"),
            });
        }
    };
    let found = format!("{shown} can be read; whether it can be written is for its server to say");
    Ok(read(&*rows.store, found, "look into the log of its server").await)
}

async fn in_folder(data: &DataArgs) -> Result<Finding> {
    let path = DataFolder::database(&data.folder);
    if !path.exists() {
        return Ok(Finding::ok(CHECK, none_there(&data.folder)));
    }
    let bytes = path.metadata().map_or(0, |found| found.len());
    let store = match data::open_file(data) {
        Ok(store) => store,
        Err(error) => {
            let to_do = "use the version that the message names, or bring back a backup";
            return Ok(Finding::problem(CHECK, format!("{error:#}"), to_do));
        }
    };
    let found = format!("{} ({}) can be read", path.display(), size(bytes));
    Ok(read(&store, found, "bring back a backup of the data folder").await)
}

fn none_there(folder: &Path) -> &'static str {
    match folder.join(socket::NAME).exists() {
        true => {
            "there is none in the folder: the server at work there keeps its rows elsewhere; \
             name its URL with --database to have it looked at too"
        }
        false => "there is none yet",
    }
}

async fn read(store: &dyn Store, found: String, to_do: &str) -> Finding {
    let query = RunsQuery { limit: 1, ..RunsQuery::default() };
    match store.runs(query).await {
        Ok(_) => Finding::ok(CHECK, found),
        Err(error) => Finding::problem(CHECK, error.to_string(), to_do),
    }
}
