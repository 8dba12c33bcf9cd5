//! One batch, one transaction, one round trip.

use super::fault::Fault;
use super::session::{Broken, Session, Step, WRITE};
use super::tables::runs::{self, Owned};
use super::tables::{
    attempts, audit, cache, idempotency_keys, instances, logs, run_drop, schedulers, tasks, tokens,
    versions, workflows,
};
use crate::contract::Fence;
use crate::grouped::Grouped;
use crate::refused::Refused;
use mainspring_core::ids::{RunKey, SchedulerId};
use mainspring_core::kernel::cache::CacheRow;
use mainspring_core::kernel::row::{RunHead, RunProgress, WorkflowRow};
use mainspring_core::world::batch::Change;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use tokio_postgres::error::SqlState;

/// Ordinals of owners. They never change, so each is asked for once.
#[derive(Debug, Default)]
pub(super) struct Owners(BTreeMap<SchedulerId, i64>);

impl Owners {
    pub fn forget(&mut self) {
        self.0.clear();
    }

    async fn learn(&mut self, session: &Session, grouped: &Grouped<'_>) -> Result<(), Fault> {
        let new = grouped.new_runs.iter().map(|(_, progress)| progress.owner);
        let put = grouped.runs.iter().map(|(_, progress)| progress.owner);
        for owner in new.chain(put) {
            if let Entry::Vacant(place) = self.0.entry(owner) {
                let ordinal = schedulers::ordinal(session, owner).await?;
                place.insert(ordinal.ok_or(Refused::OwnerUnknown(owner))?);
            }
        }
        Ok(())
    }

    fn owned<'a, Run>(&self, run: Run, progress: &'a RunProgress) -> Owned<'a, Run> {
        let owner = *self.0.get(&progress.owner).expect("learnt before the batch is written");
        Owned { run, progress, owner }
    }
}

/// What it means when a step is refused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guard {
    Fence,
    /// The runs must be new.
    NewRuns,
    /// The runs must be there.
    KnownRuns,
    None,
}

/// Writes all changes or none.
pub(super) async fn commit(
    session: &Session,
    owners: &mut Owners,
    fence: Fence,
    changes: &[Change],
) -> Result<(), Fault> {
    let grouped = Grouped::of(changes);
    if let Err(fault) = owners.learn(session, &grouped).await {
        // Whoever is fenced off is told so before anything else.
        send(session, &grouped, vec![(Guard::Fence, schedulers::fence(fence))]).await?;
        return Err(fault);
    }
    let rows = Rows::of(&grouped, owners);
    let mut steps = vec![(Guard::Fence, schedulers::fence(fence))];
    rows.push_runs(&grouped, &mut steps);
    rows.push_rest(&grouped, &mut steps);
    push_records(&grouped, &mut steps);
    if let Some(marks) = grouped.marks {
        steps.push((Guard::None, schedulers::mark(fence.scheduler, marks)));
    }
    send(session, &grouped, steps).await
}

