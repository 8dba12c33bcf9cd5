//! Logs of attempts: what a process wrote, line by line, with stream and time, bounded on disk.
//!
//! ```text
//!  pipe ─► Recorder ─► records ─► Segments ─► <id>.log      first half of the limit
//!          (masks, lines)                └──► <id>.log.0/1  the latest, in turns
//!                                                  │ end of the attempt, or a later life
//!                                        assemble ─┴─► <id>.log: head, note, tail
//! ```
//! May not know of processes or attempts' states.

pub mod format;
pub(crate) mod place;
pub(crate) mod segments;
pub(crate) mod recorder;
pub(crate) mod assemble;

pub use assemble::{LogReader, read_log, remove_log};
pub use format::{LogLine, Stream, lines};
