//! Several workflows and their runs, which begin each other: one world, everything that is stored,
//! and executors that do what the script says.

use super::stage::report;
use crate::evaluate::{self, InstanceOutput, Outputs, OutputsError};
use crate::ids::{RunId, RunKey, SchedulerId, TaskNo, TaskRef, Ticket};
use crate::json::Json;
use crate::kernel::limit::LimitSetting;
use crate::kernel::row::{RunHead, RunProgress, TaskRow, WorkflowRow};
use crate::kernel::rows::Rows;
use crate::kernel::wait::SignalRow;
use crate::output::{BlobRef, Output};
use crate::plan::dag::graph::Graph;
use crate::plan::dag::plan::Shape;
use crate::sketch::sketch;
use crate::spec::definition::Definition;
use crate::time::{Span, Timestamp};
use crate::view::explain::seen::{Around, Seen};
use crate::view::explain::shapes::Explanation;
use crate::view::explain::{Wanted, explain};
use crate::view::words::words;
use crate::work::Report;
use crate::world::batch::{Change, Effect};
use crate::world::input::{
    Answered, Command, Deploy, Input, KnownVersion, KnownWorkflow, Named, Order, Prefetched,
    Refusal, Reply, Trigger, Verb,
};
use crate::world::snapshot::RunSnapshot;
use crate::world::{World, WorldConfig};
use std::collections::BTreeMap;
use std::sync::Arc;

pub struct StoredRun {
    pub head: RunHead,
    pub progress: RunProgress,
    pub rows: BTreeMap<TaskRef, TaskRow>,
    signals: Vec<SignalRow>,
}

pub struct Family {
    pub world: World,
    now: Timestamp,
    /// Versions of each workflow, oldest first.
    library: Library,
    pub stored: BTreeMap<RunKey, StoredRun>,
    questions: Vec<evaluate::Question>,
    live: BTreeMap<(RunKey, TaskRef), Ticket>,
    pub said: Vec<String>,
}

#[derive(Default)]
struct Library(BTreeMap<Arc<str>, Vec<Arc<Definition>>>);

impl Library {
    fn known(&self, name: &str) -> Option<KnownWorkflow> {
        let versions = self.0.get(name)?;
        let latest = u32::try_from(versions.len()).expect("few");
        let moment = Timestamp(0);
        let row = WorkflowRow {
            name: name.into(),
            latest,
            created_at: moment,
            updated_at: moment,
            deleted_at: None,
        };
        Some(KnownWorkflow { row, latest: self.version(name, latest)? })
    }

    fn version(&self, name: &str, number: u32) -> Option<KnownVersion> {
        let definition = self.0.get(name)?.get(number.checked_sub(1)? as usize)?;
        let hash = [u8::try_from(number).expect("few"); 32];
        Some(KnownVersion { number, hash, definition: Arc::clone(definition) })
    }
}

impl Outputs for Library {
    fn load(&self, _: RunId, blob: &BlobRef) -> Result<Json, OutputsError> {
        Err(OutputsError::Lost(blob.hex()))
    }

    fn file(&self, _: RunId, blob: &BlobRef) -> Result<String, OutputsError> {
        Err(OutputsError::Lost(blob.hex()))
    }

    fn written(&self, _: RunId, json: &Json) -> Result<String, OutputsError> {
        Ok(json.as_str().len().to_string())
    }

    fn keep(&self, _: RunId, json: Json) -> Result<Output, OutputsError> {
        Ok(Output::Inline(json))
    }

    fn instances(&self, _: RunKey, _: TaskNo, _: u32) -> Result<Vec<InstanceOutput>, OutputsError> {
        Ok(Vec::new())
    }

    fn workflow(&self, name: &Arc<str>, version: Option<u32>) -> Result<Prefetched, OutputsError> {
        let version = version.and_then(|number| self.version(name, number));
        Ok(Prefetched { workflow: self.known(name), version, ..Prefetched::default() })
    }
}

