//! Random definitions: every kind of edge, retries, tiers, finallys, fan-outs, finalizers, in a few tasks;
//! and now and then one so wide that no batch can hold it.

use crate::sim::library::{Library, Weight};
use crate::sim::trouble::Luck;
use std::fmt::Write as _;

/// More than one batch may change.
const WIDE: u64 = 5_300;

/// One or two workflows, some with a second version.
pub fn random_library(luck: &mut Luck, tasks_max: u64) -> Library {
    let mut library = Library::default();
    let group_limit = 1 + luck.below(2);
    // A workflow may run those below it: nothing runs itself, and nothing is deeper than three.
    let below = luck.below(3);
    let names = (0..below).map(|no| format!("k{no}"));
    let names: Vec<String> =
        names.chain((0..1 + luck.below(2)).map(|no| format!("w{no}"))).collect();
    for (no, name) in names.iter().enumerate() {
        let kin = &names[..no.min(usize::try_from(below).expect("few"))];
        let weight = if luck.below(80) == 0 { Weight::Heavy } else { Weight::Light };
        // All versions of a workflow share their tiers and what bounds their runs: which number counts while runs of
        // several versions are active is not what is looked at here.
        let shared = format!("@gpu={}\n{}", gpu(luck), gates(luck, group_limit));
        for _ in 0..1 + luck.below(4) / 3 {
            let text = random_sketch(luck, &shared, tasks_max, kin);
            library.add(name, text, weight);
        }
    }
    library
}

/// A task, thousands of noops behind it, and something behind these: plain tasks, or instances
/// of one group.
pub fn wide_library(kind: Wide) -> Library {
    let mut text = "t0 retries=1\n".to_owned();
    match kind {
        Wide::Tasks => {
            for no in 0..WIDE {
                let _ = writeln!(text, "n{no} noop: t0");
            }
            let _ = writeln!(text, "last always=60: t0, n0, n{}", WIDE - 1);
        }
        Wide::Group => {
            let _ = writeln!(text, "g noop fan={WIDE}: t0\nh fan=40 at_once=9 retries=1: t0");
            let _ = writeln!(text, "last finally: t0, g, h");
        }
    }
    let mut library = Library::default();
    library.add("wide", text, Weight::Light);
    library
}

/// What there is so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wide {
    Tasks,
    Group,
}

/// A sketch, as text, so that a failing world can be read.
fn random_sketch(luck: &mut Luck, shared: &str, tasks_max: u64, kin: &[String]) -> String {
    let mut text = String::new();
    if luck.below(4) == 0 {
        let _ = writeln!(text, "@timeout={}", 20 + luck.below(100));
    }
    text.push_str(shared);
    let mut names: Vec<String> = Vec::new();
    for no in 0..1 + luck.below(tasks_max) {
        let edges = edges(luck, &names);
        let fan_out = if luck.below(5) < 2 { fan_out(luck, &edges) } else { String::new() };
        let name = format!("t{no}");
        let kind = control(luck, kin);
        let _ = writeln!(text, "{name}{kind}{fan_out}{}{}", words(luck, &kind), written(&edges));
        names.push(name);
    }
    if luck.below(3) == 0 {
        let _ = writeln!(text, "@outputs={}", names[luck.pick(names.len())]);
    }
    text
}

/// A task or two for a run that has these, and some of them above.
pub fn random_addition(luck: &mut Luck, mut names: Vec<String>, number: u64) -> String {
    let mut text = String::new();
    for no in 0..1 + luck.below(2) {
        let edges = edges(luck, &names);
        let fan_out = if luck.below(5) == 0 { fan_out(luck, &edges) } else { String::new() };
        let name = format!("x{number}-{no}");
        let kind = control(luck, &[]);
        let _ = writeln!(text, "{name}{kind}{fan_out}{}{}", words(luck, &kind), written(&edges));
        names.push(name);
    }
    text
}

/// How many runs of a workflow may be active, and its group. All groups of a world have the same
/// limit: which one counts when they differ is not what is looked at here.
fn gates(luck: &mut Luck, group_limit: u64) -> String {
    let mut text = String::new();
    if luck.below(3) == 0 {
        let _ = writeln!(text, "@max_active={}", 1 + luck.below(2));
    }
    if luck.below(3) == 0 {
        let conflict = ["queue", "skip", "cancel"][luck.pick(3)];
        let _ = writeln!(text, "@group={group_limit}/{conflict}");
    }
    text
}

