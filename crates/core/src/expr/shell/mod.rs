//! Templates in a shell line. Values are never put into the text of a script: each becomes a
//! variable of the process, and the template the reading of that variable, quoted as its place
//! asks for. Where a value could still be run as code, or where it is not certain how a shell
//! reads the place, a template is refused.

mod symbol;
mod frame;
mod lexer;
mod command;
mod within;
mod heredoc;
mod line;

pub use line::{ShellLine, VARIABLE};
