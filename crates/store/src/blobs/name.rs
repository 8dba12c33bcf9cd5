//! What a blob is called: after what it holds, so that nobody has to note the name down. Each
//! kind of thing has its own form of name, which says all that has to be known of the kind.

use mainspring_core::ids::{AttemptId, RunId};
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlobName {
    /// What an attempt wrote, in the log format, compressed by gzip.
    Log(AttemptId),
    /// What something of a run put out, compressed by gzip: named by the SHA-256 of the content
    /// before that. It goes with its run.
    Content(RunId, [u8; 32]),
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
const CONTENT: &str = ".gz";

impl BlobName {
    pub const fn durability(self) -> Durability {
        match self {
            Self::Log(_) => Durability::Unsynced,
            Self::Content(..) => Durability::Synced,
        }
    }

    /// Spreads names evenly: ids begin with their time and end with chance. What a run put out
    /// stays together.
    pub(super) fn spread(self) -> u8 {
        match self {
            Self::Log(attempt) => attempt.as_bytes()[15],
            Self::Content(run, _) => spread(run),
        }
    }

    /// What is before and what is after all contents of a run, in the order of their texts.
    pub(crate) fn contents(run: RunId) -> (String, String) {
        // Digits and letters up to f follow.
        (format!("{run}."), format!("{run}.g"))
    }
}

/// Where the contents of a run are.
pub(super) fn spread(run: RunId) -> u8 {
    run.as_bytes()[15]
}

impl fmt::Display for BlobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log(attempt) => write!(f, "{attempt}{LOG}"),
            Self::Content(run, hash) => {
                write!(f, "{run}.")?;
                hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(CONTENT)
            }
        }
    }
}

impl FromStr for BlobName {
    type Err = NotABlob;

    fn from_str(text: &str) -> Result<Self, NotABlob> {
        let name = log(text).or_else(|| content(text)).ok_or(NotABlob)?;
        // An id and a hash have several spellings; a blob has one name.
        if name.to_string() == text { Ok(name) } else { Err(NotABlob) }
    }
}

fn log(text: &str) -> Option<BlobName> {
    text.strip_suffix(LOG)?.parse().ok().map(BlobName::Log)
}

fn content(text: &str) -> Option<BlobName> {
    let (run, hex) = text.strip_suffix(CONTENT)?.split_once('.')?;
    let mut hash = [0; 32];
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(BlobName::Content(run.parse().ok()?, hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: BlobName, text: &str) {
        assert_eq!(name.to_string(), text);
        assert_eq!(text.parse(), Ok(name));
        let shorter = &text[1..];
        let longer = format!("{text}x");
        for wrong in [shorter, &longer, &text.to_uppercase(), &format!("../{text}")] {
            assert_eq!(wrong.parse::<BlobName>(), Err(NotABlob), "{wrong}");
        }
    }

    #[test]
    fn a_name_is_read_back_and_nothing_else_is_one() {
        let id = "abababab-abab-abab-abab-abababababab";
        check(BlobName::Log(AttemptId::from_bytes([0xab; 16])), &format!("{id}.log.gz"));
        let hex = "0f".repeat(32);
        let content = BlobName::Content(RunId::from_bytes([0xab; 16]), [0x0f; 32]);
        check(content, &format!("{id}.{hex}.gz"));
        for hex in ["", "+f", &hex[2..], &hex[1..], &format!("{hex}00")] {
            let wrong = format!("{id}.{hex}.gz");
            assert_eq!(wrong.parse::<BlobName>(), Err(NotABlob), "{wrong}");
        }
        for wrong in ["", ".log.gz", ".gz", "x.log.gz", "../x.log.gz"] {
            assert_eq!(wrong.parse::<BlobName>(), Err(NotABlob), "{wrong}");
        }
    }

    #[test]
    fn contents_of_a_run_are_between_its_ends_and_nothing_else_is() {
        let run = |byte| RunId::from_bytes([byte; 16]);
        let (before, after) = BlobName::contents(run(5));
        let is_between = |name: BlobName| (&before..&after).contains(&&name.to_string());
        assert!(
            [0, 0x99, 0xff].iter().all(|byte| is_between(BlobName::Content(run(5), [*byte; 32])))
        );
        assert!(!is_between(BlobName::Log(AttemptId::from_bytes([5; 16]))));
        assert!(![4, 6].iter().any(|byte| is_between(BlobName::Content(run(*byte), [5; 32]))));
    }
}
