//! The same random sequence of commits on the model and on a database, all reads compared after
//! each.

use crate::asking::{ask, commit, register};
use crate::chance::{Chance, Runs};
use crate::rows::{OTHER, SCHEDULER, attempt_id, bulk_id, head, run_id};
use mainspring_core::ids::{RunKey, TaskNo};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::world::batch::Change;
use mainspring_store::{
    CommitError, Fence, InstancesQuery, Memory, Postgres, RunsQuery, Sqlite, Store, VersionsQuery,
};

const SEQUENCES: u64 = 16;
const STEPS: u64 = 30;

#[test]
fn sqlite_does_what_the_model_does() {
    for seed in 0..SEQUENCES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        does_what_the_model_does(seed, &|| Box::new(Sqlite::open(&path).unwrap()));
    }
}

#[test]
fn postgres_does_what_the_model_does() {
    // Each answer takes a way through two processes.
    for seed in 0..SEQUENCES / 2 {
        let database = mainspring_throwaway::database();
        does_what_the_model_does(seed, &|| Box::new(Postgres::open(&database.url()).unwrap()));
    }
}

/// Opens the store under test, also again after it was closed.
type Open<'a> = &'a dyn Fn() -> Box<dyn Store>;

fn does_what_the_model_does(seed: u64, open: Open<'_>) {
    // Shown when it fails: a seed replays.
    show(seed);
    let mut pair = Pair::new(seed, open);
    for _ in 0..STEPS {
        pair.step();
        pair.compare();
    }
}

#[allow(clippy::print_stdout)]
fn show(seed: u64) {
    println!("seed {seed}");
}

struct Pair<'a> {
    chance: Chance,
    model: Memory,
    open: Open<'a>,
    other: Option<Box<dyn Store>>,
    fences: [Fence; 2],
    runs: Runs,
}

#[derive(Debug, PartialEq)]
enum Fate {
    Durable,
    Fenced,
    Failed,
}

impl<'a> Pair<'a> {
    fn new(seed: u64, open: Open<'a>) -> Self {
        let (model, other) = (Memory::new(), open());
        let fences = [SCHEDULER, OTHER].map(|scheduler| {
            let registration = register(&*other, scheduler);
            assert_eq!(registration, register(&model, scheduler));
            registration.fence
        });
        let (chance, other) = (Chance::new(seed), Some(other));
        Self { chance, model, open, other, fences, runs: Runs::default() }
    }

    fn other(&self) -> &dyn Store {
        &**self.other.as_ref().expect("open between steps")
    }

    fn step(&mut self) {
        match self.chance.below(20) {
            0 => self.register_again(),
            1 => {
                self.other = None;
                self.other = Some((self.open)());
            }
            2 => self.commit_fenced(),
            3 => self.commit_contradiction(),
            _ => {
                let changes = self.chance.batch(&mut self.runs);
                let fence = self.chance.of(&self.fences);
                assert_eq!(self.commit(fence, &changes), Fate::Durable);
                self.look_which_runs_are_left();
            }
        }
    }

    fn look_which_runs_are_left(&mut self) {
        let found = self.model.runs_now(&everything());
        let stored = found.iter().map(|(head, now)| (head.key.sequence(), now.stamp));
        self.runs.stored = stored.collect();
    }

    fn register_again(&mut self) {
        let at = usize::from(self.chance.one_in(2));
        let scheduler = self.fences[at].scheduler;
        let registration = register(self.other(), scheduler);
        assert_eq!(registration, register(&self.model, scheduler));
        // Whoever registers last is the only one alive, whether or not it found anything to take
        // over.
        self.fences = [registration.fence; 2];
    }

    fn commit_fenced(&mut self) {
        let changes = self.chance.batch(&mut self.runs.clone());
        let mut fence = self.chance.of(&self.fences);
        fence.epoch = match self.chance.one_in(2) {
            true => fence.epoch - 1,
            false => fence.epoch + 1,
        };
        assert_eq!(self.commit(fence, &changes), Fate::Fenced);
    }

    fn commit_contradiction(&mut self) {
        let mut changes = self.chance.batch(&mut self.runs.clone());
        changes.push(self.chance.contradiction(&self.runs));
        self.chance.shuffle(&mut changes);
        assert_eq!(self.commit(self.fences[0], &changes), Fate::Failed);
        self.register_again();
    }

    /// Both stores tell the same.
    fn commit(&self, fence: Fence, changes: &[Change]) -> Fate {
        let fate = |store: &dyn Store| match commit(store, fence, changes.to_vec()) {
            Ok(()) => Fate::Durable,
            Err(CommitError::Fenced) => Fate::Fenced,
            Err(CommitError::Failed { .. }) => Fate::Failed,
            Err(error @ CommitError::Fsync { .. }) => panic!("{error}"),
        };
        let (other, model) = (fate(self.other()), fate(&self.model));
        assert_eq!(other, model);
        model
    }

    fn compare(&mut self) {
        self.compare_runs();
        self.compare_records();
        self.same(|store| ask(store.runs(everything())));
        for _ in 0..4 {
            let query = self.query();
            self.same(|store| ask(store.runs(query.clone())));
        }
    }

