//! A value nobody is shown.

use std::fmt;

/// The bytes of a secret. There is no way to print it by mistake.
#[derive(Clone)]
pub struct Secret(Box<[u8]>);

impl Secret {
    pub fn new(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// For whoever is meant to have it.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_printed() {
        let shown = format!("{:?} {:#?}", Secret::new(*b"hunter22"), Some(Secret::new(*b"x")));
        assert_eq!(shown, "Secret(***) Some(\n    Secret(***),\n)");
    }
}
