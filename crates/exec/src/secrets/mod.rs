//! Secrets of tasks: where they are found, and that they do not show.
//!
//! ```text
//!  name ─► Secrets: file in the folder, else variable of the server ─► Secret ─► environment
//!                                                                        │
//!  what the task writes ─► Mask (one for each stream) ◄── Patterns ◄─────┘
//!                            ├─► log, quoted texts: `***`
//!                            └─► strings of an output, as whoever reads it sees them
//! ```
//! A value lives from the start of a process to its end, in memory only. May not know of
//! processes or logs.

mod value;
mod lookup;
mod patterns;
mod escapes;
mod reader;
mod mask;
mod in_json;

pub(crate) use in_json::{Hidden, hide_in_json};
pub(crate) use lookup::VARIABLE_PREFIX;
pub use lookup::{NoSecret, Secrets};
pub(crate) use mask::Mask;
pub(crate) use patterns::Patterns;
pub use value::Secret;
