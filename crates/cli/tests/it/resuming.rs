//! Runs that were cut off, and others beside them.

use crate::rig::Bench;
use rustix::process::Signal;

const WAITS: &str = "name: w
tasks:
  a: { run: 'echo a >> effects' }
  b: { depends_on: [a], run: 'echo $$ > up; [ -e again ] || exec sleep 1000; pwd > where' }
";

fn cut_off(bench: &Bench) -> String {
    let mut running = bench.start(&["run", "w.yaml"]);
    let line = running.until(" of w, 2 tasks");
    bench.hear("up");
    running.signal(Signal::KILL);
    assert!(running.done().was_killed());
    line.split(' ').nth(1).expect("an id").to_owned()
}

#[test]
fn a_run_goes_on_where_it_stood_and_others_are_named() {
    let bench = Bench::with(WAITS);
    bench.fifo("up");
    let first = cut_off(&bench);
    let second = cut_off(&bench);
    bench.write("again", "");
    std::fs::remove_file(bench.path("up")).expect("removed");
    std::fs::create_dir(bench.path("elsewhere")).expect("made");
    let resume = |which: &[&str]| {
        let mut command = bench.command(&["run", "--data", "../.mainspring", "--resume"]);
        command.args(which).current_dir(bench.path("elsewhere"));
        let output = command.output().expect("it runs");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let said = resume(&[]);
    assert!(said.contains(&format!("run {second} of w goes on")), "{said}");
    let command = format!("mainspring run --resume {first} --data ../.mainspring");
    assert!(said.contains(&command), "{said}");
    assert!(!said.contains("success    a"), "no news: {said}");
    let here = std::fs::canonicalize(bench.path(".")).expect("a folder");
    assert_eq!(bench.read("where").trim(), here.to_str().expect("UTF-8"), "kept with the run");
    resume(&[&first]);
    assert_eq!(bench.read("effects"), "a\na\n", "once for each run");
    bench.run(&["run", "--resume"]).is(2).says("nothing to resume");
}

#[test]
fn a_fresh_run_leaves_others_alone() {
    let bench = Bench::with(WAITS);
    bench.fifo("up");
    let first = cut_off(&bench);
    bench.write("quick.yaml", "name: q\ntasks: { a: { noop: {} } }\n");
    let done = bench.run(&["run", "quick.yaml"]);
    done.is(0).says(&format!("mainspring run --resume {first}"));
    assert_eq!(bench.show(&first)["run"]["status"], "running");
    bench.until_none_alive();
}