/// The workflow's own tier, now and then with a rate.
fn gpu(luck: &mut Luck) -> String {
    let limit = 1 + luck.below(2);
    match luck.below(6) {
        0 => format!("{limit}@{}/{}ms", 1 + luck.below(3), 1 + luck.below(5_000)),
        _ => limit.to_string(),
    }
}

/// How often, over what, how many at once, and what becomes of failures.
fn fan_out(luck: &mut Luck, edges: &[Edge]) -> String {
    let mut words = String::new();
    let over =
        if edges.is_empty() || luck.below(3) == 0 { None } else { Some(luck.pick(edges.len())) };
    if let Some(over) = over {
        let _ = write!(words, " each={}", edges[over].0);
    }
    if over.is_none() || luck.below(4) == 0 {
        // None at all is rare, and so are many.
        let times = [2, 3, 1, 4, 2, 3, 5, 0][luck.pick(8)];
        let _ = write!(words, " fan={times}");
    }
    if luck.below(2) == 0 {
        let _ = write!(words, " at_once={}", 1 + luck.below(3));
    }
    match luck.below(3) {
        0 => words.push_str(" fast"),
        1 => words.push_str(" ignore"),
        _ => {}
    }
    words
}

/// What it waits for, if it does nothing else.
fn control(luck: &mut Luck, kin: &[String]) -> String {
    if !kin.is_empty() && luck.below(4) == 0 {
        let within = match luck.below(4) {
            0 => format!(" within={}", 1 + luck.below(30)),
            _ => String::new(),
        };
        return format!(" child={}{within}", kin[luck.pick(kin.len())]);
    }
    let mut words = match luck.below(16) {
        0 => return format!(" sleep={}", luck.below(8)),
        1 => format!(" signal=s{}", luck.below(3)),
        2 => " approval".to_owned(),
        _ => return String::new(),
    };
    let is_approval = words == " approval";
    if luck.below(2) == 0 {
        let _ = write!(words, " within={}", 1 + luck.below(20));
        match luck.below(4) {
            0 if is_approval => words.push_str(" late=approve"),
            1 if is_approval => words.push_str(" late=fail"),
            0 | 1 => words.push_str(" late=continue"),
            _ => {}
        }
    }
    if is_approval && luck.below(3) == 0 {
        words.push_str(" lenient");
    }
    if is_approval && luck.below(4) == 0 {
        words.push_str(" by=operator");
    }
    words
}

fn words(luck: &mut Luck, control: &str) -> String {
    let mut words = String::new();
    let mut maybe = |odds: u64, word: &str| {
        if luck.below(odds) == 0 {
            words.push(' ');
            words.push_str(word);
        }
    };
    if control.is_empty() {
        maybe(5, "noop");
    }
    maybe(6, "if");
    maybe(6, "finally");
    maybe(12, "always=4");
    maybe(16, "always=30");
    maybe(16, "checkpoint");
    maybe(6, "allow");
    maybe(8, "once");
    maybe(4, "retries=1");
    maybe(6, "retries=3");
    maybe(6, "delay=0");
    maybe(5, "timeout=5");
    maybe(4, "tier=gpu");
    maybe(5, "tier=shared");
    maybe(5, "priority=3");
    let works = control.is_empty() && !words.contains("noop");
    if works && luck.below(3) == 0 {
        words.push_str(&finalizer(luck));
    }
    words
}

/// What lands its work: in one of few queues, so that they meet, or in none.
fn finalizer(luck: &mut Luck) -> String {
    let mut words = match luck.below(4) {
        0 => " unqueued".to_owned(),
        1 | 2 => format!(" merge={}", ["main", "docs"][luck.pick(2)]),
        _ => format!(" final=q{}", luck.below(2)),
    };
    for word in [" final_retries=1", " final_retries=3", " final_timeout=5", " final_once"] {
        if luck.below(4) == 0 {
            words.push_str(word);
        }
    }
    words
}

/// A task above, and when its edge is satisfied.
type Edge = (String, &'static str);

fn edges(luck: &mut Luck, names: &[String]) -> Vec<Edge> {
    let mut edges = Vec::new();
    for name in names {
        if luck.below(3) != 0 {
            continue;
        }
        let when = match luck.below(10) {
            0 | 1 => "/started",
            2 => "/failed",
            3 => "/finished",
            4 | 5 => "/completed",
            _ => "",
        };
        edges.push((name.clone(), when));
    }
    edges
}

fn written(edges: &[Edge]) -> String {
    let edges: Vec<String> = edges.iter().map(|(name, when)| format!("{name}{when}")).collect();
    if edges.is_empty() { String::new() } else { format!(": {}", edges.join(", ")) }
}
