//! How long texts of a request may be: in characters, as `maxLength` of the OpenAPI file counts.
//! Bytes would be another number for everybody whose letters take more than one.

use mainspring_core::limits::{APPROVAL_COMMENT_BYTES_MAX, LABEL_BYTES_MAX, NAME_BYTES_MAX};

// At least as much as the bytes that a definition may have, so that whatever it names can be sent.
pub const NAME_CHARS_MAX: usize = NAME_BYTES_MAX;
pub const LABEL_CHARS_MAX: usize = LABEL_BYTES_MAX;
pub const COMMENT_CHARS_MAX: usize = APPROVAL_COMMENT_BYTES_MAX;

/// Whether it has at most so many characters.
pub fn fits(text: &str, chars_max: usize) -> bool {
    text.chars().nth(chars_max).is_none()
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        for (text, chars_max, wanted) in
            [("", 0, true), ("a", 0, false), ("ä", 1, true), ("😀😀", 2, true), ("😀😀", 1, false)]
        {
            assert_eq!(fits(text, chars_max), wanted, "{text} {chars_max}");
        }
    }
}
