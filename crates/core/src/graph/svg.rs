//! A picture of its own, for browsers and pages. Light or dark as its reader likes it.

use super::layout::{Layout, NAME_CHARS_MAX, NOTES_HEIGHT, Spot};
use super::model::{Graph, Kind, Node};
use crate::spec::definition::OnFailure;
use std::fmt::Write as _;

const STYLE: &str = "\
    .ground { fill: #ffffff }
    .task { fill: #f6f8fa; stroke: #6e7781; stroke-width: 1.25 }
    .noop { fill: #ffffff }
    .inner { fill: none; stroke: #6e7781; stroke-width: 1 }
    .may-fail { stroke-dasharray: 5 3 }
    .name { font: 600 13px ui-sans-serif, system-ui, 'DejaVu Sans', sans-serif; fill: #1f2328; text-anchor: middle }
    .notes { font: 11px ui-sans-serif, system-ui, 'DejaVu Sans', sans-serif; fill: #59636e; text-anchor: middle }
    .edge { fill: none; stroke: #8c959f; stroke-width: 1.5 }
    .when { stroke-dasharray: 6 4 }
    .word { font: 11px ui-sans-serif, system-ui, 'DejaVu Sans', sans-serif; text-anchor: end; stroke: #ffffff; stroke-width: 4; paint-order: stroke }
    .head { fill: #8c959f }
    .edge.failed { stroke: #cf222e } .head.failed, .word.failed { fill: #cf222e }
    .edge.started { stroke: #0969da } .head.started, .word.started { fill: #0969da }
    .edge.completed { stroke: #1a7f37 } .head.completed, .word.completed { fill: #1a7f37 }
    .edge.finished { stroke: #8250df } .head.finished, .word.finished { fill: #8250df }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117 }
      .task { fill: #161b22; stroke: #8b949e }
      .noop { fill: #0d1117 }
      .inner { stroke: #8b949e }
      .name { fill: #f0f6fc }
      .notes { fill: #9198a1 }
      .edge { stroke: #656c76 }
      .word { stroke: #0d1117 }
      .head { fill: #656c76 }
      .edge.failed { stroke: #f85149 } .head.failed, .word.failed { fill: #f85149 }
      .edge.started { stroke: #4493f8 } .head.started, .word.started { fill: #4493f8 }
      .edge.completed { stroke: #3fb950 } .head.completed, .word.completed { fill: #3fb950 }
      .edge.finished { stroke: #ab7df8 } .head.finished, .word.finished { fill: #ab7df8 }
    }
";

/// How far a curve leaves its end straight.
const BOW: f64 = 42.0;
/// Half of the diamond of a condition.
const GATE: f64 = 6.0;
/// How far the boxes of a stack stand out from under each other.
const STACK: f64 = 4.0;
/// The head of an arrow.
const HEAD: f64 = 7.0;

pub fn svg(graph: &Graph<'_>) -> String {
    let layout = Layout::of(graph);
    let (width, height) = (number(layout.width), number(layout.height));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n"
    );
    line(&mut text, format_args!("<title>{}</title>", escape(graph.title)));
    line(&mut text, format_args!("<style>\n{STYLE}  </style>"));
    line(&mut text, format_args!("<rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>"));
    // Plain edges first, so that those that say something lie above them.
    let (plain, telling): (Vec<usize>, Vec<usize>) =
        (0..graph.edges.len()).partition(|&number| graph.label(&graph.edges[number]).is_none());
    for number in plain.into_iter().chain(telling) {
        draw_edge(&mut text, graph, number, &layout);
    }
    for (node, spot) in graph.nodes.iter().zip(&layout.spots) {
        draw_node(&mut text, node, spot);
    }
    text.push_str("</svg>\n");
    text
}

fn line(text: &mut String, rest: std::fmt::Arguments<'_>) {
    writeln!(text, "  {rest}").expect("text can be written to");
}

fn draw_node(text: &mut String, node: &Node<'_>, spot: &Spot) {
    let Spot { left, width, y, height } = *spot;
    let mut class = "task".to_owned();
    let mut radius = 6.0;
    if node.kind == Kind::Noop {
        class.push_str(" noop");
        radius = height / 2.0;
    }
    if node.allow_failure {
        class.push_str(" may-fail");
    }
    line(text, format_args!("<g>"));
    let about = match node.description {
        Some(description) => format!("{}: {description}", node.name),
        None => node.name.to_owned(),
    };
    line(text, format_args!("  <title>{}</title>", escape(&about)));
    let top = y - height / 2.0;
    for behind in [2.0, 1.0].into_iter().filter(|_| node.fan_out.is_some()) {
        let shift = behind * STACK;
        draw_box(text, (left + shift, top - shift, width, height), radius, &class);
    }
    draw_box(text, (left, top, width, height), radius, &class);
    if node.condition.is_some() {
        draw_gate(text, (left, y));
    }
    if node.on_failure == OnFailure::Run {
        let inner = (left + 3.0, y - height / 2.0 + 3.0, width - 6.0, height - 6.0);
        draw_box(text, inner, (radius - 3.0).max(1.0), "inner");
    }
    let notes = node.notes().join(" · ");
    let middle = number(left + width / 2.0);
    let shift = if notes.is_empty() { 0.0 } else { NOTES_HEIGHT / 2.0 };
    let (name, base) = (escape(&shortened(node.name)), number(y - shift + 4.5));
    line(text, format_args!("  <text class=\"name\" x=\"{middle}\" y=\"{base}\">{name}</text>"));
    if !notes.is_empty() {
        let (notes, base) = (escape(&notes), number(y + shift + 5.0));
        line(
            text,
            format_args!("  <text class=\"notes\" x=\"{middle}\" y=\"{base}\">{notes}</text>"),
        );
    }
    line(text, format_args!("</g>"));
}

/// A diamond where edges come in: what comes may not pass.
fn draw_gate(text: &mut String, (x, y): (f64, f64)) {
    let [left, right, top, bottom] = [x - GATE, x + GATE, y - GATE, y + GATE].map(number);
    let (x, y) = (number(x), number(y));
    let path = format!("M{left} {y}L{x} {top}L{right} {y}L{x} {bottom}Z");
    line(text, format_args!("  <path class=\"task gate\" d=\"{path}\"/>"));
}

fn draw_box(
    text: &mut String,
    (x, y, width, height): (f64, f64, f64, f64),
    radius: f64,
    class: &str,
) {
    let [x, y, width, height, radius] = [x, y, width, height, radius].map(number);
    line(
        text,
        format_args!(
            "  <rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>"
        ),
    );
}

/// From the right of one task to the left of the other, straight across the columns between.
fn draw_edge(text: &mut String, graph: &Graph<'_>, edge_no: usize, layout: &Layout) {
    let edge = &graph.edges[edge_no];
    let (way, spots) = (&layout.ways[edge_no], &layout.spots);
    let word = graph.label(edge);
    let class = word.map(|word| format!(" when {word}")).unwrap_or_default();
    let start = &spots[way[0]];
    let mut at = (start.left + start.width, start.y);
    let mut path = format!("M{} {}", number(at.0), number(at.1));
    for (position, &item) in way.iter().enumerate().skip(1) {
        let spot = &spots[item];
        let last = position + 1 == way.len();
        let to = match last {
            true => (spot.left - HEAD, layout.ends[edge_no]),
            false => (spot.left, spot.y),
        };
        path.push_str(&curve(at, to));
        at = to;
        if !last {
            at.0 = spot.left + spot.width;
            path.push_str(&format!("H{}", number(at.0)));
        }
    }
    line(text, format_args!("<path class=\"edge{class}\" d=\"{path}\"/>"));
    let head = word.map(|word| format!(" {word}")).unwrap_or_default();
    let (x, y, half) = (number(at.0), at.1, HEAD / 2.0);
    let (tip, upper, lower) = (number(at.0 + HEAD), number(y - half), number(y + half));
    let y = number(y);
    line(text, format_args!("<path class=\"head{head}\" d=\"M{tip} {y}L{x} {upper}V{lower}Z\"/>"));
    if let Some(word) = word {
        let (x, y) = (number(at.0 - 6.0), number(at.1 - 6.0));
        line(text, format_args!("<text class=\"word{head}\" x=\"{x}\" y=\"{y}\">{word}</text>"));
    }
}

fn curve(from: (f64, f64), to: (f64, f64)) -> String {
    let bow = BOW.min((to.0 - from.0) / 2.0);
    let [x1, y1, x2, y2, x, y] = [from.0 + bow, from.1, to.0 - bow, to.1, to.0, to.1].map(number);
    format!("C{x1} {y1} {x2} {y2} {x} {y}")
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARS_MAX) {
        None => name.to_owned(),
        Some(_) => name.chars().take(NAME_CHARS_MAX - 1).chain(['…']).collect(),
    }
}

/// A tenth of a unit is finer than any screen.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// XML has no way to write most control characters, not even escaped.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}
