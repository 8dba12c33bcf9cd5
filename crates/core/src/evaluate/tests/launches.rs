use super::super::Instance;
use super::stage::Stage;
use crate::ids::AttemptId;
use crate::items::Items;
use crate::json::Json;
use crate::view::word::Word;
use crate::work::{ArtifactWanted, EnvPart, EnvValue, Program, Work};
use std::sync::Arc;

/// `a` has ended, and below it is `b` with these fields.
fn stage(fields: &str) -> Stage {
    let fields: String = fields.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!(
        "name: w\ntasks:\n  a: {{run: x, artifacts: {{out: [file]}}}}\n  b:\n    depends_on: a\n{fields}"
    );
    Stage::new(&text).with("a", Word::Success, Some(r#"{"rows": 3, "text": "it's \"so\" $HOME"}"#))
}

#[test]
fn a_script_reads_its_values_from_variables() {
    let work = stage("run: echo ${{ tasks.a.output.text }} \"${{ input.n + 1 }}\" ${{ input.no }}");
    let work = work.work();
    assert!(
        work.expect_err("there is none")
            .contains("`run: ${{ input.no }}`: `input` has no field `no`")
    );
    let work = stage("run: echo ${{ tasks.a.output.text }} \"${{ input.n + 1 }}\"\nenv: {A: b}");
    let work = work.work().expect("good");
    assert_eq!(work.program, Program::Shell("echo \"$_MS_1\" \"${_MS_2}\"".into()));
    let env = |name: &str| work.env.iter().find(|(own, _)| own == name).map(|(_, value)| value);
    let text = |text: &str| EnvValue::Text(text.to_owned());
    assert_eq!(env("_MS_1"), Some(&text("it's \"so\" $HOME")));
    assert_eq!(env("_MS_2"), Some(&text("3")));
    assert_eq!(env("A"), Some(&text("b")));
}

#[test]
fn arguments_and_directories_are_rendered() {
    let stage = stage(
        "command: [echo, \"${{ tasks.a.output.rows }}\", \"x ${{ input.day }}\", \"$${{\"]\nworkdir: \"${{ input.day }}/x\"",
    );
    let work = stage.work().expect("good");
    let argv = ["echo", "3", "x monday", "${{"].map(str::to_owned);
    assert_eq!(work.program, Program::Argv(argv.to_vec().into()));
    assert_eq!(work.workdir, "/runs/monday/x");
    let workdir = |fields: &str| self::stage(fields).work().map(|work| work.workdir);
    assert_eq!(workdir("run: x\nworkdir: \"/srv/${{ input.n }}\""), Ok("/srv/2".to_owned()));
    assert_eq!(workdir("run: x"), Ok("/runs".to_owned()));
    let empty = workdir("run: x\nworkdir: \"${{ '' }}\"").expect_err("empty");
    assert_eq!(empty, "logic: `workdir` is empty with its values put in");
    let empty = workdir("command: [\"${{ ' ' }}\"]").expect_err("empty");
    assert_eq!(empty, "logic: `command[0]` names no program: it is empty");
}

#[test]
fn secrets_stay_names() {
    let stage = stage(
        "run: x\nenv: {A: {secret: token}, B: \"Bearer ${{ secrets['api-token'] }} for ${{ input.day }}\", C: \"${{ secrets.x }}\"}",
    );
    let work = stage.work().expect("good");
    let secret = |name: &str| EnvPart::Secret(name.to_owned());
    let text = |text: &str| EnvPart::Text(text.to_owned());
    let parts: Vec<EnvValue> = work.env.into_iter().map(|(_, value)| value).collect();
    assert_eq!(
        parts,
        [
            EnvValue::Parts(vec![secret("token")]),
            EnvValue::Parts(vec![
                text("Bearer "),
                secret("api-token"),
                text(" for "),
                text("monday")
            ]),
            EnvValue::Parts(vec![secret("x")]),
        ]
    );
}

#[test]
fn what_cannot_be_handed_over_is_named() {
    let failed = |fields: &str| stage(fields).work().expect_err("refused");
    assert_eq!(
        failed("run: x\nenv: {A: \"x${{ '\\\\u0000' }}\"}"),
        "logic: `env.A` holds a NUL byte, which no process can be given"
    );
    let mut large = stage("command: [x, \"${{ input.s }}\"]");
    let text: String = format!("{{\"s\": \"{}\"}}", "x".repeat(64 * 1024 + 1));
    large.input = Box::leak(text.into_boxed_str());
    assert_eq!(
        large.work().expect_err("too large"),
        "logic: `command[1]` is 65537 bytes; at most 65536 are handed over. The task's input may \
         be larger: it is on stdin"
    );
    let mut large = stage("run: echo ${{ input.s }}");
    let text: String = format!("{{\"s\": \"{}\"}}", "x".repeat(64 * 1024 + 1));
    large.input = Box::leak(text.into_boxed_str());
    assert!(
        large.work().expect_err("too large").starts_with("logic: `run: ${{ input.s }}` is 65537")
    );
}

#[test]
fn an_input_has_what_is_above_then_its_own_then_what_tells_instances_apart() {
    let stage =
        stage("run: x\nforeach: a\ninput: {a: 1, day: \"${{ input.day }}\", me: \"${{ item }}\"}");
    let launch = stage.launch(Some((1, r#"["p", {"q": 1}]"#))).expect("good");
    assert_eq!(
        launch.input.as_str(),
        r#"{"a":1,"count":2,"day":"monday","index":1,"item":{"q": 1},"me":{"q": 1}}"#
    );
    assert_eq!(launch.instance, Some((1, 2)));
    let alone = Stage::new("name: w\ntasks: {a: {run: x, input: {n: \"${{ input.n }}\"}}}");
    assert_eq!(alone.launch(None).expect("good").input.as_str(), r#"{"n":2}"#);
}

#[test]
fn instances_of_one_item_are_next_to_each_other() {
    let items = Json::parse(r#"["p", "q"]"#).expect("JSON");
    let items = Arc::new(Items::of(items).expect("a list"));
    let item = |index| {
        let instance = Instance { index, count: 6, items: Some(Arc::clone(&items)) };
        instance.item().map(str::to_owned)
    };
    let found: Vec<String> = (0..6).filter_map(item).collect();
    assert_eq!(found.join(" "), r#""p" "p" "p" "q" "q" "q""#);
    let alone = Instance { index: 1, count: 2, items: None };
    assert_eq!(alone.item(), None, "`parallel` alone has no items");
}

#[test]
fn the_same_key_is_the_same_note() {
    let note = |key: &str| {
        let stage = stage(&format!("run: x\nforeach: a\ncache: {{key: \"{key}\", ttl: 5m}}"));
        stage.launch(Some((0, "[7]"))).expect("good").cache.expect("a note")
    };
    assert_eq!(note("a ${{ item }}"), note("a ${{ 3 + 4 }}"));
    assert_ne!(note("a ${{ item }}").hash, note("b ${{ item }}").hash);
    assert_eq!(note("a").ttl, crate::time::Span::from_secs(300));
    let failed = stage("run: x\ncache: {key: \"${{ tasks.a.output.nope }}\"}").launch(None);
    assert!(
        failed
            .expect_err("nothing")
            .starts_with("logic: `cache.key`: `tasks.a.output` has no field")
    );
}

/// Instances without a tag would take each other's results.
#[test]
fn a_key_that_comes_to_nothing_is_none() {
    for key in ["${{ item }}", " ${{ item }} ", "${{ '' }}"] {
        for item in ["null", "\"\"", "\" \""] {
            let stage = stage(&format!("run: x\nforeach: a\ncache: {{key: \"{key}\"}}"));
            let told = stage.launch(Some((0, &format!("[{item}]")))).expect_err("no key");
            assert_eq!(told, "logic: `cache.key` is empty with its values put in", "{key} {item}");
        }
    }
    let stage = stage("run: x\nforeach: a\ncache: {key: \"v1 ${{ item }}\"}");
    assert!(stage.launch(Some((0, "[null]"))).is_ok(), "it is not for us to say what makes a key");
}

#[test]
fn artifacts_are_named_for_the_executor_and_for_whoever_fetches_them() {
    let stage = stage(
        "run: x\nforeach: a\nartifacts: {in: [a/file], out: [\"part-${{ index }}.txt\", plain]}",
    );
    let work = stage.work_of(Some((1, "[1, 2]"))).expect("good");
    assert_eq!(work.artifacts_out, ["part-1.txt", "plain"]);
    let wanted = ArtifactWanted { task: crate::ids::TaskNo(0), path: Some("file".to_owned()) };
    assert_eq!(work.artifacts_wanted, [wanted]);
    for (path, why) in [
        ("../${{ 'x' }}", "has a step that is `.` or `..`"),
        ("${{ '/etc' }}", "is absolute"),
        ("${{ '' }}", "is empty"),
    ] {
        let failed = self::stage(&format!("run: x\nartifacts: {{out: [\"{path}\"]}}")).work();
        assert!(failed.expect_err("no path").ends_with(why), "{path}");
    }
    let twice = self::stage("run: x\nartifacts: {out: [\"${{ 'p' }}\", p]}").work();
    assert_eq!(twice.expect_err("twice"), "logic: `artifacts.out` has `p` twice");
}

#[test]
fn a_large_output_is_passed_on_as_a_file_and_fetched_for_what_reads_it() {
    let text = "name: w\ntasks:\n  a: {run: x}\n  b: {run: \"echo ${{ tasks.a.output.rows }}\", depends_on: a}\n";
    let stage = Stage::new(text).with_blob("a", r#"{"rows": 3}"#);
    let launch = stage.launch(None).expect("good");
    assert_eq!(launch.input.as_str(), r#"{"a":{"$file":"/outputs/0707.json","bytes":11}}"#);
    let mut away = Stage::new(text).with_blob("a", "{}");
    away.store.is_away = true;
    assert_eq!(away.launch(None).expect_err("away"), "later: no answer");
}

/// Each of them is small enough for a row.
#[test]
fn the_largest_of_many_outputs_are_passed_on_as_files_when_they_are_too_much_together() {
    const KIB: usize = 1024;
    let sizes: Vec<(String, usize)> =
        (0..17).map(|no| (format!("t{no:02}"), (230 + no) * KIB)).collect();
    let tasks: String = sizes.iter().map(|(name, _)| format!("  {name}: {{run: x}}\n")).collect();
    let names: Vec<&str> = sizes.iter().map(|(name, _)| name.as_str()).collect();
    let launch = |own: &str| {
        let text = format!(
            "name: w\ntasks:\n{tasks}  z: {{run: x, depends_on: [{}]{own}}}\n",
            names.join(", ")
        );
        let stage = sizes.iter().fold(Stage::new(&text), |stage, (name, bytes)| {
            stage.with(name, Word::Success, Some(&format!("\"{}\"", "x".repeat(*bytes - 2))))
        });
        stage.launch(None).expect("it fits")
    };
    let files = |own: &str| {
        let input: serde_json::Value = serde_json::from_str(launch(own).input.as_str()).unwrap();
        let is_file = |name: &&str| input[*name].get("$file").is_some();
        assert_eq!(input.as_object().unwrap().len(), 17);
        names.iter().copied().filter(is_file).collect::<Vec<&str>>()
    };
    // 4,046 KiB fit, and 4 KiB more.
    assert_eq!(files(""), [""; 0]);
    let more = format!(", input: {{t00: \"{}\"}}", "y".repeat(400 * KIB));
    assert_eq!(files(&more), ["t16"]);
    let more = format!(", input: {{t16: \"{}\"}}", "y".repeat(700 * KIB));
    assert_eq!(files(&more), ["t14", "t15"], "its own input is not touched");
}

#[test]
fn a_workspace_is_named_from_the_runs_directory_and_its_workdir_is_below_it() {
    let fields = "run: x\nworkdir: sub\nworkspace: {git: {repo: app, base: \"${{ input.day }}\"}}";
    let work = stage(fields).work().expect("good");
    let workspace = work.workspace.expect("one was given");
    assert_eq!((work.workdir.as_str(), workspace.repo.as_str()), ("./sub", "/runs/app"));
    assert_eq!(workspace.base, "monday");
    assert!(workspace.branch.starts_with("mainspring/") && workspace.branch.ends_with("/b"));
    let empty = stage("run: x\nworkspace: {git: {base: \"${{ '' }}\"}}").work();
    let empty = empty.expect_err("there is no base");
    assert_eq!(empty, "logic: `workspace.git.base` is empty with its values put in");
}

#[test]
fn a_workdir_does_not_leave_its_workspace() {
    let work = |workdir: &str| {
        let fields =
            format!("run: x\nworkdir: \"${{{{ '{workdir}' }}}}\"\nworkspace: {{git: {{}}}}");
        stage(&fields).work().map(|work| work.workdir)
    };
    for good in ["sub", "./sub", ".", "sub/deep/", "..sub"] {
        assert_eq!(work(good), Ok(format!("./{good}")));
    }
    for bad in ["/tmp", "../..", "sub/../../x", "sub/.."] {
        let told = work(bad).expect_err("it is outside");
        assert!(told.starts_with("logic: `workdir`") && told.contains(bad), "{told}");
    }
    let fields = "run: x\nworkspace: {git: {}}\nfinalize: {run: y, workdir: \"${{ '../x' }}\"}";
    let told = stage(fields).landing(AttemptId::from_bytes([5; 16])).expect_err("it is outside");
    assert!(told.starts_with("logic: `workdir`"), "{told}");
}

#[test]
fn a_merge_names_the_branch_the_target_and_the_attempt_that_did_the_work() {
    let fields = "run: x\nworkspace: {git: {repo: app}}\n\
                  finalize: {kill_grace: 2s, git_merge: {into: \"${{ input.day }}\", verify: v}}";
    let work = AttemptId::from_bytes([5; 16]);
    let landing = stage(fields).landing(work).expect("good");
    assert_eq!(landing.finalizes, Some(work));
    let Work::GitMerge(merge) = landing.work else { panic!("no merge: {:?}", landing.work) };
    assert_eq!((merge.repo.as_str(), merge.into.as_str()), ("/runs/app", "monday"));
    assert_eq!((merge.attempt, merge.verify.as_deref()), (work, Some("v")));
    assert_eq!((merge.kill_grace_ms, merge.workdir.as_str()), (2_000, "/runs"));
    assert!(merge.branch.ends_with("/b") && merge.message.starts_with("w: b\n\n"));
    let empty = "run: x\nworkspace: {git: {}}\nfinalize: {git_merge: {into: \"${{ '' }}\"}}";
    let empty = stage(empty).landing(work).expect_err("there is no target");
    assert_eq!(empty, "logic: `finalize.git_merge.into` is empty with its values put in");
}

#[test]
fn what_lands_work_starts_in_the_workspace_too() {
    let fields = "run: x\nworkspace: {git: {repo: /app}}\nfinalize: {run: y}";
    let landing = stage(fields).landing(AttemptId::from_bytes([5; 16])).expect("good");
    let Work::Process(work) = landing.work else { panic!("no process: {:?}", landing.work) };
    assert_eq!(
        (work.workdir.as_str(), work.workspace.map(|it| it.repo)),
        (".", Some("/app".into()))
    );
}
