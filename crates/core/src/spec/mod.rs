//! From text to definition. Reads no files: the text is handed in.

pub mod definition;
