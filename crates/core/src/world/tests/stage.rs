//! A stage: one world, its stored rows, and executors that do what the script says. After
//! every step the indexes are verified, and the view from the stored rows is compared with
//! the owner's.

use crate::error::{ErrorClass, TaskError};
use crate::evaluate::{self, InstanceOutput, Outputs, OutputsError};
use crate::ids::{RunId, RunKey, SchedulerId, TaskNo, TaskRef, Ticket};
use crate::json::Json;
use crate::kernel::fact::Fact;
use crate::kernel::finalizer::Step;
use crate::kernel::group::Group;
use crate::kernel::ledger::LedgerRow;
use crate::kernel::limit::{LimitRow, LimitSetting, Source};
use crate::kernel::record::Role;
use crate::kernel::row::{RunHead, RunProgress, TaskRow};
use crate::kernel::rows::Rows;
use crate::kernel::wait::{ApprovalPlace, SignalRow, Verdict};
use crate::output::{BlobRef, Output};
use crate::plan::dag::graph::Graph;
use crate::plan::dag::plan::Shape;
use crate::sketch::sketch;
use crate::spec::definition::Definition;
use crate::time::{Span, Timestamp};
use crate::view::words::words;
use crate::work::{Ended, Outcome, Question, Reattached, Report, ReportKind};
use crate::world::batch::{Change, Effect};
use crate::world::input::{
    Answered, Command, Deploy, Input, Named, Order, Prefetched, Refusal, Reply, Ruling, Signal,
    Trigger, Verb,
};
use crate::world::parked::approval_place;
use crate::world::snapshot::RunSnapshot;
use crate::world::{World, WorldConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub struct Stage {
    pub world: World,
    pub now: Timestamp,
    pub definition: Arc<Definition>,
    pub run: RunId,
    pub stored: Option<(RunHead, RunProgress)>,
    pub rows: Rows,
    pub instances: BTreeMap<TaskRef, TaskRow>,
    /// Questions that nobody has answered yet.
    pub questions: Vec<evaluate::Question>,
    /// Whether questions are answered as soon as they are asked.
    pub answers: bool,
    pub history: Vec<String>,
    /// The newest of each key.
    pub signals: BTreeMap<Arc<str>, SignalRow>,
    /// Approvals that are listed.
    pub listed: BTreeSet<ApprovalPlace>,
    pub changes: Vec<Change>,
    /// Limits that were set, and what rates count, as stored.
    pub set: BTreeMap<Arc<str>, LimitRow>,
    pub ledgers: BTreeMap<Arc<str>, LedgerRow>,
    /// Attempts that executors hold, by task.
    pub live: BTreeMap<TaskRef, Ticket>,
    /// The input that each was last started with.
    pub told: BTreeMap<TaskRef, Json>,
    /// What was said, in order: `start a`, `stop a cancel`, `reattach a`, refusals.
    pub said: Vec<String>,
}

const EPOCH: u64 = 5;

pub fn config(limits: &[(&str, u32)], next_stamp: u64) -> WorldConfig {
    WorldConfig {
        scheduler: SchedulerId::from_bytes([7; 16]),
        ordinal: 1,
        epoch: EPOCH,
        next_run: 0,
        next_stamp,
        seed: 1,
        limits: limits.iter().map(|(name, max)| LimitSetting::default_of(name, *max)).collect(),
        ledgers: Vec::new(),
        // Whatever may leave memory does so at once: nobody must notice.
        drowsy_max: 0,
        now: Timestamp(0),
    }
}

impl Stage {
    pub fn new(text: &str) -> Self {
        Self::with_limits(text, &[("total", 1_000), ("executor:process", 1_000)])
    }

    pub fn with_limits(text: &str, limits: &[(&str, u32)]) -> Self {
        let definition = Arc::new(sketch(text));
        let mut stage = Self {
            world: World::new(&config(limits, 1)),
            now: Timestamp(1_000_000_000_000_000),
            rows: Rows::new(definition.tasks.len()),
            definition,
            run: RunId::from_bytes([0; 16]),
            stored: None,
            instances: BTreeMap::new(),
            questions: Vec::new(),
            answers: true,
            history: Vec::new(),
            signals: BTreeMap::new(),
            listed: BTreeSet::new(),
            changes: Vec::new(),
            set: BTreeMap::new(),
            ledgers: BTreeMap::new(),
            live: BTreeMap::new(),
            told: BTreeMap::new(),
            said: Vec::new(),
        };
        stage.begin();
        stage
    }

    fn begin(&mut self) {
        let deploy = Deploy {
            definition: Arc::clone(&self.definition),
            text: "sketch".into(),
            hash: [1; 32],
        };
        let trigger = Trigger {
            workflow: "sketch".into(),
            version: None,
            input: Json::empty_object(),
            labels: BTreeMap::new(),
            priority: 0,
            triggered_by: "test".into(),
            workdir: "/".into(),
            group: None,
            again: None,
        };
        for input in [Input::Deploy(deploy), Input::Trigger(trigger)] {
            let reply = self.world.apply(self.now, input, Prefetched::default());
            if let Ok(Reply::Accepted { run }) = reply {
                self.run = run;
            }
        }
        self.settle();
    }

    /// Commits and acts until nothing is left to do.
    pub fn settle(&mut self) {
        self.world.wake(self.now);
        while let Some(run) = self.world.next_stirred(self.now) {
            let found = Prefetched { run: Some(self.snapshot()), ..Prefetched::default() };
            let roused = self.world.apply(self.now, Input::Rouse(run), found);
            roused.expect("what is stored is new enough");
            self.world.wake(self.now);
        }
        while self.world.deadline().is_some() {
            let batch = self.world.take_batch(self.now);
            for change in &batch.changes {
                self.store(change);
            }
            self.changes.extend(batch.changes);
            for effect in batch.effects {
                self.act(effect);
            }
            self.world.wake(self.now);
            if self.answers {
                self.answer();
            }
        }
        self.world.verify(self.now).expect("the indexes are true");
        self.compare_views();
    }

    /// Answers what was asked so far.
    pub fn answer(&mut self) {
        for question in std::mem::take(&mut self.questions) {
            let answer = evaluate::work_out(&question, &Shelf(&self.instances));
            let answer = answer.expect("everything is at hand");
            let evaluate::Question { run, number, .. } = question;
            let input = Input::Answer(Answered { run, number, answer });
            let _ = self.world.apply(self.now, input, Prefetched::default());
        }
    }

    fn store(&mut self, change: &Change) {
        match change {
            Change::NewRun(head, progress) => self.stored = Some((head.clone(), progress.clone())),
            Change::PutRun(_, progress) => {
                self.stored.as_mut().expect("a run is stored first").1 = progress.clone();
            }
            Change::PutTask(_, row) if row.task.index.is_some() => {
                self.instances.insert(row.task, row.clone());
            }
            Change::PutTask(_, row) => self.rows.put(row.clone()),
            Change::SendBackInstances(_, no) => self.instances.retain(|task, _| task.no != *no),
            Change::NewSignal(_, row) => drop(self.signals.insert(row.key.clone(), row.clone())),
            Change::ListApproval(place) => {
                assert!(self.listed.insert(*place), "it is listed once");
            }
            Change::UnlistApproval(place) => {
                assert!(self.listed.remove(place), "it was listed");
            }
            Change::NewAttempt(_, past) => {
                let name = shown(&self.definition, past.task);
                let step = match past.step {
                    Step::Work => "",
                    Step::Finalize => " finalize",
                };
                self.history.push(format!("{name}#{}{step}", past.attempt.number));
            }
            Change::PutLimit(row) => drop(self.set.insert(Arc::clone(&row.name), row.clone())),
            Change::PutLedger(row) => {
                self.ledgers.insert(Arc::clone(&row.name), row.clone());
            }
            _ => {}
        }
    }

    fn act(&mut self, effect: Effect) {
        let name = |task: TaskRef| shown(&self.definition, task);
        match effect {
            Effect::Start(start) => {
                let what = if start.finalizes.is_some() { "land" } else { "start" };
                self.said.push(format!("{what} {}", name(start.ticket.task)));
                let launch = start.render(&Shelf(&self.instances)).expect("all is at hand");
                self.told.insert(start.ticket.task, launch.input);
                self.live.insert(start.ticket.task, start.ticket);
            }
            Effect::Stop(_, stop) => {
                let name = name(stop.ticket.task);
                self.said.push(format!("stop {name} {}", stop.why.word()));
            }
            Effect::Reattach(_, Question { ticket, .. }) => {
                self.said.push(format!("reattach {}", name(ticket.task)));
                self.live.insert(ticket.task, ticket);
            }
            Effect::Settle(_, ticket) => {
                self.live.remove(&ticket.task);
            }
            Effect::Evaluate(question) => self.questions.push(question),
            Effect::KillUnconfirmed(what) => {
                self.said.push(format!("unconfirmed {}", name(what.ticket.task)));
            }
            Effect::RunEnded(_) => self.said.push("end".to_owned()),
        }
    }

    /// One word for each task from rows alone.
    pub fn words(&self) -> Vec<String> {
        let graph = Graph::new(&self.definition);
        let shape = Shape { definition: &self.definition, graph: &graph };
        let (_, progress) = self.stored.as_ref().expect("a run is stored");
        let shown = words(shape, progress, &self.rows, self.now);
        shown.iter().map(|shown| shown.word.text().to_owned()).collect()
    }

    fn compare_views(&self) {
        let waiting = self.rows.iter().chain(self.instances.values());
        let listed = waiting.filter_map(|row| approval_place(self.head_key(), row)).collect();
        assert_eq!(self.listed, listed, "what waits for a person is listed");
        let Some(run) = self.world.run(self.run) else { return };
        let shown = words(run.blueprint.shape(), &run.progress, &run.rows, self.now);
        let owner: Vec<String> = shown.iter().map(|s| s.word.text().to_owned()).collect();
        // A start that rides on the next commit is the one thing only the owner knows yet.
        let soften = |words: Vec<String>| -> Vec<String> {
            words.iter().map(|word| word.replace("dispatched", "running")).collect()
        };
        assert_eq!(soften(self.words()), soften(owner), "rows alone show what the owner shows");
    }

    fn head_key(&self) -> RunKey {
        self.stored.as_ref().expect("a run is stored").0.key
    }

    /// `a`, or `a/3` for an instance.
    fn named(name: &str) -> Named {
        match name.split_once('/') {
            None => name.into(),
            Some((task, index)) => {
                Named { index: Some(index.parse().expect("a number")), ..task.into() }
            }
        }
    }

    fn task(&self, name: &str) -> TaskRef {
        let Named { task, index } = Self::named(name);
        let no = self.definition.task_no(&task).unwrap_or_else(|| panic!("no task {name}"));
        TaskRef { no, index }
    }

    pub fn apply(&mut self, input: Input) -> Result<Reply, Refusal> {
        let answer = self.world.apply(self.now, input.clone(), Prefetched::default());
        let answer = match answer {
            Err(Refusal::RunNotFound | Refusal::Outdated) => {
                let found = Prefetched { run: Some(self.snapshot()), ..Prefetched::default() };
                self.world.apply(self.now, input, found)
            }
            answer => answer,
        };
        if let Err(refusal) = &answer {
            self.said.push(format!("refused {}", refusal.code()));
        }
        self.settle();
        answer
    }

    pub fn snapshot(&self) -> RunSnapshot {
        let (head, progress) = self.stored.clone().expect("a run is stored");
        let unsuccessful = self.instances.values().filter(|row| row.fact != Fact::Success);
        RunSnapshot {
            head,
            progress,
            definition: Arc::clone(&self.definition),
            tasks: self.rows.iter().chain(unsuccessful).cloned().collect(),
            signals: self.signals.values().cloned().collect(),
        }
    }

    pub fn report(&mut self, name: &str, what: ReportKind) -> Result<Reply, Refusal> {
        let ticket = self.live.get(&self.task(name)).copied();
        let ticket = ticket.unwrap_or_else(|| panic!("{name} is not live"));
        self.apply(Input::Report(Report { ticket, what }))
    }

    pub fn order(&mut self, order: Order) -> Result<Reply, Refusal> {
        self.apply(Input::Command(Command { run: self.run, order, by: "ann".to_owned() }))
    }

    fn command(&mut self, verb: Verb, task: Option<&str>) {
        let order = task.map_or(Order::Run(verb), |name| Order::Task(Self::named(name), verb));
        let _ = self.order(order);
    }

    fn rule(&mut self, verdict: Verdict, task: &str) {
        let ruling = Ruling { verdict, comment: None, role: Role::Operator };
        let _ = self.order(Order::Rule(Self::named(task), ruling));
    }

    /// Throws the world away and loads it from what is stored, as after a crash.
    pub fn crash(&mut self, limits: &[(&str, u32)]) {
        let stamp = self.stored.as_ref().map_or(0, |(_, progress)| progress.stamp);
        let mut config = config(limits, stamp + 1);
        let set = self.set.values().map(|LimitRow { name, bound }| LimitSetting {
            name: Arc::clone(name),
            bound: *bound,
            source: Source::Api,
        });
        config.limits.extend(set);
        (config.ledgers, config.now) = (self.ledgers.values().cloned().collect(), self.now);
        self.world = World::new(&config);
        self.live.clear();
        self.questions.clear();
        if !self.stored.as_ref().expect("a run is stored").1.status.is_final() {
            self.world.load(self.now, self.snapshot());
        }
        self.settle();
    }

    /// One step of a script.
    fn step(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let verb = |word: &str| match word {
            "pause" => Some(Verb::Pause),
            "resume" => Some(Verb::Resume),
            "cancel" => Some(Verb::Cancel),
            "force" => Some(Verb::ForceCancel),
            "retry" => Some(Verb::Retry),
            _ => None,
        };
        match words.as_slice() {
            ["silence"] => self.answers = false,
            ["answers"] => {
                self.answers = true;
                self.answer();
                self.settle();
            }
            ["wait", seconds] => {
                let seconds = seconds.parse().expect("seconds");
                self.now = self.now + Span::from_secs(seconds);
                self.settle();
            }
            ["crash"] => self.crash(&[("total", 1_000), ("executor:process", 1_000)]),
            [word] if verb(word).is_some() => self.command(verb(word).expect("some"), None),
            [word, task] if verb(word).is_some() => {
                self.command(verb(word).expect("some"), Some(task));
            }
            ["signal", key, value] => {
                let value = Json::parse(value).expect("JSON without spaces");
                let _ = self.order(Order::Signal(Signal { key: (*key).into(), value }));
            }
            ["approve", task] => self.rule(Verdict::Approved, task),
            ["reject", task] => self.rule(Verdict::Rejected, task),
            [task, what] => {
                let _ = self.report(task, report(what));
            }
            _ => panic!("unknown step: {line}"),
        }
    }

    pub fn play(&mut self, script: &str) -> &mut Self {
        for line in script.split(';').map(str::trim).filter(|line| !line.is_empty()) {
            self.step(line);
        }
        self
    }

    /// Words of a group's instances that have rows: `success failed`.
    pub fn facts(&self, name: &str) -> String {
        let no = self.task(name).no;
        let rows = self.instances.values().filter(|row| row.task.no == no);
        rows.map(|row| row.fact.word()).collect::<Vec<_>>().join(" ")
    }

    pub fn group(&self, name: &str) -> Group {
        let row = self.rows.get(self.task(name).no).expect("a row");
        **row.group.as_ref().expect("a group")
    }

    pub fn output(&self, name: &str) -> Option<String> {
        let output = self.rows.get(self.task(name).no)?.output.as_ref()?;
        Some(output.to_text().into_owned())
    }

    /// `run: a=success b=failed`.
    pub fn shown(&self) -> String {
        let (_, progress) = self.stored.as_ref().expect("a run is stored");
        let tasks: Vec<String> = self
            .words()
            .iter()
            .zip(&self.definition.tasks)
            .map(|(word, task)| format!("{}={word}", task.name))
            .collect();
        format!("{}: {}", progress.status.word(), tasks.join(" "))
    }
}

fn shown(definition: &Definition, task: TaskRef) -> String {
    let name = &definition.task(task.no).name;
    task.index.map_or_else(|| name.to_string(), |index| format!("{name}/{index}"))
}

/// Outputs of stored instances; nothing is large here.
struct Shelf<'a>(&'a BTreeMap<TaskRef, TaskRow>);

