//! The checkers, checked: deliberate breakages of core and engine, each of which the
//! simulator has to notice.

pub mod mutant;
pub mod attempts;
pub mod runs;
pub mod always;
pub mod anew;
pub mod added;
pub mod groups;
pub mod waits;
pub mod finals;
pub mod children;
pub mod limits;
pub mod engine;
pub mod switch;
pub mod tree;
pub mod hunt;
