//! Why a run does not go on: reads what an explanation is made of. The same with an engine at work
//! and without one.

use crate::definitions;
use mainspring_core::ids::TaskNo;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{RunHead, RunStatus, TaskRow};
use mainspring_core::kernel::rows::Rows;
use mainspring_core::plan::dag::graph::Graph;
use mainspring_core::plan::dag::plan::Shape;
use mainspring_core::spec::definition::Definition;
use mainspring_core::time::Timestamp;
use mainspring_core::view::explain::behind::{Place, behind};
use mainspring_core::view::explain::reason::Reason;
use mainspring_core::view::explain::seen::{Around, Seen};
use mainspring_core::view::explain::shapes::Explanation;
use mainspring_core::view::explain::{Wanted, explain};
use mainspring_core::view::tiers::TierView;
use mainspring_store::{InstancesQuery, ReadError, RunsQuery, Store, StoredRun};
use std::collections::BTreeMap;

/// Tasks on a page at most.
pub const TASKS_MAX: usize = 100;
/// Instances of one fan-out beside its other tasks, and when it is asked for alone.
const INSTANCES_BESIDE: usize = 10;
const INSTANCES_ALONE: usize = 100;
/// Groups whose instances are read for one page.
const GROUPS_MAX: usize = 20;
/// Active runs read at a time.
const RUNS_AT_ONCE: usize = 1_000;

/// A run with its tasks, without instances, and the definition that it goes by.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub run: &'a StoredRun,
    pub definition: &'a Definition,
}

/// Explains a run as it is stored. `limits`: how they stand; none if nobody is at work.
pub async fn explained(
    store: &dyn Store,
    subject: Subject<'_>,
    wanted: Wanted,
    (limits, now): (Option<&[TierView]>, Timestamp),
) -> Result<Explanation, ReadError> {
    let Subject { run, definition } = subject;
    let behind = pending_behind(store, subject).await?;
    let instances = instances(store, subject, wanted).await?;
    let graph = Graph::new(definition);
    let mut rows = Rows::new(definition.tasks.len());
    for row in run.tasks.iter().filter(|row| row.task.index.is_none()) {
        rows.put(row.clone());
    }
    let seen = Seen {
        shape: Shape { definition, graph: &graph },
        head: &run.head,
        progress: &run.progress,
        rows: &rows,
        around: Around { limits, behind: &behind },
        now,
    };
    Ok(explain(seen, wanted, |no| instances.get(&no).cloned().unwrap_or_default()))
}

/// Of open groups, the first instances that have no outcome.
async fn instances(
    store: &dyn Store,
    Subject { run, .. }: Subject<'_>,
    wanted: Wanted,
) -> Result<BTreeMap<TaskNo, Vec<TaskRow>>, ReadError> {
    let is_wanted = |row: &&TaskRow| match wanted {
        Wanted::Only(no) => row.task.no == no,
        Wanted::From(no, _) => row.task.no >= no,
    };
    let limit = match wanted {
        Wanted::Only(_) => INSTANCES_ALONE,
        Wanted::From(..) => INSTANCES_BESIDE,
    };
    let open = run.tasks.iter().filter(|row| row.fact == Fact::Open).filter(is_wanted);
    let mut found = BTreeMap::new();
    for row in open.take(GROUPS_MAX) {
        let unsettled = Fact::ALL.iter().copied().filter(|fact| !fact.is_settled());
        let facts = unsettled.filter(|fact| *fact != Fact::None).collect();
        let query = InstancesQuery { from: 0, limit, facts };
        let rows = store.instances(run.head.key, row.task.no, query).await?;
        found.insert(row.task.no, rows);
    }
    Ok(found)
}

/// What a run that is pending waits for.
async fn pending_behind(
    store: &dyn Store,
    Subject { run, definition }: Subject<'_>,
) -> Result<Vec<Reason>, ReadError> {
    if run.progress.status != RunStatus::Pending {
        return Ok(Vec::new());
    }
    let head = &run.head;
    let mut places = Vec::new();
    // Children come with their parents, which are counted.
    let max = match head.parent.is_none() {
        true => max_active(store, &head.workflow).await?,
        false => None,
    };
    let of_workflow = match max {
        None => Vec::new(),
        Some(_) => {
            let workflow = Some(head.workflow.to_string());
            active(store, workflow, |other| other.parent.is_none()).await?
        }
    };
    places.extend(max.map(|limit| Place::Workflow { limit, active: &of_workflow }));
    let group = definition.concurrency_group.as_ref().filter(|_| head.group.is_some());
    let of_group = match group {
        None => Vec::new(),
        // A child may pass because of a run above it, whatever is between them.
        Some(_) => {
            let counts = |other: &RunHead| other.parent.is_some() || other.group == head.group;
            active(store, None, counts).await?
        }
    };
    places.extend(group.map(|group| Place::Group { limit: group.limit, active: &of_group }));
    Ok(behind(head, &places))
}

/// The latest version's number counts.
async fn max_active(store: &dyn Store, workflow: &str) -> Result<Option<u32>, ReadError> {
    let latest = store.version(workflow, None).await?;
    let latest = latest.map(|row| definitions::parse(&row)).transpose()?;
    Ok(latest.and_then(|latest| latest.max_active_runs))
}

/// All of them: whoever is left out might be the one that is waited for.
async fn active(
    store: &dyn Store,
    workflow: Option<String>,
    counts: impl Fn(&RunHead) -> bool,
) -> Result<Vec<RunHead>, ReadError> {
    let statuses = vec![RunStatus::Running, RunStatus::Paused, RunStatus::Cancelling];
    let limit = RUNS_AT_ONCE;
    let mut query = RunsQuery { statuses, workflow, limit, ..RunsQuery::default() };
    let mut found = Vec::new();
    loop {
        let page = store.runs(query.clone()).await?;
        let is_last = page.len() < RUNS_AT_ONCE;
        query.after = page.last().map(|(head, _)| (head.created_at, head.id));
        found.extend(page.into_iter().map(|(head, _)| head).filter(&counts));
        if is_last {
            return Ok(found);
        }
    }
}
