//! Data on stdout: JSON and YAML as documents. Tables are drawn by the commands themselves.

mod tree;
mod yaml;
mod document;

pub use document::document;
pub use tree::Tree;
