//! Double quotes, `${ … }` and arithmetic.

use super::frame::{Frame, Style};
use super::lexer::Lexer;
use super::symbol::Symbol;

impl Lexer<'_> {
    pub fn double(&mut self) {
        match self.symbol(0) {
            Some(Symbol::Template(_)) => self.write(Style::Bare),
            Some(Symbol::Byte(b'"')) => {
                self.copy(1);
                self.frames.pop();
            }
            Some(Symbol::Byte(b'\n')) if self.awaits_body() => {
                self.doubt("a here-document whose line ends within quotes");
            }
            _ => self.in_quotes(),
        }
    }

    /// What double quotes and here-documents have in common.
    pub fn in_quotes(&mut self) {
        match self.byte(0) {
            Some(b'\\') => self.backslash(),
            Some(b'$') => self.dollar(Style::Bare),
            Some(b'`') => self.backtick(),
            _ => self.copy(1),
        }
    }

    /// `${`: the name and what follows it.
    pub fn parameter(&mut self, around: Style) {
        self.copy(2);
        let special = matches!(self.byte(0), Some(b'@' | b'*' | b'?' | b'-' | b'$' | b'!' | b'#'));
        match (special, self.byte(1)) {
            // `${#name}` is the length of it, `${#}` and `${#-x}` are about the arguments.
            (true, Some(b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'0'..=b'9')) => self.copy(1),
            (true, _) => {
                self.copy(1);
                return self.operator(around);
            }
            _ => {}
        }
        while let Some(b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'0'..=b'9') = self.byte(0) {
            self.copy(1);
        }
        self.operator(around);
    }

    fn operator(&mut self, around: Style) {
        let colon = usize::from(self.byte(0) == Some(b':'));
        match self.byte(colon) {
            Some(b'}') if colon == 0 => self.copy(1),
            Some(b'-' | b'=' | b'+' | b'?') => {
                self.copy(colon + 1);
                self.frames.push(Frame::Word(around));
            }
            // What is cut off is a pattern; quotes inside it are its own.
            Some(sign @ (b'#' | b'%')) if colon == 0 => {
                self.copy(if self.byte(1) == Some(sign) { 2 } else { 1 });
                self.frames.push(Frame::Word(Style::Quoted));
            }
            _ => self.other_parameter(),
        }
    }

    /// A form that only some shells have: passed over when it is plain.
    fn other_parameter(&mut self) {
        loop {
            match self.symbol(0) {
                Some(Symbol::Byte(b'}')) => return self.copy(1),
                Some(Symbol::Byte(b'\'' | b'"' | b'\\' | b'$' | b'`' | b'{' | b'\n')) => {
                    return self.doubt("`${`");
                }
                Some(Symbol::Byte(_)) => self.copy(1),
                Some(Symbol::Template(_)) => self.refuse(
                    "stands inside `${ … }`, where some shells run values as code",
                    "work it out in the expression, or on a line before",
                ),
                None => return,
            }
        }
    }

    pub fn word(&mut self, style: Style) {
        match self.symbol(0) {
            Some(Symbol::Template(_)) => self.write(style),
            Some(Symbol::Byte(b'}')) => {
                self.copy(1);
                self.frames.pop();
            }
            Some(Symbol::Byte(b'\'' | b'"')) if self.is_quoted() => self.doubt("quotes in `${`"),
            Some(Symbol::Byte(b'\'')) => self.single(),
            Some(Symbol::Byte(b'"')) => {
                self.copy(1);
                self.frames.push(Frame::Double);
            }
            Some(Symbol::Byte(b'{')) => self.doubt("a bracket in `${`"),
            Some(Symbol::Byte(b'\n')) if self.awaits_body() => {
                self.doubt("a here-document whose line ends within `${`");
            }
            Some(Symbol::Byte(b'$')) => self.dollar(style),
            _ => self.in_quotes(),
        }
    }

    /// Whether `${ … }` stands in double quotes or in a here-document: shells do not agree on
    /// quotes in there.
    fn is_quoted(&self) -> bool {
        let around = self.frames.iter().rev().find(|frame| !matches!(frame, Frame::Word(_)));
        matches!(around, Some(Frame::Double | Frame::Body { .. }))
    }

    pub fn arithmetic(&mut self) {
        let symbol = self.symbol(0);
        let Some(Frame::Arithmetic { open }) = self.frames.last_mut() else { return };
        match symbol {
            Some(Symbol::Template(_)) => self.refuse(
                "stands in arithmetic, in which some shells run values as code",
                "work it out in the expression: `${{ input.n + 1 }}`",
            ),
            Some(Symbol::Byte(b'(')) => {
                *open += 1;
                self.copy(1);
            }
            Some(Symbol::Byte(b')')) if *open > 0 => {
                *open -= 1;
                self.copy(1);
            }
            Some(Symbol::Byte(b')')) if self.byte(1) == Some(b')') => {
                self.copy(2);
                self.frames.pop();
            }
            Some(Symbol::Byte(b')' | b'\'' | b'"' | b'`' | b'#')) => {
                self.doubt("`((`, which is arithmetic or two brackets");
            }
            Some(Symbol::Byte(b'$')) => self.dollar(Style::Bare),
            Some(Symbol::Byte(b'\\')) => self.backslash(),
            _ => self.copy(1),
        }
    }
}