async fn send(
    session: &Session,
    grouped: &Grouped<'_>,
    steps: Vec<(Guard, Step<'_>)>,
) -> Result<(), Fault> {
    let (guards, steps): (Vec<Guard>, Vec<Step<'_>>) = steps.into_iter().unzip();
    let Err(Broken { step, error }) = session.transaction(WRITE, &steps).await else {
        return Ok(());
    };
    let code = error.code();
    let is_divided = code == Some(&SqlState::DIVISION_BY_ZERO);
    let is_there = code == Some(&SqlState::UNIQUE_VIOLATION);
    Err(match step.map_or(Guard::None, |at| guards[at]) {
        Guard::Fence if is_divided => Fault::Fenced,
        Guard::NewRuns if is_there => exists(session, grouped).await?.into(),
        Guard::KnownRuns if is_divided => unknown(session, grouped).await?.into(),
        _ => error.into(),
    })
}

/// Rows as their statements take them.
struct Rows<'a> {
    workflows: Vec<&'a WorkflowRow>,
    new_runs: Vec<Owned<'a, &'a RunHead>>,
    large_inputs: Vec<&'a RunHead>,
    runs: Vec<Owned<'a, RunKey>>,
    taken_for_granted: BTreeSet<RunKey>,
    cache: Vec<&'a CacheRow>,
}

impl<'a> Rows<'a> {
    fn of(grouped: &Grouped<'a>, owners: &Owners) -> Self {
        let new_runs = grouped.new_runs.iter();
        let heads = grouped.new_runs.iter().map(|(head, _)| *head);
        Self {
            workflows: workflows::last_words(&grouped.workflows),
            new_runs: new_runs.map(|(head, progress)| owners.owned(*head, progress)).collect(),
            large_inputs: heads.filter(|head| runs::is_large(head)).collect(),
            runs: grouped.runs.iter().map(|(run, row)| owners.owned(*run, row)).collect(),
            taken_for_granted: grouped.runs_taken_for_granted(),
            cache: grouped.cache.values().copied().collect(),
        }
    }

    fn push_runs<'s>(&'s self, grouped: &'s Grouped<'a>, steps: &mut Vec<(Guard, Step<'s>)>) {
        let mut push = |is_empty: bool, guard, step: &dyn Fn() -> Step<'s>| {
            if !is_empty {
                steps.push((guard, step()));
            }
        };
        let none = Guard::None;
        push(grouped.versions.is_empty(), none, &|| versions::insert(&grouped.versions));
        push(self.workflows.is_empty(), none, &|| workflows::put(&self.workflows));
        push(self.new_runs.is_empty(), Guard::NewRuns, &|| runs::insert(&self.new_runs));
        push(self.large_inputs.is_empty(), none, &|| runs::insert_inputs(&self.large_inputs));
        push(self.runs.is_empty(), Guard::KnownRuns, &|| runs::put(&self.runs));
        let granted = &self.taken_for_granted;
        push(granted.is_empty(), Guard::KnownRuns, &|| runs::check(granted));
        push(grouped.attempts.is_empty(), none, &|| attempts::insert(&grouped.attempts));
        if !grouped.sent_back.is_empty() {
            let back = instances::send_back(&grouped.sent_back);
            steps.extend(back.map(|step| (Guard::None, step)));
        }
    }

    fn push_rest<'s>(&'s self, grouped: &'s Grouped<'a>, steps: &mut Vec<(Guard, Step<'s>)>) {
        if !grouped.tasks.is_empty() {
            steps.push((Guard::None, tasks::put(&grouped.tasks)));
        }
        if !grouped.logs.is_empty() {
            steps.push((Guard::None, logs::insert(&grouped.logs)));
        }
        if let Some(moment) = grouped.cache_expired_at {
            steps.push((Guard::None, cache::drop_expired(moment)));
        }
        if !self.cache.is_empty() {
            steps.push((Guard::None, cache::put(&self.cache)));
        }
        if !grouped.dropped_runs.is_empty() {
            let drops = run_drop::drop_runs(&grouped.dropped_runs);
            steps.extend(drops.map(|step| (Guard::None, step)));
        }
    }
}

fn push_records<'s>(grouped: &'s Grouped<'_>, steps: &mut Vec<(Guard, Step<'s>)>) {
    if let Some(before) = grouped.keys_dropped_before {
        steps.push((Guard::None, idempotency_keys::drop_before(before)));
    }
    if !grouped.keys.is_empty() {
        steps.push((Guard::None, idempotency_keys::insert(&grouped.keys)));
    }
    if !grouped.audit.is_empty() {
        steps.push((Guard::None, audit::insert(&grouped.audit)));
    }
    if !grouped.tokens.is_empty() {
        steps.push((Guard::None, tokens::insert(&grouped.tokens)));
    }
    if !grouped.dropped_tokens.is_empty() {
        steps.push((Guard::None, tokens::drop_tokens(&grouped.dropped_tokens)));
    }
}

/// Which run of a refused batch was there already. When none is, one is in the batch twice.
async fn exists(session: &Session, grouped: &Grouped<'_>) -> Result<Refused, Fault> {
    let heads: Vec<&RunHead> = grouped.new_runs.iter().map(|(head, _)| *head).collect();
    let known = runs::known(session, &heads).await?;
    let named = known.or_else(|| heads.last().map(|head| (head.key, head.id)));
    let (key, id) = named.expect("a batch without new runs has no such step");
    Ok(Refused::RunExists { key, id })
}

/// Which run of a refused batch is missing.
async fn unknown(session: &Session, grouped: &Grouped<'_>) -> Result<Refused, Fault> {
    let mut named = grouped.runs_taken_for_granted();
    named.extend(grouped.runs.iter().map(|(run, _)| *run));
    for (head, _) in &grouped.new_runs {
        named.remove(&head.key);
    }
    let missing = runs::unknown(session, &named).await?.or_else(|| named.first().copied());
    Ok(Refused::RunUnknown(missing.expect("a batch that names no run has no such step")))
}
