//! Told apart: content that is damaged, and a disk or a database that cannot be read just now.

use std::io;

/// What came cannot be unpacked, or is not what was put: it will not be better next time.
pub fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}
