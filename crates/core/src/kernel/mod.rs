//! Tasks and attempts: facts, transitions, retries, losses, holds, stopping, limits.
//! Knows nothing of edges: which task comes next is a planner's business.

pub mod fact;
pub mod row;
