//! Which runs are meant, and what is done to them.

use crate::app::{App, now};
use crate::problem::{Code, Problem};
use crate::routes::rerun::RerunVersion;
use crate::routes::runs::{labels, labels_schema, moment};
use mainspring_core::ids::RunId;
use mainspring_core::kernel::row::{RunHead, RunProgress, RunStatus};
use mainspring_core::time::Timestamp;
use mainspring_store::RunsQuery;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, SchemaType, Type};

/// Runs that are read at a time.
const PAGE: usize = 1_000;
/// Runs of one request: their ids are kept while it is at work.
pub const RUNS_MAX: usize = 100_000;

/// What is done to each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Retry,
    Cancel,
    Rerun,
    Pause,
    Resume,
}

impl Action {
    /// Children are not done again by themselves: their parents do that.
    fn takes(self, head: &RunHead) -> bool {
        head.parent.is_none() || !matches!(self, Self::Retry | Self::Rerun)
    }

    /// The states of runs that it can apply to.
    pub const fn applies_to(self) -> &'static [RunStatus] {
        use RunStatus::{Cancelled, Failed, Paused, Pending, Running, Success};
        match self {
            Self::Retry => &[Failed, Cancelled],
            Self::Cancel => &[Pending, Running, Paused],
            Self::Rerun => &[Success, Failed, Cancelled],
            Self::Pause => &[Running],
            Self::Resume => &[Paused],
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::Rerun => "rerun",
            Self::Pause => "pause",
            Self::Resume => "resume",
        }
    }
}

/// Which runs; all that is said has to hold.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterBody {
    /// Only these states; those that the action can apply to if not said.
    #[serde(default)]
    #[schema(min_items = 1)]
    pub status: Option<Vec<RunStatus>>,
    /// Only runs of this workflow.
    #[serde(default)]
    pub workflow: Option<String>,
    /// Accepted at this moment or later.
    #[serde(default)]
    #[schema(value_type = Option<Timestamp>)]
    pub since: Option<String>,
    /// Accepted before this moment.
    #[serde(default)]
    #[schema(value_type = Option<Timestamp>)]
    pub until: Option<String>,
    /// Only runs with all of these labels, each as `key=value`.
    #[serde(default)]
    #[schema(schema_with = maybe_labels_schema)]
    pub label: Option<Vec<String>>,
}

/// Like whatever else is left out, it may be null.
fn maybe_labels_schema() -> Array {
    let mut labels = labels_schema();
    labels.schema_type = SchemaType::from_iter([Type::Array, Type::Null]);
    labels
}

/// What to do, to which runs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkBody {
    pub action: Action,
    #[serde(default)]
    pub filter: FilterBody,
    /// `true`: every run, with an empty filter.
    #[serde(default)]
    pub all: bool,
    /// `true`: only say how many runs are meant, and which come first.
    #[serde(default)]
    pub dry_run: bool,
    /// Of a rerun: the task that each begins from.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub from: Option<Arc<str>>,
    /// Of a rerun: `same` if not said.
    #[serde(default)]
    pub version: Option<RerunVersion>,
}

impl BulkBody {
    /// Refuses what cannot be meant.
    pub fn check(&self) -> Result<(), Problem> {
        let wrong = |detail: &str| Err(Problem::new(Code::BadBody, detail));
        let filter = &self.filter;
        let is_empty = filter.status.is_none()
            && filter.workflow.is_none()
            && filter.since.is_none()
            && filter.until.is_none()
            && filter.label.is_none();
        if is_empty && !self.all {
            return wrong("filter: it is empty; say `all: true` if every run is meant");
        }
        if !is_empty && self.all {
            return wrong("all: leave it out beside a filter");
        }
        if filter.status.as_ref().is_some_and(Vec::is_empty) {
            return wrong("status: name at least one, or leave it out");
        }
        if filter.label.as_ref().is_some_and(Vec::is_empty) {
            return wrong("label: name at least one, or leave it out");
        }
        if self.action != Action::Rerun && (self.from.is_some() || self.version.is_some()) {
            return wrong("from, version: they are for the action `rerun`");
        }
        Ok(())
    }

