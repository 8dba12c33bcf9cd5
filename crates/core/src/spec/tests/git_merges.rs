//! The built-in merge queue, as it is written.

use super::super::definition::{Definition, FinalAction, Finalize, Landing};
use super::super::{Code, Context, Diagnostic, parse};
use crate::time::Span;
use crate::work_git::{MergeStrategy, UpdateCheckout};

const WORKSPACE: &str = "workspace: { git: { repo: app, base: main } }";

fn read(task: &str) -> Result<(Definition, Vec<Diagnostic>), Vec<Code>> {
    let text = format!("name: w\ntasks:\n  a: {{ run: x, {task} }}\n");
    let parsed = parse(&text, &Context::STORED);
    let parsed = parsed.map_err(|told| told.into_iter().map(|it| it.code).collect());
    parsed.map(|parsed| (parsed.definition, parsed.warnings))
}

fn finalize(rest: &str) -> Finalize {
    let (definition, warnings) =
        read(&format!("{WORKSPACE}, finalize: {{ {rest} }}")).expect("good");
    assert_eq!(warnings, []);
    (**definition.tasks[0].finalize.as_ref().expect("one was given")).clone()
}

fn landing(finalize: Finalize) -> Landing {
    match finalize.action {
        FinalAction::GitMerge(landing) => landing,
        action => panic!("no merge: {action:?}"),
    }
}

#[test]
fn a_merge_has_its_defaults() {
    let finalize = finalize("git_merge: { into: main }");
    assert_eq!(finalize.queue, None, "its repository and target decide");
    let landing = landing(finalize);
    assert_eq!((landing.into.source(), landing.verify), ("main", None));
    assert_eq!(landing.strategy, MergeStrategy::Squash);
    assert_eq!(landing.update_checkout, UpdateCheckout::Never);
    assert_eq!(landing.kill_grace, Span::from_secs(10));
}

#[test]
fn a_merge_says_how() {
    let given = "kill_grace: 1s, queue: all, git_merge: { into: '${{ input.to }}', \
                 verify: ./v.sh, strategy: merge, update_checkout: clean }";
    let finalize = finalize(given);
    assert_eq!(finalize.queue.as_deref(), Some("all"));
    let landing = landing(finalize);
    assert_eq!(
        (landing.into.source(), landing.verify.as_deref()),
        ("${{ input.to }}", Some("./v.sh"))
    );
    assert_eq!(
        (landing.strategy, landing.update_checkout),
        (MergeStrategy::Merge, UpdateCheckout::Clean)
    );
    assert_eq!(landing.kill_grace, Span::from_secs(1));
}

#[test]
fn mistakes_in_a_merge_are_told() {
    for (fields, code) in [
        ("git_merge: {}", Code::MissingField),
        ("git_merge: main", Code::WrongType),
        ("git_merge: { into: '' }", Code::BadText),
        ("git_merge: { into: main, verify: '' }", Code::BadText),
        ("git_merge: { into: main, verify: '${{ input.x }}' }", Code::Template),
        ("git_merge: { into: main, strategy: rebase }", Code::UnknownWord),
        ("git_merge: { into: main, update_checkout: always }", Code::UnknownWord),
        ("git_merge: { into: main, from: x }", Code::UnknownField),
        ("git_merge: { into: main }, run: x", Code::SeveralActions),
        ("git_merge: { into: '${{ tasks.b.output }}' }", Code::UnknownReference),
    ] {
        let task = format!("{WORKSPACE}, finalize: {{ {fields} }}");
        assert_eq!(read(&task).expect_err(fields), [code], "{fields}");
    }
    let bare = read("finalize: { git_merge: { into: main } }");
    assert_eq!(bare.expect_err("it has no workspace"), [Code::MissingField]);
}

#[test]
fn what_a_merge_has_no_use_for_is_told() {
    let task = format!("{WORKSPACE}, finalize: {{ env: {{ A: x }}, git_merge: {{ into: main }} }}");
    let (_, warnings) = read(&task).expect("good");
    let codes: Vec<Code> = warnings.iter().map(|it| it.code).collect();
    assert_eq!(codes, [Code::NoEffect]);
}
