//! `mainspring server`: from flags, environment and a file to a server at work, and to its end.

pub mod file;
mod settings;
mod shown;
mod narrate;
mod notify;
mod database;
mod memory;
mod life;

pub use life::serve;
pub use settings::{Origin, Setting, Settings, kept};