    /// Runs accepted from here on are not meant: a rerun makes some that would fit.
    fn query(&self, now: Timestamp) -> Result<RunsQuery, Problem> {
        let filter = &self.filter;
        let asked = |problem: Problem| Problem::new(Code::BadBody, problem.detail);
        let said = |field, text: &Option<String>| {
            text.as_deref().map(|text| moment(field, text)).transpose().map_err(asked)
        };
        let statuses = filter.status.as_deref().unwrap_or(self.action.applies_to());
        let labels = labels(filter.label.as_deref().unwrap_or_default());
        Ok(RunsQuery {
            statuses: statuses.to_vec(),
            workflow: filter.workflow.clone(),
            since: said("since", &filter.since)?,
            until: said("until", &filter.until)?.into_iter().chain([now]).min(),
            labels: labels.map_err(asked)?,
            parent: None,
            after: None,
            limit: PAGE,
        })
    }
}

/// Runs that are meant: all their ids, and the first ones.
#[derive(Clone, Debug)]
pub struct Meant {
    /// Those accepted before this moment.
    pub until: Timestamp,
    pub ids: Vec<RunId>,
    /// Children of others that are meant: their turn comes when those are through.
    pub below: Vec<RunId>,
    pub first: Vec<(RunHead, RunProgress)>,
}

impl Meant {
    pub fn count(&self) -> u64 {
        (self.ids.len() + self.below.len()) as u64
    }
}

/// So many are shown before anything is done.
const SHOWN: usize = 20;

impl App {
    pub async fn meant(&self, body: &BulkBody) -> Result<Meant, Problem> {
        let until = now();
        let mut query = body.query(until)?;
        let until = query.until.unwrap_or(until);
        let mut meant = Meant { until, ids: Vec::new(), below: Vec::new(), first: Vec::new() };
        let mut parents: BTreeMap<RunId, RunId> = BTreeMap::new();
        loop {
            let page = self.store.runs(query.clone()).await?;
            let Some((last, _)) = page.last() else { break };
            query.after = Some((last.created_at, last.id));
            let is_last = page.len() < PAGE;
            let page: Vec<_> =
                page.into_iter().filter(|(head, _)| body.action.takes(head)).collect();
            meant.ids.extend(page.iter().map(|(head, _)| head.id));
            parents.extend(page.iter().filter_map(|(it, _)| Some((it.id, it.parent_run()?))));
            if meant.ids.len() > RUNS_MAX {
                let detail = format!("filter: more than {RUNS_MAX} runs are meant; narrow it");
                return Err(Problem::new(Code::BadBody, detail));
            }
            let more = SHOWN.saturating_sub(meant.first.len());
            meant.first.extend(page.into_iter().take(more));
            if is_last {
                break;
            }
        }
        self.part_kin(&mut meant, parents, body.action).await?;
        Ok(meant)
    }

    /// What is done to a run is done to its children: to do it to them as well, before or beside
    /// it, would come to something else by chance. Only what a person paused by itself has to be
    /// resumed by itself, after its parent.
    async fn part_kin(
        &self,
        meant: &mut Meant,
        mut parents: BTreeMap<RunId, RunId>,
        action: Action,
    ) -> Result<(), Problem> {
        let all: BTreeSet<RunId> = meant.ids.iter().copied().collect();
        let mut below: BTreeMap<RunId, usize> = BTreeMap::new();
        for run in parents.keys().copied().collect::<Vec<_>>() {
            let (mut at, mut depth, mut is_below) = (run, 0, false);
            while let Some(parent) = self.parent(at, &mut parents).await? {
                is_below |= all.contains(&parent);
                (at, depth) = (parent, depth + 1);
            }
            below.extend(is_below.then_some((run, depth)));
        }
        meant.ids.retain(|run| !below.contains_key(run));
        if action == Action::Resume {
            // Parents before their children.
            meant.below = below.keys().copied().collect();
            meant.below.sort_by_key(|run| below[run]);
        } else {
            meant.first.retain(|(head, _)| !below.contains_key(&head.id));
        }
        Ok(())
    }

    /// Looked up once.
    async fn parent(
        &self,
        run: RunId,
        known: &mut BTreeMap<RunId, RunId>,
    ) -> Result<Option<RunId>, Problem> {
        if let Some(parent) = known.get(&run) {
            return Ok(Some(*parent));
        }
        let parent = self.store.outline(run).await?.and_then(|stored| stored.head.parent_run());
        known.extend(parent.map(|parent| (run, parent)));
        Ok(parent)
    }
}
