//! The log of an attempt, wherever it is: in the database, in a file, or still being written.

use mainspring_core::ids::{AttemptId, RunKey};
use mainspring_core::kernel::row::Log;
use mainspring_core::time::Timestamp;
pub use mainspring_exec::log::Stream;
use mainspring_exec::log::{lines, read_log};
use mainspring_store::{ReadError, Store};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// A record is at most 64 KiB and a bit; whatever is longer is no log.
const RECORD_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error(transparent)]
    Store(#[from] ReadError),
    #[error("the log cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("the log of {bytes} bytes is no longer in the data folder")]
    Gone { bytes: u64 },
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
        folder: &Path,
        (run, attempt): (RunKey, AttemptId),
    ) -> Result<Option<Self>, LogError> {
        if let Some(log) = store.log(run, attempt).await? {
            return Self::stored(log, folder, attempt);
        }
        if let Some(reader) = read_log(folder, attempt)? {
            return Ok(Some(Self::new(reader)));
        }
        // It may have ended, and its file may be gone, between the two looks.
        match store.log(run, attempt).await? {
            Some(log) => Self::stored(log, folder, attempt),
            None => Ok(None),
        }
    }

    fn stored(log: Log, folder: &Path, attempt: AttemptId) -> Result<Option<Self>, LogError> {
        match log {
            Log::Inline(bytes) => Ok(Some(Self::new(Cursor::new(bytes.to_vec())))),
            Log::File { bytes } => match read_log(folder, attempt)? {
                Some(reader) => Ok(Some(Self::new(reader))),
                None => Err(LogError::Gone { bytes }),
            },
        }
    }

    fn new(reader: impl Read + Send + 'static) -> Self {
        Self { reader: Box::new(BufReader::new(reader)), begun: Vec::new() }
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
