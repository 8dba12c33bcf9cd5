//! All breakages in one program, each behind a switch. Building is what a mutant costs, so
//! they are built together; one process has at most one of them on.
//!
//! ```text
//!   tries > retries.max
//!     ─►  (if switch("off-by-one") { tries >= retries.max } else { tries > retries.max })
//! ```
//! With none on, every passage is what it was.

use super::mutant::Mutant;

/// Names the one that is on.
pub const VARIABLE: &str = "MAINSPRING_MUTANT";

/// Where the switch itself is put, beside the code it breaks.
pub const FILE: &str = "crates/core/src/mutant.rs";
pub const LIB: &str = "crates/core/src/lib.rs";

/// The room that decides may not read the environment. Its broken copy has to.
pub fn source() -> String {
    format!(
        "//! Which breakage is on.\n\n\
         static ON: std::sync::LazyLock<Option<String>> =\n    \
             std::sync::LazyLock::new(|| std::env::var(\"{VARIABLE}\").ok());\n\n\
         pub fn is(name: &str) -> bool {{\n    ON.as_deref() == Some(name)\n}}\n"
    )
}

/// The library with the switch in it.
pub fn declared(lib: &str) -> String {
    format!("{lib}\npub mod mutant;\n")
}

/// A file with all breakages of it.
pub fn applied(file: &str, text: &str, mutants: &[&Mutant]) -> Result<String, String> {
    let mut placed = Vec::with_capacity(mutants.len());
    for mutant in mutants {
        placed.push((mutant.position(text)?, *mutant));
    }
    placed.sort_by_key(|(at, _)| *at);
    let (mut whole, mut done) = (String::with_capacity(2 * text.len()), 0);
    for same in
        placed.chunk_by(|one, other| (one.0, one.1.passage()) == (other.0, other.1.passage()))
    {
        let (at, first) = same[0];
        let old = first.passage();
        let Some(between) = text.get(done..at) else {
            return Err(format!("{}: its passage overlaps another one in {file}", first.name));
        };
        whole += between;
        whole += &switched(file, same.iter().map(|(_, mutant)| *mutant), old);
        done = at + old.len();
    }
    Ok(whole + &text[done..])
}

/// One passage, with everything that may take its place.
fn switched<'a>(file: &str, mutants: impl Iterator<Item = &'a Mutant>, old: &str) -> String {
    let root = if file.starts_with("crates/core/") { "crate" } else { "mainspring_core" };
    let mut choice = String::new();
    for mutant in mutants {
        let Mutant { name, new, .. } = mutant;
        choice += &format!("if {root}::mutant::is(\"{name}\") {{ {new} }} else ");
    }
    choice += &format!("{{ {old} }}");
    let is_statement = old.ends_with([';', '}']);
    if is_statement { choice } else { format!("({choice})") }
}

#[cfg(test)]
mod tests {
    use super::super::mutant::mutant;
    use super::*;

    const TEXT: &str = "fn f() {\n    if a > b {\n        step();\n    }\n}\n";

    #[test]
    fn an_expression_stays_one_and_so_does_a_statement() {
        let more = mutant("more", "", "crates/core/src/f.rs", ("a > b", "a >= b"));
        let none = mutant("none", "", "crates/core/src/f.rs", ("a > b", "false"));
        let idle = mutant("idle", "", "crates/core/src/f.rs", ("step();", ""));
        let whole = applied(more.file, TEXT, &[&idle, &more, &none]).expect("all are there");
        assert_eq!(
            whole,
            "fn f() {\n    if (if crate::mutant::is(\"more\") { a >= b } \
             else if crate::mutant::is(\"none\") { false } else { a > b }) {\n        \
             if crate::mutant::is(\"idle\") {  } else { step(); }\n    }\n}\n"
        );
    }

    #[test]
    fn more_than_a_passage_may_be_needed_to_find_it() {
        let idle = mutant("idle", "", "crates/core/src/f.rs", ("b {\n        «step();»", ""));
        let whole = applied(idle.file, TEXT, &[&idle]).expect("it is there");
        assert_eq!(
            whole,
            "fn f() {\n    if a > b {\n        \
             if crate::mutant::is(\"idle\") {  } else { step(); }\n    }\n}\n"
        );
    }

    #[test]
    fn a_passage_that_is_gone_or_shared_in_part_is_refused() {
        let check = |olds: &[&'static str]| {
            let mutants: Vec<Mutant> =
                olds.iter().map(|old| mutant("it", "", "f.rs", (old, ""))).collect();
            applied("f.rs", TEXT, &mutants.iter().collect::<Vec<_>>()).expect_err("refused")
        };
        assert_eq!(check(&["a < b"]), "it: its text is no longer in f.rs");
        assert_eq!(check(&["    "]), "it: its text is more than once in f.rs");
        assert_eq!(check(&["a > b {", "> b"]), "it: its passage overlaps another one in f.rs");
    }
}
