//! Tables: a text, and what is made of it.

mod table;
mod accepted;
mod mistakes;
mod templates;
mod waits;
mod finalize;
mod workspaces;
mod git_merges;
mod data;
mod paths;
mod yaml;
mod hostile;
mod random;
mod schema;
mod format;
mod generated;

use table::{check, one, places, read, shown, told};
mod added;