    fn compare_runs(&mut self) {
        let (after, limit) = (self.chance.below(1_000), self.limit());
        for scheduler in [SCHEDULER, OTHER] {
            self.same(|store| ask(store.unfinished(scheduler)));
            self.same(|store| ask(store.changed(scheduler, after, limit)));
        }
        for number in 1..=self.runs.last + 1 {
            let key = RunKey::new(1, number);
            self.same(|store| ask(store.run(run_id(number))));
            self.same(|store| ask(store.attempts(key)));
            self.same(|store| ask(store.signals(key)));
            self.same(|store| ask(store.additions(key)));
            let attempt = attempt_id(self.chance.below(40));
            self.same(|store| ask(store.log(key, attempt)));
        }
        self.compare_instances();
        let page = self.limit();
        self.same(|store| ask(store.approvals(None, 1_000)));
        let after = ask(self.model.approvals(None, page)).last().map(|last| last.place);
        self.same(|store| ask(store.approvals(after, page)));
        let runs: Vec<_> = (0..=self.runs.last + 1).map(run_id).collect();
        self.same(|store| {
            let mut found = ask(store.known_runs(&runs));
            found.sort_unstable();
            found
        });
        let before = self.chance.moment();
        self.same(|store| ask(store.expired(before, limit)));
        let attempts: Vec<_> = (0..40).map(attempt_id).collect();
        self.same(|store| {
            let mut found = ask(store.logs_outside(&attempts));
            found.sort_unstable();
            found
        });
    }

    fn compare_instances(&mut self) {
        let key = RunKey::new(1, self.chance.below(self.runs.last + 2));
        let task = self.chance.task_ref();
        self.same(|store| ask(store.attempts_of(key, task)));
        let (from, limit) = (self.chance.small(), self.limit());
        let facts = self.chance.maybe(|chance| chance.of(Fact::ALL)).into_iter().collect();
        let query = InstancesQuery { from, limit, facts };
        let no = TaskNo(self.chance.small());
        self.same(|store| ask(store.instances(key, no, query.clone())));
        self.same(|store| ask(store.instance(key, no, from)));
        self.same(|store| ask(store.outputs(key, no, from, limit)));
    }

    fn compare_records(&mut self) {
        let (workflow, number, limit) = (self.chance.workflow(), self.chance.small(), self.limit());
        self.same(|store| ask(store.version(workflow, None)));
        self.same(|store| ask(store.version(workflow, Some(number))));
        let below = self.chance.maybe(Chance::small);
        self.same(|store| ask(store.versions(VersionsQuery { workflow, below, limit })));
        self.same(|store| ask(store.workflow(workflow)));
        let after = self.chance.maybe(Chance::workflow);
        self.same(|store| ask(store.workflows(after, limit)));
        for _ in 0..6 {
            let key = self.chance.key();
            self.same(|store| ask(store.key(&key)));
        }
        for _ in 0..6 {
            let key = self.chance.cache_key();
            self.same(|store| ask(store.cached(&key)));
        }
        self.same(|store| ask(store.tokens()));
        for number in 0..6 {
            self.same(|store| ask(store.bulk(bulk_id(number))));
        }
        let before = self.chance.moment();
        self.same(|store| ask(store.unfinished_bulks()));
        self.same(|store| ask(store.has_old_bulks(before)));
        self.same(|store| ask(store.limits()));
        // Only their order is the same everywhere: a store may leave numbers out.
        self.same(|store| {
            let entries = ask(store.audit(None, 1_000));
            assert!(entries.is_sorted_by(|a, b| a.number > b.number));
            entries.into_iter().map(|entry| entry.row).collect::<Vec<_>>()
        });
    }

    fn limit(&mut self) -> usize {
        usize::try_from(self.chance.below(6)).unwrap()
    }

    fn same<T: PartialEq + std::fmt::Debug>(&self, read: impl Fn(&dyn Store) -> T) {
        assert_eq!(read(self.other()), read(&self.model));
    }

    fn query(&mut self) -> RunsQuery {
        let limit = self.limit();
        let chance = &mut self.chance;
        let mut statuses = RunStatus::ALL.to_vec();
        chance.shuffle(&mut statuses);
        statuses.truncate(usize::try_from(chance.below(8)).unwrap());
        RunsQuery {
            statuses,
            workflow: chance.maybe(|chance| chance.workflow().to_owned()),
            since: chance.maybe(Chance::moment),
            until: chance.maybe(Chance::moment),
            labels: match chance.one_in(3) {
                true => vec![(chance.text(), chance.text())],
                false => Vec::new(),
            },
            parent: match chance.one_in(3) {
                true => Some(head(chance.below(9)).id),
                false => None,
            },
            after: chance.maybe(|chance| {
                let number = chance.below(self.runs.last + 2);
                (chance.moment(), head(number).id)
            }),
            limit,
        }
    }
}

fn everything() -> RunsQuery {
    RunsQuery { limit: 1_000, ..RunsQuery::default() }
}
