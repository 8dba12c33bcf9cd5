//! What tidy says: where, what is wrong, and what to do about it.

use std::fmt;

/// A rule by its name, so that an exception can say which one it is from.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Rule {
    FileSize,
    FunctionSize,
    Word,
    Sleep,
    Name,
    Room,
    Link,
    MachinePath,
    Whitespace,
    StaleException,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    pub rule: Rule,
    pub path: String,
    pub line: usize,
    /// What is wrong and what to do.
    pub text: String,
}

impl Finding {
    pub fn new(rule: Rule, path: &str, line: usize, text: impl Into<String>) -> Finding {
        Finding { rule, path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_like_a_compiler_message() {
        let finding = Finding::new(Rule::Word, "crates/a/src/b.rs", 7, "`dbg!`: remove it");
        assert_eq!(finding.to_string(), "crates/a/src/b.rs:7: `dbg!`: remove it");
    }
}
