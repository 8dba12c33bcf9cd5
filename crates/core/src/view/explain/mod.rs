//! Why a task is not running now: for each task without an outcome every reason, as data and as a
//! sentence. Worked out from rows and from how limits stand, so that whoever can read a run can
//! explain it.

pub mod reason;
pub mod sentence;
pub mod shapes;
pub mod seen;
mod task;
mod group;
mod run;
pub mod behind;

pub use run::{Wanted, explain};
