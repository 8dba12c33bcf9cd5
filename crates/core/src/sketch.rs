//! Definitions in a few words, for tests and simulations:
//!
//! ```text
//! a
//! b: a
//! c retries=2: a, b/started
//! d finally: c
//! e fan=3 at_once=2 fast: d
//! f each=a: a
//! g if: a
//! m if=false: a
//! h signal=paid within=60: a
//! i always=30: a
//! j final=main final_retries=1: a
//! l merge=main: a
//! k child=other/2 retries=1: a
//! @outputs=f
//! ```

use crate::expr::{Expr, ShellLine, Text, Tree};
use crate::ids::TaskNo;
use crate::json::Json;
use crate::limits::{
    FANOUT_DEFAULT, KILL_GRACE_DEFAULT, LOG_BYTES_DEFAULT, RETRY_DELAY_DEFAULT,
    RETRY_DELAY_MAX_DEFAULT, RETRY_FACTOR_DEFAULT, START_TIMEOUT_DEFAULT, TIMEOUT_DEFAULT,
};
use crate::spec::control::{
    Approval, ChildOf, Control, Decider, OnReject, OnSilence, OnTimeout, Sleep, WaitFor,
};
use crate::spec::definition::{
    Action, Always, Artifacts, ConcurrencyGroup, Definition, Each, Edge, FailureStrategy, FanOut,
    FinalAction, Finalize, Landing, OnConflict, OnFailure, OnLost, OutputFrom, Outputs, Path,
    Process, Program, Retries, RetryClasses, Task, Times, When, Workspace,
};
use crate::time::Span;
use crate::work_git::{MergeStrategy, UpdateCheckout};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads a sketch. Panics on a mistake: sketches are written by tests.
pub fn sketch(text: &str) -> Definition {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let (settings, lines): (Vec<&str>, Vec<&str>) =
        lines.into_iter().partition(|line| line.starts_with('@'));
    let names: Vec<&str> =
        lines.iter().map(|line| line.split([' ', ':']).next().unwrap_or_default()).collect();
    let tasks: Vec<Task> = lines.iter().map(|line| task(line, &names)).collect();
    let mut definition = Definition {
        name: "sketch".into(),
        description: None,
        labels: BTreeMap::new(),
        input_schema: None,
        timeout: None,
        tiers: BTreeMap::new(),
        max_active_runs: None,
        concurrency_group: None,
        tasks,
        max_fanout: FANOUT_DEFAULT,
        outputs: None,
    };
    for line in settings {
        let (name, value) = line[1..].split_once('=').expect("@name=value");
        match name {
            "timeout" => definition.timeout = Some(Span::from_secs(number(value))),
            "outputs" => definition.outputs = Some(outputs(value, edge(value, &names).upstream)),
            "max_active" => {
                definition.max_active_runs = Some(u32::try_from(number(value)).expect("small"));
            }
            "group" => definition.concurrency_group = Some(group(value)),
            tier => {
                definition.tiers.insert(tier.into(), value.parse().expect("a limit"));
            }
        }
    }
    definition
}

/// `2/skip`: a limit, and what becomes of who is beyond it. Whoever triggers says the key.
fn group(text: &str) -> ConcurrencyGroup {
    let (limit, conflict) = text.split_once('/').expect("limit/conflict");
    ConcurrencyGroup {
        key: Text::parse("key").expect("plain"),
        limit: u32::try_from(number(limit)).expect("small"),
        on_conflict: match conflict {
            "queue" => OnConflict::Queue,
            "skip" => OnConflict::Skip,
            "cancel" => OnConflict::CancelPrevious,
            unknown => panic!("unknown conflict in a sketch: {unknown}"),
        },
    }
}

