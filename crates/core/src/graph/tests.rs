//! Pictures that hold what they promise: nothing on top of anything, time from left to right.

use super::layers::Grid;
use super::layout::{Layout, Spot};
use super::model::{Edge, Graph, Kind, Node};
use super::order::{arrange, crossings};
use crate::spec::definition::{OnFailure, When};
use proptest::prelude::*;

/// A graph of plain tasks from pairs of numbers.
fn graph(tasks: usize, pairs: &[(usize, usize)]) -> Graph<'static> {
    let node = |_| Node {
        name: "task",
        description: None,
        kind: Kind::Process,
        waits: None,
        tier: None,
        on_failure: OnFailure::Skip,
        always: false,
        checkpoint: false,
        allow_failure: false,
        condition: None,
        fan_out: None,
    };
    let edge = |&(from, to)| Edge { from, to, when: When::Merged };
    Graph {
        title: "w",
        nodes: (0..tasks).map(node).collect(),
        edges: pairs.iter().map(edge).collect(),
    }
}

/// The tasks of each column, and the bends as `.`.
fn columns(tasks: usize, pairs: &[(usize, usize)]) -> Vec<String> {
    let mut grid = Grid::of(&graph(tasks, pairs));
    arrange(&mut grid);
    let shown = |&item: &usize| if item < tasks { item.to_string() } else { ".".to_owned() };
    let column = |items: &Vec<usize>| items.iter().map(shown).collect::<Vec<_>>().join(" ");
    grid.columns.iter().map(column).collect()
}

#[test]
fn a_task_stands_after_all_that_it_waits_for() {
    assert_eq!(columns(0, &[]), [""; 0]);
    assert_eq!(columns(2, &[]), ["0 1"]);
    assert_eq!(columns(3, &[(0, 1), (1, 2)]), ["0", "1", "2"]);
    assert_eq!(columns(3, &[(2, 1), (1, 0)]), ["2", "1", "0"]);
    // The edge past the middle column has a bend in it.
    assert_eq!(columns(3, &[(0, 1), (1, 2), (0, 2)]), ["0", "1 .", "2"]);
    // What waits for nothing stands near those that wait for it.
    assert_eq!(columns(4, &[(0, 1), (1, 2), (3, 2)]), ["0", "1 3", "2"]);
}

#[test]
fn edges_that_need_not_cross_do_not() {
    let pairs = [(0, 5), (1, 4), (2, 3)];
    let mut grid = Grid::of(&graph(6, &pairs));
    assert_eq!(crossings(&grid), 3);
    arrange(&mut grid);
    assert_eq!(crossings(&grid), 0);
}

#[test]
fn a_chain_is_a_straight_line_and_a_fan_is_centred() {
    let layout = Layout::of(&graph(3, &[(0, 1), (1, 2)]));
    assert!(layout.spots.windows(2).all(|pair| pair[0].y == pair[1].y), "{layout:?}");
    let layout = Layout::of(&graph(4, &[(0, 1), (0, 2), (0, 3)]));
    assert!((layout.spots[0].y - layout.spots[2].y).abs() < 0.5, "{layout:?}");
}

#[test]
fn an_edge_with_a_word_has_an_end_of_its_own() {
    let mut graph = graph(4, &[(0, 3), (1, 3), (2, 3)]);
    graph.edges[1].when = When::Failed;
    graph.edges[2].when = When::Started;
    let ends = Layout::of(&graph).ends;
    assert!(ends[0] < ends[1] && ends[1] < ends[2], "{ends:?}");
}

fn apart(a: &Spot, b: &Spot) -> bool {
    let side = |spot: &Spot| (spot.left, spot.left + spot.width);
    let ends = |spot: &Spot| (spot.y - spot.height / 2.0, spot.y + spot.height / 2.0);
    let clear = |a: (f64, f64), b: (f64, f64)| a.1 < b.0 || b.1 < a.0;
    clear(side(a), side(b)) || clear(ends(a), ends(b))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn nothing_lies_on_anything_and_every_edge_goes_right(
        tasks in 1..30_usize,
        pairs in prop::collection::vec((0..30_usize, 0..30_usize), 0..60),
    ) {
        let forward = pairs.into_iter().filter(|(from, to)| from < to && *to < tasks);
        let mut pairs: Vec<(usize, usize)> = forward.collect();
        pairs.sort_unstable();
        pairs.dedup();
        let graph = graph(tasks, &pairs);
        let layout = Layout::of(&graph);
        let (spots, bends) = layout.spots.split_at(tasks);
        for (position, a) in spots.iter().enumerate() {
            prop_assert!(a.left > 0.0 && a.left + a.width < layout.width);
            prop_assert!(a.y - a.height / 2.0 > 0.0 && a.y + a.height / 2.0 < layout.height);
            for b in spots[position + 1..].iter().chain(bends) {
                prop_assert!(apart(a, b), "{a:?} {b:?}");
            }
        }
        for way in &layout.ways {
            for pair in way.windows(2) {
                let (from, to) = (layout.spots[pair[0]], layout.spots[pair[1]]);
                prop_assert!(from.left + from.width < to.left);
            }
        }
    }
}
