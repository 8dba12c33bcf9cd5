//! What texts mean.

use super::super::definition::*;
use super::{one, read, shown};
use crate::error::ErrorClass;
use crate::expr::{ShellLine, Text};
use crate::ids::TaskNo;
use crate::kernel::limit::Bound;
use crate::time::Span;
use std::collections::BTreeMap;

fn definition(text: &str) -> Definition {
    match read(text) {
        Ok(parsed) => parsed.definition,
        Err(found) => panic!("refused:\n{}\n{text}", shown(&found)),
    }
}

fn task(fields: &str) -> Task {
    definition(&one(fields)).tasks.remove(0)
}

fn process(fields: &str) -> Process {
    match task(fields).action {
        Action::Process(process) => process,
        other => panic!("not a process: {other:?}"),
    }
}

fn line(text: &str) -> Program {
    Program::Shell(ShellLine::parse(text).expect("good"))
}

fn plain(text: &str) -> Text {
    Text::parse(text).expect("good")
}

fn variable(value: &str) -> Variable {
    Variable::Text(plain(value))
}

/// The input of a task without templates.
fn input(task: &Task) -> &str {
    task.input.fixed().expect("no templates").as_str()
}

#[test]
fn a_task_takes_its_defaults_from_the_limits() {
    let expected = Task {
        name: "a".into(),
        description: None,
        labels: BTreeMap::new(),
        action: Action::Process(Process {
            program: line("echo hi"),
            env: BTreeMap::new(),
            workdir: None,
            output: OutputFrom::File,
            kill_grace: Span::from_secs(10),
            log_bytes_max: 10 * 1024 * 1024,
            artifacts: Artifacts::default(),
        }),
        depends_on: Vec::new(),
        on_failure: OnFailure::Skip,
        always: None,
        allow_failure: false,
        checkpoint: false,
        condition: None,
        input: crate::json::Json::empty_object().into(),
        outputs: None,
        cache: None,
        finalize: None,
        workspace: None,
        retries: Retries {
            max: 0,
            delay: Span::from_secs(1),
            factor: 2.0,
            max_delay: Span::from_secs(60),
            jitter: false,
            classes: RetryClasses::All,
        },
        on_lost: OnLost::Retry,
        timeout: Span::from_secs(3_600),
        start_timeout: Span::from_secs(300),
        tier: None,
        priority: 0,
        fan_out: None,
        reads: Vec::new(),
    };
    assert_eq!(task("run: echo hi"), expected);
}

