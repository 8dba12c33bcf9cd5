//! Where a rule makes the code worse, the place is named here, with the reason. An exception
//! that excuses nothing any more is itself a finding.

use super::finding::{Finding, Rule};

/// (rule, path, reason). The whole path counts, not a part of it.
pub type Exception = (Rule, &'static str, &'static str);

pub const EXCEPTIONS: &[Exception] = &[(
    Rule::Sleep,
    "crates/exec/tests/it/rig.rs",
    "looks at /proc until another process has got there: /proc tells nobody when it changes",
)];

/// Takes away what an exception excuses, and adds what is wrong with the exceptions.
pub fn apply(findings: Vec<Finding>, exceptions: &[Exception]) -> Vec<Finding> {
    let mut used = vec![false; exceptions.len()];
    let mut left = Vec::new();
    for finding in findings {
        let excused = exceptions
            .iter()
            .position(|(rule, path, _)| *rule == finding.rule && *path == finding.path);
        match excused {
            Some(index) => used[index] = true,
            None => left.push(finding),
        }
    }
    for ((rule, path, reason), used) in exceptions.iter().zip(used) {
        if !used || reason.is_empty() {
            let text = format!("the exception from {rule:?} is not needed or has no reason");
            left.push(Finding::new(Rule::StaleException, path, 1, text));
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Exception = (Rule::FileSize, "a.rs", "one table, which is read as a whole");

    #[test]
    fn an_exception_excuses_its_rule_in_its_file_and_nothing_else() {
        let excused = Finding::new(Rule::FileSize, "a.rs", 1, "long");
        let other_rule = Finding::new(Rule::Word, "a.rs", 1, "word");
        let other_file = Finding::new(Rule::FileSize, "b.rs", 1, "long");
        let all = vec![excused, other_rule.clone(), other_file.clone()];
        assert_eq!(apply(all, &[LONG]), [other_rule, other_file]);
    }

    #[test]
    fn an_exception_that_excuses_nothing_is_a_finding() {
        let left = apply(Vec::new(), &[LONG]);
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].rule, Rule::StaleException);
    }
}
