//! Limits on the command line: where tiers come from, and what is said when one is missing.

use crate::door::{Door, Served};
use crate::rig::{Bench, finish};

const HEAVY: &str = "\
name: w
tasks:
  a: { run: 'echo up > up; cat gate', tier: heavy }
";

#[test]
fn a_tier_that_nobody_knows_is_refused_with_where_to_say_it() {
    let bench = Bench::with(HEAVY);
    for command in ["validate", "run"] {
        let done = bench.run(&[command, "w.yaml"]);
        done.is(2).says("There is no tier `heavy`").says("[tiers]").says("mainspring tiers set");
        bench.run(&[command, "w.yaml", "--tier", "heavi=1"]).is(2).says("did you mean `heavi`");
    }
    bench.run(&["validate", "w.yaml", "--tier", "heavy=1@5/1s"]).is(0).prints("valid");
    for (tier, says) in [
        ("heavy", "NAME=LIMIT"),
        ("heavy=x", "write a limit"),
        ("heavy=1@often", "like `100/1m`"),
        ("a b=1", "letters, digits"),
    ] {
        bench.run(&["validate", "w.yaml", "--tier", tier]).is(2).says(says);
    }
    bench.write("mainspring.toml", "[tiers]\nheavy = 1\n");
    bench.run(&["validate", "w.yaml"]).is(0).prints("valid");
    bench.write("mainspring.toml", "[tiers]\nheavy = { rate = \"1/1s\" }\n");
    bench.run(&["validate", "w.yaml"]).is(2).says("missing field `limit`");
    assert!(!bench.path(".mainspring").exists(), "nothing was run");
}

#[test]
fn a_run_that_was_cut_off_needs_its_tier_again() {
    let bench = Bench::with(HEAVY);
    bench.fifo("up");
    bench.fifo("gate");
    let mut running = bench.start(&["run", "w.yaml", "--tier", "heavy=1"]);
    assert_eq!(bench.hear("up"), "up\n");
    running.kill();
    bench.run(&["run", "--resume"]).is(2).says("--tier heavy=LIMIT");
    let resumed = bench.start(&["run", "--resume", "--tier", "heavy=1"]);
    assert_eq!(bench.hear("up"), "up\n");
    bench.write("gate", "");
    resumed.done().is(0);
}

#[test]
fn a_configuration_is_shown_with_its_limits_and_where_they_came_from() {
    let bench = Bench::new();
    let text = "max_processes = 6\n[tiers]\ntotal = 5\nheavy = 1\n\
                api = { limit = 5, rate = \"100/1m\" }\n";
    bench.write("mainspring.toml", text);
    let shown = bench.run(&["server", "--print-config", "--tier", "heavy=2"]);
    shown.is(0).prints("max_processes = 6").prints("[tiers]\n");
    shown.prints("\"heavy\" = 2 # flag").prints("\"total\" = 5 # mainspring.toml");
    shown.prints("\"api\" = { limit = 5, rate = \"100/1m\" } # mainspring.toml");
}

#[test]
fn a_limit_with_two_names_is_what_the_stronger_place_says() {
    let bench = Bench::with("name: w\ntasks: { a: { noop: {} } }\n");
    let shown = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = bench.command(&[&["server", "--print-config"], args].concat());
        command.envs(variables.iter().copied());
        finish(command)
    };
    let process = "executor:process=9";
    let tier = "[tiers]\n\"executor:process\" = { limit = 4, rate = \"9/1s\" }\n";
    bench.write("mainspring.toml", tier);
    shown(&[], &[]).is(0).prints("max_processes = 4 # mainspring.toml");
    let flag = shown(&["--max-processes", "8"], &[]);
    flag.is(0).prints("max_processes = 8 # flag");
    flag.prints("\"executor:process\" = { limit = 8, rate = \"9/1s\" } # flag");
    bench.run(&["run", "w.yaml", "--max-processes", "8"]).is(0);
    bench.write("mainspring.toml", "max_processes = 6\n");
    let flag = shown(&["--tier", process], &[]);
    flag.is(0).prints("max_processes = 9 # flag").prints("\"executor:process\" = 9 # flag");
    let variables = [("MAINSPRING_MAX_PROCESSES", "3")];
    shown(&[], &variables).is(0).prints("max_processes = 3 # environment");
    shown(&["--tier", process], &variables).is(0).prints("max_processes = 9 # flag");
    let variables = [("MAINSPRING_TIERS", process)];
    shown(&[], &variables).is(0).prints("max_processes = 9 # environment");
    shown(&["--max-processes", "8"], &variables).is(0).prints("max_processes = 8 # flag");
    let mut run = bench.command(&["run", "w.yaml", "--max-processes", "8"]);
    run.envs(variables);
    finish(run).is(0);
    for args in [["server", "--print-config"], ["run", "w.yaml"]] {
        let both = ["--max-processes", "8", "--tier", process];
        bench.run(&[args, [both[0], both[1]], [both[2], both[3]]].concat()).is(2).says("one limit");
    }
    let both = [("MAINSPRING_MAX_PROCESSES", "8"), ("MAINSPRING_TIERS", process)];
    shown(&[], &both).is(2).says("they are one limit");
    bench.write("mainspring.toml", "max_processes = 2\n[tiers]\n\"executor:process\" = 3\n");
    shown(&[], &[]).is(2).says("they are one limit");
    shown(&["--max-processes", "8"], &[]).is(0).prints("max_processes = 8 # flag");
}

#[test]
fn tiers_lists_limits_on_runs_with_the_runs_that_hold_them() {
    let text = "name: w\nmax_active_runs: 1\nconcurrency_group: { key: prod }\n\
                tasks: { a: { wait: { signal: go } } }\n";
    let served = Served::with(Door::Address, text);
    served.run(&["tiers"]).is(0).prints("max_active_runs:w");
    let first = served.trigger(&[]);
    let second = served.trigger(&[]);
    let table = served.run(&["tiers"]);
    table.is(0).prints("max_active_runs:w").prints("concurrency_group:prod").prints(&first);
    let told = served.run(&["tiers", "-o", "json"]).is(0).json();
    let items = told["items"].as_array().expect("a list").iter();
    let on_runs: Vec<_> = items.filter(|tier| tier["counts"] == "runs").collect();
    assert_eq!(on_runs.len(), 2, "{told}");
    for tier in on_runs {
        assert_eq!((&tier["in_use"], &tier["waiting"]), (&1.into(), &1.into()), "{tier}");
        assert_eq!(tier["holders"][0]["run"], *first);
        assert_eq!(tier["waiters"][0]["run"], *second);
    }
    let set = served.run(&["tiers", "set", "max_active_runs:w", "--limit", "2"]);
    set.says("a workflow's own limit").says("deploy a version");
    assert!(!set.status.success(), "it is refused");
}