fn task(line: &str, names: &[&str]) -> Task {
    let (head, edges) = line.split_once(':').unwrap_or((line, ""));
    let mut words = head.split_whitespace();
    let mut task = plain(words.next().expect("a task has a name"));
    task.depends_on =
        edges.split(',').filter(|edge| !edge.trim().is_empty()).map(|e| edge(e, names)).collect();
    for word in words {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "noop" => task.action = Action::Noop,
            "sleep" => task.action = sleep(value),
            "signal" => task.action = wait(value),
            "approval" => task.action = approval(),
            "child" => task.action = child(value),
            "within" => bounded(&mut task, Span::from_secs(number(value))),
            "late" => late(&mut task, value),
            "lenient" => edit(&mut task, |it| it.on_reject = OnReject::Continue),
            "by" => edit(&mut task, |it| it.by = value.split('+').map(Decider::of).collect()),
            "allow" => task.allow_failure = true,
            "checkpoint" => task.checkpoint = true,
            "once" => task.on_lost = OnLost::Fail,
            "retries" => task.retries.max = u32::try_from(number(value)).expect("small"),
            "delay" => task.retries.delay = Span::from_secs(number(value)),
            "timeout" => task.timeout = Span::from_secs(number(value)),
            "priority" => task.priority = i32::try_from(number(value)).expect("small"),
            "tier" => task.tier = Some(value.into()),
            "final" => finalize(&mut task, |it| it.queue = Some(value.into())),
            "merge" => merge(&mut task, value),
            "unqueued" => finalize(&mut task, |it| it.queue = None),
            "final_retries" => {
                let max = u32::try_from(number(value)).expect("small");
                finalize(&mut task, |it| it.retries.max = max);
            }
            "final_timeout" => {
                finalize(&mut task, |it| it.timeout = Span::from_secs(number(value)));
            }
            "final_once" => finalize(&mut task, |it| it.on_lost = OnLost::Fail),
            "fan" => {
                let times = u32::try_from(number(value)).expect("small");
                fan_out(&mut task).parallel = Some(Times::Fixed(times));
            }
            "each" => {
                let source = edge(value, names).upstream;
                let path = Path { task: source, fields: Vec::new() };
                fan_out(&mut task).foreach = Some(Each::From(path));
            }
            "at_once" => {
                let at_once = u32::try_from(number(value)).expect("small");
                fan_out(&mut task).concurrency = Some(at_once);
            }
            "fast" => fan_out(&mut task).failure_strategy = FailureStrategy::FailFast,
            "ignore" => fan_out(&mut task).failure_strategy = FailureStrategy::IgnoreErrors,
            // Whoever answers says what it comes to.
            "if" => {
                let text = if value.is_empty() { "true" } else { value };
                task.condition = Some(Expr::compile(text).expect("plain"));
            }
            "finally" => finally(&mut task),
            "always" => {
                finally(&mut task);
                task.always = Some(Always { grace: Span::from_secs(number(value)) });
            }
            unknown => panic!("unknown word in a sketch: {unknown}"),
        }
    }
    task
}

fn finally(task: &mut Task) {
    task.on_failure = OnFailure::Run;
    task.depends_on.iter_mut().for_each(|edge| edge.when = When::Finished);
}

/// Adds a finalizer if there is none yet, and changes it.
fn finalize(task: &mut Task, edit: impl FnOnce(&mut Finalize)) {
    let Task { action: Action::Process(process), retries, .. } = plain("") else {
        unreachable!("it is one")
    };
    let mut whole = task.finalize.as_deref().cloned().unwrap_or(Finalize {
        queue: None,
        action: FinalAction::Process(process),
        retries,
        on_lost: OnLost::Retry,
        timeout: TIMEOUT_DEFAULT,
        start_timeout: START_TIMEOUT_DEFAULT,
    });
    edit(&mut whole);
    task.finalize = Some(Arc::new(whole));
}

/// Lands its branch; in which queue is said by where its work was done.
fn merge(task: &mut Task, into: &str) {
    let landing = Landing {
        into: text(into),
        verify: None,
        strategy: MergeStrategy::Squash,
        update_checkout: UpdateCheckout::Never,
        kill_grace: KILL_GRACE_DEFAULT,
        log_bytes_max: LOG_BYTES_DEFAULT,
    };
    task.workspace = Some(Workspace { repo: text("."), base: text("main") });
    finalize(task, |it| {
        it.action = FinalAction::GitMerge(landing);
    });
}

fn text(source: &str) -> Text {
    Text::parse(source).expect("plain")
}

fn sleep(seconds: &str) -> Action {
    Action::Control(Control::Sleep(Sleep::For(text(&format!("{seconds}s")))))
}

