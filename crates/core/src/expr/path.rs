//! Chains of names such as `tasks.fetch.output.files[0]`, read without the expression parser:
//! most templates are nothing else, and a definition may have very many of them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Field(Arc<str>),
    At(usize),
}

/// A name and the steps after it, each with the bytes it is written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    pub root: (Arc<str>, Range<usize>),
    pub steps: Vec<(Step, Range<usize>)>,
    /// The byte after the last step, a closing bracket included.
    pub end: usize,
}

impl Chain {
    pub fn at(&self) -> Range<usize> {
        self.root.1.start..self.end
    }
}

/// Words that are no names.
const WORDS: &[&str] = &["true", "false", "null", "in"];

/// The chain that is the whole of a text, spaces around it aside.
pub fn whole(source: &str) -> Option<Chain> {
    let start = source.len() - source.trim_ascii_start().len();
    let chain = read(source, start)?;
    source[chain.end..].trim_ascii().is_empty().then_some(chain)
}

/// The longest chain that begins at this byte.
pub fn read(source: &str, start: usize) -> Option<Chain> {
    let name = name(source, start)?;
    let mut end = name.end;
    let root = (source[name.clone()].into(), name);
    let mut steps = Vec::new();
    while let Some((step, at, after)) = step(source, end) {
        steps.push((step, at));
        end = after;
    }
    Some(Chain { root, steps, end })
}

fn name(source: &str, start: usize) -> Option<Range<usize>> {
    let rest = source.get(start..)?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
    let good = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
    (good && !WORDS.contains(&name)).then(|| start..start + name.len())
}

/// A step, the bytes of its name, and where it ends.
fn step(source: &str, from: usize) -> Option<(Step, Range<usize>, usize)> {
    let dot = skip_spaces(source, from);
    match source.as_bytes().get(dot)? {
        b'.' => {
            let at = name(source, skip_spaces(source, dot + 1))?;
            // `a.b()` is a call, and no field.
            let after = skip_spaces(source, at.end);
            let is_call = source.as_bytes().get(after) == Some(&b'(');
            let end = at.end;
            (!is_call).then(|| (Step::Field(source[at.clone()].into()), at, end))
        }
        b'[' => {
            let inner = skip_spaces(source, dot + 1);
            let (step, at, after) = quoted(source, inner).or_else(|| digits(source, inner))?;
            let close = skip_spaces(source, after);
            (source.as_bytes().get(close) == Some(&b']')).then_some((step, at, close + 1))
        }
        _ => None,
    }
}

/// Plain quotes: what has escapes, or three quotes, is left to the parser.
fn quoted(source: &str, start: usize) -> Option<(Step, Range<usize>, usize)> {
    let quote = source[start..].chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inner = start + 1;
    let length = source[inner..].find(quote)?;
    let text = &source[inner..inner + length];
    let triple = text.is_empty() && source[inner + 1..].starts_with(quote);
    let plain = !triple && !text.contains(['\\', '\n', '\r']);
    plain.then(|| (Step::Field(text.into()), inner..inner + length, inner + length + 1))
}

fn digits(source: &str, start: usize) -> Option<(Step, Range<usize>, usize)> {
    let rest = &source[start..];
    let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
    let end = start + digits.len();
    Some((Step::At(digits.parse().ok()?), start..end, end))
}

fn skip_spaces(source: &str, from: usize) -> usize {
    let rest = &source[from..];
    from + (rest.len() - rest.trim_ascii_start().len())
}

impl Step {
    /// Without dot and brackets.
    pub fn bare(&self) -> String {
        match self {
            Self::Field(name) => name.to_string(),
            Self::At(index) => index.to_string(),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(index) => write!(f, "[{index}]"),
            Self::Field(name) if self::name(name, 0) == Some(0..name.len()) => write!(f, ".{name}"),
            Self::Field(name) => write!(f, "['{name}']"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str) -> Option<String> {
        let chain = whole(source)?;
        let steps: String = chain.steps.iter().map(|(step, _)| step.to_string()).collect();
        Some(format!("{}{steps}", chain.root.0))
    }

    #[test]
    fn plain_chains_are_read() {
        for (source, expected) in [
            ("input", "input"),
            (" input.day ", "input.day"),
            ("tasks['my-task'] . output [ 0 ].x", "tasks['my-task'].output[0].x"),
            ("a[\"b\"]", "a.b"),
            ("a['']", "a['']"),
        ] {
            assert_eq!(shown(source).as_deref(), Some(expected), "{source}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_parser() {
        for source in [
            "",
            "1",
            "a.b()",
            "a + b",
            "a[b]",
            "a['\\n']",
            "a['''x''']",
            "a[-1]",
            "true",
            "a.in",
            "a.",
            "a[",
            "a['b",
            "'a'",
            "é",
            "a.é",
            "a[99999999999999999999999]",
            "a b",
        ] {
            assert_eq!(shown(source), None, "{source}");
        }
    }

    #[test]
    fn steps_know_their_bytes() {
        let source = "é + tasks['a'].output";
        let chain = read(source, 5).expect("a chain");
        assert_eq!(&source[chain.at()], "tasks['a'].output");
        let parts: Vec<&str> = chain.steps.iter().map(|(_, at)| &source[at.clone()]).collect();
        assert_eq!(parts, ["a", "output"]);
    }
}
