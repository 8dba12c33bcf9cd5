//! Where an edge meets the task that waits. Edges that say nothing meet in one point; each that
//! has a word gets a point of its own, so that the words do not lie on each other.

use super::layout::Spot;
use super::model::Graph;

/// Between two points: a line of small type.
const PORT_GAP: f64 = 15.0;
/// From the outermost point to the corner.
const PORT_INSET: f64 = 10.0;

/// The height that a task needs for the words beside it.
pub fn heights(graph: &Graph<'_>) -> Vec<f64> {
    let mut words = vec![0_usize; graph.nodes.len()];
    let mut plain = vec![0_usize; graph.nodes.len()];
    for edge in &graph.edges {
        match graph.label(edge) {
            Some(_) => words[edge.to] += 1,
            None => plain[edge.to] = 1,
        }
    }
    let points = words.iter().zip(plain).map(|(words, plain)| words + plain);
    points.map(|points| points.saturating_sub(1) as f64 * PORT_GAP + 2.0 * PORT_INSET).collect()
}

/// For each edge the height at which it ends, from the order in which the edges arrive.
pub fn ends(graph: &Graph<'_>, ways: &[Vec<usize>], spots: &[Spot]) -> Vec<f64> {
    let mut arriving: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for (number, edge) in graph.edges.iter().enumerate() {
        arriving[edge.to].push(number);
    }
    let mut ends: Vec<f64> = graph.edges.iter().map(|edge| spots[edge.to].y).collect();
    let comes_from = |edge: usize| spots[ways[edge][ways[edge].len() - 2]].y;
    for (task, edges) in arriving.into_iter().enumerate() {
        let (plain, mut points): (Vec<usize>, Vec<usize>) =
            edges.into_iter().partition(|&edge| graph.label(&graph.edges[edge]).is_none());
        let sum: f64 = plain.iter().map(|&edge| comes_from(edge)).sum();
        let middle = sum / plain.len().max(1) as f64;
        points.sort_by(|&a, &b| comes_from(a).total_cmp(&comes_from(b)));
        let above = points.iter().filter(|&&edge| comes_from(edge) < middle).count();
        let count = points.len() + usize::from(!plain.is_empty());
        let first = spots[task].y - count.saturating_sub(1) as f64 * PORT_GAP / 2.0;
        let height = |point: usize| first + point as f64 * PORT_GAP;
        for &edge in &plain {
            ends[edge] = height(above);
        }
        for (position, &edge) in points.iter().enumerate() {
            let passed = usize::from(!plain.is_empty() && position >= above);
            ends[edge] = height(position + passed);
        }
    }
    ends
}
