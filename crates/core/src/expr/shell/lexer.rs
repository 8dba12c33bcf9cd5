//! Goes through a script once, with a stack of what each place is in.

use super::frame::{Command, Frame, Style};
use super::line::variable;
use super::symbol::{Symbol, Template, shown};
use crate::expr::problem::Problem;

/// Nesting of a script: more than anyone writes.
const FRAMES_MAX: usize = 64;

const USE_ENV: &str = "give it a name under `env:` and write `\"$NAME\"` here";

pub struct Lexer<'s> {
    symbols: &'s [Symbol],
    templates: &'s [Template],
    pub at: usize,
    pub frames: Vec<Frame>,
    out: Vec<u8>,
    problems: Vec<Problem>,
    /// Why it is not certain what the rest is in.
    doubt: Option<&'static str>,
}

impl<'s> Lexer<'s> {
    pub fn new(symbols: &'s [Symbol], templates: &'s [Template]) -> Self {
        let script = Frame::Command(Command { first: true, ..Command::default() });
        Self {
            symbols,
            templates,
            at: 0,
            frames: vec![script],
            out: Vec::with_capacity(symbols.len() + 16 * templates.len()),
            problems: Vec::new(),
            doubt: None,
        }
    }

    /// The script with its templates replaced.
    pub fn run(mut self) -> Result<String, Vec<Problem>> {
        while self.doubt.is_none() && (self.at < self.symbols.len() || self.body_is_over()) {
            self.step();
        }
        self.rest();
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        Ok(String::from_utf8(self.out).expect("bytes of a text, in order"))
    }

    fn step(&mut self) {
        if self.frames.len() > FRAMES_MAX {
            return self.doubt("its nesting");
        }
        if self.body_is_over() {
            return self.end_body();
        }
        match self.frames.last() {
            Some(Frame::Command(_)) => self.command(),
            Some(Frame::Double) => self.double(),
            Some(Frame::Word(style)) => self.word(*style),
            Some(Frame::Arithmetic { .. }) => self.arithmetic(),
            Some(Frame::Body { .. }) => self.body(),
            None => self.doubt("a bracket too many"),
        }
    }

    /// After a doubt: what has no templates is passed on as it is.
    fn rest(&mut self) {
        let Some(why) = self.doubt else { return };
        for symbol in &self.symbols[self.at..] {
            match symbol {
                Symbol::Byte(byte) => self.out.push(*byte),
                Symbol::Template(template) => {
                    let message = format!(
                        "It is not certain how a shell reads this template, because of {why} \
                         before it."
                    );
                    let at = self.templates[*template].whole.clone();
                    self.problems.push(Problem::new(at, message).with_hint(USE_ENV).of_place());
                    return;
                }
            }
        }
    }

    pub fn doubt(&mut self, why: &'static str) {
        self.doubt = Some(why);
    }

    pub fn symbol(&self, ahead: usize) -> Option<Symbol> {
        self.symbols.get(self.at + ahead).copied()
    }

    /// The byte there, if it is one.
    pub fn byte(&self, ahead: usize) -> Option<u8> {
        match self.symbol(ahead) {
            Some(Symbol::Byte(byte)) => Some(byte),
            _ => None,
        }
    }

    pub fn symbols_from(&self, start: usize) -> &'s [Symbol] {
        self.symbols.get(start..).unwrap_or_default()
    }

    /// Passes on so many bytes; stops before a template.
    pub fn copy(&mut self, count: usize) {
        for _ in 0..count {
            let Some(byte) = self.byte(0) else { return };
            self.out.push(byte);
            self.at += 1;
        }
    }

    /// Writes the template that is next.
    pub fn write(&mut self, style: Style) {
        let Some(Symbol::Template(template)) = self.symbol(0) else { return };
        if let Some(name) = self.runs() {
            let why = format!("stands behind `{name}`, which may run a value as code");
            let hint = match name {
                "[[" => "write `[ … ]`",
                _ => "work it out in the expression, or in a program",
            };
            return self.refuse(&why, hint);
        }
        let name = variable(self.templates[template].number);
        let written = match style {
            Style::Quoted => format!("\"${name}\""),
            Style::Bare => format!("${{{name}}}"),
        };
        self.out.extend(written.bytes());
        self.at += 1;
    }

    /// The command around this place that runs its arguments as code.
    fn runs(&self) -> Option<&'static str> {
        self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Command(command) => Some(command.runs),
            _ => None,
        })?
    }

    /// Refuses the template that is next, and goes on behind it.
    pub fn refuse(&mut self, why: &str, hint: &str) {
        let Some(Symbol::Template(template)) = self.symbol(0) else { return };
        let template = &self.templates[template];
        let message = format!("{} {why}.", shown(template));
        let problem = Problem::new(template.whole.clone(), message).with_hint(hint);
        self.problems.push(problem.of_place());
        self.at += 1;
    }

    /// A backslash and what it stands before.
    pub fn backslash(&mut self) {
        self.copy(1);
        if let Some(Symbol::Template(_)) = self.symbol(0) {
            self.refuse(
                "stands behind a backslash, which would quote its first character",
                "for a plain `${{` write `$${{`; else leave the backslash out",
            );
        } else {
            self.copy(1);
        }
    }

    /// From an opening `'` to the next one.
    pub fn single(&mut self) {
        self.copy(1);
        loop {
            match self.symbol(0) {
                Some(Symbol::Byte(byte)) => {
                    self.copy(1);
                    if byte == b'\'' {
                        return;
                    }
                }
                Some(Symbol::Template(_)) => self.refuse(
                    "stands in single quotes, in which no value is put",
                    "use double quotes, or end the single ones before it",
                ),
                None => return,
            }
        }
    }

    /// From an opening backtick to the next one.
    pub fn backtick(&mut self) {
        self.copy(1);
        loop {
            match self.symbol(0) {
                Some(Symbol::Byte(b'\\')) => self.copy(2),
                Some(Symbol::Byte(byte)) => {
                    self.copy(1);
                    if byte == b'`' {
                        return;
                    }
                }
                Some(Symbol::Template(_)) => self.refuse(
                    "stands in backticks, whose quotes shells read in different ways",
                    "write `$( … )` instead of the backticks",
                ),
                None => return,
            }
        }
    }

    /// A `$` and what it begins.
    pub fn dollar(&mut self, around: Style) {
        match (self.byte(1), self.byte(2)) {
            (Some(b'('), Some(b'(')) => {
                self.copy(3);
                self.frames.push(Frame::Arithmetic { open: 0 });
            }
            (Some(b'('), _) => {
                self.copy(2);
                let command = Command { nested: true, first: true, ..Command::default() };
                self.frames.push(Frame::Command(command));
            }
            (Some(b'{'), _) => self.parameter(around),
            _ => self.copy(1),
        }
    }
}