impl Outputs for Shelf<'_> {
    fn load(&self, _: RunId, blob: &BlobRef) -> Result<Json, OutputsError> {
        Err(OutputsError::Lost(blob.hex()))
    }

    fn file(&self, _: RunId, blob: &BlobRef) -> Result<String, OutputsError> {
        Err(OutputsError::Lost(blob.hex()))
    }

    fn written(&self, _: RunId, json: &Json) -> Result<String, OutputsError> {
        Ok(format!("/{}", json.as_str().len()))
    }

    fn keep(&self, _: RunId, json: Json) -> Result<Output, OutputsError> {
        Ok(Output::Inline(json))
    }

    fn workflow(&self, _: &Arc<str>, _: Option<u32>) -> Result<Prefetched, OutputsError> {
        Ok(Prefetched::default())
    }

    /// Two at a time.
    fn instances(
        &self,
        _: RunKey,
        task: TaskNo,
        from: u32,
    ) -> Result<Vec<InstanceOutput>, OutputsError> {
        let rows = self.0.values().filter(|row| row.task.no == task);
        let found = rows.filter_map(|row| {
            let (index, output) = (row.task.index?, row.output.clone()?);
            Some(InstanceOutput { index, fact: row.fact, output })
        });
        Ok(found.filter(|found| found.index >= from).take(2).collect())
    }
}

