//! Lists of runs, newest first.
//!
//! A list of several statuses is put together from one walk for each index that holds some of
//! them.

use super::runs::{columns, read_listed};
use crate::contract::RunsQuery;
use crate::postgres::columns::{count, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Params, Session, Step};
use crate::postgres::text;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::row::{RunHead, RunProgress, RunStatus};
use mainspring_core::time::Timestamp;
use std::cmp::Reverse;
use tokio_postgres::types::ToSql;

pub(in crate::postgres) async fn list(
    session: &Session,
    query: &RunsQuery,
) -> Result<Vec<(RunHead, RunProgress)>, Fault> {
    let walks: Vec<Walk<'_>> = conditions(query).iter().map(|of| Walk::of(of, query)).collect();
    let several = walks.len() > 1;
    let answers = match several {
        false => {
            let mut answers = Vec::new();
            for Walk { sql, params } in walks {
                answers.push(session.rows(&Step { sql: &sql, params }).await?);
            }
            answers
        }
        true => {
            let (texts, params): (Vec<String>, Vec<Params<'_>>) =
                walks.into_iter().map(|walk| (walk.sql, walk.params)).unzip();
            let steps: Vec<Step<'_>> =
                texts.iter().zip(params).map(|(sql, params)| Step { sql, params }).collect();
            session.snapshot(&steps).await?
        }
    };
    let mut found = answers.iter().flatten().map(read_listed).collect::<Result<Vec<_>, Fault>>()?;
    if several {
        found.sort_by_key(|(head, _)| Reverse((head.created_at, head.id)));
        found.truncate(query.limit);
    }
    Ok(found)
}

/// The conditions of the partial indexes, as the migration has them.
const UNFINISHED: &str = "status in ('pending', 'running', 'paused', 'cancelling')";
const UNSUCCESSFUL: &str = "status in ('failed', 'cancelled')";

/// The conditions on the status for each walk: that of a partial index, then the statuses that
/// are asked for. No conditions: every status.
fn conditions(query: &RunsQuery) -> Vec<Vec<String>> {
    let in_words = |statuses: &[RunStatus]| {
        let words: Vec<String> =
            statuses.iter().map(|status| format!("'{}'", status.word())).collect();
        format!("status in ({})", words.join(", "))
    };
    if query.statuses.is_empty() {
        return vec![Vec::new()];
    }
    // Children are few, and have an index of their own.
    if query.parent.is_some() {
        return vec![vec![in_words(&query.statuses)]];
    }
    let is_unfinished = |status: &&RunStatus| !status.is_final();
    let is_success = |status: &&RunStatus| **status == RunStatus::Success;
    let unfinished = query.statuses.iter().filter(is_unfinished);
    let successes = query.statuses.iter().filter(is_success);
    let others = query.statuses.iter().filter(|of| !is_unfinished(of) && !is_success(of));
    let mut walks = Vec::new();
    let mut walk = |partial: Option<&str>, statuses: Vec<&RunStatus>| {
        let words: Vec<String> =
            statuses.iter().map(|status| format!("'{}'", status.word())).collect();
        if !words.is_empty() {
            let asked_for = format!("status in ({})", words.join(", "));
            walks.push(partial.map(str::to_owned).into_iter().chain([asked_for]).collect());
        }
    };
    walk(Some(UNFINISHED), unfinished.collect());
    walk(Some(UNSUCCESSFUL), others.collect());
    walk(None, successes.collect());
    walks
}

/// One walk down an index. The text depends only on which conditions there are, so that it
/// stays prepared.
struct Walk<'a> {
    sql: String,
    params: Params<'a>,
}

impl<'a> Walk<'a> {
    fn of(statuses: &[String], query: &'a RunsQuery) -> Self {
        let mut conditions = statuses.to_vec();
        let mut params: Params<'a> = Vec::new();
        let mut next = |value: Box<dyn ToSql + Sync + 'a>| {
            params.push(value);
            format!("${}", params.len())
        };
        if let Some(parent) = &query.parent {
            conditions.push(format!("parent = {}", next(Box::new(uuid(parent.as_bytes())))));
        }
        if let Some(workflow) = &query.workflow {
            conditions.push(format!("workflow = {}", next(Box::new(text::encode(workflow)))));
        }
        if let Some((created_at, id)) = upper_end(query) {
            let (at, id) = (next(Box::new(created_at.0)), next(Box::new(uuid(id.as_bytes()))));
            conditions.push(format!("(created_at, id) < ({at}, {id})"));
        }
        if let Some(since) = query.since {
            conditions.push(format!("created_at >= {}", next(Box::new(since.0))));
        }
        // Looked at along the walk: labels have no index, so that most runs do not pay for one.
        for (name, value) in &query.labels {
            let (name, value) = (text::encode(name), text::encode(value));
            let (name, value) = (next(Box::new(name)), next(Box::new(value)));
            conditions.push(format!("labels::json ->> {name}::text = {value}"));
        }
        let limit = next(Box::new(count(query.limit)));
        let conditions = match conditions.is_empty() {
            true => String::new(),
            false => format!("where {}", conditions.join(" and ")),
        };
        let sql = format!(
            "select {} from runs {conditions} order by created_at desc, id desc limit {limit}",
            columns!(listed)
        );
        Self { sql, params }
    }
}

/// Where a walk begins, this place excluded: one bound, so that the index can seek to it.
/// No id comes before the lowest one.
fn upper_end(query: &RunsQuery) -> Option<(Timestamp, RunId)> {
    let until = query.until.map(|until| (until, RunId::from_bytes([0; 16])));
    until.into_iter().chain(query.after).min()
}
