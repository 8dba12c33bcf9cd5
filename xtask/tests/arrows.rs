//! Which room may know which: the dependency arrows of the workspace, read from
//! `cargo metadata`, and the crates that must not come in by any road.
//!
//! ```text
//! core ◄─ store, exec, worker        store and exec are strangers
//! core, store, exec ◄─ engine
//! core, store, engine ◄─ server
//! all of these ◄─ cli (package `mainspring`)
//! testkit, throwaway: dev-dependencies of others, never more
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand};

const TESTKIT: &str = "testkit";
const THROWAWAY: &str = "throwaway";
/// Rooms that are never part of the product.
const FOR_TESTS: &[&str] = &[TESTKIT, THROWAWAY];

/// Room → the rooms it may depend on. A room that is not here may not exist.
const ALLOWED: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("store", &["core"]),
    ("exec", &["core"]),
    ("worker", &["core"]),
    ("engine", &["core", "store", "exec"]),
    ("server", &["core", "store", "engine"]),
    ("cli", &["core", "store", "exec", "worker", "engine", "server"]),
    (TESTKIT, &["core", "store", "exec", "engine", THROWAWAY]),
    (THROWAWAY, &[]),
    ("xtask", &[]),
];

/// Rooms whose tests may use neither: core is at the bottom of all, the others have no use for
/// them.
const WITHOUT: &[&str] = &["core", "xtask", THROWAWAY];

/// Core decides: it may not reach what waits, stores or talks, not even through others.
const NOT_IN_CORE: &[&str] = &["tokio", "rusqlite", "reqwest", "hyper"];

/// TLS is ring everywhere; a second provider costs a C and assembler build, and chooses itself.
const NOWHERE: &[&str] = &["aws-lc-rs", "aws-lc-sys"];

#[derive(Clone, Debug, Eq, PartialEq)]
struct Arrow {
    from: String,
    to: String,
    kind: DependencyKind,
}

/// A crate → the crates it is built with, tests aside.
type Graph = BTreeMap<String, BTreeSet<String>>;

fn check(arrows: &[Arrow]) -> Vec<String> {
    arrows.iter().filter_map(violation).collect()
}

fn violation(arrow: &Arrow) -> Option<String> {
    let Arrow { from, to, kind } = arrow;
    let Some((_, allowed)) = ALLOWED.iter().find(|(room, _)| room == from) else {
        return Some(format!("{from} is not among the rooms in this test: add it to ALLOWED"));
    };
    let is_for_tests = FOR_TESTS.contains(&to.as_str());
    if is_for_tests && *kind == DependencyKind::Development {
        let strict = WITHOUT.contains(&from.as_str());
        return strict.then(|| format!("{from} → {to}: {from} depends on no room, tests included"));
    }
    if is_for_tests && from != TESTKIT {
        return Some(format!("{from} → {to}: only as a dev-dependency"));
    }
    if allowed.contains(&to.as_str()) {
        return None;
    }
    Some(format!("{from} → {to}: {from} may only depend on {allowed:?}"))
}

/// The shortest road from one crate to another.
fn road(graph: &Graph, from: &str, to: &str) -> Option<String> {
    let mut seen = BTreeSet::from([from]);
    let mut roads = VecDeque::from([vec![from]]);
    while let Some(road) = roads.pop_front() {
        let last = *road.last().expect("a road has a start");
        if last == to {
            return Some(road.join(" → "));
        }
        for next in graph.get(last).into_iter().flatten() {
            if seen.insert(next) {
                roads.push_back([road.as_slice(), &[next.as_str()]].concat());
            }
        }
    }
    None
}

fn check_graph(graph: &Graph) -> Vec<String> {
    let roads = NOT_IN_CORE.iter().filter_map(|name| road(graph, "mainspring-core", name));
    let anywhere = NOWHERE
        .iter()
        .filter(|name| graph.contains_key(**name))
        .map(|name| format!("{name} is in the dependency graph"));
    roads.chain(anywhere).collect()
}

fn room(package: &str) -> String {
    match package {
        "mainspring" => "cli".to_owned(),
        other => other.strip_prefix("mainspring-").unwrap_or(other).to_owned(),
    }
}

fn metadata() -> Metadata {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .features(CargoOpt::AllFeatures)
        .other_options(["--locked".to_owned()])
        .exec()
        .expect("cargo metadata reads this workspace")
}

