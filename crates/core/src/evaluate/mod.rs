//! What has to be worked out from payloads before it can be decided: conditions, numbers of
//! instances, lists of outputs. Costs grow with the payload, so the world asks, and whoever
//! carries out its effects works the answer out, off the deciding thread.
//!
//! ```text
//!  world ─ Effect::Evaluate(question) ─► work_out(question, outputs) ─ Input::Answer ─► world
//! ```
//! Nothing is stored of a question. The same question asked again, after a crash or a pause, has
//! the same answer.

pub mod question;
pub mod outputs;
mod desk;
mod answer;
mod fan;
mod list;
mod park;
mod child;
mod group_key;

pub use answer::work_out;
pub(crate) use child::unknown_workflow;
pub(crate) use desk::{Desk, Stop, scope};
pub use group_key::{BadKey, group_key};
pub use outputs::{InstanceOutput, Outputs, OutputsError};
pub use question::{
    Answer, Asked, Begin, Instance, KnownChild, Parking, Question, Surroundings, Upstream,
    WorkDone, error_of,
};

#[cfg(test)]
mod tests;
