//! What a task or a run put out, wherever it is: in its row, or in the blob store.

use crate::damage::is_damage;
use flate2::read::GzDecoder;
use mainspring_core::ids::RunId;
use mainspring_core::output::{BlobRef, Output};
use mainspring_store::{BlobError, BlobName, Blobs};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error("the output of {bytes} bytes is not in the blob store any more")]
    Gone { bytes: u64 },
    #[error("the output of {bytes} bytes cannot be read: {source}")]
    Unread { bytes: u64, source: io::Error },
    #[error("the program is about to end")]
    Ending,
}

impl OutputError {
    /// It was there, and is not or not whole any more: nobody needs to try again.
    pub fn is_loss(&self) -> bool {
        match self {
            Self::Gone { .. } => true,
            Self::Unread { source, .. } => is_damage(source),
            Self::Blob(_) | Self::Ending => false,
        }
    }
}

/// What a person can do about an output that is lost.
pub const LOST_OUTPUT: &str = "bring `blobs` of the data folder back from a backup, or have it made \
                               again: `mainspring rerun` starts the run anew";

/// The JSON text of an output, read as it is asked for. One that is not what was put ends with an
/// error, never too early.
pub struct OutputText {
    reader: Box<dyn Read + Send>,
    bytes: u64,
}

impl fmt::Debug for OutputText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputText").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl OutputText {
    /// Asked on a thread that may wait: the blobs may be in a database.
    pub async fn open(
        blobs: &Arc<dyn Blobs>,
        run: RunId,
        output: &Output,
    ) -> Result<Self, OutputError> {
        let blob = match output {
            Output::Inline(json) => {
                let bytes = json.as_str().len() as u64;
                let reader = Box::new(Cursor::new(json.as_str().to_owned().into_bytes()));
                return Ok(Self { reader, bytes });
            }
            Output::Blob(blob) => *blob,
        };
        let blobs = Arc::clone(blobs);
        let open = move || blobs.open(BlobName::Content(run, blob.hash));
        let opened = tokio::task::spawn_blocking(open).await.map_err(|_| OutputError::Ending)??;
        let reader = opened.ok_or(OutputError::Gone { bytes: blob.bytes })?;
        Ok(Self { reader: Box::new(Checked::new(GzDecoder::new(reader), blob)), bytes: blob.bytes })
    }

    /// How many bytes it has as a whole.
    pub fn size(&self) -> u64 {
        self.bytes
    }
}

impl Read for OutputText {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.reader.read(into)
    }
}

/// Content that has to be what its name says.
pub(crate) struct Checked<R> {
    content: R,
    blob: BlobRef,
    hash: Sha256,
}

impl<R> Checked<R> {
    pub fn new(content: R, blob: BlobRef) -> Self {
        Self { content, blob, hash: Sha256::new() }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(into)?;
        self.hash.update(&into[..count]);
        if count == 0 && !into.is_empty() && self.hash.clone().finalize()[..] != self.blob.hash {
            let what = format!("an output is not what was put: {}", self.blob.hex());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &[u8], of: &[u8]) -> io::Result<Vec<u8>> {
        let blob = BlobRef { hash: Sha256::digest(of).into(), bytes: of.len() as u64 };
        let mut all = Vec::new();
        Checked::new(content, blob).read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn what_is_not_what_was_put_is_an_error() {
        assert_eq!(read(b"[1]", b"[1]").expect("it is"), b"[1]");
        for other in [&b"[2]"[..], b"[1", b"", b"[1] "] {
            assert!(read(other, b"[1]").is_err(), "{other:?}");
        }
    }
}
