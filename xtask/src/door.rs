//! The one door. Cheap steps come first; the tests come last, so that the closing lines of
//! their runner stand at the end, where one looks for them.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::checkout::{self, cargo};
use crate::fuzz;
use crate::page;
use crate::tidy;
use crate::tools::{self, Runner};

/// The steps, in the order in which they run.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Step {
    /// Install what the other steps need
    Tools,
    /// cargo fmt --check
    Fmt,
    /// Clippy with warnings as errors
    Clippy,
    /// The house rules
    Tidy,
    /// Examples in doc comments
    Doc,
    /// The API under requests that a machine makes up
    Fuzz,
    /// The page in a real browser, and the types of its scripts
    Page,
    /// All other tests
    Test,
}

// Clippy sees all features, so that code behind `bench` is linted too. The tests are built
// with the default features: what they prove must hold for the program that is shipped, and
// that one does not know the action `echo`. This costs no second build of anything: clippy
// only checks, the tests generate code, and cargo keeps the two apart for every crate
// whatever its features. Doc tests use the same features as the tests and share their build.
const FMT: &[&str] = &["fmt", "--all", "--check"];
const CLIPPY: &[&str] =
    &["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
const DOC: &[&str] = &["test", "--doc", "--workspace"];
const NEXTEST: &[&str] = &["nextest", "run", "--workspace", "--no-fail-fast"];
const CARGO_TEST: &[&str] =
    &["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"];

/// Runs every step; the first that fails ends it.
pub fn pass(root: &Path) -> Result<()> {
    let mut times = Vec::new();
    for &step in Step::value_variants() {
        times.push((step, run(root, step)?));
    }
    let total: Duration = times.iter().map(|(_, took)| *took).sum();
    let each: Vec<String> =
        times.iter().map(|(step, took)| format!("{} {}", name(*step), seconds(*took))).collect();
    eprintln!("==> every step passed in {} ({})", seconds(total), each.join(", "));
    Ok(())
}

/// Runs one step and says how long it took.
pub fn run(root: &Path, step: Step) -> Result<Duration> {
    let name = name(step);
    let started = Instant::now();
    let outcome = match step {
        Step::Tools => announced(name, "what the other steps need", || tools::install(root)),
        Step::Fmt => cargo_step(root, name, FMT),
        Step::Clippy => cargo_step(root, name, CLIPPY),
        Step::Tidy => announced(name, "the house rules", || tidy::report::run(root)),
        Step::Doc if has_doc_tests(root)? => cargo_step(root, name, DOC),
        Step::Doc => announced(name, "no examples in doc comments, nothing to run", || Ok(())),
        Step::Fuzz => {
            announced(name, "schemathesis against the real server", || fuzz::rounds::step(root))
        }
        Step::Page => announced(name, "types, and tests in a browser", || page::step(root)),
        Step::Test => match tools::runner(root) {
            Runner::Nextest => cargo_step(root, name, NEXTEST),
            Runner::CargoTest => cargo_step(root, name, CARGO_TEST),
        },
    };
    let took = started.elapsed();
    match outcome {
        Ok(()) => eprintln!("==> {name} passed in {}", seconds(took)),
        Err(_) => eprintln!("==> {name} FAILED after {}", seconds(took)),
    }
    outcome.map(|()| took)
}

fn announced(name: &str, what: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("==> {name}: {what}");
    work()
}

fn cargo_step(root: &Path, name: &str, args: &[&str]) -> Result<()> {
    let line = format!("cargo {}", args.join(" "));
    announced(name, &line, || {
        let status =
            cargo(root, args).status().with_context(|| format!("could not start `{line}`"))?;
        if !status.success() {
            bail!("`{line}` failed ({status})");
        }
        Ok(())
    })
}

fn has_doc_tests(root: &Path) -> Result<bool> {
    for path in checkout::files(root)? {
        let in_library = path.starts_with("crates/") && path.contains("/src/");
        if in_library && path.ends_with(".rs") {
            let text = std::fs::read_to_string(root.join(&path))
                .with_context(|| format!("could not read {path}"))?;
            if opens_doc_example(&text) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a doc comment opens a code block that rustdoc would try. Errs on the side of yes.
fn opens_doc_example(text: &str) -> bool {
    let mut open = false;
    for line in text.lines() {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(language) = doc.and_then(|doc| doc.trim().strip_prefix("```")) else {
            continue;
        };
        if !open && !matches!(language, "text" | "yaml" | "json" | "sh" | "console" | "sql") {
            return true;
        }
        open = !open;
    }
    false
}

fn name(step: Step) -> &'static str {
    match step {
        Step::Tools => "tools",
        Step::Fmt => "fmt",
        Step::Clippy => "clippy",
        Step::Tidy => "tidy",
        Step::Doc => "doc",
        Step::Fuzz => "fuzz",
        Step::Page => "page",
        Step::Test => "test",
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1}s", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_are_named_as_on_the_command_line() {
        for &step in Step::value_variants() {
            let value = step.to_possible_value().expect("no step is hidden");
            assert_eq!(value.get_name(), name(step));
        }
    }

    #[test]
    fn the_tests_come_last() {
        assert_eq!(Step::value_variants().last(), Some(&Step::Test));
    }

    #[test]
    fn a_doc_example_is_found_and_a_picture_is_not() {
        assert!(opens_doc_example("/// ```\n/// f();\n/// ```\nfn f() {}\n"));
        assert!(opens_doc_example("    //! ```no_run\n"));
        assert!(!opens_doc_example("/// ```text\n/// a -> b\n/// ```\nfn f() {}\n"));
        assert!(!opens_doc_example("let fence = \"```\";\n"));
    }

    #[test]
    fn an_example_after_a_picture_is_found() {
        assert!(opens_doc_example("/// ```text\n/// ```\n/// ```\n/// f();\n/// ```\n"));
    }
}
