//! What a run is given.

use crate::rig::Bench;
use serde_json::{Value, json};

const WORKFLOW: &str = r#"name: w
input:
  type: object
  additionalProperties: false
  required: [day]
  properties:
    day: { type: string }
    count: { type: integer, default: 3, minimum: 1 }
    db: { type: object, properties: { port: { type: integer, default: 5432 }, host: { type: string } } }
tasks:
  a: { run: 'printf %s "$MAINSPRING_RUN_INPUT" > seen' }
"#;

#[test]
fn defaults_are_filled_in_and_the_command_line_wins() {
    let bench = Bench::with(WORKFLOW);
    bench.write("in.json", r#"{"day": "monday", "count": 5, "db": {"host": "h"}}"#);
    bench
        .run(&[
            "run",
            "w.yaml",
            "--input-file",
            "in.json",
            "--input",
            "day=7",
            "--input",
            "db.port=1",
        ])
        .is(0);
    let seen: serde_json::Value = serde_json::from_str(&bench.read("seen")).expect("JSON");
    assert_eq!(seen, json!({"day": "7", "count": 5, "db": {"host": "h", "port": 1}}));
    bench.run(&["run", "w.yaml", "--input", "day=x"]).is(0);
    assert_eq!(bench.show("last")["run"]["input"], json!({"day": "x", "count": 3}));
}

#[test]
fn wrong_input_is_said_with_its_path_and_nothing_is_written() {
    let bench = Bench::with(WORKFLOW);
    let done = bench.run(&["run", "w.yaml", "--input", "count=0", "--input", "db.port=x"]);
    done.is(2).says("input count: ").says("input db.port: ").says("day");
    bench.run(&["run", "w.yaml", "--input", "day"]).is(2).says("KEY=VALUE");
    bench.run(&["run", "w.yaml", "--input", "day=1", "--input", "dya=1"]).is(2).says("dya");
    bench.write("in.json", "[1]");
    bench.run(&["run", "w.yaml", "--input-file", "in.json"]).is(2).says("must be a JSON object");
    bench.write("in.json", "{");
    bench.run(&["run", "w.yaml", "--input-file", "in.json"]).is(2).says("not valid JSON");
    bench.run(&["run", "w.yaml", "--input-file", "none"]).is(2).says("cannot be read");
    assert!(!bench.path(".mainspring").exists());
}

#[test]
fn a_task_sees_a_clean_environment_and_what_is_passed() {
    let bench = Bench::with("name: w\ntasks: { a: { run: 'env > seen; pwd > where' } }\n");
    let mut command = bench.command(&["run", "w.yaml", "--pass-env", "WANTED", "--data", "d"]);
    let status = command.env("WANTED", "yes").env("UNWANTED", "no").status().expect("it runs");
    assert!(status.success());
    let seen = bench.read("seen");
    assert!(seen.contains("WANTED=yes") && !seen.contains("UNWANTED"), "{seen}");
    assert!(seen.contains("MAINSPRING_WORKFLOW=w") && seen.contains("PATH="), "{seen}");
    let here = std::fs::canonicalize(bench.path(".")).expect("a folder");
    assert_eq!(bench.read("where").trim(), here.to_str().expect("UTF-8"));
    assert!(!bench.path(".mainspring").exists() && bench.path("d/mainspring.db").exists());
}

#[test]
fn input_that_is_too_deep_is_refused() {
    let bench = Bench::with("name: w\ntasks: { a: { noop: {} } }\n");
    let key = |parts: usize| vec!["a"; parts].join(".");
    let deepest = format!("{}=1", key(64));
    bench.run(&["run", "w.yaml", "--input", &deepest]).is(0);
    for given in [
        format!("{}=1", key(65)),
        format!("{}=1", key(60_000)),
        format!("{}={}1{}", key(60), "[".repeat(60), "]".repeat(60)),
    ] {
        bench.run(&["run", "w.yaml", "--input", &given]).is(2).says("more than 64");
    }
}

#[test]
fn whatever_may_be_put_out_reaches_the_next_task() {
    let bench = Bench::with(
        r#"
name: w
tasks:
  a:
    run: |
      for half in '[' ']'; do for n in 1 2 3 4 5 6 7 8; do printf "%s" "$half$half$half$half$half$half$half$half"; done; done > $MAINSPRING_OUTPUT
  b: { depends_on: [a], input: { 'say "hi"': 1, "\\": "\n" }, run: 'cat > seen' }
"#,
    );
    bench.run(&["run", "w.yaml"]).is(0);
    let seen: Value = serde_json::from_str(&bench.read("seen")).expect("JSON");
    assert_eq!(seen["say \"hi\""], 1);
    assert_eq!(seen["\\"], "\n");
    assert!(seen["a"].is_array(), "{seen}");
}
