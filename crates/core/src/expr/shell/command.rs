//! The script itself and `$( … )`: words, quotes, comments, brackets.

use super::frame::{Command, Frame, Style, Word};
use super::lexer::Lexer;
use super::symbol::Symbol;

/// After these the next word is the first of a command again. What starts another program, such as
/// `env` or `nohup`, is not among them: `eval` is no program.
const BEFORE_COMMANDS: &[&str] = &[
    "if", "then", "else", "elif", "while", "until", "do", "{", "!", "time", "coproc", "command",
    "builtin", "exec",
];
/// These are read as such behind other words too: `for x do`, `function f {`.
const BEGIN_ANYWHERE: &[&str] = &["do", "{"];
/// What follows them is run as code, or worked out in a way that can run code.
const RUN_CODE: &[&str] = &["eval", "let", "[["];

impl Lexer<'_> {
    pub fn command(&mut self) {
        match self.symbol(0) {
            Some(Symbol::Template(_)) => self.template(),
            Some(Symbol::Byte(byte)) => self.command_byte(byte),
            None => {}
        }
    }

    fn template(&mut self) {
        let command = self.here();
        command.word.begun = true;
        command.word.quoted = true;
        if command.word.brackets > 0 {
            return self.refuse(
                "stands in `[ … ]` of a word, in which some shells run values as code",
                "put a space before `[` if it is a test",
            );
        }
        self.write(Style::Quoted);
    }

    fn command_byte(&mut self, byte: u8) {
        match byte {
            b'\\' if self.byte(1) == Some(b'\n') => self.copy(2),
            b'\'' => {
                self.quote();
                self.single();
            }
            b'"' => {
                self.quote();
                self.copy(1);
                self.frames.push(Frame::Double);
            }
            b'\\' => {
                self.quote();
                self.backslash();
            }
            b'`' => {
                self.quote();
                self.backtick();
            }
            b'$' if self.byte(1) == Some(b'\'') => self.ansi_quotes(),
            b'$' => {
                self.quote();
                self.dollar(Style::Quoted);
            }
            b'#' if !self.here().word.begun => self.comment(),
            b'<' | b'>' => {
                self.descriptor();
                self.end_word();
                self.redirection(byte);
            }
            b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => {
                self.end_word();
                self.sign(byte);
            }
            _ => self.letter(byte),
        }
    }

    /// The command that is being read. Only called while there is one.
    pub fn here(&mut self) -> &mut Command {
        match self.frames.last_mut() {
            Some(Frame::Command(command)) => command,
            _ => unreachable!("a command is being read"),
        }
    }

    /// Something in this word is more than its plain text.
    fn quote(&mut self) {
        let word = &mut self.here().word;
        word.begun = true;
        word.quoted = true;
    }

    fn letter(&mut self, byte: u8) {
        let word = &mut self.here().word;
        match byte {
            b'[' if word.begun => word.brackets += 1,
            b']' => word.brackets = word.brackets.saturating_sub(1),
            _ => {}
        }
        // `[[` begins with a bracket that is no index.
        if word.plain == b"[" && byte == b'[' {
            word.brackets = 0;
        }
        word.begun = true;
        word.plain.push(byte);
        self.copy(1);
    }

    fn end_word(&mut self) {
        let command = self.here();
        let Word { begun, plain, quoted, .. } = std::mem::take(&mut command.word);
        if !begun {
            return;
        }
        if std::mem::take(&mut command.redirects) {
            return;
        }
        let word = if quoted { "" } else { std::str::from_utf8(&plain).unwrap_or_default() };
        if command.runs == Some("[[") && word == "]]" {
            command.runs = None;
        }
        if command.nested && word == "case" {
            return self.doubt("`case` within `$(`, whose brackets do not match");
        }
        if command.first {
            command.runs = RUN_CODE.iter().find(|name| **name == word).copied().or(command.runs);
        }
        let assignment = !word.starts_with('=') && plain.contains(&b'=');
        // No command has a name like an option: it is one of what stands before the command.
        let option = word.starts_with('-');
        command.first &= BEFORE_COMMANDS.contains(&word) || assignment || option;
        command.first |= BEGIN_ANYWHERE.contains(&word);
    }

    /// `2>` and `{name}>`: what is redirected is no word of the command.
    fn descriptor(&mut self) {
        let word = &mut self.here().word;
        let named = word.plain.starts_with(b"{") && word.plain.ends_with(b"}");
        if !word.quoted && (named || word.plain.iter().all(u8::is_ascii_digit)) {
            *word = Word::default();
        }
    }

    fn redirection(&mut self, byte: u8) {
        let length = match (byte, self.byte(1)) {
            (b'<', Some(b'<')) => {
                self.here().redirects = self.byte(2) == Some(b'<');
                return self.here_operator();
            }
            // A command that is read like a file.
            (_, Some(b'(')) => return self.copy(1),
            (b'>', Some(b'>' | b'|' | b'&')) | (b'<', Some(b'>' | b'&')) => 2,
            _ => 1,
        };
        self.here().redirects = true;
        self.copy(length);
    }

    fn sign(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.next_command();
                self.new_line();
            }
            b'(' if self.byte(1) == Some(b'(') => {
                self.copy(2);
                self.frames.push(Frame::Arithmetic { open: 0 });
            }
            b'(' => {
                self.here().open += 1;
                self.next_command();
                self.copy(1);
            }
            b')' => self.close(),
            b';' | b'&' | b'|' => {
                self.next_command();
                self.copy(1);
            }
            _ => self.copy(1),
        }
    }

    fn next_command(&mut self) {
        let command = self.here();
        command.first = true;
        command.redirects = false;
        // A condition in `[[ … ]]` may have `&&`, `||`, brackets and lines of its own.
        if command.runs != Some("[[") {
            command.runs = None;
        }
    }

    fn close(&mut self) {
        let command = self.here();
        if command.nested && command.open == 0 {
            if !command.pending.is_empty() {
                return self.doubt("a here-document that begins at the end of `$(`");
            }
            self.copy(1);
            self.frames.pop();
            return;
        }
        command.open = command.open.saturating_sub(1);
        self.next_command();
        self.copy(1);
    }

    /// `$'…'` is one thing to some shells, and a dollar before quotes to others.
    fn ansi_quotes(&mut self) {
        self.quote();
        let inner = self.symbols_from(self.at + 2);
        let end = inner.iter().position(|symbol| *symbol == Symbol::Byte(b'\''));
        let inner = &inner[..end.unwrap_or(inner.len())];
        if inner.contains(&Symbol::Byte(b'\\')) {
            return self.doubt("`$'`");
        }
        self.copy(1);
        self.single();
    }

    /// Up to the end of its line. Values in it are of no matter.
    fn comment(&mut self) {
        loop {
            match self.symbol(0) {
                Some(Symbol::Byte(b'\n')) | None => return,
                Some(Symbol::Byte(_)) => self.copy(1),
                Some(Symbol::Template(_)) => self.write(Style::Bare),
            }
        }
    }
}
