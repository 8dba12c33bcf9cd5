//! The tables: (fact, event) and (edge, state above it).

use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::transition::{Event, transition};
use mainspring_core::plan::dag::edge::{Doom, EdgeState, Standing, edge_state};
use mainspring_core::spec::definition::When;

/// A table in Markdown.
pub fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let dashes: Vec<String> = head.iter().map(|_| "---".to_owned()).collect();
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{}{rows}", line(head), line(&dashes))
}

/// Rows are events, columns facts.
pub fn transitions() -> String {
    let facts = Fact::ALL.iter().map(|fact| fact.word().to_owned());
    let head: Vec<String> = std::iter::once("event".to_owned()).chain(facts).collect();
    let rows: Vec<Vec<String>> = Event::ALL
        .iter()
        .map(|event| {
            let cells = Fact::ALL.iter().map(|fact| match transition(*fact, *event) {
                Ok(next) => format!("**{}**", next.word()),
                Err(why) => format!("({why})"),
            });
            std::iter::once(event.word().to_owned()).chain(cells).collect()
        })
        .collect();
    table(&head, &rows)
}

/// Rows are states of the task above, columns conditions.
pub fn edges() -> String {
    let standings = [
        ("pending, ready, dispatched", Fact::None, None),
        ("running", Fact::Running, None),
        ("waiting", Fact::Waiting, None),
        ("worker_done", Fact::WorkerDone, None),
        ("success", Fact::Success, None),
        ("failed", Fact::Failed, None),
        ("cancelled", Fact::Cancelled, None),
        ("skipped", Fact::Skipped, None),
        ("blocked", Fact::None, Some(Doom::Blocked)),
    ];
    let conditions = When::ALL.iter().map(|when| when.word().to_owned());
    let head: Vec<String> = std::iter::once("above".to_owned()).chain(conditions).collect();
    let rows: Vec<Vec<String>> = standings
        .iter()
        .map(|(name, fact, doom)| {
            let standing = Standing::of(*fact, false, *doom);
            let cells = When::ALL.iter().map(|when| edge(edge_state(*when, standing)));
            std::iter::once((*name).to_owned()).chain(cells).collect()
        })
        .collect();
    table(&head, &rows)
}

fn edge(state: EdgeState) -> String {
    match state {
        EdgeState::Satisfied => "**yes**".to_owned(),
        EdgeState::Unmet => "·".to_owned(),
        EdgeState::Never(Doom::Skipped) => "never: skipped".to_owned(),
        EdgeState::Never(Doom::Cancelled | Doom::RunOver) => "never: cancelled".to_owned(),
        EdgeState::Never(Doom::Blocked) => "never: blocked".to_owned(),
    }
}
