//! What a place in a script is in.

/// One thing that the rest of the script is within until it ends.
#[derive(Debug)]
pub enum Frame {
    /// The script itself, or a `$( … )` in it.
    Command(Command),
    /// `" … "`
    Double,
    /// The word in `${name:-word}`.
    Word(Style),
    /// `$(( … ))` or `(( … ))`, with the brackets open in it.
    Arithmetic { open: usize },
    /// A here-document in which variables are read, up to this symbol.
    Body { end: usize },
}

/// How a template is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `"$_MS_1"`: quotes of its own.
    Quoted,
    /// `${_MS_1}`: there are quotes around it, or none have a meaning.
    Bare,
}

#[derive(Debug, Default)]
pub struct Command {
    /// It is a `$( … )`, which ends at its bracket.
    pub nested: bool,
    /// Brackets open in it.
    pub open: usize,
    /// Here-documents that begin at the next line.
    pub pending: Vec<HereDoc>,
    pub word: Word,
    /// The word that is next is the first of a command.
    pub first: bool,
    /// The word that is next is where something is redirected, and none of the command's.
    pub redirects: bool,
    /// Arguments of this are run as code.
    pub runs: Option<&'static str>,
}

/// The word that is being read.
#[derive(Debug, Default)]
pub struct Word {
    pub begun: bool,
    /// The symbol that it begins with.
    pub start: usize,
    /// Its text, as long as nothing in it is quoted.
    pub plain: Vec<u8>,
    pub quoted: bool,
    /// `[` open in it, after its beginning.
    pub brackets: usize,
}

#[derive(Debug)]
pub struct HereDoc {
    pub end: Vec<u8>,
    /// Nothing in it is read: its end mark is written in quotes.
    pub quoted: bool,
    /// `<<-`: tabs before a line do not count.
    pub tabs: bool,
}
