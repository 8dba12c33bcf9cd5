//! From text to definition. Reads no files: the text is handed in.
//!
//! ```text
//! text ─► events ─► tree of values with places ─► definition
//!         (granit)  (build)                        (lower)
//! ```
//!
//! Every mistake of a text is found at once and told as plain data, with its place. Time and
//! memory are bounded by `limits`, whatever the text is. Nothing here knows what a run is.

pub mod definition;
pub mod control;
pub mod code;
pub mod diagnostic;
pub mod format;
mod parse;
mod added;
pub mod input;
pub mod output;
pub mod artifact_path;
pub mod workspace_path;
mod schema;
mod schema_walk;

mod place;
mod within;
mod report;
mod scalar;
mod tree;
mod tagged;
mod syntax;
mod build;
mod lower;

pub use added::{Added, RunSoFar, parse_added, parse_added_bytes, with_additions};
pub use code::Code;
pub use diagnostic::{Diagnostic, Related, Severity, Span};
pub use lower::duration::read as duration;
pub(crate) use lower::name::is_name;
pub use parse::{Context, Parsed, ServerTiers, parse, parse_bytes, values};

#[cfg(test)]
mod tests;
