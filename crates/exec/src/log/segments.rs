//! The files of a log that is being written. The first half of the limit is kept as it is;
//! after that two segments of a quarter each are filled in turns, the older one thrown away, so
//! that the disk never holds more than about the limit.
//!
//! Each segment opens with a header that says all that is needed to put the log together, so
//! that a later life of the server can do it from the files alone. A segment is replaced by a
//! new file, never truncated: whoever reads the old one keeps it whole.

use super::format;
use super::place::Place;
use crate::clock;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::str::FromStr;

/// How much output something stands for: as the process wrote it, secrets
/// hidden, stamps not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub bytes: u64,
    pub lines: u64,
}

impl Amount {
    pub fn add(&mut self, more: Self) {
        self.bytes += more.bytes;
        self.lines += more.lines;
    }
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes in {} lines", self.bytes, self.lines)
    }
}

/// The first line of a tail segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub sequence: u64,
    /// How long the head is; whatever the head file has beyond it was put there by `assemble`.
    pub head_bytes: u64,
    /// Everything thrown away so far.
    pub cut: Amount,
}

impl std::fmt::Display for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { sequence, head_bytes, cut } = self;
        writeln!(f, "{sequence} {head_bytes} {} {}", cut.bytes, cut.lines)
    }
}

impl FromStr for Header {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut numbers = text.split_ascii_whitespace().map(u64::from_str);
        let mut next = || numbers.next().unwrap_or_else(|| u64::from_str(""));
        let (sequence, head_bytes) = (next()?, next()?);
        let cut = Amount { bytes: next()?, lines: next()? };
        Ok(Self { sequence, head_bytes, cut })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Head,
    Tail { sequence: u64 },
}

/// What became of a finished log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Nothing,
    /// In the head file alone.
    Head {
        bytes: u64,
    },
    /// In several files, to be assembled.
    Parts,
}

#[derive(Debug)]
pub(crate) struct Segments {
    place: Place,
    limit: u64,
    part: Part,
    /// The file of the current part, once it has a byte.
    file: Option<File>,
    /// Bytes in the current part, its header included.
    part_bytes: u64,
    head_bytes: u64,
    /// What each tail segment holds.
    held: [Amount; 2],
    cut: Amount,
    /// What could not be written, and why.
    lost: Amount,
    lost_why: Option<io::Error>,
}

impl Segments {
    pub fn new(place: Place, limit: u64) -> Self {
        Self {
            place,
            limit,
            part: Part::Head,
            file: None,
            part_bytes: 0,
            head_bytes: 0,
            held: [Amount::default(); 2],
            cut: Amount::default(),
            lost: Amount::default(),
            lost_why: None,
        }
    }

    /// Texts longer than this are split, so that one record never outgrows a segment by much.
    pub fn piece_bytes_max(&self) -> usize {
        const PIECE_BYTES_MAX: u64 = 64 * 1024;
        usize::try_from((self.limit / 8).clamp(256, PIECE_BYTES_MAX)).expect("at most 64 KiB")
    }

    /// Whether a record still belongs into the current part, behind what waits to be written
    /// there. An empty part takes any.
    pub fn has_room(&self, waiting: usize, record: usize) -> bool {
        let max = match self.part {
            Part::Head => self.limit / 2,
            Part::Tail { .. } => self.limit / 4,
        };
        let used = self.part_bytes + waiting as u64;
        used == 0 || used + record as u64 <= max
    }

    /// Goes on to the next part; what the oldest segment held is cut.
    pub fn turn(&mut self) {
        let sequence = match self.part {
            Part::Head => {
                self.head_bytes = self.part_bytes;
                0
            }
            Part::Tail { sequence } => sequence + 1,
        };
        let slot = usize::from(sequence % 2 == 1);
        self.cut.add(std::mem::take(&mut self.held[slot]));
        self.part = Part::Tail { sequence };
        self.part_bytes = 0;
        self.file = None;
    }

    /// Appends whole records that stand for `amount` of output. What cannot be written is
    /// counted: a full disk must not hold up the task.
    pub fn write(&mut self, records: &[u8], amount: Amount) {
        if records.is_empty() {
            return;
        }
        if let Err(error) = self.try_write(records) {
            self.lost.add(amount);
            self.lost_why = Some(error);
            return;
        }
        if let Part::Tail { sequence } = self.part {
            self.held[usize::from(sequence % 2 == 1)].add(amount);
        }
    }

    fn try_write(&mut self, records: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(self.open()?);
        }
        let file = self.file.as_mut().expect("opened above");
        let header = match self.part {
            Part::Tail { sequence } if self.part_bytes == 0 => {
                let (head_bytes, cut) = (self.head_bytes, self.cut);
                Header { sequence, head_bytes, cut }.to_string()
            }
            _ => String::new(),
        };
        let written = file.write_all(header.as_bytes()).and_then(|()| file.write_all(records));
        match written {
            Ok(()) => self.part_bytes += (header.len() + records.len()) as u64,
            // Half a record would tear the log. If even this fails the reader sees a torn line.
            Err(_) => drop(
                file.set_len(self.part_bytes)
                    .and_then(|()| file.seek(SeekFrom::Start(self.part_bytes))),
            ),
        }
        written
    }

    fn open(&self) -> io::Result<File> {
        let path = match self.part {
            Part::Head => self.place.head(),
            Part::Tail { sequence } => {
                let path = self.place.tail(sequence);
                match std::fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => path,
                }
            }
        };
        File::options().create(true).write(true).truncate(true).open(path)
    }

    /// Closes the files. The second value is a note that should be in the log and is not.
    pub fn finish(&mut self) -> (Written, Option<Vec<u8>>) {
        let missing = self.write_lost();
        self.file = None;
        let written = match self.part {
            Part::Head if self.part_bytes == 0 => Written::Nothing,
            Part::Head => Written::Head { bytes: self.part_bytes },
            Part::Tail { .. } => Written::Parts,
        };
        (written, missing)
    }

    fn write_lost(&mut self) -> Option<Vec<u8>> {
        let why = self.lost_why.as_ref()?;
        let text = format!("{} could not be kept in this log: {why}", self.lost);
        let note = format::note(clock::now(), &text);
        self.try_write(&note).err().map(|_| note)
    }

    pub fn place(&self) -> &Place {
        &self.place
    }
}
