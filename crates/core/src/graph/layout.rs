//! Where everything stands. Columns from left to right; within a column each item is drawn to
//! those that it is joined with, as far as the order and the gaps between items allow.

use super::layers::Grid;
use super::model::{Graph, Node};
use super::order::arrange;
use super::ports;

pub const MARGIN: f64 = 24.0;
/// Between two columns: room for a curve and a word beside it.
const COLUMN_GAP: f64 = 84.0;
const TASK_GAP: f64 = 20.0;
const BEND_GAP: f64 = 12.0;
pub const TASK_HEIGHT: f64 = 34.0;
/// A line of notes below the name.
pub const NOTES_HEIGHT: f64 = 16.0;
const TASK_WIDTH_MIN: f64 = 72.0;
/// Of a name in bold and of a note in small type, for the widest usual fonts.
const NAME_CHAR: f64 = 8.0;
const NOTE_CHAR: f64 = 6.2;
const PADDING: f64 = 14.0;
/// Characters of a name that are shown; the whole is in its tooltip.
pub const NAME_CHARS_MAX: usize = 32;
/// Rounds of drawing items to each other: after these nothing moves much.
const ROUNDS: usize = 10;

/// A rectangle, or for a bend a line across its column.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spot {
    pub left: f64,
    pub width: f64,
    /// Of the middle.
    pub y: f64,
    pub height: f64,
}

#[derive(Debug)]
pub struct Layout {
    /// By item: the tasks first.
    pub spots: Vec<Spot>,
    /// For each edge the items it goes through.
    pub ways: Vec<Vec<usize>>,
    /// For each edge the height at which it ends.
    pub ends: Vec<f64>,
    pub width: f64,
    pub height: f64,
}

impl Layout {
    pub fn of(graph: &Graph<'_>) -> Self {
        let mut grid = Grid::of(graph);
        arrange(&mut grid);
        let mut spots = vec![Spot::default(); grid.before.len()];
        let heights = ports::heights(graph);
        for ((spot, node), least) in spots.iter_mut().zip(&graph.nodes).zip(heights) {
            let (width, height) = size(node);
            (spot.width, spot.height) = (width, height.max(least));
        }
        let width = set_columns(&grid, &mut spots);
        let height = set_rows(&grid, &mut spots);
        let ends = ports::ends(graph, &grid.ways, &spots);
        Self { spots, ways: grid.ways, ends, width, height }
    }
}

fn size(node: &Node<'_>) -> (f64, f64) {
    let notes = node.notes().join(" · ");
    let name = node.name.chars().count().min(NAME_CHARS_MAX) as f64 * NAME_CHAR;
    let text = name.max(notes.chars().count() as f64 * NOTE_CHAR);
    let height = if notes.is_empty() { TASK_HEIGHT } else { TASK_HEIGHT + NOTES_HEIGHT };
    ((text + 2.0 * PADDING).max(TASK_WIDTH_MIN), height)
}

/// All items of a column are as wide as its widest. Answers with the width of the whole.
fn set_columns(grid: &Grid, spots: &mut [Spot]) -> f64 {
    let mut left = MARGIN;
    for column in &grid.columns {
        let width = column.iter().map(|&item| spots[item].width).fold(0.0, f64::max);
        for &item in column {
            (spots[item].left, spots[item].width) = (left, width);
        }
        left += width + COLUMN_GAP;
    }
    (left - COLUMN_GAP + MARGIN).max(2.0 * MARGIN)
}

/// Answers with the height of the whole.
fn set_rows(grid: &Grid, spots: &mut [Spot]) -> f64 {
    for column in &grid.columns {
        settle(column, &vec![None; column.len()], grid.tasks, spots);
    }
    for round in 0..ROUNDS {
        let forth = round % 2 == 0;
        let joined = if forth { &grid.before } else { &grid.after };
        let count = grid.columns.len();
        for step in 0..count {
            let column = &grid.columns[if forth { step } else { count - 1 - step }];
            let wanted: Vec<Option<f64>> =
                column.iter().map(|&item| middle(&joined[item], spots)).collect();
            settle(column, &wanted, grid.tasks, spots);
        }
    }
    for column in &grid.columns {
        close_up(column, grid, spots);
    }
    let all = || grid.columns.iter().flatten();
    let edge = |item: &usize, side: f64| spots[*item].y + side * spots[*item].height / 2.0;
    let top = all().map(|item| edge(item, -1.0)).fold(f64::INFINITY, f64::min);
    let bottom = all().map(|item| edge(item, 1.0)).fold(f64::NEG_INFINITY, f64::max);
    let items: Vec<usize> = all().copied().collect();
    for item in items {
        spots[item].y += MARGIN - top;
    }
    bottom - top + 2.0 * MARGIN
}

/// Brings what is joined with nothing next to what stands above it, or else below it.
fn close_up(column: &[usize], grid: &Grid, spots: &mut [Spot]) {
    let alone = |item: usize| grid.before[item].is_empty() && grid.after[item].is_empty();
    let first = column.iter().position(|&item| !alone(item)).unwrap_or(0);
    for pair in column[first..].windows(2).filter(|pair| alone(pair[1])) {
        spots[pair[1]].y = spots[pair[0]].y + distance(pair[0], pair[1], grid.tasks, spots);
    }
    for pair in column[..=first.min(column.len() - 1)].windows(2).rev() {
        spots[pair[0]].y = spots[pair[1]].y - distance(pair[0], pair[1], grid.tasks, spots);
    }
}

/// The least that the middles of two neighbours are apart.
fn distance(above: usize, below: usize, tasks: usize, spots: &[Spot]) -> f64 {
    let gap = if above < tasks && below < tasks { TASK_GAP } else { BEND_GAP };
    (spots[above].height + spots[below].height) / 2.0 + gap
}

fn middle(joined: &[usize], spots: &[Spot]) -> Option<f64> {
    let sum: f64 = joined.iter().map(|&other| spots[other].y).sum();
    (!joined.is_empty()).then(|| sum / joined.len() as f64)
}

/// Gives each item of a column the height it wants, as far as all can have it: the least squares
/// under a fixed order and least distances. Items that want to pass each other become a block,
/// which stands where they want to be on the average.
fn settle(column: &[usize], wanted: &[Option<f64>], tasks: usize, spots: &mut [Spot]) {
    struct Block {
        sum: f64,
        weight: f64,
        items: usize,
    }
    let mut offsets = Vec::with_capacity(column.len());
    let mut blocks: Vec<Block> = Vec::new();
    let mut offset = 0.0;
    for (position, &item) in column.iter().enumerate() {
        if position > 0 {
            offset += distance(column[position - 1], item, tasks, spots);
        }
        offsets.push(offset);
        // What wants nothing gives way to all others. Straight edges please more than tasks.
        let (wish, weight) = match wanted[position] {
            Some(wish) => (wish, if item < tasks { 1.0 } else { 4.0 }),
            None => (spots[item].y, 0.01),
        };
        blocks.push(Block { sum: (wish - offset) * weight, weight, items: 1 });
        while let [.., above, below] = blocks.as_mut_slice()
            && above.sum / above.weight > below.sum / below.weight
        {
            above.sum += below.sum;
            above.weight += below.weight;
            above.items += below.items;
            blocks.pop();
        }
    }
    let mut position = 0;
    for block in blocks {
        let shift = block.sum / block.weight;
        for _ in 0..block.items {
            spots[column[position]].y = offsets[position] + shift;
            position += 1;
        }
    }
}
