//! The house rules that no compiler knows, checked on the text of the files alone: it does
//! not build anything, and it may not know what the code means. One rule, one file.

pub mod report;
pub mod finding;
pub mod exceptions;
pub mod source;
pub mod scan;

mod size;
mod words;
mod sleeps;
mod names;
mod rooms;
mod links;
mod paths;
mod whitespace;
