//! Finalizers: what may be written, and what is said of the rest.

use super::told;
use crate::error::ErrorClass;
use crate::spec;
use crate::spec::definition::{FinalAction, Finalize, OnLost, OutputFrom, RetryClasses, Task};
use crate::time::Span;

fn task(fields: &str) -> Task {
    let text =
        format!("name: w\ntasks:\n  z: {{ noop: {{}} }}\n  a: {{ depends_on: z, {fields} }}\n");
    let parsed = spec::parse(&text, &spec::Context::STORED);
    let parsed = parsed.unwrap_or_else(|_| panic!("{}", told(&text)));
    parsed.definition.tasks[1].clone()
}

fn finalize(fields: &str) -> Finalize {
    let task = task(&format!("run: x, finalize: {{ {fields} }}"));
    (*task.finalize.expect("a finalizer")).clone()
}

/// The code and the message of everything that is wrong with a task.
#[track_caller]
fn wrong(task: &str, expected: &str) {
    let told = told(&format!("name: w\ntasks:\n  z: {{ noop: {{}} }}\n  a: {{ {task} }}\n"));
    assert!(told.contains(expected), "{task}: {told}");
}

#[test]
fn a_finalizer_has_defaults_of_its_own() {
    let Finalize { queue, action, retries, on_lost, timeout, start_timeout } = finalize("run: y");
    assert_eq!((queue, retries.max, on_lost), (None, 0, OnLost::Retry));
    assert_eq!((timeout, start_timeout), (Span::from_secs(3_600), Span::from_secs(300)));
    let FinalAction::Process(process) = action else { panic!("a process: {action:?}") };
    assert_eq!((process.output, process.kill_grace), (OutputFrom::File, Span::from_secs(10)));
    let text = "name: w\ndefaults: { retries: 3, timeout: 1s, env: { A: x } }\ntasks:\n  a: { run: x, finalize: { run: y } }\n";
    let parsed = spec::parse(text, &spec::Context::STORED).expect("valid");
    let own = parsed.definition.tasks[0].finalize.clone().expect("a finalizer");
    assert_eq!((own.retries.max, own.timeout), (0, Span::from_secs(3_600)));
}

#[test]
fn a_finalizer_says_what_it_does_and_how() {
    let it = finalize(
        "queue: main, command: [m, '${{ tasks.a.output.x }}'], env: { T: { secret: t } }, \
         workdir: d, timeout: 5m, start_timeout: 1s, retries: { max: 2, on: [exit] }, \
         kill_grace: 0s, log_limit: 1KiB, output: stdout, on_lost: fail",
    );
    assert_eq!((it.queue.as_deref(), it.retries.max, it.on_lost), (Some("main"), 2, OnLost::Fail));
    assert_eq!(it.retries.classes, RetryClasses::Only(vec![ErrorClass::Exit]));
    assert_eq!((it.timeout, it.start_timeout), (Span::from_secs(300), Span::from_secs(1)));
    let FinalAction::Process(process) = it.action else { panic!("a process") };
    assert_eq!((process.output, process.log_bytes_max), (OutputFrom::Stdout, 1_024));
    assert!(process.workdir.is_some() && process.env.contains_key("T"));
}

#[test]
fn a_finalizer_does_exactly_one_thing() {
    wrong("run: x, finalize: { queue: q }", "E203 4:16 The finalizer does nothing.");
    wrong("run: x, finalize: { run: x, command: [y] }", "E204 4:36 A finalizer does one thing");
    wrong("run: x, finalize: { rnu: x }", "did you mean `run`?");
    wrong("run: x, finalize: ./merge.sh", "must be a map");
    wrong("run: x, finalize: { git_merge: {} }", "E103");
}

#[test]
fn every_field_of_a_finalizer_is_checked_with_its_place() {
    wrong("run: x, finalize: { run: y, queue: 'a b' }", "E105 4:43");
    wrong("run: x, finalize: { run: y, queue: 5 }", "E104 4:43");
    wrong("run: x, finalize: { run: y, timeout: 0s }", "E109 4:45");
    wrong("run: x, finalize: { run: y, retries: -1 }", "4:45");
    wrong("run: x, finalize: { run: y, env: { MAINSPRING_X: y } }", "4:43");
    wrong("run: x, finalize: { run: y, on_lost: maybe }", "E106");
    wrong("run: x, finalize: { run: y, tier: gpu }", "E101");
    wrong("run: x, finalize: { run: '${{ tasks.b.output }}' }", "There is no task `b`");
    wrong("run: x, finalize: { run: '${{ secrets.t }}' }", "only given to `env`");
    wrong("run: x, finalize: { run: '${{ item }}' }", "only there in a fan-out");
    wrong("run: x, finalize: { run: '${{ tasks.z.output }}' }", "E213");
    // All of them at once.
    let text = "run: x, finalize: { run: '${{ tasks.b.output }}', queue: 'a b', timeout: 0s }";
    for code in ["E402", "E105", "E109"] {
        wrong(text, code);
    }
}

#[test]
fn only_work_is_finalized() {
    for idle in ["noop: {}", "sleep: 5m", "wait: { signal: s }", "approval: { message: m }"] {
        wrong(&format!("{idle}, finalize: {{ run: y }}"), "E215");
    }
    let text = "name: w\ndefaults: { finalize: { run: x } }\ntasks: { a: { run: x } }\n";
    assert!(told(text).contains("E111"), "{}", told(text));
}

#[test]
fn a_finalizer_reads_what_its_own_task_put_out_and_nobody_else_does() {
    let it = task("run: x, finalize: { run: 'm ${{ tasks.a.output }} ${{ tasks.z.output }}' }");
    assert!(it.reads.is_empty(), "what it depends on is seen anyway: {:?}", it.reads);
    wrong("run: 'x ${{ tasks.a.output }}'", "cannot read what it puts out itself");
    let fan = "run: x, foreach: [1, 2], finalize: { run: 'm ${{ item }} ${{ index }} ${{ tasks.a.output }}' }";
    assert!(task(fan).finalize.is_some());
    let far = "name: w\ntasks:\n  a: { run: x }\n  b: { run: x, depends_on: a }\n  c: { run: x, depends_on: b, finalize: { run: 'm ${{ tasks.a.output }}' } }\n";
    let parsed = spec::parse(far, &spec::Context::STORED).expect("valid");
    assert_eq!(parsed.definition.tasks[2].reads.len(), 1, "what only it names is kept for it");
}
