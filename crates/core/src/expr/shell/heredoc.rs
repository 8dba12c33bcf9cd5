//! Here-documents: `<<end`, and what follows on the next lines.

use super::frame::{Frame, HereDoc, Style};
use super::lexer::Lexer;
use super::symbol::Symbol;

const MARK: &str = "the end mark of a here-document";

impl Lexer<'_> {
    /// `<<`, `<<-` or `<<<`.
    pub fn here_operator(&mut self) {
        if self.byte(2) == Some(b'<') {
            return self.copy(3);
        }
        self.copy(2);
        let tabs = self.byte(0) == Some(b'-');
        self.copy(usize::from(tabs));
        while let Some(b' ' | b'\t') = self.byte(0) {
            self.copy(1);
        }
        if let Some((end, quoted)) = self.end_mark() {
            self.here().pending.push(HereDoc { end, quoted, tabs });
        }
    }

    /// The word that will end the document, and whether any of it is quoted.
    fn end_mark(&mut self) -> Option<(Vec<u8>, bool)> {
        let (mut mark, mut quoted) = (Vec::new(), false);
        loop {
            match self.symbol(0) {
                None => break,
                Some(Symbol::Template(_)) => {
                    self.refuse(
                        "is the end mark of a here-document, in which no value is put",
                        "write a plain word such as `EOF`",
                    );
                    return None;
                }
                Some(Symbol::Byte(b'\'' | b'"')) => {
                    quoted = true;
                    self.quoted_mark(&mut mark)?;
                }
                Some(Symbol::Byte(b'\\')) => {
                    quoted = true;
                    self.copy(1);
                    mark.extend(self.byte(0));
                    self.copy(1);
                }
                Some(Symbol::Byte(b'$' | b'`')) => {
                    self.doubt(MARK);
                    return None;
                }
                Some(Symbol::Byte(byte)) if b" \t\n;&|<>()".contains(&byte) => break,
                Some(Symbol::Byte(byte)) => {
                    mark.push(byte);
                    self.copy(1);
                }
            }
        }
        Some((mark, quoted))
    }

    fn quoted_mark(&mut self, mark: &mut Vec<u8>) -> Option<()> {
        let quote = self.byte(0)?;
        self.copy(1);
        loop {
            match self.byte(0) {
                Some(byte) if byte == quote => {
                    self.copy(1);
                    return Some(());
                }
                Some(b'$' | b'`' | b'\\' | b'\n') | None => {
                    self.doubt(MARK);
                    return None;
                }
                Some(byte) => {
                    mark.push(byte);
                    self.copy(1);
                }
            }
        }
    }

    /// Whether a here-document waits for the end of this line.
    pub fn awaits_body(&self) -> bool {
        self.frames
            .iter()
            .any(|frame| matches!(frame, Frame::Command(command) if !command.pending.is_empty()))
    }

    /// The end of a line of commands.
    pub fn new_line(&mut self) {
        let own = !self.here().pending.is_empty();
        let outer = self.frames.len() - 1;
        let others = self.frames[..outer]
            .iter()
            .any(|frame| matches!(frame, Frame::Command(command) if !command.pending.is_empty()));
        if others {
            return self.doubt("a here-document that begins within `$(`");
        }
        self.copy(1);
        if own {
            self.next_body();
        }
    }

    /// Reads the documents that begin here, up to the first in which values are put.
    fn next_body(&mut self) {
        while !self.here().pending.is_empty() {
            let document = self.here().pending.remove(0);
            let Some((end, next)) = self.extent(&document) else {
                return self.doubt("a backslash before the end of a here-document");
            };
            if !document.quoted {
                self.frames.push(Frame::Body { end });
                return;
            }
            self.verbatim(next);
        }
    }

    /// Where the document ends, and where the line after its end mark begins.
    fn extent(&self, document: &HereDoc) -> Option<(usize, usize)> {
        let mut start = self.at;
        let mut joined = false;
        loop {
            let rest = self.symbols_from(start);
            if rest.is_empty() {
                return Some((start, start));
            }
            let length = rest.iter().position(|symbol| *symbol == Symbol::Byte(b'\n'));
            let line = &rest[..length.unwrap_or(rest.len())];
            let next = start + line.len() + usize::from(length.is_some());
            if is_mark(line, document) {
                return (!joined || document.quoted).then_some((start, next));
            }
            let slashes = line.iter().rev().take_while(|it| **it == Symbol::Byte(b'\\')).count();
            joined = slashes % 2 == 1;
            start = next;
        }
    }

    /// A document in which nothing is read.
    fn verbatim(&mut self, end: usize) {
        while self.at < end {
            match self.symbol(0) {
                Some(Symbol::Template(_)) => self.refuse(
                    "stands in a here-document whose end mark is quoted, in which no value is put",
                    "write the end mark without quotes",
                ),
                _ => self.copy(1),
            }
        }
    }

    pub fn body(&mut self) {
        match self.symbol(0) {
            Some(Symbol::Template(_)) => self.write(Style::Bare),
            _ => self.in_quotes(),
        }
    }

    /// Whether the innermost document that is being read has come to its end.
    pub fn body_is_over(&self) -> bool {
        let ends = self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Body { end } => Some(*end),
            _ => None,
        });
        ends.is_some_and(|end| self.at >= end)
    }

    pub fn end_body(&mut self) {
        // Brackets and backticks that are open reach over the end of it.
        if !matches!(self.frames.last(), Some(Frame::Body { end }) if *end == self.at) {
            return self.doubt("a bracket that is not closed in a here-document");
        }
        self.frames.pop();
        // The line of the end mark.
        while self.symbol(0).is_some() && self.byte(0) != Some(b'\n') {
            self.copy(1);
        }
        self.copy(1);
        self.next_body();
    }
}

/// Whether a line is the end mark.
fn is_mark(line: &[Symbol], document: &HereDoc) -> bool {
    let tabs = line.iter().take_while(|it| document.tabs && **it == Symbol::Byte(b'\t')).count();
    let line = &line[tabs..];
    line.len() == document.end.len()
        && line.iter().zip(&document.end).all(|(symbol, byte)| *symbol == Symbol::Byte(*byte))
}
