//! What was measured, for people and for programs.

use super::sample::{Round, Spread};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// One figure with what it is to be judged by.
#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    pub unit: &'static str,
    pub figure: Spread,
    pub floor: Option<Floor>,
    /// What it should be, in words.
    pub budget: &'static str,
    /// Anything else worth knowing.
    pub note: String,
}

#[derive(Clone, Debug)]
pub struct Floor {
    pub name: &'static str,
    pub value: Spread,
    /// Figure by floor, round by round.
    pub ratio: Spread,
}

impl Line {
    pub fn new(name: impl Into<String>, unit: &'static str, figure: Spread) -> Self {
        Self { name: name.into(), unit, figure, floor: None, budget: "", note: String::new() }
    }

    /// A figure whose floor was taken in the same rounds.
    pub fn of(
        name: impl Into<String>,
        unit: &'static str,
        floor: &'static str,
        rounds: &[Round],
    ) -> Self {
        let mut line = Self::new(name, unit, Spread::of(rounds.iter().map(|round| round.figure)));
        line.floor = Some(Floor {
            name: floor,
            value: Spread::of(rounds.iter().map(|round| round.floor)),
            ratio: Spread::of(rounds.iter().map(|round| round.figure / round.floor)),
        });
        line
    }

    pub fn budget(mut self, budget: &'static str) -> Self {
        self.budget = budget;
        self
    }

    pub fn note(mut self, note: String) -> Self {
        self.note = note;
        self
    }
}

/// Columns under each other, one line for each figure.
pub fn table(lines: &[Line]) -> String {
    let mut rows = vec![
        ["workload", "median (min – max)", "floor", "ratio", "budget", "note"].map(str::to_owned),
    ];
    rows.extend(lines.iter().map(cells));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..6).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn cells(line: &Line) -> [String; 6] {
    let Line { figure, unit, .. } = line;
    let (median, min, max) = (short(figure.median), short(figure.min), short(figure.max));
    let (floor, ratio) = match &line.floor {
        None => (String::new(), String::new()),
        Some(Floor { name, value, ratio }) => (
            format!("{} {name}", short(value.median)),
            format!("{:.2} ({:.2} – {:.2})", ratio.median, ratio.min, ratio.max),
        ),
    };
    [
        line.name.clone(),
        format!("{median} {unit} ({min} – {max})"),
        floor,
        ratio,
        line.budget.to_owned(),
        line.note.clone(),
    ]
}

/// Three digits that mean something, no more.
fn short(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// The same for programs.
pub fn json(lines: &[Line]) -> Value {
    let spread =
        |spread: &Spread| json!({ "median": spread.median, "min": spread.min, "max": spread.max });
    let line = |line: &Line| {
        json!({
            "workload": line.name,
            "unit": line.unit,
            "figure": spread(&line.figure),
            "floor": line.floor.as_ref().map(|floor| json!({
                "name": floor.name,
                "value": spread(&floor.value),
                "ratio": spread(&floor.ratio),
            })),
            "budget": line.budget,
            "note": line.note,
        })
    };
    Value::Array(lines.iter().map(line).collect())
}
