//! What a task put out: kept in its row while it is small, in the blob store beyond that.

use crate::json::{Json, JsonError};
use crate::limits::OUTPUT_INLINE_BYTES_MAX;
use std::fmt;

/// A value, or where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// At most `OUTPUT_INLINE_BYTES_MAX` bytes of text.
    Inline(Json),
    /// In the blob store, under its run and its hash.
    Blob(BlobRef),
}

/// Names what is in the blob store by what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlobRef {
    /// SHA-256 of the content.
    pub hash: [u8; 32],
    /// Of the content, before it was compressed.
    pub bytes: u64,
}

/// Why a stored text is not an output.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error("not the name of a blob: {0}")]
    Blob(String),
}

/// No JSON text begins with it.
const BLOB: char = '@';

impl Output {
    pub fn null() -> Self {
        Self::Inline(Json::null())
    }

    /// Small enough for a row.
    pub fn fits_inline(json: &Json) -> bool {
        json.as_str().len() <= OUTPUT_INLINE_BYTES_MAX
    }

    /// As one text, for a column: JSON as it is, or `@hash:bytes`.
    pub fn to_text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Inline(json) => json.as_str().into(),
            Self::Blob(blob) => format!("{BLOB}{blob}").into(),
        }
    }

    pub fn from_text(text: &str) -> Result<Self, OutputError> {
        match text.strip_prefix(BLOB) {
            None => Ok(Self::Inline(Json::stored(text)?)),
            Some(name) => BlobRef::from_text(name)
                .map(Self::Blob)
                .ok_or_else(|| OutputError::Blob(name.to_owned())),
        }
    }

    /// Bytes that it takes in a row.
    pub fn weight(&self) -> usize {
        match self {
            Self::Inline(json) => json.as_str().len(),
            Self::Blob(_) => size_of::<BlobRef>(),
        }
    }

    pub fn inline(&self) -> Option<&Json> {
        match self {
            Self::Inline(json) => Some(json),
            Self::Blob(_) => None,
        }
    }
}

impl From<Json> for Output {
    fn from(json: Json) -> Self {
        Self::Inline(json)
    }
}

impl BlobRef {
    pub fn hex(&self) -> String {
        self.hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn from_text(text: &str) -> Option<Self> {
        let (hex, bytes) = text.split_once(':')?;
        Self::from_hex(hex, bytes.parse().ok()?)
    }

    pub fn from_hex(hex: &str, bytes: u64) -> Option<Self> {
        if hex.len() != 64 || !hex.is_ascii() {
            return None;
        }
        let mut hash = [0; 32];
        for (byte, at) in hash.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&hex[at..at + 2], 16).ok()?;
        }
        Some(Self { hash, bytes })
    }
}

impl fmt::Display for BlobRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.hex(), self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_which_of_the_two_it_is() {
        let small = Output::Inline(Json::parse(r#"{"a": "@x"}"#).expect("valid"));
        let large = Output::Blob(BlobRef { hash: [0xa5; 32], bytes: 1 << 40 });
        for output in [small, large] {
            assert_eq!(Output::from_text(&output.to_text()).expect("its own"), output);
        }
        for wrong in ["@", "@x:1", "@:1", "nope", &format!("@{}:-1", "ab".repeat(32))] {
            assert!(Output::from_text(wrong).is_err(), "{wrong}");
        }
    }
}
