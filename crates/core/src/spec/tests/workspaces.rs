//! Where tasks work.

use super::super::code::Code;
use super::super::definition::{Definition, Workspace};
use super::super::{Context, Diagnostic, parse};
use super::told;

fn read(text: &str) -> Result<Definition, Vec<(Code, String)>> {
    let told = |it: Diagnostic| (it.code, it.message);
    let parsed = parse(text, &Context::STORED);
    let parsed = parsed.map_err(|problems| problems.into_iter().map(told).collect());
    parsed.map(|parsed| parsed.definition)
}

fn workspace(field: &str) -> Option<Workspace> {
    let text = format!("name: w\ntasks:\n  a:\n    run: x\n    {field}\n");
    read(&text).expect("a good definition").tasks[0].workspace.clone()
}

fn problem(rest: &str) -> (Code, String) {
    let problems = read(&format!("name: w\n{rest}\n")).expect_err("a bad definition");
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].clone()
}

#[test]
fn a_workspace_has_its_defaults() {
    let sources = |field| {
        workspace(field).map(|it| (it.repo.source().to_owned(), it.base.source().to_owned()))
    };
    let texts = |repo: &str, base: &str| Some((repo.to_owned(), base.to_owned()));
    assert_eq!(sources("workspace: { git: {} }"), texts(".", "HEAD"));
    assert_eq!(
        sources("workspace: { git: { repo: /srv/a b, base: v1 } }"),
        texts("/srv/a b", "v1")
    );
    assert_eq!(sources("timeout: 1s"), None);
}

#[test]
fn a_workspace_may_be_a_default_and_its_values_are_templates() {
    let text = "name: w\ndefaults: { workspace: { git: { base: \"${{ input.base }}\" } } }\n\
                tasks:\n  a: { run: x }\n  b: { noop: {} }\n";
    let definition = read(text).expect("a good definition");
    let base = |at: usize| {
        let workspace = definition.tasks[at].workspace.as_ref();
        workspace.map(|it| it.base.source().to_owned())
    };
    assert_eq!((base(0), base(1)), (Some("${{ input.base }}".to_owned()), None));
}

#[test]
fn mistakes_in_a_workspace_are_told() {
    let task = |field: &str| format!("tasks:\n  a:\n    run: x\n    {field}");
    for (field, code) in [
        ("workspace: {}", Code::MissingField),
        ("workspace: main", Code::WrongType),
        ("workspace: { git: main }", Code::WrongType),
        ("workspace: { git: { branch: x } }", Code::UnknownField),
        ("workspace: { git: { base: '' } }", Code::BadText),
        ("workspace: { git: { base: --all } }", Code::BadText),
        ("workspace: { git: { repo: '${{ tasks.b.output }}' } }", Code::UnknownReference),
        ("workspace: { git: { repo: '${{ secrets.b }}' } }", Code::UnknownReference),
        ("workspace: { git: {} }\n    cache: { key: x }", Code::BesideWorkspace),
    ] {
        assert_eq!(problem(&task(field)).0, code, "{field}");
    }
    let defaults = "defaults: { cache: { key: x } }\n";
    let (code, _) = problem(&format!("{defaults}{}", task("workspace: { git: {} }")));
    assert_eq!(code, Code::BesideWorkspace);
}

#[test]
fn a_workdir_stays_below_its_workspace() {
    let task = |workdir: &str, rest: &str| {
        format!(
            "name: w\ntasks:\n  a: {{ run: x, workdir: {workdir}, workspace: {{ git: {{}} }}{rest} }}\n"
        )
    };
    for bad in ["/tmp", "../x", "a/../../b", ".."] {
        let found = told(&task(bad, ""));
        assert!(found.contains("E219 3:25") && found.contains(bad), "{bad}: {found}");
        let defaults = format!("defaults: {{ workdir: {bad}, workspace: {{ git: {{}} }} }}");
        let found = told(&format!("name: w\n{defaults}\ntasks: {{ a: {{ run: x }} }}\n"));
        assert!(found.contains("E219 2:22"), "{bad}: {found}");
        let found = told(&task("sub", &format!(", finalize: {{ run: y, workdir: {bad} }}")));
        assert!(found.contains("E219 3:"), "{bad}: {found}");
        // One that was deployed when nobody minded is read as it was.
        read(&task(bad, "")).expect("a stored definition");
    }
    for good in ["sub", "./a/b", ".", "'${{ input.d }}'", "'/${{ input.d }}'"] {
        assert_eq!(told(&task(good, "")), "", "{good}");
    }
    assert_eq!(told("name: w\ntasks: { a: { run: x, workdir: /tmp } }\n"), "");
    let idle = "name: w\ndefaults: { workdir: /tmp }\ntasks: { a: { noop: {}, workspace: { git: {} } } }\n";
    assert!(!told(idle).contains("E219"), "it does no work: {}", told(idle));
}

#[test]
fn a_workspace_of_a_task_that_does_no_work_has_no_effect() {
    let text = "name: w\ntasks:\n  a: { noop: {}, workspace: { git: {} }, cache: { key: x } }\n";
    let parsed = parse(text, &Context::STORED).expect("a good definition");
    let codes: Vec<Code> = parsed.warnings.iter().map(|it| it.code).collect();
    assert_eq!(codes, [Code::NoEffect, Code::NoEffect]);
}
