//! What is written for one machine does not work on the next.

use super::finding::{Finding, Rule};

/// Folders at the root of a file system that exist, or mean something else, elsewhere.
const FOLDERS: &[&str] = &["tmp", "root", "work", "home", "Users"];

pub fn check(path: &str, text: &str, found: &mut Vec<Finding>) {
    for (number, line) in text.lines().enumerate() {
        if line.contains("mktemp") {
            continue;
        }
        for folder in FOLDERS.iter().filter(|folder| names_folder(line, folder)) {
            let text = format!(
                "a path under /{folder} is of one machine: make it relative, or \
                                ask for a temporary folder"
            );
            found.push(Finding::new(Rule::MachinePath, path, number + 1, text));
        }
    }
}

/// Whether `/folder/` stands in the line as the beginning of a path.
fn names_folder(line: &str, folder: &str) -> bool {
    let needle = format!("/{folder}/");
    line.match_indices(&needle).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.~})$*".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples are put together here, so that this file passes its own rule.
    fn findings(before: &str, folder: &str, after: &str) -> usize {
        let mut found = Vec::new();
        check("a.md", &format!("{before}/{folder}/{after}\n"), &mut found);
        found.len()
    }

    #[test]
    fn a_machine_path_is_found() {
        for folder in FOLDERS {
            assert_eq!(findings("cd ", folder, "a"), 1, "{folder}");
        }
        assert_eq!(findings("see \"", "home", "me/a\""), 1);
        assert_eq!(findings("file://", "tmp", "a"), 1);
        assert_eq!(findings("", "root", ""), 1);
    }

    #[test]
    fn the_middle_of_a_path_is_not() {
        assert_eq!(findings("src", "work", "a.rs"), 0);
        assert_eq!(findings("https://example.com", "home", "a"), 0);
        assert_eq!(findings("$TMPDIR", "tmp", "a"), 0);
        assert_eq!(findings("${DIR}", "work", "a"), 0);
        assert_eq!(findings(".", "tmp", "a"), 0);
    }

    #[test]
    fn a_template_for_mktemp_is_not() {
        assert_eq!(findings("mktemp ", "tmp", "a.XXXXXX"), 0);
    }
}
