//! Batches, each whole, in one transaction and one round trip.

use super::fault::Fault;
use super::session::{Broken, Session, Step, WRITE};
use super::tables::runs::{self, Owned};
use super::tables::{
    additions, approvals, attempts, audit, bulks, cache, idempotency_keys, instances, limits, logs,
    plain_runs, plain_tasks, run_drop, schedulers, signals, tasks, tokens, versions, workflows,
};
use crate::contract::Fence;
use crate::grouped::Grouped;
use crate::refused::Refused;
use mainspring_core::ids::{RunKey, SchedulerId};
use mainspring_core::kernel::cache::CacheRow;
use mainspring_core::kernel::ledger::LedgerRow;
use mainspring_core::kernel::limit::LimitRow;
use mainspring_core::kernel::row::{RunHead, RunProgress, TaskRow, WorkflowRow};
use mainspring_core::kernel::wait::ApprovalPlace;
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
    batches: &[&[Change]],
) -> Result<(), Fault> {
    let batches: Vec<Grouped<'_>> = batches.iter().map(|changes| Grouped::of(changes)).collect();
    for grouped in &batches {
        if let Err(fault) = owners.learn(session, grouped).await {
            // Whoever is fenced off is told so before anything else.
            send(session, &batches, vec![fenced(fence)]).await?;
            return Err(fault);
        }
    }
    let rows: Vec<Rows<'_>> = batches.iter().map(|grouped| Rows::of(grouped, owners)).collect();
    let mut steps = vec![fenced(fence)];
    for (at, (grouped, rows)) in batches.iter().zip(&rows).enumerate() {
        let mut own = Vec::new();
        rows.push_runs(grouped, &mut own);
        rows.push_rest(grouped, &mut own);
        push_records(grouped, &mut own);
        if let Some(marks) = grouped.marks {
            own.push((Guard::None, schedulers::mark(fence.scheduler, marks)));
        }
        steps.extend(own.into_iter().map(|(guard, step)| Part { batch: at, guard, step }));
    }
    send(session, &batches, steps).await
}

/// A step of the transaction, and the batch it belongs to.
struct Part<'a> {
    batch: usize,
    guard: Guard,
    step: Step<'a>,
}

fn fenced(fence: Fence) -> Part<'static> {
    Part { batch: 0, guard: Guard::Fence, step: schedulers::fence(fence) }
}

