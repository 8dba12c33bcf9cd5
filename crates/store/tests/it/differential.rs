//! The same random sequence of commits on the model and on a database file, all reads compared
//! after each.

use crate::asking::{ask, commit, register};
use crate::chance::{Chance, Runs};
use crate::rows::{OTHER, SCHEDULER, attempt_id, head, run_id};
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::world::batch::Change;
use mainspring_store::{CommitError, Fence, Memory, RunsQuery, Sqlite, Store, VersionsQuery};
use std::path::PathBuf;

const SEQUENCES: u64 = 16;
const STEPS: u64 = 30;

#[test]
fn sqlite_does_what_the_model_does() {
    for seed in 0..SEQUENCES {
        // Shown when it fails: a seed replays.
        show(seed);
        let mut pair = Pair::new(seed);
        for _ in 0..STEPS {
            pair.step();
            pair.compare();
        }
    }
}

#[allow(clippy::print_stdout)]
fn show(seed: u64) {
    println!("seed {seed}");
}

struct Pair {
    chance: Chance,
    model: Memory,
    sqlite: Option<Sqlite>,
    path: PathBuf,
    fences: [Fence; 2],
    runs: Runs,
    _folder: tempfile::TempDir,
}

#[derive(Debug, PartialEq)]
enum Fate {
    Durable,
    Fenced,
    Failed,
}

impl Pair {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let (model, sqlite) = (Memory::new(), Sqlite::open(&path).unwrap());
        let fences = [SCHEDULER, OTHER].map(|scheduler| {
            let registration = register(&sqlite, scheduler);
            assert_eq!(registration, register(&model, scheduler));
            registration.fence
        });
        let (chance, sqlite) = (Chance::new(seed), Some(sqlite));
        Self { chance, model, sqlite, path, fences, runs: Runs::default(), _folder: folder }
    }

    fn sqlite(&self) -> &Sqlite {
        self.sqlite.as_ref().expect("open between steps")
    }

    fn step(&mut self) {
        match self.chance.below(20) {
            0 => self.register_again(),
            1 => {
                self.sqlite = None;
                self.sqlite = Some(Sqlite::open(&self.path).unwrap());
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
        let registration = register(self.sqlite(), scheduler);
        assert_eq!(registration, register(&self.model, scheduler));
        self.fences[at] = registration.fence;
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
    }

    /// Both stores tell the same.
    fn commit(&self, fence: Fence, changes: &[Change]) -> Fate {
        let fate = |store: &dyn Store| match commit(store, fence, changes.to_vec()) {
            Ok(()) => Fate::Durable,
            Err(CommitError::Fenced) => Fate::Fenced,
            Err(CommitError::Failed { .. }) => Fate::Failed,
            Err(error @ CommitError::Fsync { .. }) => panic!("{error}"),
        };
        let (sqlite, model) = (fate(self.sqlite()), fate(&self.model));
        assert_eq!(sqlite, model);
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
            let attempt = attempt_id(self.chance.below(40));
            self.same(|store| ask(store.log(key, attempt)));
        }
        let before = self.chance.moment();
        self.same(|store| ask(store.expired(before, limit)));
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
        self.same(|store| ask(store.tokens()));
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
        assert_eq!(read(self.sqlite()), read(&self.model));
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
