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
//! @outputs=f
//! ```

use crate::expr::{Expr, ShellLine, Tree};
use crate::ids::TaskNo;
use crate::json::Json;
use crate::limits::{
    FANOUT_DEFAULT, KILL_GRACE_DEFAULT, LOG_BYTES_DEFAULT, RETRY_DELAY_DEFAULT,
    RETRY_DELAY_MAX_DEFAULT, RETRY_FACTOR_DEFAULT, START_TIMEOUT_DEFAULT, TIMEOUT_DEFAULT,
};
use crate::spec::definition::{
    Action, Artifacts, Definition, Each, Edge, FailureStrategy, FanOut, OnFailure, OnLost,
    OutputFrom, Outputs, Path, Process, Program, Retries, RetryClasses, Task, Times, When,
};
use crate::time::Span;
use std::collections::BTreeMap;

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
        tasks,
        max_fanout: FANOUT_DEFAULT,
        outputs: None,
    };
    for line in settings {
        let (name, value) = line[1..].split_once('=').expect("@name=value");
        match name {
            "timeout" => definition.timeout = Some(Span::from_secs(number(value))),
            "outputs" => definition.outputs = Some(outputs(value, edge(value, &names).upstream)),
            tier => {
                definition.tiers.insert(tier.into(), u32::try_from(number(value)).expect("small"));
            }
        }
    }
    definition
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
            "allow" => task.allow_failure = true,
            "once" => task.on_lost = OnLost::Fail,
            "retries" => task.retries.max = u32::try_from(number(value)).expect("small"),
            "delay" => task.retries.delay = Span::from_secs(number(value)),
            "timeout" => task.timeout = Span::from_secs(number(value)),
            "priority" => task.priority = i32::try_from(number(value)).expect("small"),
            "tier" => task.tier = Some(value.into()),
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
            "if" => task.condition = Some(Expr::compile("true").expect("plain")),
            "finally" => {
                task.on_failure = OnFailure::Run;
                task.depends_on.iter_mut().for_each(|edge| edge.when = When::Finished);
            }
            unknown => panic!("unknown word in a sketch: {unknown}"),
        }
    }
    task
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
        allow_failure: false,
        condition: None,
        input: Json::empty_object().into(),
        outputs: None,
        cache: None,
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
