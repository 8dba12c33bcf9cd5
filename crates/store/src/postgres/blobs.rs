//! The database as a place for blobs. They are read chunk by chunk, each by a short question of
//! its own: a slow reader keeps no transaction open.

use super::filer::{Job, Piece};
use super::reader::Readers;
use super::store::{Postgres, READ_ONLY};
use super::tables::blobs;
use crate::blobs::{BlobEntry, BlobError, BlobName, BlobReader, Blobs};
use crate::wait::wait;
use mainspring_core::ids::RunId;
use mainspring_core::time::Timestamp;
use std::io::{self, Read};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Small enough to be held many times over, large enough that the round trip for each is little
/// beside its transport.
const CHUNK_BYTES: usize = 256 * 1024;

impl Blobs for Postgres {
    fn put(&self, name: BlobName, content: &mut dyn Read) -> Result<(), BlobError> {
        let (pieces, receiver) = mpsc::channel(1);
        let done = self.have_filed(Job::Put { name, pieces: receiver });
        let read = feed(content, &pieces);
        drop(pieces);
        match (wait(done), read) {
            (_, Err(source)) => {
                let what = format!("what should be kept as {name} cannot be read: {source}");
                Err(BlobError { what, source: Some(source.into()) })
            }
            (done, Ok(())) => done.map(drop),
        }
    }

    fn open(&self, name: BlobName) -> Result<Option<BlobReader>, BlobError> {
        let readers = Arc::clone(self.readers());
        let chunks = wait(readers.ask(async move |session| blobs::chunks(session, name).await))?;
        let reader = |chunks| Chunks { readers, name, next: 0, chunks, chunk: Vec::new(), at: 0 };
        Ok(chunks.map(|chunks| Box::new(reader(chunks)) as BlobReader))
    }

    fn remove(&self, name: BlobName, put_before: Timestamp) -> Result<(), BlobError> {
        wait(self.have_filed(Job::Remove { name, put_before })).map(drop)
    }

    fn remove_contents(&self, run: RunId, limit: usize) -> Result<usize, BlobError> {
        wait(self.have_filed(Job::RemoveContents { run, limit }))
    }

    fn list(&self, after: Option<BlobName>, limit: usize) -> Result<Vec<BlobEntry>, BlobError> {
        let list = async move |session: &_| blobs::list(session, after, limit).await;
        Ok(wait(self.readers().ask(list))?)
    }
}

impl Postgres {
    fn have_filed(&self, job: Job) -> impl Future<Output = Result<usize, BlobError>> + use<> {
        let done = self.filer().map(|filer| filer.ask(job));
        async move {
            match done {
                Some(done) => done.await,
                None => Err(BlobError { what: READ_ONLY.to_owned(), source: None }),
            }
        }
    }
}

/// Sends the content on, chunk by chunk, no faster than it is taken. Whoever no longer takes it
/// has something else to say.
fn feed(content: &mut dyn Read, pieces: &mpsc::Sender<Piece>) -> io::Result<()> {
    loop {
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        let limit = u64::try_from(CHUNK_BYTES).unwrap_or(u64::MAX);
        let is_last = content.take(limit).read_to_end(&mut chunk)? < CHUNK_BYTES;
        if !chunk.is_empty() && wait(pieces.send(Piece::Chunk(chunk))).is_err() {
            return Ok(());
        }
        if is_last {
            let _ = wait(pieces.send(Piece::End));
            return Ok(());
        }
    }
}

/// A blob that is being read.
struct Chunks {
    readers: Arc<Readers>,
    name: BlobName,
    next: u64,
    chunks: u64,
    chunk: Vec<u8>,
    /// How much of the chunk was read.
    at: usize,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.chunk.len() {
            if self.next == self.chunks {
                return Ok(0);
            }
            let (name, next) = (self.name, self.next);
            let ask = async move |session: &_| blobs::chunk(session, name, next).await;
            let chunk = wait(self.readers.ask(ask)).map_err(BlobError::from)?;
            let gone = || io::Error::other(format!("{name} was removed while it was read"));
            (self.chunk, self.at) = (chunk.ok_or_else(gone)?, 0);
            self.next += 1;
        }
        let read = (&self.chunk[self.at..]).read(buffer)?;
        self.at += read;
        Ok(read)
    }
}
