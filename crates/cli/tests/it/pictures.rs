//! Pictures of workflows, as they are printed.

use crate::bless;
use crate::rig::Bench;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FORMATS: &[(&str, &str)] = &[("mermaid", "mmd"), ("dot", "dot"), ("svg", "svg")];

fn file(ending: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pictures/nightly").with_extension(ending)
}

fn drawn(workflow: &str, format: &str) -> String {
    let bench = Bench::with(workflow);
    let done = bench.run(&["graph", "w.yaml", "--format", format]);
    assert_eq!(done.is(0).stderr, "");
    done.stdout
}

fn nightly() -> String {
    std::fs::read_to_string(file("yaml")).expect("the workflow")
}

#[test]
fn every_format_is_drawn_as_it_should_be() {
    for (format, ending) in FORMATS {
        bless::check(&file(ending), &drawn(&nightly(), format));
    }
}

#[test]
fn mermaid_is_what_is_drawn_unless_asked_otherwise() {
    let bench = Bench::with(&nightly());
    assert_eq!(bench.run(&["graph", "w.yaml"]).is(0).stdout, drawn(&nightly(), "mermaid"));
    bench.shell("$M graph - < w.yaml").is(0).prints("flowchart");
    bench.run(&["graph", "w.yaml", "--format", "png"]).is(2).says("mermaid, dot, svg");
}

#[test]
fn a_wrong_workflow_is_told_and_not_drawn() {
    let bench = Bench::with("name: w\ntasks: { a: { run: ls, depends_on: [a] } }\n");
    let done = bench.run(&["graph", "w.yaml"]);
    assert_eq!(done.is(2).says("error[E206]").stdout, "");
    bench.run(&["graph", "missing.yaml"]).is(2).says("missing.yaml cannot be read");
}

#[test]
fn an_svg_is_xml_that_holds_every_task_and_edge() {
    let text = drawn(&nightly(), "svg");
    let document = roxmltree::Document::parse(&text).expect("XML");
    let with = |name: &'static str, class: &'static str| {
        document.descendants().filter(move |node| {
            let classes = node.attribute("class").unwrap_or_default();
            node.has_tag_name(name) && classes.split(' ').any(|it| it == class)
        })
    };
    let names: BTreeSet<&str> = with("text", "name").filter_map(|node| node.text()).collect();
    assert_eq!(names.len(), 12, "{names:?}");
    assert!(names.contains("publish-the-report-to-everyone-…"), "{names:?}");
    assert_eq!(with("path", "edge").count(), 15);
    assert_eq!(with("path", "head").count(), 15);
    let words: BTreeSet<&str> = with("text", "word").filter_map(|node| node.text()).collect();
    assert_eq!(words, BTreeSet::from(["started", "failed", "completed", "finished"]));
    assert_eq!((with("rect", "noop").count(), with("rect", "inner").count()), (1, 1));
    // Those of a stack, and one by itself.
    assert_eq!(with("rect", "may-fail").count(), 3 + 1);
    assert_eq!(with("path", "gate").count(), 1);
    let titles: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("title"))
        .filter_map(|node| node.text())
        .collect();
    assert!(
        titles.contains(&"discover: Lists \"files\" <today> & [more]; `x` \\ #1 ]]> é"),
        "{titles:?}"
    );
}

#[test]
fn ten_thousand_tasks_are_drawn() {
    let shapes: [fn(usize) -> String; 3] = [
        |n| format!("t{}", n - 1),
        |_| "t0".to_owned(),
        |n| if n == 1 { "t0".to_owned() } else { format!("t0, t{}", n - 1) },
    ];
    for upstream in shapes {
        let mut text = "name: w\ntasks:\n  t0: { noop: {} }\n".to_owned();
        for n in 1..10_000 {
            text.push_str(&format!("  t{n}: {{ noop: {{}}, depends_on: [{}] }}\n", upstream(n)));
        }
        for (format, _) in FORMATS {
            assert!(drawn(&text, format).contains("t9999"), "{format}");
        }
    }
}