fn world(now: Timestamp, runs: usize) -> World {
    let limits = [("total", 1_000), ("executor:process", 1_000)];
    World::new(&WorldConfig {
        scheduler: SchedulerId::from_bytes([7; 16]),
        ordinal: 1,
        epoch: 5,
        next_run: runs as u64,
        next_stamp: 1_000 * (1 + runs as u64),
        seed: 1 + runs as u64,
        limits: limits.iter().map(|(name, max)| LimitSetting::default_of(name, *max)).collect(),
        ledgers: Vec::new(),
        drowsy_max: 0,
        now,
    })
}

impl Family {
    /// The first workflow is triggered once all are deployed.
    pub fn new(workflows: &[(&str, &str)]) -> Self {
        let now = Timestamp(1_000_000_000_000_000);
        let mut family = Self {
            world: world(now, 0),
            now,
            library: Library::default(),
            stored: BTreeMap::new(),
            questions: Vec::new(),
            live: BTreeMap::new(),
            said: Vec::new(),
        };
        for (name, text) in workflows {
            family.deploy(name, text);
        }
        family.trigger(workflows[0].0, None);
        family
    }

    pub fn deploy(&mut self, name: &str, text: &str) {
        let definition = Arc::new(Definition { name: name.into(), ..sketch(text) });
        let versions = self.library.0.entry(name.into()).or_default();
        versions.push(Arc::clone(&definition));
        let hash = [u8::try_from(versions.len()).expect("few"); 32];
        let input = Input::Deploy(Deploy { definition, text: text.into(), hash });
        self.world.apply(self.now, input, Prefetched::default()).expect("deployed");
        self.settle();
    }

    pub fn trigger(&mut self, name: &str, group: Option<&str>) {
        let trigger = Trigger {
            workflow: name.into(),
            version: None,
            input: Json::empty_object(),
            labels: BTreeMap::from([("team".to_owned(), "core".to_owned())]),
            priority: 4,
            triggered_by: "test".into(),
            workdir: "/there".into(),
            group: group.map(Into::into),
            again: None,
        };
        let _ = self.apply(Input::Trigger(trigger));
    }

    /// Commits and acts until nothing is left to do.
    fn settle(&mut self) {
        self.world.wake(self.now);
        loop {
            while self.world.deadline().is_some() {
                self.commit();
                self.world.wake(self.now);
            }
            for question in std::mem::take(&mut self.questions) {
                let answer = evaluate::work_out(&question, &self.library).expect("at hand");
                let evaluate::Question { run, number, .. } = question;
                let input = Input::Answer(Answered { run, number, answer });
                let _ = self.world.apply(self.now, input, Prefetched::default());
            }
            if self.world.deadline().is_none() {
                break;
            }
        }
        self.world.verify(self.now).expect("the indexes are true");
    }

    /// One batch: everything that is stored fits together after each.
    fn commit(&mut self) {
        let batch = self.world.take_batch(self.now);
        for change in batch.changes {
            self.store(change);
        }
        self.check_links();
        for effect in batch.effects {
            self.act(effect);
        }
    }

    fn store(&mut self, change: Change) {
        match change {
            Change::NewRun(head, progress) => {
                let run = StoredRun { head, progress, rows: BTreeMap::new(), signals: Vec::new() };
                self.stored.insert(run.head.key, run);
            }
            Change::PutRun(key, progress) => self.run_mut(key).progress = progress,
            Change::PutTask(key, row) => drop(self.run_mut(key).rows.insert(row.task, row)),
            Change::NewSignal(key, row) => self.run_mut(key).signals.push(row),
            _ => {}
        }
    }

    fn run_mut(&mut self, key: RunKey) -> &mut StoredRun {
        self.stored.get_mut(&key).expect("a run is stored first")
    }

    /// Whoever waits has one child that is not final; a child that is not has one who waits.
    fn check_links(&self) {
        let mut waited = BTreeMap::new();
        for run in self.stored.values() {
            for row in run.rows.values().filter(|row| row.child().is_some()) {
                let number = row.attempt.as_ref().expect("a wait is an attempt").number;
                waited.insert(row.child().expect("some"), (run.head.id, row.task, number));
            }
        }
        let alive = self.stored.values().filter(|run| !run.progress.status.is_final());
        let children = alive.filter_map(|run| {
            let parent = run.head.parent.as_deref()?;
            Some((run.head.id, (parent.run, parent.task, parent.attempt)))
        });
        assert_eq!(children.collect::<BTreeMap<_, _>>(), waited, "children and who waits");
    }