fn arrows_of(metadata: &Metadata) -> Vec<Arrow> {
    let members = metadata.workspace_packages();
    let names: BTreeSet<&str> = members.iter().map(|package| package.name.as_str()).collect();
    let mut arrows = Vec::new();
    for package in &members {
        for dependency in package.dependencies.iter().filter(|d| names.contains(d.name.as_str())) {
            let (from, to) = (room(&package.name), room(&dependency.name));
            arrows.push(Arrow { from, to, kind: dependency.kind });
        }
    }
    arrows
}

fn graph_of(metadata: &Metadata) -> Graph {
    let name_of: BTreeMap<_, _> =
        metadata.packages.iter().map(|package| (&package.id, package.name.to_string())).collect();
    let mut graph = Graph::new();
    for node in &metadata.resolve.as_ref().expect("metadata resolves dependencies").nodes {
        let dependencies = graph.entry(name_of[&node.id].clone()).or_default();
        for dependency in &node.deps {
            let is_dev =
                |kind: &cargo_metadata::DepKindInfo| kind.kind == DependencyKind::Development;
            if !dependency.dep_kinds.iter().all(is_dev) {
                dependencies.insert(name_of[&dependency.pkg].clone());
            }
        }
    }
    graph
}

#[test]
fn the_workspace_has_no_other_arrows() {
    let metadata = metadata();
    let rooms = metadata.workspace_packages().iter().map(|p| room(&p.name)).collect::<Vec<_>>();
    for room in &rooms {
        assert!(ALLOWED.iter().any(|(known, _)| known == room), "{room}: add it to ALLOWED");
    }
    assert!(arrows_of(&metadata).len() >= 4, "the arrows are no longer found: {rooms:?}");
    assert_eq!(check(&arrows_of(&metadata)), Vec::<String>::new());
}

#[test]
fn the_graph_has_no_forbidden_crate() {
    let graph = graph_of(&metadata());
    assert!(road(&graph, "mainspring", "tokio").is_some(), "roads are no longer found");
    assert_eq!(check_graph(&graph), Vec::<String>::new());
}

fn found(from: &str, to: &str, kind: DependencyKind) -> usize {
    check(&[Arrow { from: from.to_owned(), to: to.to_owned(), kind }]).len()
}

#[test]
fn a_forbidden_arrow_is_caught() {
    let forbidden = [
        ("core", "store"),
        ("store", "exec"),
        ("exec", "store"),
        ("worker", "store"),
        ("engine", "server"),
        ("server", "exec"),
        ("server", "cli"),
        ("testkit", "server"),
        ("xtask", "core"),
        ("attic", "core"),
    ];
    for (from, to) in forbidden {
        assert_eq!(found(from, to, DependencyKind::Normal), 1, "{from} → {to}");
        assert_eq!(found(from, to, DependencyKind::Development), 1, "{from} → {to} (dev)");
        assert_eq!(found(from, to, DependencyKind::Build), 1, "{from} → {to} (build)");
    }
}

#[test]
fn an_allowed_arrow_passes() {
    for (from, all) in ALLOWED {
        for to in *all {
            assert_eq!(found(from, to, DependencyKind::Normal), 0, "{from} → {to}");
        }
    }
}

#[test]
fn rooms_for_tests_are_for_tests_only() {
    for room in [TESTKIT, THROWAWAY] {
        assert_eq!(found("engine", room, DependencyKind::Development), 0);
        assert_eq!(found("engine", room, DependencyKind::Normal), 1);
        assert_eq!(found("cli", room, DependencyKind::Build), 1);
        assert_eq!(found("core", room, DependencyKind::Development), 1);
    }
    assert_eq!(found(THROWAWAY, TESTKIT, DependencyKind::Normal), 1);
}

#[test]
fn a_forbidden_crate_is_caught_on_any_road() {
    let edges = [("mainspring-core", "a"), ("a", "b"), ("b", "a"), ("b", "tokio"), ("x", "hyper")];
    let mut graph = Graph::new();
    for (from, to) in edges {
        graph.entry(from.to_owned()).or_default().insert(to.to_owned());
    }
    assert_eq!(check_graph(&graph), ["mainspring-core → a → b → tokio"]);
    graph.insert("aws-lc-rs".to_owned(), BTreeSet::new());
    assert_eq!(check_graph(&graph).len(), 2);
}
