//! Directories in a workspace: what is done elsewhere is on no branch.

/// How a path leaves its workspace, if it does.
pub fn problem(path: &str) -> Option<&'static str> {
    if path.starts_with('/') {
        return Some("is absolute");
    }
    path.split('/').any(|step| step == "..").then_some("has a step that is `..`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_within() {
        for good in [".", "a", "./a", "a//b/", "..a", "a..b/.c"] {
            assert_eq!(problem(good), None, "{good}");
        }
        for bad in ["/", "/a", "..", "../a", "a/..", "a/../b"] {
            assert!(problem(bad).is_some(), "{bad}");
        }
    }
}
