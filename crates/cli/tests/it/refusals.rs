//! Mistakes: all at once, with their places, and nothing is written.

use crate::rig::Bench;

const TWENTY: &str = "\
name: 'bad name!'
descripton: typo
timeout: fast
tiers: { gpu: many }
colour: red
labels: [a]
tasks:
  a: { run: ls, command: [ls] }
  b: { depends_on: [missing], run: ls }
  c: { depends_on: [c], run: ls }
  d: { retries: lots, run: ls }
  e: { timeout: 5 parsecs, run: ls }
  f: {}
  g: { on_failure: explode, run: ls }
  h: { run: [1, 2] }
  i: { run: ls, tier: unknown }
  j: { run: ls, depends_on: [a, a] }
  k: { run: ls, log_limit: huge }
  l: { run: ls, priority: high }
  m: { run: ls, on_failure: run, depends_on: [{ task: a, when: failed }] }
  n: { run: ls, env: [a] }
  o: { run: ls, retires: 2 }
";

#[test]
fn twenty_mistakes_are_twenty_errors_and_nothing_is_written() {
    let bench = Bench::with(TWENTY);
    let done = bench.run(&["run", "w.yaml"]);
    done.is(2);
    let errors = done.stderr.lines().filter(|line| line.starts_with("error[E")).count();
    let places = done.stderr.lines().filter(|line| line.contains("--> w.yaml:")).count();
    assert!(errors >= 20, "{}", done.stderr);
    assert_eq!(errors, places, "{}", done.stderr);
    done.says(&format!("w.yaml: {errors} errors")).says("did you mean `retries`?");
    done.says("--> w.yaml:22:17");
    assert!(!bench.path(".mainspring").exists());
    assert_eq!(done.stdout, "");

    let checked = bench.run(&["validate", "w.yaml", "-o", "json"]);
    let document = checked.is(2).json();
    let found = document["files"][0]["errors"].as_array().expect("errors");
    assert_eq!(found.len(), errors);
    assert!(found.iter().all(|it| it["span"]["line"].is_u64() && it["span"]["column"].is_u64()));
}

#[test]
fn a_cycle_is_printed_as_a_cycle() {
    let bench = Bench::with(
        "name: w\ntasks:\n  a: { noop: {}, depends_on: [c] }\n  b: { noop: {}, depends_on: [a] }\n  c: { noop: {}, depends_on: [b] }\n",
    );
    bench.run(&["validate", "w.yaml"]).is(2).says("a -> c -> b -> a");
}

#[test]
fn all_files_are_checked_and_warnings_are_shown() {
    let bench = Bench::with("name: w\ntasks: { a: { noop: {} } }\n");
    bench.write("bad.yaml", "name: w\n");
    let done = bench.run(&["validate", "bad.yaml", "w.yaml", "missing.yaml", "."]);
    done.is(2).prints("w.yaml: valid (1 task)").says("bad.yaml:1:1");
    done.says("missing.yaml cannot be read").says(". is a directory");
    bench.run(&["validate", "w.yaml"]).is(0);
    bench.run(&["run", "missing.yaml"]).is(2).says("missing.yaml cannot be read");
    bench.write(
        "warn.yaml",
        "name: w\ntasks:\n  a: { noop: {} }\n  b: { depends_on: [a], input: { a: 1 }, run: ls }\n",
    );
    bench.run(&["validate", "warn.yaml"]).is(0).says("warning[W001]").prints("valid");
}

#[test]
fn stdin_is_a_file_too() {
    let bench = Bench::new();
    let good = "printf 'name: w\\ntasks: { a: { noop: {} } }\\n' | ";
    bench.shell(&format!("{good} $M run -")).is(0).prints("success w");
    bench.shell(&format!("{good} $M validate -")).is(0).prints("<stdin>: valid");
    bench.shell("echo 'name: 1' | $M validate -").is(2).says("--> <stdin>:1:");
}

#[test]
fn bad_usage_is_exit_code_2() {
    let bench = Bench::with("name: w\ntasks: { a: { noop: {} } }\n");
    bench.run(&[]).is(2);
    bench.run(&["run"]).is(2);
    bench.run(&["run", "w.yaml", "--resume"]).is(2);
    bench.run(&["run", "w.yaml", "--max-processes", "0"]).is(2);
    bench.run(&["run", "w.yaml", "--pass-env", "A=1"]).is(2).says("a variable's name");
    bench.run(&["server", "--pass-env", "A=1"]).is(2).says("a variable's name");
    for (name, says) in [
        ("MAINSPRING_SECRET_TOKEN", "name it where it is needed, as in `env:"),
        ("MAINSPRING_DATA", "under another name"),
    ] {
        bench.run(&["run", "w.yaml", "--pass-env", name]).is(2).says(says);
        bench.run(&["server", "--pass-env", name]).is(2).says(says);
        bench.write("own.toml", format!("pass_env = [\"{name}\"]\n"));
        bench.run(&["server", "--print-config", "--config", "own.toml"]).is(2).says(says);
    }
    bench.write("bad.toml", "pass_env = [\"A=1\"]\n");
    let config = ["server", "--print-config", "--config", "bad.toml"];
    bench.run(&config).is(2).says("pass_env `A=1`: a variable's name");
    let url = "postgres://u:hush@127.0.0.1:1/d?connect_timeout=1&password=hush";
    let shown = bench.run(&["server", "--print-config", "--database", url]);
    assert!(shown.is(0).stdout.contains("u@127.0.0.1:1/d") && !shown.stdout.contains("hush"));
    let away = bench.run(&["server", "--database", url, "--data", "away"]);
    away.is(3);
    assert_eq!(away.stderr.matches("refused").count(), 1, "{}", away.stderr);
    std::fs::remove_dir_all(bench.path("away")).expect("it was made");
    bench.run(&["runs", "--status", "great"]).is(2).says("one of pending, running");
    bench.run(&["runs"]).is(2).says("nothing has been run here yet");
    bench.run(&["run", "--resume"]).is(2).says("nothing has been run here yet");
    assert!(!bench.path(".mainspring").exists());
    bench.run(&["run", "w.yaml"]).is(0);
    bench.run(&["run", "--resume"]).is(2).says("nothing to resume");
    bench.run(&["run", "--resume", "last"]).is(2);
    let id = bench.show("last")["run"]["id"].as_str().expect("an id").to_owned();
    bench.run(&["run", "--resume", &id]).is(2).says("is success: there is nothing to resume");
    bench.run(&["show", &id[..20]]).is(0);
    bench.run(&["show", "ffff"]).is(2).says("no run's id begins with `ffff`");
    bench.run(&["logs", "last", "b"]).is(2).says("did you mean `a`?");
    bench.run(&["logs", "last", "something"]).is(2).says("it has a");
    bench.run(&["--version"]).is(0).prints("mainspring 0.");
    bench.run(&["run", "--help"]).is(0).prints("Exit codes:");
}

#[test]
fn a_data_folder_that_cannot_be_used_has_the_exit_code_that_the_help_says() {
    let bench = Bench::with("name: w\ntasks: { a: { noop: {} } }\n");
    bench.run(&["run", "--help"]).is(0).prints("  3    the data folder cannot be used");
    bench.run(&["run", "w.yaml"]).is(0);
    bench.write(".mainspring/mainspring.db", "no database");
    bench.run(&["run", "w.yaml"]).is(3);
}
