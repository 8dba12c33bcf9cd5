//! What a picture of a run needs to know.

use mainspring_core::time::Timestamp;

pub trait Standing {
    /// Tasks that run now and since when, the longest first.
    fn live(&self) -> Vec<(&str, Timestamp)>;
    fn tally(&self) -> Tally;
}

/// Tasks by what has become of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub total: u32,
    /// With an outcome, whatever it is.
    pub done: u32,
    pub failed: u32,
}