fn ended(outcome: Outcome) -> ReportKind {
    ReportKind::Ended(Ended::of(outcome))
}

/// What an executor says, in a word.
pub fn report(word: &str) -> ReportKind {
    if let Some(output) = word.strip_prefix("ok=") {
        let output = Json::parse(output).expect("JSON without spaces");
        return ended(Outcome::Success(Some(Output::Inline(output))));
    }
    let failed = |class| ended(Outcome::Failed(TaskError::new(class, "test")));
    match word {
        "start" => ReportKind::Started,
        "over" => ReportKind::Over,
        "ok" => ended(Outcome::Success(None)),
        "fail" => ended(Outcome::Failed(TaskError::exit(1))),
        "gone" => ended(Outcome::Stopped),
        "unstarted" => {
            let outcome = Outcome::Stopped;
            ReportKind::Ended(Ended::unstarted(outcome))
        }
        "missing" => ReportKind::Ended(Ended::unstarted(Outcome::Failed(TaskError::new(
            ErrorClass::Logic,
            "command not found",
        )))),
        "refuse" => ReportKind::Refused("no process to be had".into()),
        "hindered" => {
            ReportKind::Ended(Ended::unstarted(Outcome::Hindered("it is in the way".into())))
        }
        "barred" => ended(Outcome::Hindered("it is in the way".into())),
        "lost" => failed(ErrorClass::WorkerLost),
        "alive" => ReportKind::Reattached(EPOCH, Reattached::Running),
        "never" => ReportKind::Reattached(EPOCH, Reattached::NeverStarted),
        "unknown" => ReportKind::Reattached(EPOCH, Reattached::Unknown { log: None }),
        "outdated" => ReportKind::Reattached(EPOCH - 1, Reattached::NeverStarted),
        unknown => panic!("unknown report: {unknown}"),
    }
}

/// A sketch, a script, what is shown at the end.
#[track_caller]
pub fn check(sketch: &str, script: &str, expect: &str) {
    let mut stage = Stage::new(sketch);
    stage.play(script);
    assert_eq!(stage.shown(), expect);
}

/// Like `check`, for what was said to executors and callers on the way.
#[track_caller]
pub fn check_said(sketch: &str, script: &str, expect: &str) {
    let mut stage = Stage::new(sketch);
    stage.play(script);
    assert_eq!(stage.said.join("; "), expect);
}
