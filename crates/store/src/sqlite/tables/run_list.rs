//! Lists of runs, newest first.
//!
//! Which index serves a list is said, not guessed: the planner has no statistics here. A list
//! of several statuses is put together from one walk for each index that holds some of them.

use super::runs::{columns, read_listed};
use crate::contract::RunsQuery;
use crate::sqlite::cells::limit;
use crate::sqlite::fault::Fault;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::row::{RunHead, RunProgress, RunStatus};
use mainspring_core::time::Timestamp;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::cmp::Reverse;

/// Looked at along the walk: labels have no index, so that most runs do not pay for one.
const LABELLED: &str = "exists (select 1 from json_each(runs.labels) as label where label.key = ? and label.value = ?)";

pub(in crate::sqlite) fn list(
    conn: &Connection,
    query: &RunsQuery,
) -> Result<Vec<(RunHead, RunProgress)>, Fault> {
    let walks = walks(query);
    let mut found = Vec::new();
    for walk in &walks {
        walk.run(conn, query, &mut found)?;
    }
    if walks.len() > 1 {
        found.sort_by_key(|(head, _)| Reverse((head.created_at, head.id)));
        found.truncate(query.limit);
    }
    Ok(found)
}

/// One walk down an index.
struct Walk {
    index: &'static str,
    /// The condition of a partial index, as the migration has it.
    partial: Option<&'static str>,
    /// Empty: every status.
    statuses: Vec<RunStatus>,
}

fn walks(query: &RunsQuery) -> Vec<Walk> {
    let whole = match query.workflow {
        Some(_) => "runs_by_workflow",
        None => "runs_by_age",
    };
    if query.parent.is_some() {
        let statuses = query.statuses.clone();
        return vec![Walk { index: "runs_by_parent", partial: None, statuses }];
    }
    if query.statuses.is_empty() {
        return vec![Walk { index: whole, partial: None, statuses: Vec::new() }];
    }
    let those = |wanted: fn(&RunStatus) -> bool| -> Vec<RunStatus> {
        query.statuses.iter().copied().filter(wanted).collect()
    };
    let mut walks = vec![
        Walk {
            index: "runs_unfinished",
            partial: Some("status in ('pending', 'running', 'paused', 'cancelling')"),
            statuses: those(|status| !status.is_final()),
        },
        Walk {
            index: "runs_unsuccessful",
            partial: Some("status in ('failed', 'cancelled')"),
            statuses: those(|status| status.is_final() && *status != RunStatus::Success),
        },
        Walk {
            index: whole,
            partial: None,
            statuses: those(|status| *status == RunStatus::Success),
        },
    ];
    walks.retain(|walk| !walk.statuses.is_empty());
    walks
}

impl Walk {
    fn run(
        &self,
        conn: &Connection,
        query: &RunsQuery,
        found: &mut Vec<(RunHead, RunProgress)>,
    ) -> Result<(), Fault> {
        let (sql, values) = self.statement(query);
        let mut statement = conn.prepare_cached(&sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            found.push(read_listed(row)?);
        }
        Ok(())
    }

    /// The text depends only on which conditions there are, so that it stays cached.
    fn statement(&self, query: &RunsQuery) -> (String, Vec<Value>) {
        let mut conditions: Vec<String> = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        conditions.extend(self.partial.map(str::to_owned));
        if !self.statuses.is_empty() {
            let words: Vec<String> =
                self.statuses.iter().map(|status| format!("'{}'", status.word())).collect();
            conditions.push(format!("status in ({})", words.join(", ")));
        }
        if let Some(parent) = &query.parent {
            conditions.push("parent = ?".to_owned());
            values.push(parent.as_bytes().to_vec().into());
        }
        if let Some(workflow) = &query.workflow {
            conditions.push("workflow = ?".to_owned());
            values.push(workflow.clone().into());
        }
        if let Some((created_at, id)) = upper_end(query) {
            conditions.push("(created_at, id) < (?, ?)".to_owned());
            values.push(created_at.0.into());
            values.push(id.as_bytes().to_vec().into());
        }
        if let Some(since) = query.since {
            conditions.push("created_at >= ?".to_owned());
            values.push(since.0.into());
        }
        for (name, value) in &query.labels {
            conditions.push(LABELLED.to_owned());
            values.push(name.clone().into());
            values.push(value.clone().into());
        }
        let conditions = match conditions.is_empty() {
            true => String::new(),
            false => format!("where {}", conditions.join(" and ")),
        };
        values.push(limit(query.limit).into());
        let sql = format!(
            "select {} from runs indexed by {} {conditions}
             order by created_at desc, id desc limit ?",
            columns!(listed),
            self.index,
        );
        (sql, values)
    }
}

/// Where a walk begins, this place excluded: one bound, so that the index can seek to it.
/// No id comes before the lowest one.
fn upper_end(query: &RunsQuery) -> Option<(Timestamp, RunId)> {
    let until = query.until.map(|until| (until, RunId::from_bytes([0; 16])));
    until.into_iter().chain(query.after).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    /// Every list walks its index in order: no scan of the table, no sorting.
    #[test]
    fn no_list_scans_or_sorts() {
        let mut conn = Connection::open_in_memory().unwrap();
        schema::migrate(&mut conn, "x".as_ref()).unwrap();
        let statuses = [
            vec![],
            vec![RunStatus::Running],
            vec![RunStatus::Failed],
            vec![RunStatus::Success],
            RunStatus::ALL.to_vec(),
        ];
        let moments = [None, Some(Timestamp(5))];
        for statuses in statuses {
            let parents = [None, Some(RunId::from_bytes([1; 16]))];
            for (workflow, parent) in parents
                .into_iter()
                .flat_map(|parent| [None, Some("w".to_owned())].map(|workflow| (workflow, parent)))
            {
                for (since, until) in moments.into_iter().flat_map(|a| moments.map(|b| (a, b))) {
                    for after in moments {
                        let query = RunsQuery {
                            statuses: statuses.clone(),
                            workflow: workflow.clone(),
                            since,
                            until,
                            parent,
                            labels: vec![("team".to_owned(), "core".to_owned())],
                            after: after.map(|at| (at, RunId::from_bytes([0; 16]))),
                            limit: 5,
                        };
                        walks(&query).iter().for_each(|walk| check_plan(&conn, walk, &query));
                    }
                }
            }
        }
    }

    fn check_plan(conn: &Connection, walk: &Walk, query: &RunsQuery) {
        let (sql, values) = walk.statement(query);
        let mut explain = conn.prepare(&format!("explain query plan {sql}")).unwrap();
        let plan: Vec<String> = explain
            .query_map(rusqlite::params_from_iter(values), |row| row.get("detail"))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let plan = plan.join("; ");
        assert!(plan.contains(&format!("USING INDEX {}", walk.index)), "{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        if upper_end(query).is_some() {
            assert!(plan.contains("(created_at,id)<(?,?)"), "seeks to where it begins: {plan}");
        }
        if query.since.is_some() {
            assert!(plan.contains("created_at>"), "ends where it may: {plan}");
        }
    }
}
