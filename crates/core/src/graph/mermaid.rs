//! For Markdown: GitHub, GitLab and others draw it.

use super::model::{Graph, Kind, Node};
use crate::spec::definition::OnFailure;
use std::fmt::Write as _;

/// Characters of a description that are shown.
const DESCRIPTION_CHARS_MAX: usize = 60;

pub fn mermaid(graph: &Graph<'_>) -> String {
    let mut text = "flowchart TD\n".to_owned();
    for (number, node) in graph.nodes.iter().enumerate() {
        let (open, close) = match (node.kind, node.on_failure) {
            (Kind::Noop, _) => ("([", "])"),
            (Kind::Process, OnFailure::Run) => ("[[", "]]"),
            (Kind::Process, OnFailure::Skip) if node.condition.is_some() => ("{{", "}}"),
            (Kind::Process, OnFailure::Skip) => ("[", "]"),
        };
        line(&mut text, format_args!("t{number}{open}\"{}\"{close}", label(node)));
    }
    for edge in &graph.edges {
        let arrow = match graph.label(edge) {
            Some(word) => format!("-. {word} .->"),
            None => "-->".to_owned(),
        };
        line(&mut text, format_args!("t{} {arrow} t{}", edge.from, edge.to));
    }
    class(
        &mut text,
        "finally",
        "stroke-dasharray: 6 3",
        |node| node.on_failure == OnFailure::Run,
        graph,
    );
    class(&mut text, "mayFail", "stroke-dasharray: 2 2", |node| node.allow_failure, graph);
    class(&mut text, "fanOut", "stroke-width: 4px", |node| node.fan_out.is_some(), graph);
    text
}

fn line(text: &mut String, rest: std::fmt::Arguments<'_>) {
    writeln!(text, "    {rest}").expect("text can be written to");
}

fn class(
    text: &mut String,
    name: &str,
    style: &str,
    is: impl Fn(&Node<'_>) -> bool,
    graph: &Graph<'_>,
) {
    let nodes = graph.nodes.iter().enumerate().filter(|(_, node)| is(node));
    let numbers: Vec<String> = nodes.map(|(number, _)| format!("t{number}")).collect();
    if !numbers.is_empty() {
        line(text, format_args!("classDef {name} {style}"));
        line(text, format_args!("class {} {name}", numbers.join(",")));
    }
}

fn label(node: &Node<'_>) -> String {
    let mut label = format!("<b>{}</b>", escape(node.name));
    if let Some(description) = node.description {
        let mut shown: String = description.chars().take(DESCRIPTION_CHARS_MAX).collect();
        if shown.len() < description.len() {
            shown.push('…');
        }
        label.push_str(&format!("<br>{}", escape(&shown)));
    }
    for note in node.notes() {
        label.push_str(&format!("<br><i>{}</i>", escape(&note)));
    }
    label
}

/// As entities, which are the only way for quotes, brackets and Markdown inside a label.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | ',' | '…') => {
                safe.push(c);
            }
            c if c.is_whitespace() => safe.push(' '),
            c => safe.push_str(&format!("#{};", u32::from(c))),
        }
    }
    safe
}
