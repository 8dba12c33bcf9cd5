//! Tasks and attempts: facts, transitions, retries, losses, permits. Knows nothing of
//! edges: which task comes next is a planner's business.

pub mod fact;
pub mod finalizer;
pub mod row;
pub mod group;
pub mod wait;
pub mod cache;
pub mod rows;
pub mod record;
pub mod bulk;
pub mod transition;
pub mod again;
pub mod limit;
pub mod ledger;
pub mod permits;
