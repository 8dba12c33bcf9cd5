//! Shows a run while it goes on: from what became durable to lines on stderr. Knows nothing of
//! how the run is carried out.

mod board;
mod step;
mod live;
mod reporter;

pub use board::Board;
pub use reporter::Reporter;
pub use step::what_became;