#[test]
fn every_field_arrives() {
    let text = r#"
name: nightly-etl
description: Convert
labels: { team: data, year: 2024 }
input: { type: object, properties: { day: { type: string, default: today } } }
timeout: 2h
tiers: { heavy: 2, light: { limit: 5 } }
tasks:
  discover:
    command: [python3, list.py, 5, true, "x y"]
    env: { A: 1, B: 1.50, C: true, D: text, E: "" }
    workdir: work/here
    output: stdout
    kill_grace: 0s
    log_limit: 512KiB
    labels: { a: b }
    description: First
  convert:
    run: |
      ./a.sh
      ./b.sh
    depends_on: [{ task: discover, when: started }]
    allow_failure: true
    input: { n: 1, list: [1, 2.5, null, "x"] }
    retries: { max: 3, delay: 2s, factor: 1.5, max_delay: 1m, jitter: true, on: [exit, timeout, exit] }
    on_lost: fail
    timeout: 1h30m
    start_timeout: 90s
    tier: heavy
    priority: -5
"#;
    let definition = definition(text);
    assert_eq!(&*definition.name, "nightly-etl");
    assert_eq!(definition.description.as_deref(), Some("Convert"));
    assert_eq!(definition.labels["year"], "2024");
    assert_eq!(definition.timeout, Some(Span::from_secs(7_200)));
    let tiers = [("heavy".into(), Bound::of(2)), ("light".into(), Bound::of(5))];
    assert_eq!(definition.tiers, BTreeMap::from(tiers));
    let schema = definition.input_schema.as_ref().expect("given").to_value();
    assert_eq!(schema["properties"]["day"]["default"], "today");
    let Action::Process(first) = &definition.tasks[0].action else { panic!("a process") };
    let argv = ["python3", "list.py", "5", "true", "x y"].map(plain);
    assert_eq!(first.program, Program::Argv(argv.to_vec().into()));
    assert_eq!(first.env["B"], variable("1.50"), "as it was written");
    assert_eq!((&first.env["C"], &first.env["E"]), (&variable("true"), &variable("")));
    assert_eq!(first.workdir, Some(plain("work/here")));
    assert_eq!((first.output, first.kill_grace), (OutputFrom::Stdout, Span::ZERO));
    assert_eq!(first.log_bytes_max, 512 * 1024);
    let second = &definition.tasks[1];
    assert_eq!(second.depends_on, [Edge { upstream: TaskNo(0), when: When::Started }]);
    assert_eq!(input(second), r#"{"list":[1,2.5,null,"x"],"n":1}"#);
    assert_eq!(
        second.retries.classes,
        RetryClasses::Only(vec![ErrorClass::Exit, ErrorClass::Timeout])
    );
    assert_eq!((second.retries.factor, second.retries.jitter), (1.5, true));
    assert_eq!((second.on_lost, second.allow_failure), (OnLost::Fail, true));
    assert_eq!(second.timeout, Span::from_secs(5_400));
    assert_eq!(second.start_timeout, Span::from_secs(90));
    assert_eq!((second.tier.as_deref(), second.priority), (Some("heavy"), -5));
}

#[test]
fn json_is_yaml() {
    let json = "{\"name\": \"w\",\n\t\"tasks\": {\"a\": {\"run\": \"echo \\ud83d\\ude00 \\/x\"},\n\t\"b\": {\"noop\": {}, \"depends_on\": [\"a\"]}}}";
    let definition = definition(json);
    assert_eq!(definition.tasks.len(), 2);
    let Action::Process(first) = &definition.tasks[0].action else { panic!("a process") };
    assert_eq!(first.program, line("echo 😀 /x"));
}

#[test]
fn dependencies_in_all_their_spellings() {
    let edges = |fields: &str| {
        let text = format!(
            "name: w\ntasks:\n  x: {{noop: {{}}}}\n  y: {{noop: {{}}}}\n  a: {{noop: {{}}, {fields}}}\n"
        );
        let last = definition(&text).tasks.remove(2);
        last.depends_on
            .iter()
            .map(|e| format!("{}:{}", e.upstream.0, e.when.word()))
            .collect::<Vec<_>>()
    };
    assert_eq!(edges("depends_on: x"), ["0:merged"]);
    assert_eq!(edges("depends_on: [y, x]"), ["1:merged", "0:merged"]);
    assert_eq!(edges("depends_on: {task: y, when: failed}"), ["1:failed"]);
    assert_eq!(
        edges("depends_on: [{task: y, when: success}, {task: x}]"),
        ["1:merged", "0:merged"]
    );
    assert_eq!(edges("depends_on: [{task: y, when: completed}]"), ["1:completed"]);
    assert_eq!(edges("depends_on: []"), [""; 0]);
    assert_eq!(edges("depends_on: [x, y], on_failure: run"), ["0:finished", "1:finished"]);
    assert_eq!(edges("depends_on: [x, y], always: true"), ["0:finished", "1:finished"]);
    let both = "depends_on: [{task: x, when: finished}], on_failure: run";
    assert_eq!(edges(both), ["0:finished"]);
}

#[test]
fn tasks_keep_the_order_of_the_text() {
    let definition = definition("name: w\ntasks: {z: {noop: {}}, a: {noop: {}}, m: {noop: {}}}");
    let names: Vec<&str> = definition.tasks.iter().map(|task| &*task.name).collect();
    assert_eq!(names, ["z", "a", "m"]);
}

#[test]
fn defaults_apply_where_the_task_says_nothing() {
    let text = "
name: w
tiers: { heavy: 1 }
defaults: { retries: 1, timeout: 10m, env: { A: x, B: y }, tier: heavy, input: { k: 1 }, on_failure: run }
tasks:
  own: { run: x, retries: 0, env: { C: z }, tier: gpu, input: {}, on_failure: skip }
  inherits: { run: x, depends_on: [own] }
  noop: { noop: {}, depends_on: [own] }
";
    let definition = definition(text);
    let [own, inherits, noop] = &definition.tasks[..] else { panic!("three") };
    let env = |task: &Task| match &task.action {
        Action::Process(process) => process.env.keys().cloned().collect::<String>(),
        _ => String::new(),
    };
    assert_eq!((own.retries.max, env(own), own.tier.as_deref()), (0, "C".into(), Some("gpu")));
    assert_eq!((input(own), own.on_failure), ("{}", OnFailure::Skip));
    assert_eq!((inherits.retries.max, env(inherits)), (1, "AB".into()));
    assert_eq!((inherits.tier.as_deref(), input(inherits)), (Some("heavy"), r#"{"k":1}"#));
    assert_eq!(inherits.depends_on[0].when, When::Finished);
    assert_eq!(inherits.timeout, Span::from_secs(600));
    assert_eq!((noop.retries.max, noop.tier.as_deref()), (0, None));
    assert_eq!(noop.timeout, Span::from_secs(3_600));
    assert_eq!((input(noop), noop.on_failure), (r#"{"k":1}"#, OnFailure::Run));
}

#[test]
fn a_first_delay_above_the_cap_that_nobody_wrote_raises_the_cap() {
    let retries = task("run: x\nretries: {max: 1, delay: 5m}").retries;
    assert_eq!(retries.max_delay, Span::from_secs(300));
    let retries = task("run: x\nretries: {max: 1, except: [logic]}").retries;
    assert_eq!(retries.classes, RetryClasses::AllBut(vec![ErrorClass::Logic]));
    assert_eq!(task("run: x\nretries: 7").retries.max, 7);
}

#[test]
fn aliases_share_values() {
    let text = "
name: w
tasks:
  a: { run: &line echo hi, env: &env { A: 1, B: &two 2 } }
  b: { run: *line, env: *env }
  c: { run: x, env: { C: *two } }
";
    let definition = definition(text);
    let process = |no: usize| match &definition.tasks[no].action {
        Action::Process(process) => process,
        _ => panic!("a process"),
    };
    assert_eq!(process(0), process(1));
    assert_eq!(process(2).env["C"], variable("2"));
}

#[test]
fn an_anchor_on_a_key_names_the_key() {
    let text = "name: w\ntasks:\n  &n first: { noop: {} }\n  b: { noop: {}, depends_on: [*n] }\n";
    assert_eq!(definition(text).tasks[1].depends_on[0].upstream, TaskNo(0));
}

#[test]
fn core_tags_are_obeyed() {
    assert_eq!(
        process("run: x\nenv: {A: !!str 012, B: ! 5, C: !!int 7}").env["A"],
        variable("012")
    );
    assert_eq!(input(&task("run: x\ninput: {a: !!str 5, b: !!float 5}")), r#"{"a":"5","b":5.0}"#);
}

#[test]
fn the_hash_is_of_the_text() {
    let text = one("noop: {}");
    let (a, b) = (read(&text).expect("good"), read(&text).expect("good"));
    assert_eq!(a.hash, b.hash);
    assert_ne!(a.hash, read(&format!("{text}\n")).expect("good").hash);
}

#[test]
fn a_fan_out_finds_the_longest_name_that_is_a_task() {
    let text = "name: w\ntasks:\n  a: {noop: {}}\n  a.b: {noop: {}}\n  c: {run: x, depends_on: [a, a.b], foreach: a.b.c.d, parallel: a.n, concurrency: 2, failure_strategy: fail_fast}\n  d: {run: x, depends_on: c, foreach: a}";
    let tasks = definition(text).tasks;
    let path = |task, fields: &[&str]| Path {
        task: TaskNo(task),
        fields: fields.iter().map(|field| (*field).into()).collect(),
    };
    let expected = FanOut {
        parallel: Some(Times::From(path(0, &["n"]))),
        foreach: Some(Each::From(path(1, &["c", "d"]))),
        concurrency: Some(2),
        failure_strategy: FailureStrategy::FailFast,
    };
    assert_eq!(tasks[2].fan_out, Some(expected));
    assert!(tasks[2].reads.is_empty());
    assert_eq!(tasks[3].reads, [TaskNo(0)], "it comes before, but not directly");
}

#[test]
fn a_fan_out_takes_a_list_and_a_number_as_they_are() {
    let fan_out = task("run: x\nforeach: [1, {a: b}]\nparallel: 3").fan_out.expect("a fan-out");
    assert_eq!(fan_out.parallel, Some(Times::Fixed(3)));
    let list = crate::json::Json::parse(r#"[1,{"a":"b"}]"#).expect("JSON");
    assert_eq!(fan_out.foreach, Some(Each::Fixed(list)));
}

#[test]
fn tiers_may_have_rates() {
    let text = "name: w\ntiers: { api: { limit: 5, rate: 100/1m }, gpu: 2 }\n\
                tasks: { a: { run: x, tier: api } }\n";
    let definition = definition(text);
    let shown: Vec<String> =
        definition.tiers.iter().map(|(name, bound)| format!("{name}={bound}")).collect();
    assert_eq!(shown, ["api=5@100/1m", "gpu=2"]);
}

#[test]
fn runs_at_once_are_bounded_by_number_and_by_group() {
    let text = "name: w\nmax_active_runs: 3\n\
                concurrency_group: { key: \"x-${{ input.env }}\", limit: 2, on_conflict: skip }\n\
                tasks: { a: { noop: {} } }\n";
    let workflow = definition(text);
    assert_eq!(workflow.max_active_runs, Some(3));
    let group = workflow.concurrency_group.expect("a group");
    assert_eq!((group.limit, group.on_conflict), (2, OnConflict::Skip));
    let plain = definition("name: w\nconcurrency_group: { key: k }\ntasks: { a: { noop: {} } }\n");
    let group = plain.concurrency_group.expect("a group");
    assert_eq!((group.limit, group.on_conflict), (1, OnConflict::Queue));
}

#[test]
fn bounds_that_cannot_be_are_refused() {
    for (fields, says) in [
        ("max_active_runs: 0", "from 1"),
        ("tiers: { a: { limit: 1, rate: often } }", "is not a rate"),
        ("tiers: { a: { limit: 1, rate: 0/1m } }", "is not a rate"),
        ("tiers: { a: { limit: 1, rate: [1] } }", "must be a rate"),
        ("tiers: { a: { rate: 1/1s } }", "limit"),
        ("concurrency_group: { limit: 1 }", "key"),
        ("concurrency_group: { key: '' }", "empty"),
        ("concurrency_group: { key: k, on_conflict: wait }", "must be one of"),
        ("concurrency_group: { key: \"${{ run.id }}\" }", "cannot be a part of the key"),
        ("concurrency_group: { key: \"${{ tasks.a.output }}\" }", "cannot be a part of the key"),
    ] {
        let found = read(&format!("name: w\n{fields}\ntasks: {{ a: {{ noop: {{}} }} }}\n"));
        let found = found.expect_err(fields);
        assert!(shown(&found).contains(says), "{fields}: {}", shown(&found));
    }
}

#[test]
fn what_runs_always_is_a_finally_with_a_grace() {
    let grace = |fields: &str| task(fields).always.map(|always| always.grace);
    assert_eq!(grace("run: x"), None);
    assert_eq!(grace("run: x\nalways: false\non_failure: run"), None);
    assert_eq!(grace("run: x\nalways: true"), Some(Span::from_secs(300)));
    assert_eq!(grace("noop: {}\nalways: true\ngrace: 30s"), Some(Span::from_secs(30)));
    assert_eq!(task("run: x\nalways: true").on_failure, OnFailure::Run);
    let text = "name: w\ndefaults: {grace: 1m}\ntasks: {a: {run: x}, b: {run: x, always: true}}";
    let tasks = definition(text).tasks;
    assert_eq!(
        (tasks[0].always, tasks[1].always.map(|it| it.grace)),
        (None, Some(Span::from_secs(60)))
    );
    assert!(task("run: x\ncheckpoint: true").checkpoint);
}
