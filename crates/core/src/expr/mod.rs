//! Expressions and templates: read and checked when a definition is, evaluated from what tasks
//! put out.
//!
//! ```text
//!  `${{ input.day }}`  Text, Tree   a template, alone or within a value
//!     input.day        Expr         an expression (CEL): read, checked, made ready
//!                      Known, Scope what it is evaluated in: asked only for what it reads
//!  run: …              ShellLine    templates in a shell line become variables
//! ```
//! What an expression reads is known from its text. Its cost is bounded: its size when it is
//! read; the lists it goes through, the work it does and the values it makes when it is
//! evaluated. Nothing here knows what a task is, or where its output is kept.

mod problem;
mod path;
mod reference;
mod parse;
mod meter;
mod pattern;
mod operators;
mod functions;
mod rewrite;
mod seek;
mod convert;
mod compiled;
mod reads;
mod scope;
mod trouble;
mod split;
mod text;
mod tree;
mod shell;

pub use compiled::Expr;
pub use path::Step;
pub use problem::{Fault, Problem};
pub use reference::{Reference, Root};
pub use scope::{Known, Place, Scope, Source};
pub(crate) use seek::{Missing, seek, what};
pub use shell::{ShellLine, VARIABLE};
pub use split::{OPEN, has_template};
pub(crate) use text::put;
pub use text::{Part, Text};
pub use tree::{Tree, TreeProblem};
pub use trouble::{Trouble, Unread};

#[cfg(test)]
mod tests;