fn wait(key: &str) -> Action {
    let on_timeout = OnTimeout::Fail;
    Action::Control(Control::Wait(WaitFor { signal: text(key), timeout: None, on_timeout }))
}

fn approval() -> Action {
    Action::Control(Control::Approval(Arc::new(Approval {
        message: text("really?"),
        by: Vec::new(),
        timeout: None,
        on_timeout: OnSilence::Reject,
        on_reject: OnReject::Fail,
    })))
}

fn child(workflow: &str) -> Action {
    let (workflow, version) = workflow.split_once('/').unwrap_or((workflow, ""));
    let version = (!version.is_empty()).then(|| u32::try_from(number(version)).expect("small"));
    Action::Control(Control::Child(ChildOf { workflow: workflow.into(), version, timeout: None }))
}

fn edit(task: &mut Task, edit: impl FnOnce(&mut Approval)) {
    match &mut task.action {
        Action::Control(Control::Approval(approval)) => edit(Arc::make_mut(approval)),
        _ => panic!("only an approval has that"),
    }
}

fn bounded(task: &mut Task, timeout: Span) {
    match &mut task.action {
        Action::Control(Control::Wait(wait)) => wait.timeout = Some(timeout),
        Action::Control(Control::Child(child)) => child.timeout = Some(timeout),
        _ => edit(task, |approval| approval.timeout = Some(timeout)),
    }
}

fn late(task: &mut Task, what: &str) {
    if let Action::Control(Control::Wait(wait)) = &mut task.action {
        assert_eq!(what, "continue", "a wait fails or continues");
        wait.on_timeout = OnTimeout::Continue;
        return;
    }
    let known = [OnSilence::Reject, OnSilence::Approve, OnSilence::Fail];
    let meant = known.iter().find(|known| known.word() == what).expect("a known word");
    edit(task, |approval| approval.on_timeout = *meant);
}

/// What one task put out, as the run's.
fn outputs(name: &str, no: TaskNo) -> Outputs {
    let values = serde_json::json!({ name: format!("${{{{ tasks.{name}.output }}}}") });
    Outputs { values: Tree::of(&values).expect("plain"), reads: vec![no] }
}

fn fan_out(task: &mut Task) -> &mut FanOut {
    task.fan_out.get_or_insert(FanOut {
        parallel: None,
        foreach: None,
        concurrency: None,
        failure_strategy: FailureStrategy::CollectErrors,
    })
}

fn plain(name: &str) -> Task {
    Task {
        name: name.into(),
        description: None,
        labels: BTreeMap::new(),
        action: Action::Process(Process {
            program: Program::Shell(ShellLine::parse("true").expect("plain")),
            env: BTreeMap::new(),
            workdir: None,
            output: OutputFrom::File,
            kill_grace: KILL_GRACE_DEFAULT,
            log_bytes_max: LOG_BYTES_DEFAULT,
            artifacts: Artifacts::default(),
        }),
        depends_on: Vec::new(),
        on_failure: OnFailure::Skip,
        always: None,
        allow_failure: false,
        checkpoint: false,
        condition: None,
        input: Json::empty_object().into(),
        outputs: None,
        cache: None,
        finalize: None,
        workspace: None,
        retries: Retries {
            max: 0,
            delay: RETRY_DELAY_DEFAULT,
            factor: RETRY_FACTOR_DEFAULT,
            max_delay: RETRY_DELAY_MAX_DEFAULT,
            jitter: false,
            classes: RetryClasses::All,
        },
        on_lost: OnLost::Retry,
        timeout: TIMEOUT_DEFAULT,
        start_timeout: START_TIMEOUT_DEFAULT,
        tier: None,
        priority: 0,
        fan_out: None,
        reads: Vec::new(),
    }
}

fn edge(text: &str, names: &[&str]) -> Edge {
    let (name, when) = text.trim().split_once('/').unwrap_or((text.trim(), "merged"));
    let upstream = names.iter().position(|known| *known == name).expect("a known task");
    let when = When::ALL.iter().find(|known| known.word() == when).expect("a known condition");
    Edge { upstream: TaskNo::from_position(upstream), when: *when }
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}
