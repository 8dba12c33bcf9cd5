//! Expressions and templates: what is read, what comes out, and what is refused.

mod stage;

mod references;
mod mistakes;
mod values;
mod work;
mod troubles;
mod bounds;
mod lazy;
mod texts;
mod trees;
mod shell;
