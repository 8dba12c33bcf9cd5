mod stage;

mod references;
mod mistakes;
mod values;
mod troubles;
mod bounds;
mod lazy;
mod texts;
mod trees;
mod shell;
