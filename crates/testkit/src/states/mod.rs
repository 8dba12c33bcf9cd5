//! The page docs/states.md, from the tables that core itself goes by: what is on it cannot
//! differ from what is decided.

mod sentences;
mod pictures;
mod tables;
mod page;

pub use page::page;
