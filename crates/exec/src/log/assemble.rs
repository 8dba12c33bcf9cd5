//! Puts a log together from its files: for a reader while it is being written, for good when its
//! attempt has ended, and in a later life for an attempt whose server died.

use super::format;
use super::place::Place;
use super::segments::{Amount, Header, Written};
use crate::clock;
use mainspring_core::ids::AttemptId;
use mainspring_core::kernel::row::Log;
use mainspring_core::limits::LOG_INLINE_BYTES_MAX;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// A log from its first byte to its last, whether or not it is still being written.
pub struct LogReader {
    parts: Box<dyn Read + Send>,
}

impl Read for LogReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.parts.read(buffer)
    }
}

impl std::fmt::Debug for LogReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogReader")
    }
}

/// Opens an attempt's log as it is now: its head, a note if something was cut, its tail.
/// None when it has written nothing yet. `folder` is the executor's.
pub fn read_log(folder: &Path, attempt: AttemptId) -> io::Result<Option<LogReader>> {
    let place = Place { folder: Place::logs_below(folder), attempt };
    let Some(head) = open(&place.head())? else { return Ok(None) };
    let parts: Box<dyn Read + Send> = match Tail::open(&place)? {
        None => Box::new(head),
        // An end that comes meanwhile appends the tail to the head file: not to be read twice.
        Some(tail) => Box::new(head.take(tail.head_bytes).chain(tail.into_reader())),
    };
    Ok(Some(LogReader { parts }))
}

/// What a finished recorder has written, as the attempt's end hands it over.
pub(crate) fn hand_over(
    place: &Place,
    written: Written,
    missing_note: Option<Vec<u8>>,
) -> io::Result<Option<Log>> {
    let log = match written {
        Written::Nothing => None,
        Written::Head { bytes } => Some(of_size(place, bytes)?),
        Written::Parts => assemble(place)?,
    };
    Ok(match (log, missing_note) {
        (log, None) => log,
        (None, Some(note)) => Some(Log::Inline(note.into())),
        (Some(Log::Inline(kept)), Some(note))
            if kept.len() + note.len() <= LOG_INLINE_BYTES_MAX =>
        {
            Some(Log::Inline([&*kept, &note[..]].concat().into()))
        }
        (log, Some(_)) => log,
    })
}

/// The log a former life left, put together for good.
pub(crate) fn assemble(place: &Place) -> io::Result<Option<Log>> {
    let Some(mut tail) = Tail::open(place)? else {
        return match std::fs::metadata(place.head()) {
            Ok(found) if found.len() == 0 => Ok(None),
            Ok(found) => of_size(place, found.len()).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
    };
    // Idempotent until the segments are gone: a crash in between starts over from the head.
    let mut whole = File::options().create(true).write(true).truncate(false).open(place.head())?;
    whole.set_len(tail.head_bytes)?;
    whole.seek(SeekFrom::End(0))?;
    io::copy(&mut tail.note, &mut whole)?;
    for segment in &mut tail.segments {
        io::copy(segment, &mut whole)?;
    }
    let bytes = whole.metadata()?.len();
    for sequence in 0..2 {
        remove(&place.tail(sequence))?;
    }
    of_size(place, bytes).map(Some)
}

/// Removes what is left of an attempt's log. `folder` is the executor's.
pub fn remove_log(folder: &Path, attempt: AttemptId) -> io::Result<()> {
    let place = Place { folder: Place::logs_below(folder), attempt };
    for sequence in 0..2 {
        remove(&place.tail(sequence))?;
    }
    remove(&place.head())
}

/// Removes the file of a log that was handed over inline.
pub(crate) fn remove_inline(place: &Place) {
    let small = std::fs::metadata(place.head())
        .is_ok_and(|found| found.len() <= LOG_INLINE_BYTES_MAX as u64);
    if small {
        // A file that cannot be removed costs 4 KiB of disk; nothing waits for it.
        let _ = std::fs::remove_file(place.head());
    }
}

fn of_size(place: &Place, bytes: u64) -> io::Result<Log> {
    if bytes > LOG_INLINE_BYTES_MAX as u64 {
        return Ok(Log::File { bytes });
    }
    std::fs::read(place.head()).map(|text| Log::Inline(text.into()))
}

/// The part of a log beyond its head.
struct Tail {
    head_bytes: u64,
    note: Cursor<Vec<u8>>,
    /// Older first, each behind its header.
    segments: Vec<BufReader<File>>,
}

impl Tail {
    fn open(place: &Place) -> io::Result<Option<Self>> {
        let mut found = Vec::new();
        for slot in 0..2 {
            if let Some(file) = open(&place.tail(slot))? {
                found.extend(read_header(file)?);
            }
        }
        found.sort_by_key(|(header, _)| header.sequence);
        let Some((newest, _)) = found.last() else { return Ok(None) };
        let newest = *newest;
        // A segment that should have been replaced, but could not be, is out of turn.
        found.retain(|(header, _)| header.sequence + 1 >= newest.sequence);
        let note = if newest.cut == Amount::default() {
            Vec::new()
        } else {
            let text = format!("{} were cut here: the log is over its limit", newest.cut);
            format::note(clock::now(), &text)
        };
        Ok(Some(Self {
            head_bytes: newest.head_bytes,
            note: Cursor::new(note),
            segments: found.into_iter().map(|(_, segment)| segment).collect(),
        }))
    }

    fn into_reader(self) -> Box<dyn Read + Send> {
        let mut reader: Box<dyn Read + Send> = Box::new(self.note);
        for segment in self.segments {
            reader = Box::new(reader.chain(segment));
        }
        reader
    }
}

/// None when the file does not begin with a whole header: a crash left it behind.
fn read_header(file: File) -> io::Result<Option<(Header, BufReader<File>)>> {
    let mut segment = BufReader::new(file);
    let mut line = String::new();
    match (&mut segment).take(100).read_line(&mut line) {
        Ok(_) => Ok(line.parse().ok().map(|header| (header, segment))),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
        Err(error) => Err(error),
    }
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
