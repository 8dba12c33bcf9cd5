//! Paths of artifacts: below a task's directory, wherever that is.

/// A path is a part of a file name on the way, and of a row.
const BYTES_MAX: usize = 1_024;

/// What is wrong with a path, if something is.
pub fn problem(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("is empty");
    }
    if path.len() > BYTES_MAX {
        return Some("is too long");
    }
    if path.starts_with('/') {
        return Some("is absolute");
    }
    if path.chars().any(char::is_control) {
        return Some("holds a character that cannot be seen");
    }
    path.split('/').find_map(|step| match step {
        "" => Some("has a step without a name"),
        "." | ".." => Some("has a step that is `.` or `..`"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below() {
        for good in ["a", "a/b.txt", "..a", "a..b/.c", "é x"] {
            assert_eq!(problem(good), None, "{good}");
        }
        for bad in ["", "/a", "..", "../a", "a/../b", "a//b", "a/", "./a", "a\0b", "a\nb"] {
            assert!(problem(bad).is_some(), "{bad}");
        }
        assert!(problem(&"x".repeat(1_025)).is_some());
    }
}
