//! Past a certain length something wants to be split.

use super::finding::{Finding, Rule};
use super::scan::{functions, line_at};
use super::source::Source;

const FILE_LINES_MAX: usize = 700;
const FUNCTION_LINES_MAX: usize = 70;

pub fn check(source: &Source<'_>, found: &mut Vec<Finding>) {
    let lines = source.text.lines().count();
    if lines > FILE_LINES_MAX {
        let text = format!("{lines} lines, over {FILE_LINES_MAX}: split the file by idea");
        found.push(Finding::new(Rule::FileSize, source.path, lines, text));
    }
    for function in functions(&source.code) {
        let start = line_at(&source.code, function.span.start);
        let lines = line_at(&source.code, function.span.end) - start + 1;
        if lines > FUNCTION_LINES_MAX {
            let name = function.name;
            let text = format!("fn {name} has {lines} lines, over {FUNCTION_LINES_MAX}: split it");
            found.push(Finding::new(Rule::FunctionSize, source.path, start, text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<(Rule, usize)> {
        let mut found = Vec::new();
        check(&Source::new("a.rs", text), &mut found);
        found.into_iter().map(|finding| (finding.rule, finding.line)).collect()
    }

    fn function_of(lines: usize) -> String {
        format!("\nfn f() {{\n{}}}\n", "    g(\"}\"); // }\n".repeat(lines - 2))
    }

    #[test]
    fn a_long_file_is_found() {
        assert_eq!(findings(&"// a\n".repeat(700)), []);
        assert_eq!(findings(&"// a\n".repeat(701)), [(Rule::FileSize, 701)]);
    }

    #[test]
    fn a_long_function_is_found_whatever_its_strings_say() {
        assert_eq!(findings(&function_of(70)), []);
        assert_eq!(findings(&function_of(71)), [(Rule::FunctionSize, 2)]);
    }
}
