//! Data on stdout: JSON and YAML as documents. Tables are drawn by the commands themselves.

mod tree;
mod yaml;
mod document;
mod size;

pub use document::document;
pub use size::size;
pub use tree::Tree;
