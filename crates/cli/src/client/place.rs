//! Whom a command talks to: the server that is named, the one at work in the data folder, or
//! nobody, and then there is only the database to read.

use super::connect;
use super::error::ClientError;
use super::http::Client;
use super::target::Target;
use crate::args::PlaceArgs;
use crate::data;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Of a file with a token in it.
const TOKEN_BYTES_MAX: u64 = 4_096;
/// Where a server listens in its data folder.
const SOCKET: &str = "api.sock";

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
    let path = socket(&args.data.folder);
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

fn socket(folder: &Path) -> PathBuf {
    folder.join(SOCKET)
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
