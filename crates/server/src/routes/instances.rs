//! `/runs/{id}/tasks/{name}/instances`: the instances of a fan-out that have been started. The
//! others are a number in the fan-out's own view.

use super::page::{Page, limit};
use super::tasks::{ListQuery, statuses};
use crate::app::{App, now};
use crate::auth::who::Viewer;
use crate::cursor;
use crate::extract::{Path, Query};
use crate::find::{Found, run_id};
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::view::shapes::{TaskView, instance};
use mainspring_core::view::word::Word;
use mainspring_store::InstancesQuery;

/// Lists the instances of a fan-out that have been started, in the order of their indexes.
#[utoipa::path(get, path = "/runs/{id}/tasks/{name}/instances", operation_id = "listInstances", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), ListQuery),
    responses((status = 200, body = Page<TaskView>)))]
pub async fn list(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path((id, name)): Path<(String, String)>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<TaskView>>, Problem> {
    let limit = limit(query.limit)?;
    let wanted = statuses(&query.status)?;
    let after = query.cursor.as_deref().map(cursor::decode_number).transpose()?;
    let from = after.map_or(0, |at| u32::try_from(at.saturating_add(1)).unwrap_or(u32::MAX));
    let found = app.found(run_id(&id)?).await?;
    let no = found.task_no(&name)?;
    if found.definition.task(no).fan_out.is_none() {
        let detail = format!("task '{name}' is not a fan-out: it has no instances");
        return Err(Problem::new(Code::NotAGroup, detail));
    }
    let Some(group) = found.row(no) else {
        return Ok(Json(Page { items: Vec::new(), next_cursor: None }));
    };
    let listing = Listing { found: &found, no, group, wanted: &wanted };
    let rows = listing.rows(&app, from, limit + 1).await?;
    let cursor = |view: &TaskView| cursor::encode_number(u64::from(view.index.unwrap_or(0)));
    Ok(Json(Page::of(rows, limit, cursor, |view| view)))
}

struct Listing<'a> {
    found: &'a Found,
    no: TaskNo,
    group: &'a TaskRow,
    /// Empty: every word.
    wanted: &'a [Word],
}

impl Listing<'_> {
    /// As many as are wanted, or as there are. What waits for another try is stored as one thing
    /// and shown in three words: of those the store may give some that are not wanted.
    async fn rows(&self, app: &App, from: u32, count: usize) -> Result<Vec<TaskView>, Problem> {
        let facts: Vec<Fact> = self.wanted.iter().filter_map(|word| fact(*word)).collect();
        if facts.is_empty() && !self.wanted.is_empty() {
            return Ok(Vec::new());
        }
        let (run, definition) = (self.found.run.head.key, &self.found.definition);
        let (mut shown, mut from) = (Vec::new(), from);
        loop {
            let query = InstancesQuery { from, limit: count - shown.len(), facts: facts.clone() };
            let limit = query.limit;
            let rows = app.store.instances(run, self.no, query).await?;
            let last = rows.last().and_then(|row| row.task.index);
            let is_all = rows.len() < limit;
            let views = rows.iter().map(|row| instance(definition, (self.group, row), now()));
            shown.extend(views.filter(|view| self.includes(view.status)));
            match last.and_then(|last| last.checked_add(1)) {
                Some(next) if !is_all && shown.len() < count => from = next,
                _ => return Ok(shown),
            }
        }
    }

    fn includes(&self, word: Word) -> bool {
        self.wanted.is_empty() || self.wanted.contains(&word)
    }
}

/// What is stored where this word is shown. An instance is opened or not: some words are for tasks
/// only.
fn fact(word: Word) -> Option<Fact> {
    Some(match word {
        Word::Pending | Word::Ready | Word::Paused => Fact::Delayed,
        Word::Dispatched => Fact::Dispatched,
        Word::Running => Fact::Running,
        Word::Waiting => Fact::Waiting,
        Word::WorkerDone => Fact::WorkerDone,
        Word::Success => Fact::Success,
        Word::Failed => Fact::Failed,
        Word::Cancelled => Fact::Cancelled,
        Word::Skipped | Word::Blocked => return None,
    })
}
