//! Files that hold what the program should say or print.

use std::path::Path;

/// Fails unless the file holds this text; with `BLESS=1` in the environment writes it instead.
#[track_caller]
pub fn check(path: &Path, text: &str) {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, text).expect("written");
        return;
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    if stored == text {
        return;
    }
    let path = path.display();
    panic!(
        "{path} has\n{stored}\nand should have\n{text}\nIf that is right, run the tests with BLESS=1"
    );
}
