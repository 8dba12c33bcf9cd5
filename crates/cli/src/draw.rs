//! Diagnostics as a compiler shows them: the line, the place in it, what to do.
//!
//! ```text
//! error[E205]: `buld` is not a task of this workflow.
//!  --> build.yaml:7:18
//!   |
//! 7 |     depends_on: [buld]
//!   |                  ^^^^
//!   = help: did you mean `build`?
//! ```
//! By hand and not by a crate: a line of a definition may have 4 MiB and there may be 200
//! diagnostics, so only a window of each line is ever looked at.

use crate::out;
use mainspring_core::spec::{Code, Diagnostic, Related, Severity, Span};
use std::collections::BTreeSet;

/// Characters of a line that are shown at most; longer ones are cut around the place.
const SHOWN_CHARS_MAX: usize = 120;
/// Where a hint is broken into lines.
const HINT_CHARS_MAX: usize = 100;
/// Codes that are named at the end.
const CODES_MAX: usize = 6;
/// Characters shown in front of a place in a line that was cut.
const BEFORE_CHARS: usize = 40;

/// All diagnostics of one text, then how many there were.
pub fn diagnostics(name: &str, text: &str, found: &[Diagnostic]) -> String {
    let mut drawing: String =
        found.iter().map(|diagnostic| one(name, text, diagnostic) + "\n").collect();
    let count = |severity| found.iter().filter(|found| found.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let plural = |n: usize, word: &str| match n {
        1 => format!("1 {word}"),
        n => format!("{n} {word}s"),
    };
    let counted: Vec<String> = [(errors, "error"), (warnings, "warning")]
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| plural(*n, word))
        .collect();
    if !counted.is_empty() {
        drawing.push_str(&format!("{name}: {}\n", counted.join(", ")));
        drawing.push_str(&more_about(found));
    }
    drawing
}

/// Where there is more to read.
fn more_about(found: &[Diagnostic]) -> String {
    let codes: BTreeSet<Code> = found.iter().map(|found| found.code).collect();
    let words: Vec<&str> = codes.iter().take(CODES_MAX).map(|code| code.word()).collect();
    let dots = if codes.len() > CODES_MAX { ", …" } else { "" };
    match words.as_slice() {
        [] => String::new(),
        [code] => format!("More about it: mainspring explain-code {code}\n"),
        [first, rest @ ..] => format!(
            "More about them: mainspring explain-code {first} (or {}{dots})\n",
            rest.join(", ")
        ),
    }
}

fn one(name: &str, text: &str, diagnostic: &Diagnostic) -> String {
    let Diagnostic { code, severity, message, path: _, span, hint, related } = diagnostic;
    let head = match severity {
        Severity::Error => out::red(&format!("error[{code}]")),
        Severity::Warning => out::yellow(&format!("warning[{code}]")),
    };
    let last = related.iter().map(|related| related.span.line).fold(span.line, usize::max);
    let gutter = Gutter(last.to_string().len());
    let mut drawing = format!("{head}: {}\n", out::bold(&out::tame(message)));
    drawing.push_str(&gutter.arrow(name, *span));
    // Why the place itself matters, among others of its kind.
    let own = related.iter().find(|related| related.span == *span);
    let mut marks =
        vec![Mark { span: *span, label: own.map_or("", |own| &own.message), sign: '^' }];
    let others = related.iter().filter(|related| related.span != *span);
    marks.extend(others.map(|Related { span, message }| Mark {
        span: *span,
        label: message,
        sign: '-',
    }));
    drawing.push_str(&gutter.excerpts(text, &marks));
    if let Some(hint) = hint {
        drawing.push_str(&gutter.help(&out::tame(hint)));
    }
    drawing
}

/// A place that is pointed at.
struct Mark<'m> {
    span: Span,
    label: &'m str,
    sign: char,
}

/// The column of line numbers: how wide it is.
struct Gutter(usize);

impl Gutter {
    fn arrow(&self, name: &str, span: Span) -> String {
        let arrow = out::blue("-->");
        format!("{:width$}{arrow} {name}:{}:{}\n", "", span.line, span.column, width = self.0)
            + &self.bar("")
    }

    fn bar(&self, rest: &str) -> String {
        let line = format!("{:width$} {} {rest}", "", out::blue("|"), width = self.0);
        line.trim_end().to_owned() + "\n"
    }

