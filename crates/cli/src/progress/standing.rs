//! What a picture of a run needs to know.

use crate::fan::Fan;
use mainspring_core::time::Timestamp;

pub trait Standing {
    /// Tasks that run now, the longest first.
    fn live(&self) -> Vec<Live<'_>>;
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

/// A task that runs, or a fan-out that is open.
#[derive(Clone, Copy, Debug)]
pub struct Live<'a> {
    pub name: &'a str,
    pub since: Timestamp,
    pub fan: Option<Fan>,
}
