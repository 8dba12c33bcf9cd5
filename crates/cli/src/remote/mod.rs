//! Follows what goes on at a server: a run until it ends, a log as it is written.
//!
//! ```text
//!  /events ─► stream (taken up again when cut off) ─► watched ─► reporter
//!  /runs/… ─► read at the start and after each cut ──┘
//! ```

mod run;
mod ending;
mod log;
mod until_over;

pub use ending::print;
pub use log::{Stamps, follow as follow_log};
pub use run::{Ending, Start, follow};
pub use until_over::until_over;
