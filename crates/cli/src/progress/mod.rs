//! Shows a run while it goes on: from what became durable to lines on stderr. Knows nothing of
//! how the run is carried out.

mod standing;
mod step;
mod board;
mod watched;
mod live;
mod reporter;

pub use board::Board;
pub use reporter::Reporter;
pub use standing::{Live, Standing, Tally};
pub use step::{Step, what_became};
pub use watched::Watched;
