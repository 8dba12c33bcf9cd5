//! The script itself and `$( … )`: words, quotes, comments, brackets.

use super::frame::{Command, Frame, Style, Word};
use super::lexer::Lexer;
use super::symbol::Symbol;

/// After these the next word is the first of a command again. What starts another program, such as
/// `env` or `nohup`, is not among them: `eval` is no program.
const BEFORE_COMMANDS: &[&str] =
    &["if", "then", "else", "elif", "while", "until", "do", "{", "!", "time", "coproc"];
/// The same; but they are commands themselves, and found in quotes too.
const RUN_COMMANDS: &[&str] = &["command", "builtin", "exec"];
/// These are read as such behind other words too: `for x do`, `function f {`.
const BEGIN_ANYWHERE: &[&str] = &["do", "{"];
/// What follows them is run as code, or worked out in a way that can run code. `\eval` and `"eval"`
/// are `eval` too.
const RUN_CODE: &[&str] = &["eval", "let"];
/// The same, where it is not quoted.
const CONDITION: &str = "[[";

impl Lexer<'_> {
    pub fn command(&mut self) {
        match self.symbol(0) {
            Some(Symbol::Template(_)) => self.template(),
            Some(Symbol::Byte(byte)) => self.command_byte(byte),
            None => {}
        }
    }

    fn template(&mut self) {
        self.quote();
        if self.here().word.brackets > 0 {
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
        self.begin().quoted = true;
    }

    fn begin(&mut self) -> &mut Word {
        let at = self.at;
        let word = &mut self.here().word;
        if !std::mem::replace(&mut word.begun, true) {
            word.start = at;
        }
        word
    }

    fn letter(&mut self, byte: u8) {
        let has_begun = self.here().word.begun;
        let word = self.begin();
        match byte {
            b'[' if has_begun => word.brackets += 1,
            b']' => word.brackets = word.brackets.saturating_sub(1),
            _ => {}
        }
        // `[[` begins with a bracket that is no index.
        if word.plain == b"[" && byte == b'[' {
            word.brackets = 0;
        }
        word.plain.push(byte);
        self.copy(1);
    }

    fn end_word(&mut self) {
        let Word { begun, start, plain, quoted, .. } = std::mem::take(&mut self.here().word);
        if !begun || std::mem::take(&mut self.here().redirects) {
            return;
        }
        let bare = self.unquoted(start);
        let is_one_of =
            |names: &[&'static str]| names.iter().find(|name| name.as_bytes() == bare).copied();
        let command = self.here();
        let word = if quoted { "" } else { std::str::from_utf8(&plain).unwrap_or_default() };
        if command.runs == Some(CONDITION) && word == "]]" {
            command.runs = None;
        }
        if command.nested && word == "case" {
            return self.doubt("`case` within `$(`, whose brackets do not match");
        }
        if command.first {
            let condition = (word == CONDITION).then_some(CONDITION);
            command.runs = is_one_of(RUN_CODE).or(condition).or(command.runs);
        }
        let assignment = !word.starts_with('=') && plain.contains(&b'=');
        // No command has a name like an option: it is one of what stands before the command.
        let option = word.starts_with('-');
        let runs_command = BEFORE_COMMANDS.contains(&word) || is_one_of(RUN_COMMANDS).is_some();
        command.first &= runs_command || assignment || option;
        command.first |= BEGIN_ANYWHERE.contains(&word);
    }

    /// The word that began there, as far as it is plain text, without its quotes.
    fn unquoted(&self, start: usize) -> Vec<u8> {
        let symbols = &self.symbols_from(start)[..self.at - start];
        let is_quote = |symbol: &Symbol| matches!(symbol, Symbol::Byte(b'\\' | b'\'' | b'"'));
        let mut bare = Vec::new();
        for (at, symbol) in symbols.iter().enumerate() {
            match symbol {
                // `$'eval'`
                Symbol::Byte(b'$') if symbols.get(at + 1).is_some_and(is_quote) => {}
                Symbol::Byte(byte) if !is_quote(symbol) => bare.push(*byte),
                _ => {}
            }
        }
        bare
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
        if command.runs != Some(CONDITION) {
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
