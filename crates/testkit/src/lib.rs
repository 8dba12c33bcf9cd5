//! What tests and simulations of the other rooms share. Never part of the product.

pub mod sim;
pub mod states;
pub mod bench;
pub mod load;
pub mod shaky;
