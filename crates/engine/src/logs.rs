//! The log of an attempt, wherever it is: in its row, in the blob store, in a file, or still
//! being written.

use crate::damage::is_damage;
use flate2::read::GzDecoder;
use mainspring_core::ids::{AttemptId, RunKey};
use mainspring_core::kernel::row::Log;
use mainspring_core::time::Timestamp;
pub use mainspring_exec::log::Stream;
use mainspring_exec::log::{lines, read_log};
use mainspring_store::{BlobError, BlobName, Blobs, ReadError, Store};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

/// A record is at most 64 KiB and a bit; whatever is longer is no log.
const RECORD_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error(transparent)]
    Store(#[from] ReadError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error("the log cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("the log of {bytes} bytes is neither in the blob store nor in the data folder")]
    Gone { bytes: u64 },
}

impl LogError {
    /// It was there, and is not or not whole any more: nobody needs to try again.
    pub fn is_loss(&self) -> bool {
        match self {
            Self::Gone { .. } => true,
            Self::Io(error) => is_damage(error),
            Self::Store(_) | Self::Blob(_) => false,
        }
    }
}

/// What a person can do about a log that is lost.
pub const LOST_LOG: &str = "bring `blobs` and `logs` of the data folder back from a backup, or do \
                            without: nothing but the log is concerned";

/// Where logs are that are not in their rows.
#[derive(Clone)]
pub struct LogPlaces {
    /// The executors' folder: what is being written, and what could not be moved.
    pub folder: PathBuf,
    pub blobs: Arc<dyn Blobs>,
}

impl fmt::Debug for LogPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogPlaces").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl LogPlaces {
    fn in_file(&self, attempt: AttemptId) -> Result<Option<LogText>, LogError> {
        Ok(read_log(&self.folder, attempt)?.map(LogText::new))
    }

    /// Asked on a thread that may wait: the blobs may be in a database.
    async fn in_blob(&self, attempt: AttemptId) -> Result<Option<LogText>, LogError> {
        let blobs = Arc::clone(&self.blobs);
        let open = move || blobs.open(BlobName::Log(attempt));
        let opened = tokio::task::spawn_blocking(open).await;
        let blob = opened.map_err(|_| io::Error::other("the program is about to end"))??;
        Ok(blob.map(|blob| LogText::new(GzDecoder::new(blob))))
    }
}

/// One line as shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub at: Timestamp,
    pub stream: Stream,
    /// Without its newline; what is not UTF-8 is replaced.
    pub text: String,
    /// The newline was there too.
    pub complete: bool,
}

/// The lines of an attempt's log, in order, read as they are asked for.
pub struct LogText {
    reader: Box<dyn BufRead + Send>,
    /// The beginning of a record whose end is not written yet.
    begun: Vec<u8>,
}

impl fmt::Debug for LogText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogText").finish_non_exhaustive()
    }
}

impl LogText {
    /// None when the attempt wrote nothing, or nothing yet.
    pub async fn open(
        store: &dyn Store,
        places: &LogPlaces,
        (run, attempt): (RunKey, AttemptId),
    ) -> Result<Option<Self>, LogError> {
        if let Some(log) = store.log(run, attempt).await? {
            return Self::stored(log, places, attempt).await.map(Some);
        }
        if let Some(text) = places.in_file(attempt)? {
            return Ok(Some(text));
        }
        // It may have ended, and its file may be gone, between the two looks.
        match store.log(run, attempt).await? {
            Some(log) => Self::stored(log, places, attempt).await.map(Some),
            // One that was given up has no row, but what it wrote until its end is there.
            None => places.in_blob(attempt).await,
        }
    }

    /// A row says where its log was at its commit. One that could not be moved at first may
    /// have been since: the end of an attempt can be told twice.
    async fn stored(log: Log, places: &LogPlaces, attempt: AttemptId) -> Result<Self, LogError> {
        let (found, bytes) = match log {
            Log::Inline(bytes) => return Ok(Self::new(Cursor::new(bytes.to_vec()))),
            Log::Blob { bytes } => (places.in_blob(attempt).await?, bytes),
            Log::File { bytes } => match places.in_file(attempt)? {
                Some(text) => (Some(text), bytes),
                None => (places.in_blob(attempt).await?, bytes),
            },
        };
        found.ok_or(LogError::Gone { bytes })
    }

    fn new(reader: impl Read + Send + 'static) -> Self {
        Self { reader: Box::new(BufReader::new(reader)), begun: Vec::new() }
    }

    /// Reads it to its end: how many bytes it has, as they were recorded.
    pub fn measure(mut self) -> io::Result<u64> {
        io::copy(&mut self.reader, &mut io::sink())
    }

    /// Passes over so many lines, or as many as there are.
    pub fn pass(&mut self, lines: u64) -> io::Result<()> {
        for line in self.by_ref().take(usize::try_from(lines).unwrap_or(usize::MAX)) {
            line?;
        }
        Ok(())
    }

    /// The last lines, and how many there were before them.
    pub fn last(self, count: usize) -> io::Result<(usize, VecDeque<Line>)> {
        let (mut before, mut kept) = (0, VecDeque::new());
        for line in self {
            kept.push_back(line?);
            if kept.len() > count {
                kept.pop_front();
                before += 1;
            }
        }
        Ok((before, kept))
    }
}

impl LogText {
    /// The next line if the whole of it is written: for a log that grows. None means not yet.
    pub fn next_written(&mut self) -> Option<io::Result<Line>> {
        match self.read_on() {
            Ok(()) if self.begun.last() == Some(&b'\n') => self.take_line().map(Ok),
            Ok(()) => None,
            Err(error) => Some(Err(error)),
        }
    }

    fn read_on(&mut self) -> io::Result<()> {
        let room = RECORD_BYTES_MAX.saturating_sub(self.begun.len() as u64);
        (&mut self.reader).take(room).read_until(b'\n', &mut self.begun).map(drop)
    }

    fn take_line(&mut self) -> Option<Line> {
        let record = std::mem::take(&mut self.begun);
        let line = lines(&record).next()?;
        Some(Line {
            at: line.at,
            stream: line.stream,
            text: String::from_utf8_lossy(line.text).into_owned(),
            complete: line.complete,
        })
    }
}

impl Iterator for LogText {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read_on() {
            Ok(()) => self.take_line().map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}

/// How a stream is called where space is short.
pub fn stream_word(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "out",
        Stream::Stderr => "err",
        Stream::Note => "---",
    }
}