    fn act(&mut self, effect: Effect) {
        match effect {
            Effect::Start(start) => {
                let place = (start.ticket.run, start.ticket.task);
                self.said.push(format!("start {}", self.name_of(place)));
                self.live.insert(place, start.ticket);
            }
            Effect::Stop(_, stop) => {
                let place = (stop.ticket.run, stop.ticket.task);
                self.said.push(format!("stop {} {}", self.name_of(place), stop.why.word()));
            }
            Effect::Reattach(_, question) => {
                let ticket = question.ticket;
                self.live.insert((ticket.run, ticket.task), ticket);
            }
            Effect::Settle(_, ticket) => drop(self.live.remove(&(ticket.run, ticket.task))),
            Effect::Evaluate(question) => self.questions.push(question),
            Effect::KillUnconfirmed(_) | Effect::RunEnded(_) => {}
        }
    }

    fn name_of(&self, (key, task): (RunKey, TaskRef)) -> String {
        let run = &self.stored[&key];
        let name = Arc::clone(&self.definition(run).task(task.no).name);
        format!("{}.{name}", self.named(key))
    }

    fn definition(&self, run: &StoredRun) -> Arc<Definition> {
        let version = self.library.version(&run.head.workflow, run.head.version);
        version.expect("a run has its version").definition
    }

    /// `kid#2`: the second run of the workflow `kid`.
    fn named(&self, key: RunKey) -> String {
        let workflow = &self.stored[&key].head.workflow;
        let runs = self.stored.values().filter(|run| run.head.workflow == *workflow);
        let count = runs.filter(|run| run.head.key <= key).count();
        format!("{workflow}#{count}")
    }

    /// The newest run of a workflow, or the one with this number.
    pub fn find(&self, name: &str) -> RunKey {
        let keys: Vec<RunKey> = self.stored.keys().copied().collect();
        let is_meant = |key: &&RunKey| {
            let named = self.named(**key);
            named == name || named.split('#').next() == Some(name)
        };
        *keys.iter().rev().find(is_meant).unwrap_or_else(|| panic!("no run {name}"))
    }

    pub fn run(&self, name: &str) -> &StoredRun {
        &self.stored[&self.find(name)]
    }

    pub fn row(&self, name: &str, task: &str) -> &TaskRow {
        let run = self.run(name);
        &run.rows[&self.task(run, task)]
    }

    fn task(&self, run: &StoredRun, name: &str) -> TaskRef {
        let (name, index) = name.split_once('/').map_or((name, None), |(a, b)| (a, Some(b)));
        let no = self.definition(run).task_no(name).expect("a task");
        TaskRef { no, index: index.map(|index| index.parse().expect("a number")) }
    }

    pub fn apply(&mut self, input: Input) -> Result<Reply, Refusal> {
        let found = match &input {
            Input::Trigger(trigger) => {
                let workflow = self.library.known(&trigger.workflow);
                let version = workflow.as_ref().map(|workflow| workflow.latest.clone());
                Prefetched { workflow, version, ..Prefetched::default() }
            }
            _ => Prefetched::default(),
        };
        let answer = self.world.apply(self.now, input.clone(), found);
        let answer = match (answer, &input) {
            (Err(Refusal::RunNotFound | Refusal::Outdated), Input::Command(command)) => {
                let run = self.stored.values().find(|run| run.head.id == command.run);
                let run = run.map(|run| self.snapshot(run));
                let found = Prefetched { run, ..Prefetched::default() };
                self.world.apply(self.now, input, found)
            }
            (answer, _) => answer,
        };
        if let Err(refusal) = &answer {
            self.said.push(format!("refused {}", refusal.code()));
        }
        self.settle();
        answer
    }

    fn snapshot(&self, run: &StoredRun) -> RunSnapshot {
        RunSnapshot {
            head: run.head.clone(),
            progress: run.progress.clone(),
            definition: self.definition(run),
            tasks: run.rows.values().cloned().collect(),
            signals: run.signals.clone(),
        }
    }

    pub fn order(&mut self, run: &str, order: Order) -> Result<Reply, Refusal> {
        let run = self.run(run).head.id;
        self.apply(Input::Command(Command { run, order, by: "ann".to_owned() }))
    }

