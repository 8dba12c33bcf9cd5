//! A workflow as a picture: what its tasks are and what they wait for, and that drawn as text.
//! Pure: a definition in, a text out. Knows nothing of runs.

pub mod model;
pub mod mermaid;
pub mod dot;
pub mod svg;
mod layers;
mod order;
mod layout;
mod ports;

pub use model::Graph;

#[cfg(test)]
mod tests;
