//! What a blob is called: after what it holds, so that nobody has to note the name down. Each
//! kind of thing has its own form of name, which says all that has to be known of the kind.

use mainspring_core::ids::AttemptId;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlobName {
    /// What an attempt wrote, in the log format, compressed by gzip.
    Log(AttemptId),
}

/// What a power cut may do to a blob that was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It survives.
    Synced,
    /// It may be gone, or cut short: nothing is decided by it.
    Unsynced,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the name of a blob")]
pub struct NotABlob;

const LOG: &str = ".log.gz";

impl BlobName {
    pub const fn durability(self) -> Durability {
        match self {
            Self::Log(_) => Durability::Unsynced,
        }
    }

    /// Spreads names evenly: ids begin with their time and end with chance.
    pub(super) fn spread(self) -> u8 {
        match self {
            Self::Log(attempt) => attempt.as_bytes()[15],
        }
    }
}

impl fmt::Display for BlobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log(attempt) => write!(f, "{attempt}{LOG}"),
        }
    }
}

impl FromStr for BlobName {
    type Err = NotABlob;

    fn from_str(text: &str) -> Result<Self, NotABlob> {
        let attempt = text.strip_suffix(LOG).and_then(|id| id.parse().ok());
        let name = attempt.map(Self::Log).ok_or(NotABlob)?;
        // An id has several spellings; a blob has one name.
        if name.to_string() == text { Ok(name) } else { Err(NotABlob) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_and_nothing_else_is_one() {
        let name = BlobName::Log(AttemptId::from_bytes([0xab; 16]));
        let text = name.to_string();
        assert_eq!(text, "abababab-abab-abab-abab-abababababab.log.gz");
        assert_eq!(text.parse(), Ok(name));
        for wrong in ["", ".log.gz", "x.log.gz", &text[1..], &text.to_uppercase(), "../x.log.gz"] {
            assert_eq!(wrong.parse::<BlobName>(), Err(NotABlob), "{wrong}");
        }
    }
}
