//! Prints docs/states.md from the tables that core itself goes by.
#![allow(clippy::print_stdout, reason = "a program for the terminal")]

fn main() {
    print!("{}", mainspring_testkit::states::page());
}
