//! Random definitions: every kind of edge, retries, tiers, finallys, in a few tasks.

use mainspring_core::world::chance::Chance;
use std::fmt::Write as _;

/// A sketch, as text, so that a failing world can be read.
pub fn random_sketch(chance: &mut Chance) -> String {
    let mut text = String::new();
    if chance.below(4) == 0 {
        let _ = writeln!(text, "@timeout={}", 20 + chance.below(100));
    }
    let _ = writeln!(text, "@gpu={}", 1 + chance.below(2));
    let count = 1 + chance.below(7);
    for no in 0..count {
        let _ = writeln!(text, "t{no}{}{}", words(chance), edges(chance, no));
    }
    text
}

fn words(chance: &mut Chance) -> String {
    let mut words = String::new();
    let mut maybe = |odds: u64, word: &str| {
        if chance.below(odds) == 0 {
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

fn edges(chance: &mut Chance, no: u64) -> String {
    let mut edges = Vec::new();
    for upstream in 0..no {
        if chance.below(3) != 0 {
            continue;
        }
        let when = match chance.below(9) {
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
