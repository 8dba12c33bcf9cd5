//! The reference model: what a store means, without a disk. Simulations drive it without
//! async and take copies of it; the other stores are compared with it.

mod cache;
mod limits;
mod records;
mod model;
mod groups;
mod waits;
mod store;

pub use model::Model;
pub use store::Memory;
