//! The order of items within their columns, so that few edges cross: each item moves to the
//! middle of those it is joined with, back and forth over the columns, and the best order that
//! was seen is kept.

use super::layers::Grid;

/// More hardly change anything.
const SWEEPS: usize = 12;

pub fn arrange(grid: &mut Grid) {
    let mut best = grid.columns.clone();
    let mut fewest = crossings(grid);
    for sweep in 0..SWEEPS {
        if fewest == 0 {
            break;
        }
        let count = grid.columns.len();
        for step in 1..count {
            match sweep % 2 {
                0 => sort(&mut grid.columns, (step - 1, step), &grid.before),
                _ => sort(&mut grid.columns, (count - step, count - step - 1), &grid.after),
            }
        }
        let now = crossings(grid);
        if now < fewest {
            fewest = now;
            best.clone_from(&grid.columns);
        }
    }
    grid.columns = best;
}

/// Sorts one column by where its items are joined with the fixed one. What is joined with nothing
/// there keeps its place.
fn sort(columns: &mut [Vec<usize>], (fixed, moved): (usize, usize), joined: &[Vec<usize>]) {
    let place = places(&columns[fixed], joined.len());
    let scale = columns[fixed].len() as f64 / columns[moved].len().max(1) as f64;
    let mut keyed: Vec<(f64, usize)> = columns[moved]
        .iter()
        .enumerate()
        .map(|(position, &item)| {
            let sum: usize = joined[item].iter().map(|&other| place[other]).sum();
            match joined[item].len() {
                0 => (position as f64 * scale, item),
                count => (sum as f64 / count as f64, item),
            }
        })
        .collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    columns[moved] = keyed.into_iter().map(|(_, item)| item).collect();
}

fn places(column: &[usize], items: usize) -> Vec<usize> {
    let mut place = vec![0; items];
    for (position, &item) in column.iter().enumerate() {
        place[item] = position;
    }
    place
}

/// How many pairs of edges cross, between all neighbouring columns.
pub fn crossings(grid: &Grid) -> u64 {
    let items = grid.after.len();
    let mut place = vec![0; items];
    for column in &grid.columns {
        for (position, &item) in column.iter().enumerate() {
            place[item] = position;
        }
    }
    grid.columns.windows(2).map(|pair| between(&pair[0], pair[1].len(), grid, &place)).sum()
}

/// Counts inversions with a tree of sums: an edge crosses those before it that end below.
fn between(left: &[usize], right: usize, grid: &Grid, place: &[usize]) -> u64 {
    let mut sums = vec![0_u64; right + 1];
    let (mut crossed, mut seen) = (0, 0);
    for &item in left {
        let mut ends: Vec<usize> = grid.after[item].iter().map(|&to| place[to]).collect();
        ends.sort_unstable();
        for &end in &ends {
            let mut not_below = 0;
            let mut at = end + 1;
            while at > 0 {
                not_below += sums[at];
                at &= at - 1;
            }
            crossed += seen - not_below;
        }
        for &end in &ends {
            let mut at = end + 1;
            while at <= right {
                sums[at] += 1;
                at += at & at.wrapping_neg();
            }
            seen += 1;
        }
    }
    crossed
}
