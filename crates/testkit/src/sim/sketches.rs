//! Random definitions: every kind of edge, retries, tiers, finallys, in a few tasks; and now
//! and then one so wide that no batch can hold it.

use crate::sim::library::{Library, Weight};
use crate::sim::trouble::Luck;
use std::fmt::Write as _;

/// More than one batch may change.
const WIDE: u64 = 5_300;

/// One or two workflows, some with a second version.
pub fn random_library(luck: &mut Luck, tasks_max: u64) -> Library {
    let mut library = Library::default();
    for no in 0..1 + luck.below(2) {
        let name = format!("w{no}");
        let weight = if luck.below(80) == 0 { Weight::Heavy } else { Weight::Light };
        // All versions of a workflow share their tiers: which number counts while runs of
        // several versions are active is not what is looked at here.
        let gpu = 1 + luck.below(2);
        for _ in 0..1 + luck.below(4) / 3 {
            let text = random_sketch(luck, gpu, tasks_max);
            library.add(&name, text, weight);
        }
    }
    library
}

/// A task, thousands of noops behind it, and something behind these.
pub fn wide_library() -> Library {
    let mut text = "t0 retries=1\n".to_owned();
    for no in 0..WIDE {
        let _ = writeln!(text, "n{no} noop: t0");
    }
    let _ = writeln!(text, "last finally: t0, n0, n{}", WIDE - 1);
    let mut library = Library::default();
    library.add("wide", text, Weight::Light);
    library
}

/// A sketch, as text, so that a failing world can be read.
fn random_sketch(luck: &mut Luck, gpu: u64, tasks_max: u64) -> String {
    let mut text = String::new();
    if luck.below(4) == 0 {
        let _ = writeln!(text, "@timeout={}", 20 + luck.below(100));
    }
    let _ = writeln!(text, "@gpu={gpu}");
    let count = 1 + luck.below(tasks_max);
    for no in 0..count {
        let _ = writeln!(text, "t{no}{}{}", words(luck), edges(luck, no));
    }
    text
}

fn words(luck: &mut Luck) -> String {
    let mut words = String::new();
    let mut maybe = |odds: u64, word: &str| {
        if luck.below(odds) == 0 {
            words.push(' ');
            words.push_str(word);
        }
    };
    maybe(5, "noop");
    maybe(6, "finally");
    maybe(6, "allow");
    maybe(8, "once");
    maybe(4, "retries=1");
    maybe(6, "retries=3");
    maybe(6, "delay=0");
    maybe(5, "timeout=5");
    maybe(4, "tier=gpu");
    maybe(5, "priority=3");
    words
}

fn edges(luck: &mut Luck, no: u64) -> String {
    let mut edges = Vec::new();
    for upstream in 0..no {
        if luck.below(3) != 0 {
            continue;
        }
        let when = match luck.below(9) {
            0 | 1 => "/started",
            2 => "/failed",
            3 => "/finished",
            4 => "/completed",
            _ => "",
        };
        edges.push(format!("t{upstream}{when}"));
    }
    if edges.is_empty() { String::new() } else { format!(": {}", edges.join(", ")) }
}