async fn send(
    session: &Session,
    batches: &[Grouped<'_>],
    parts: Vec<Part<'_>>,
) -> Result<(), Fault> {
    let (places, steps): (Vec<(usize, Guard)>, Vec<Step<'_>>) =
        parts.into_iter().map(|part| ((part.batch, part.guard), part.step)).unzip();
    let Err(Broken { step, error }) = session.transaction(WRITE, &steps).await else {
        return Ok(());
    };
    let code = error.code();
    let is_divided = code == Some(&SqlState::DIVISION_BY_ZERO);
    let is_there = code == Some(&SqlState::UNIQUE_VIOLATION);
    let (batch, guard) = step.map_or((0, Guard::None), |at| places[at]);
    Err(match guard {
        Guard::Fence if is_divided => Fault::Fenced,
        Guard::NewRuns if is_there => exists(session, &batches[batch]).await?.into(),
        Guard::KnownRuns if is_divided => unknown(session, &batches[batch]).await?.into(),
        _ => error.into(),
    })
}

/// Rows as their statements take them.
struct Rows<'a> {
    workflows: Vec<&'a WorkflowRow>,
    new_runs: Vec<Owned<'a, &'a RunHead>>,
    plain_new_runs: Vec<Owned<'a, &'a RunHead>>,
    large_inputs: Vec<&'a RunHead>,
    runs: Vec<Owned<'a, RunKey>>,
    plain_runs: Vec<Owned<'a, RunKey>>,
    tasks: Vec<(RunKey, &'a TaskRow)>,
    plain_tasks: Vec<(RunKey, &'a TaskRow)>,
    taken_for_granted: BTreeSet<RunKey>,
    cache: Vec<&'a CacheRow>,
    listed: Vec<ApprovalPlace>,
    unlisted: Vec<ApprovalPlace>,
    limits: Vec<&'a LimitRow>,
    ledgers: Vec<&'a LedgerRow>,
}

impl<'a> Rows<'a> {
    fn of(grouped: &Grouped<'a>, owners: &Owners) -> Self {
        let new_runs = grouped.new_runs.iter();
        let new_runs = new_runs.map(|(head, progress)| owners.owned(*head, progress));
        let (plain_new_runs, new_runs) = new_runs.partition(|it| {
            plain_runs::is_plain(it.progress) && plain_runs::has_plain_head(it.run)
        });
        let runs = grouped.runs.iter().map(|(run, row)| owners.owned(*run, row));
        let (plain_runs, runs) = runs.partition(|it| plain_runs::is_plain(it.progress));
        let tasks = grouped.tasks.iter().copied();
        let (plain_tasks, tasks) = tasks.partition(|(_, row)| plain_tasks::is_plain(row));
        let heads = grouped.new_runs.iter().map(|(head, _)| *head);
        let approvals = |waiting: bool| {
            let those = grouped.approvals().filter(|(_, waits)| *waits == waiting);
            those.map(|(place, _)| place).collect()
        };
        Self {
            workflows: workflows::last_words(&grouped.workflows),
            new_runs,
            plain_new_runs,
            large_inputs: heads.filter(|head| runs::is_large(head)).collect(),
            runs,
            plain_runs,
            tasks,
            plain_tasks,
            taken_for_granted: grouped.runs_taken_for_granted(),
            cache: grouped.cache.values().copied().collect(),
            listed: approvals(true),
            unlisted: approvals(false),
            limits: grouped.limits.values().copied().collect(),
            ledgers: grouped.ledgers.values().copied().collect(),
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
        let plain = &self.plain_new_runs;
        push(plain.is_empty(), Guard::NewRuns, &|| plain_runs::insert(plain));
        push(self.large_inputs.is_empty(), none, &|| runs::insert_inputs(&self.large_inputs));
        push(self.runs.is_empty(), Guard::KnownRuns, &|| runs::put(&self.runs));
        let plain = &self.plain_runs;
        push(plain.is_empty(), Guard::KnownRuns, &|| plain_runs::put(plain));
        let granted = &self.taken_for_granted;
        push(granted.is_empty(), Guard::KnownRuns, &|| runs::check(granted));
        push(grouped.attempts.is_empty(), none, &|| attempts::insert(&grouped.attempts));
        if !grouped.sent_back.is_empty() {
            let back = instances::send_back(&grouped.sent_back);
            steps.extend(back.map(|step| (Guard::None, step)));
        }
    }

    fn push_rest<'s>(&'s self, grouped: &'s Grouped<'a>, steps: &mut Vec<(Guard, Step<'s>)>) {
        if !self.tasks.is_empty() {
            steps.push((Guard::None, tasks::put(&self.tasks)));
        }
        if !self.plain_tasks.is_empty() {
            steps.push((Guard::None, plain_tasks::put(&self.plain_tasks)));
        }
        if !grouped.logs.is_empty() {
            steps.push((Guard::None, logs::insert(&grouped.logs)));
        }
        if !grouped.signals.is_empty() {
            steps.push((Guard::None, signals::insert(&grouped.signals)));
        }
        if !grouped.additions.is_empty() {
            steps.push((Guard::None, additions::insert(&grouped.additions)));
        }
        if !self.listed.is_empty() {
            steps.push((Guard::None, approvals::put(&self.listed)));
        }
        if !self.unlisted.is_empty() {
            steps.push((Guard::None, approvals::drop_places(&self.unlisted)));
        }
        if let Some(moment) = grouped.cache_expired_at {
            steps.push((Guard::None, cache::drop_expired(moment)));
        }
        if !self.cache.is_empty() {
            steps.push((Guard::None, cache::put(&self.cache)));
        }
        if !self.limits.is_empty() {
            steps.push((Guard::None, limits::put(&self.limits)));
        }
        if !self.ledgers.is_empty() {
            steps.push((Guard::None, limits::put_ledgers(&self.ledgers)));
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
    if let Some(before) = grouped.bulks_dropped_before {
        steps.push((Guard::None, bulks::drop_before(before)));
    }
    if !grouped.bulks.is_empty() {
        steps.push((Guard::None, bulks::insert(&grouped.bulks)));
    }
    let ends = grouped.bulk_ends.iter().map(|(id, end)| bulks::end(id, end));
    steps.extend(ends.map(|step| (Guard::None, step)));
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
