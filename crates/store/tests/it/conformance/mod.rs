//! One suite of cases for every store, through the trait alone.

mod begin;
mod lives;
mod whole;
mod rows_kept;
mod history;
mod groups;
mod cache;
mod lists;
mod changes;
mod workflows;
mod dropping;
mod keys;
mod audit;
mod tokens;
mod bulks;
mod waits;
mod limits;
mod odd_text;
pub mod blobs;
mod suite;
mod blob_suite;
