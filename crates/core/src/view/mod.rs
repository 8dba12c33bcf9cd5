//! The words people see, derived from few stored facts by pure functions: every server, the
//! command line and the page show exactly what a run's owner would.

pub mod word;
pub mod words;
pub mod awaits;
pub mod finalizer;
pub mod shapes;
pub mod tiers;
pub mod compared;
pub mod explain;