    fn help(&self, hint: &str) -> String {
        let mut lines = broken(hint).into_iter();
        let first = lines.next().unwrap_or_default();
        let mut help = format!("{:width$} {} help: {first}\n", "", out::blue("="), width = self.0);
        for line in lines {
            help.push_str(&format!("{:width$}         {line}\n", "", width = self.0));
        }
        help
    }

    /// Each line with its marks; one that stands in the same line as the last adds only itself.
    fn excerpts(&self, text: &str, marks: &[Mark<'_>]) -> String {
        let mut drawing = String::new();
        let mut last = String::new();
        let mut last_line = 0;
        for mark in marks {
            let window = Window::around(text, mark.span);
            if mark.span.line != last_line || window.shown != last {
                let number = out::blue(&format!("{:width$}", mark.span.line, width = self.0));
                let line = format!("{number} {} {}", out::blue("|"), window.shown);
                drawing.push_str(line.trim_end());
                drawing.push('\n');
            }
            let signs = mark.sign.to_string().repeat(window.carets);
            let signs = if mark.sign == '^' { out::red(&signs) } else { out::blue(&signs) };
            let label = out::tame(mark.label);
            let marked = format!("{}{signs} {label}", " ".repeat(window.before));
            drawing.push_str(&self.bar(marked.trim_end()));
            (last, last_line) = (window.shown, mark.span.line);
        }
        drawing
    }
}

/// A long hint as lines, broken between words.
fn broken(hint: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in hint.split(' ') {
        let line = lines.last_mut().expect("there is one");
        let long = line.chars().count() + word.chars().count() >= HINT_CHARS_MAX;
        if line.is_empty() {
            line.push_str(word);
        } else if long {
            lines.push(word.to_owned());
        } else {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines
}

/// The part of a line that is shown, and where in it the place is.
struct Window {
    shown: String,
    before: usize,
    carets: usize,
}

impl Window {
    fn around(text: &str, span: Span) -> Self {
        let start = text.floor_char_boundary(span.start);
        let end = text.floor_char_boundary(span.end.max(start));
        let column = span.column.saturating_sub(1);
        let cut = column > SHOWN_CHARS_MAX - BEFORE_CHARS;
        let before_kept = if cut { BEFORE_CHARS } else { column };
        let before: Vec<char> = text[..start].chars().rev().take(before_kept).collect();
        let mut shown: String = if cut { "… ".to_owned() } else { String::new() };
        shown.extend(before.iter().rev().map(|c| plain(*c)));
        let before = shown.chars().count();
        let is_break = |c: char| c == '\n' || c == '\r';
        let room = SHOWN_CHARS_MAX.saturating_sub(before);
        let mut after = text[start..].chars().take_while(|c| !is_break(*c));
        shown.extend(after.by_ref().take(room).map(plain));
        if after.next().is_some() {
            shown.push('…');
        }
        let marked = text[start..end].chars().take_while(|c| !is_break(*c)).take(room).count();
        Self { shown, before, carets: marked.max(1) }
    }
}

/// Every character takes one column, and none steers the terminal.
fn plain(c: char) -> char {
    match c {
        // Seen, since a tab in the wrong place looks like any space.
        '\t' => '→',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    fn drawn(text: &str) -> String {
        let source = Source { name: "w.yaml".to_owned(), bytes: text.into() };
        let found = source.parse_for_server().expect_err("it has a mistake");
        anstream::adapter::strip_str(&diagnostics("w.yaml", text, &found)).to_string()
    }

    #[test]
    fn a_mistake_is_shown_in_its_line() {
        let drawn = drawn(
            "name: w\ntasks:\n  build: { run: make }\n  test: { run: make, depends_on: [buld] }\n",
        );
        insta::assert_snapshot!(drawn, @r"
        error[E205]: There is no task `buld`.
         --> w.yaml:4:35
          |
        4 |   test: { run: make, depends_on: [buld] }
          |                                   ^^^^
          = help: did you mean `build`?

        w.yaml: 1 error
        More about it: mainspring explain-code E205
        ");
    }

    #[test]
    fn a_line_of_a_megabyte_is_cut() {
        let long = format!("name: {}\ntasks: {{ a: {{ noop: {{}} }} }}\n", "é".repeat(500_000));
        assert!(drawn(&long).lines().all(|line| line.chars().count() < 300));
        let late = format!("{{name: w, description: \"{}\", tusks: 1}}", "x".repeat(500_000));
        let drawn = drawn(&late);
        assert!(drawn.contains("tusks: 1") && drawn.contains("… x"), "{drawn}");
        assert!(drawn.lines().all(|line| line.chars().count() < 300));
    }
}