    /// Throws the world away and loads it from what is stored.
    pub fn crash(&mut self) {
        self.world = world(self.now, self.stored.len());
        (self.live, self.questions) = (BTreeMap::new(), Vec::new());
        let alive = self.stored.values().filter(|run| !run.progress.status.is_final());
        let snapshots: Vec<RunSnapshot> = alive.map(|run| self.snapshot(run)).collect();
        for snapshot in snapshots {
            self.world.load(self.now, snapshot);
        }
        self.settle();
    }

    fn step(&mut self, line: &str) {
        let verb = |word: &str| match word {
            "pause" => Some(Verb::Pause),
            "resume" => Some(Verb::Resume),
            "cancel" => Some(Verb::Cancel),
            "force" => Some(Verb::ForceCancel),
            "retry" => Some(Verb::Retry),
            _ => None,
        };
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, rest) {
            ("crash", _) => self.crash(),
            ("wait", seconds) => {
                self.now = self.now + Span::from_secs(seconds.parse().expect("seconds"));
                self.settle();
            }
            (word, place) if verb(word).is_some() => {
                let verb = verb(word).expect("some");
                let (run, order) = match place.split_once('.') {
                    None => (place, Order::Run(verb)),
                    Some((run, task)) => (run, Order::Task(named(task), verb)),
                };
                let _ = self.order(run, order);
            }
            (place, what) => {
                let (run, task) = place.split_once('.').expect("run.task");
                let key = self.find(run);
                let task = self.task(&self.stored[&key], task);
                let ticket = *self.live.get(&(key, task)).unwrap_or_else(|| panic!("{line}"));
                let _ = self.apply(Input::Report(Report { ticket, what: report(what) }));
            }
        }
    }

    pub fn play(&mut self, script: &str) -> &mut Self {
        for line in script.split(';').map(str::trim).filter(|line| !line.is_empty()) {
            self.step(line);
        }
        self
    }

    fn rows(&self, run: &StoredRun) -> Rows {
        let mut rows = Rows::new(self.definition(run).tasks.len());
        let plain = run.rows.values().filter(|row| row.task.index.is_none());
        plain.for_each(|row| rows.put(row.clone()));
        rows
    }

    /// Why the newest run of a workflow does not go on.
    pub fn explained(&self, name: &str) -> Explanation {
        let run = self.run(name);
        let (definition, rows) = (self.definition(run), self.rows(run));
        let graph = Graph::new(&definition);
        let limits = self.world.tiers();
        let seen = Seen {
            shape: Shape { definition: &definition, graph: &graph },
            head: &run.head,
            progress: &run.progress,
            rows: &rows,
            around: Around { limits: Some(&limits), behind: &[] },
            now: self.now,
        };
        explain(seen, Wanted::From(TaskNo(0), usize::MAX), |_| Vec::new())
    }

    /// `main#1 running: a=waiting | kid#1 running: x=dispatched`, oldest first.
    pub fn shown(&self) -> String {
        let shown = self.stored.iter().map(|(key, run)| {
            let definition = self.definition(run);
            let graph = Graph::new(&definition);
            let shape = Shape { definition: &definition, graph: &graph };
            let words = words(shape, &run.progress, &self.rows(run), self.now);
            let tasks = definition.tasks.iter().zip(words);
            let tasks: Vec<String> =
                tasks.map(|(task, shown)| format!("{}={}", task.name, shown.word)).collect();
            format!("{} {}: {}", self.named(*key), run.progress.status.word(), tasks.join(" "))
        });
        shown.collect::<Vec<_>>().join(" | ")
    }
}

fn named(name: &str) -> Named {
    match name.split_once('/') {
        None => name.into(),
        Some((task, index)) => {
            Named { index: Some(index.parse().expect("a number")), ..task.into() }
        }
    }
}

/// The workflow `main`, one that it runs, and what is shown of all runs after a script.
#[track_caller]
pub fn check(main: &str, kid: &str, script: &str, expect: &str) {
    let mut family = Family::new(&[("main", main), ("kid", kid)]);
    family.play(script);
    assert_eq!(family.shown(), expect);
}
