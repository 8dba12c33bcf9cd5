//! The log of an attempt, wherever it is: in the database, in a file, or still being written.

use anyhow::{Context as _, Result};
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::{Attempt, Log};
use mainspring_core::time::Timestamp;
use mainspring_exec::log::{Stream, lines, read_log};
use mainspring_store::Store;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// A record is at most 64 KiB and a bit; whatever is longer is no log.
const RECORD_BYTES_MAX: u64 = 1024 * 1024;

/// One line as shown.
#[derive(Clone, Debug)]
pub struct Line {
    pub at: Timestamp,
    pub stream: Stream,
    /// Without its newline; what is not UTF-8 is replaced.
    pub text: String,
    pub complete: bool,
}

/// The lines of an attempt's log, in order, read as they are asked for.
pub struct LogText(Box<dyn BufRead + Send>);

impl LogText {
    /// None when the attempt wrote nothing.
    pub async fn open(
        store: &dyn Store,
        folder: &Path,
        (run, attempt): (RunKey, &Attempt),
    ) -> Result<Option<Self>> {
        if let Some(log) = store.log(run, attempt.id).await? {
            return Self::stored(log, folder, attempt);
        }
        let file = read_log(folder, attempt.id).context("the log cannot be read")?;
        if let Some(reader) = file {
            return Ok(Some(Self::new(reader)));
        }
        // It may have ended, and its file may be gone, between the two looks.
        match store.log(run, attempt.id).await? {
            Some(log) => Self::stored(log, folder, attempt),
            None => Ok(None),
        }
    }

    fn stored(log: Log, folder: &Path, attempt: &Attempt) -> Result<Option<Self>> {
        match log {
            Log::Inline(bytes) => Ok(Some(Self::new(Cursor::new(bytes.to_vec())))),
            Log::File { bytes } => {
                let reader = read_log(folder, attempt.id).context("the log cannot be read")?;
                let gone =
                    || format!("the log of {bytes} bytes is no longer in {}", folder.display());
                Ok(Some(Self::new(reader.with_context(gone)?)))
            }
        }
    }

    fn new(reader: impl Read + Send + 'static) -> Self {
        Self(Box::new(BufReader::new(reader)))
    }

    /// The last lines, and how many there were before them.
    pub fn last(self, count: usize) -> Result<(usize, VecDeque<Line>)> {
        let (mut before, mut kept) = (0, VecDeque::with_capacity(count + 1));
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

impl Iterator for LogText {
    type Item = Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut record = Vec::new();
        match (&mut self.0).take(RECORD_BYTES_MAX).read_until(b'\n', &mut record) {
            Err(error) => return Some(Err(error).context("the log cannot be read")),
            Ok(0) => return None,
            Ok(_) => {}
        }
        let line = lines(&record).next()?;
        Some(Ok(Line {
            at: line.at,
            stream: line.stream,
            text: String::from_utf8_lossy(line.text).into_owned(),
            complete: line.complete,
        }))
    }
}

pub fn stream_word(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "out",
        Stream::Stderr => "err",
        Stream::Note => "---",
    }
}
