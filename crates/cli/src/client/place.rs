//! Whom a command talks to: the server that is named, the one at work in the data folder, or
//! nobody, and then there is only the database to read.

use super::connect;
use super::error::ClientError;
use super::http::Client;
use super::target::Target;
use crate::args::PlaceArgs;
use crate::data;
use anyhow::{Error, Result as AnyResult};
use mainspring_server::socket;
use std::io::{ErrorKind, Read as _};
use std::sync::Arc;

/// Of a file with a token in it.
const TOKEN_BYTES_MAX: u64 = 4_096;

#[derive(Debug)]
pub enum Place {
    Server(Arc<Client>),
    /// Nobody is at work in the data folder.
    Folder,
}

/// For commands that look.
pub async fn reading(args: &PlaceArgs) -> Result<Place, ClientError> {
    let token = token(args)?;
    if let Some(url) = &args.server {
        return Ok(Place::Server(Arc::new(Client::new(Target::parse(url)?, token.as_deref())?)));
    }
    let path = args.data.folder.join(socket::NAME);
    match connect::socket(&path).await {
        Ok(_) => Ok(Place::Server(Arc::new(Client::new(Target::Socket(path), None)?))),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Err(ClientError::Unreachable {
                place: path.display().to_string(),
                source: error.into(),
            })
        }
        // No socket, or one that a crash left behind.
        Err(_) => Ok(Place::Folder),
    }
}

/// For commands that can do with what is stored: when whoever is at work in the data folder
/// ends while they are asked, as `mainspring run` does, what they left is read.
pub async fn look<T>(
    args: &PlaceArgs,
    asked: impl AsyncFnOnce(&Arc<Client>) -> AnyResult<T>,
    stored: impl AsyncFnOnce() -> AnyResult<T>,
) -> AnyResult<T> {
    let client = match reading(args).await? {
        Place::Server(client) => client,
        Place::Folder => return stored().await,
    };
    match asked(&client).await {
        Err(error) if has_left(args, &error) => stored().await.map_err(|_| error),
        answer => answer,
    }
}

/// Whether whoever was at work in the data folder is gone, and nothing else is wrong.
pub fn has_left(args: &PlaceArgs, error: &Error) -> bool {
    let error = error.chain().next().and_then(|error| error.downcast_ref::<ClientError>());
    args.server.is_none() && error.is_some_and(ClientError::is_passing)
}

/// For commands that change something: somebody has to be there to do it.
pub async fn changing(args: &PlaceArgs) -> Result<Arc<Client>, ClientError> {
    match reading(args).await? {
        Place::Server(client) => Ok(client),
        Place::Folder => {
            let command = data::command(&["server"], &args.data.folder);
            Err(ClientError::Nobody(format!(
                "nobody is at work in the data folder {}: start `{command}`, or name a server \
                 with --server or MAINSPRING_SERVER",
                args.data.folder.display()
            )))
        }
    }
}

fn token(args: &PlaceArgs) -> Result<Option<String>, ClientError> {
    let Some(path) = &args.token_file else { return Ok(args.token.clone()) };
    let wrong = |why: String| ClientError::Usage(format!("--token-file {}: {why}", path.display()));
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(TOKEN_BYTES_MAX).read_to_string(&mut text))
        .map_err(|error| wrong(error.to_string()))?;
    match text.trim() {
        "" => Err(wrong("it is empty".to_owned())),
        token => Ok(Some(token.to_owned())),
    }
}
