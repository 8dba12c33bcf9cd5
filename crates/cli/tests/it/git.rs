//! Work in git, by the program.

use crate::rig::Bench;
use rustix::process::Signal;
use std::process::Command;

/// Runs git in the bench's repository `app`.
pub fn git(bench: &Bench, args: &[&str]) -> String {
    let done = Command::new("git")
        .current_dir(bench.path("app"))
        .args(["-c", "user.name=A Person", "-c", "user.email=person@example.com"])
        .args(args)
        .output()
        .expect("git starts");
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8").trim_end().to_owned()
}

/// A repository `app` with one commit on `main`, which nobody has checked out.
pub fn repository(bench: &Bench) {
    std::fs::create_dir(bench.path("app")).expect("made");
    git(bench, &["init", "--quiet", "--initial-branch=main"]);
    bench.write("app/README", "hello\n");
    git(bench, &["add", "README"]);
    git(bench, &["commit", "--quiet", "--message", "first"]);
    git(bench, &["checkout", "--quiet", "--detach"]);
}

/// Branches of runs, without the run.
fn branches(bench: &Bench) -> Vec<String> {
    let list = git(bench, &["for-each-ref", "--format=%(refname:short)", "refs/heads/mainspring"]);
    list.lines().map(|name| name.splitn(3, '/').nth(2).unwrap_or_default().to_owned()).collect()
}

const WORKSPACES: &str = r#"name: changes
defaults: { workspace: { git: { repo: app, base: main } } }
tasks:
  one: { run: "cat README > one.txt; pwd" }
  many: { foreach: [a, b], run: "echo ${{ item }} > ${{ item }}.txt" }
  after:
    depends_on: [one]
    workspace: { git: { repo: app, base: "mainspring/${{ run.id }}/one" } }
    run: cat one.txt
"#;

#[test]
fn tasks_work_on_branches_of_their_own() {
    let bench = Bench::with(WORKSPACES);
    repository(&bench);
    bench.run(&["run", "w.yaml"]).is(0);
    assert_eq!(branches(&bench), ["after", "many/0", "many/1", "one"]);
    bench.run(&["logs", "last", "after"]).is(0).prints("hello");
    assert_eq!(git(&bench, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(&bench, &["rev-list", "--count", "main"]), "1");
    assert_eq!(bench.read("app/one.txt"), "", "the checkout is not touched");
}

#[test]
fn a_killed_run_goes_on_and_keeps_what_was_committed() {
    let bench = Bench::with(
        "name: w\ntasks:\n  a:\n    workspace: { git: { repo: app, base: main } }\n    run: |\n      \
         test -e ../../../again && exit 0\n      \
         echo 1 > one; git add one; git commit -qm mine\n      \
         echo ready > ../../../ready; sleep 1000\n",
    );
    repository(&bench);
    bench.fifo("ready");
    let running = bench.start(&["run", "w.yaml"]);
    bench.hear("ready");
    running.signal(Signal::KILL);
    assert!(running.done().was_killed());
    bench.write("again", "");
    bench.run(&["run", "--resume"]).is(0);
    let kept = git(&bench, &["for-each-ref", "--format=%(contents:subject)", "refs/mainspring"]);
    assert_eq!(kept, "mine");
    assert_eq!(branches(&bench), ["a"]);
    assert_eq!(git(&bench, &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_repository_that_is_not_there_is_said_at_once() {
    let bench = Bench::with(WORKSPACES);
    bench.run(&["run", "w.yaml"]).is(1).says("app is no git repository that can be used");
}

#[test]
fn a_rerun_goes_on_from_the_commit_that_a_task_put_out() {
    let bench = Bench::with(
        r#"name: planned
tasks:
  plan:
    workspace: { git: { repo: app, base: main } }
    run: |
      echo plan > plan.txt; git add plan.txt; git commit -qm plan
      echo "{\"commit\": \"$(git rev-parse HEAD)\"}" > "$MAINSPRING_OUTPUT"
  work:
    depends_on: [plan]
    workspace: { git: { repo: app, base: "${{ tasks.plan.output.commit }}" } }
    run: cat plan.txt
"#,
    );
    repository(&bench);
    let mut server = bench.start(&["server", "--listen", "127.0.0.1:0"]);
    server.until("listening");
    bench.run(&["apply", "w.yaml"]).is(0);
    bench.run(&["trigger", "planned", "--wait"]).is(0);
    bench.run(&["rerun", "last", "--from", "work", "--wait"]).is(0);
    bench.run(&["logs", "last", "work"]).is(0).prints("plan");
}
