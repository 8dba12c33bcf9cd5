//! For Graphviz.

use super::model::{Graph, Kind, Node};
use crate::spec::definition::OnFailure;
use std::fmt::Write as _;

pub fn dot(graph: &Graph<'_>) -> String {
    let mut text = format!("digraph {} {{\n", quoted(graph.title));
    text.push_str("    rankdir=TB;\n");
    text.push_str("    node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
    text.push_str("    edge [fontname=\"sans-serif\", fontsize=10];\n");
    for node in &graph.nodes {
        writeln!(text, "    {} [{}];", quoted(node.name), attributes(node))
            .expect("text can be written to");
    }
    for edge in &graph.edges {
        let (from, to) = (&graph.nodes[edge.from], &graph.nodes[edge.to]);
        let label =
            graph.label(edge).map(|word| format!(" [label={}, style=dashed]", quoted(word)));
        let label = label.unwrap_or_default();
        writeln!(text, "    {} -> {}{label};", quoted(from.name), quoted(to.name))
            .expect("text can be written to");
    }
    text.push_str("}\n");
    text
}

fn attributes(node: &Node<'_>) -> String {
    let mut lines = vec![node.name.to_owned()];
    lines.extend(node.notes());
    let mut all = vec![format!("label={}", quoted(&lines.join("\n")))];
    if let Some(description) = node.description {
        all.push(format!("tooltip={}", quoted(description)));
    }
    let shape = match node {
        Node { fan_out: Some(_), .. } => Some("box3d"),
        Node { condition: Some(_), .. } => Some("hexagon"),
        Node { kind: Kind::Noop, .. } => Some("oval"),
        Node { kind: Kind::Process, .. } => None,
    };
    all.extend(shape.map(|shape| format!("shape={shape}")));
    let may_fail = node.on_failure == OnFailure::Skip && node.allow_failure;
    match (shape, may_fail) {
        (None, true) => all.push("style=\"rounded,dashed\"".to_owned()),
        (Some(_), true) => all.push("style=dashed".to_owned()),
        (Some("box3d" | "hexagon"), false) => all.push("style=solid".to_owned()),
        (_, false) => {}
    }
    if node.on_failure == OnFailure::Run {
        all.push("peripheries=2".to_owned());
    }
    all.join(", ")
}

/// A quoted id. In it a backslash begins an escape, so each is doubled; a line break is `\n`.
fn quoted(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 2);
    safe.push('"');
    for c in text.chars() {
        match c {
            '"' => safe.push_str("\\\""),
            '\\' => safe.push_str("\\\\"),
            '\n' => safe.push_str("\\n"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe.push('"');
    safe
}
