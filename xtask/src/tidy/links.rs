//! A link in a page leads to a file that is in the repository.

use std::collections::BTreeSet;

use super::finding::{Finding, Rule};

/// `paths`: every file of the repository.
pub fn check(path: &str, text: &str, paths: &BTreeSet<String>, found: &mut Vec<Finding>) {
    let mut fenced = false;
    for (number, line) in text.lines().enumerate() {
        let fence = line.trim_start();
        if fence.starts_with("```") || fence.starts_with("~~~") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for target in targets(&without_code(line)) {
            let file = target.split(['#', '?']).next().unwrap_or("");
            if leads_elsewhere(&target) || file.is_empty() {
                continue;
            }
            if !resolve(path, file).is_some_and(|file| exists(&file, paths)) {
                let text = format!("`{target}` is not in the repository: correct the link");
                found.push(Finding::new(Rule::Link, path, number + 1, text));
            }
        }
    }
}

/// The line with its code spans blanked.
fn without_code(line: &str) -> String {
    let mut in_code = false;
    line.chars()
        .map(|c| {
            in_code ^= c == '`';
            if in_code || c == '`' { ' ' } else { c }
        })
        .collect()
}

/// The targets of `[text](target "title")`, `![…](…)` and `[name]: target`.
fn targets(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("](") {
        let inside = &line[at + 2..];
        let end = inside.find([')', ' ']).unwrap_or(inside.len());
        found.push(inside[..end].trim_matches(['<', '>']).to_owned());
    }
    if line.starts_with('[')
        && let Some((_, target)) = line.split_once("]: ")
    {
        found.extend(target.split_whitespace().next().map(str::to_owned));
    }
    found
}

fn leads_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// The path from the root of the repository, unless it leads out of it.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = if target.starts_with('/') {
        Vec::new()
    } else {
        page.rsplit_once('/').map_or(Vec::new(), |(folder, _)| folder.split('/').collect())
    };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn exists(file: &str, paths: &BTreeSet<String>) -> bool {
    let folder = format!("{file}/");
    file.is_empty() || paths.contains(file) || paths.iter().any(|path| path.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_page(text: &str, lines: &[usize]) {
        let paths = ["README.md", "docs/guide.md", "examples/hello.yaml"].map(str::to_owned);
        let mut found = Vec::new();
        check("docs/guide.md", text, &BTreeSet::from(paths), &mut found);
        let at: Vec<usize> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(at, lines, "in {text}");
    }

    #[test]
    fn a_dead_link_is_found() {
        check_page("a\n[b](missing.md)\n", &[2]);
        check_page("[b](../missing.md#part) and ![c](d.png)", &[1, 1]);
        check_page("[b]: missing.md \"title\"", &[1]);
        check_page("[b](../../outside.md)", &[1]);
    }

    #[test]
    fn a_live_link_is_not() {
        check_page("[a](guide.md) [b](../README.md#top) [c](/examples/hello.yaml)", &[]);
        check_page("[a](../examples/) [b](..) [c](#part) [d](guide.md \"title\")", &[]);
    }

    #[test]
    fn the_web_and_code_are_not_looked_at() {
        check_page("[a](https://example.com/b) [c](mailto:d@example.com)", &[]);
        check_page("```\n[a](b)\n```\n`[a](b)`", &[]);
    }
}
