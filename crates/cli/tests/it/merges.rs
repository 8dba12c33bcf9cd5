//! The built-in merge queue, by the program: on real repositories, through stops and kills.

use crate::git::{git, repository};
use crate::rig::{Bench, Running, task};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn branches(bench: &Bench) -> Vec<String> {
    let list = git(bench, &["for-each-ref", "--format=%(refname:short)", "refs/heads/mainspring"]);
    list.lines().map(|name| name.splitn(3, '/').nth(2).unwrap_or_default().to_owned()).collect()
}

/// Subjects on the target, the oldest first.
fn landed(bench: &Bench) -> Vec<String> {
    let log = git(bench, &["log", "--reverse", "--format=%s", "main"]);
    log.lines().skip(1).map(str::to_owned).collect()
}

/// Nothing is left of what was at work.
fn assert_tidy(bench: &Bench) {
    assert_eq!(git(bench, &["worktree", "list"]).lines().count(), 1);
    git(bench, &["fsck", "--strict", "--no-dangling"]);
    bench.run(&["db", "check"]).is(0);
}

/// `a` and `b` change a file each, and land by way of this.
fn two(merge: &str) -> String {
    let task = |name: &str| {
        format!(
            "  {name}:\n    workspace: {{ git: {{ repo: app, base: main }} }}\n    \
             run: echo {name} > {name}.txt\n    \
             finalize: {{ kill_grace: 200ms, git_merge: {{ into: main, {merge} }} }}\n"
        )
    };
    format!("name: w\ntasks:\n{}{}", task("a"), task("b"))
}

/// The same with `a` alone.
fn first_of(two: &str) -> &str {
    &two[..two.find("  b:\n").expect("the second task")]
}

fn status(bench: &Bench, name: &str) -> String {
    let shown = bench.show("last");
    task(&shown, name)["status"].as_str().expect("a status").to_owned()
}

fn reason(bench: &Bench, name: &str) -> String {
    task(&bench.show("last"), name)["reason"].as_str().unwrap_or_default().to_owned()
}

/// Asks until it is so.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + crate::rig::PATIENCE;
    while !holds() {
        assert!(std::time::Instant::now() < deadline, "waited for: {what}");
    }
}

/// Asks why until this is the answer: while it is tried again there is another one.
fn until_explained(bench: &Bench, name: &str, text: &str) {
    until("an explanation", || {
        let done = bench.run(&["explain", "last", name]);
        done.is(0).stdout.contains(text)
    });
}

#[test]
fn what_is_done_at_once_lands_one_after_the_other() {
    let bench = Bench::with(
        "name: w\ntasks:\n  change:\n    parallel: 4\n    \
         workspace: { git: { repo: app, base: main } }\n    \
         run: echo ${{ index }} > ${{ index }}.txt\n    \
         finalize: { git_merge: { into: main, verify: test -e README } }\n",
    );
    repository(&bench);
    bench.run(&["run", "w.yaml"]).is(0);
    let mut subjects = landed(&bench);
    subjects.sort();
    assert_eq!(subjects, ["w: change/0", "w: change/1", "w: change/2", "w: change/3"]);
    assert_eq!(git(&bench, &["rev-list", "--count", "--merges", "main"]), "0");
    assert_eq!(branches(&bench), [""; 0]);
    assert_tidy(&bench);
}

#[test]
fn a_conflict_fails_its_task_and_keeps_its_branch() {
    let change = |name: &str, after: &str| {
        format!(
            "  {name}:\n    workspace: {{ git: {{ repo: app, base: first }} }}\n{after}    \
             run: echo {name} > README\n    finalize: {{ git_merge: {{ into: main }} }}\n"
        )
    };
    let second = change("b", "    depends_on: [a]\n");
    let bench = Bench::with(&format!("name: w\ntasks:\n{}{second}", change("a", "")));
    repository(&bench);
    git(&bench, &["tag", "first", "main"]);
    bench.run(&["run", "w.yaml"]).is(1).says("conflicted: ").says("both changed README");
    assert_eq!((status(&bench, "a"), status(&bench, "b")), ("success".into(), "failed".into()));
    assert_eq!((landed(&bench), branches(&bench)), (vec!["w: a".to_owned()], vec!["b".to_owned()]));
    assert_tidy(&bench);
}

#[test]
fn what_does_not_verify_does_not_land() {
    let bench = Bench::with(&two("verify: 'echo looking; test ! -e b.txt'"));
    repository(&bench);
    bench.run(&["run", "w.yaml"]).is(1).says("verify_failed: ");
    assert_eq!((landed(&bench), branches(&bench)), (vec!["w: a".to_owned()], vec!["b".to_owned()]));
    bench.run(&["logs", "last", "b"]).is(0).prints("looking");
    assert_tidy(&bench);
}

#[test]
fn a_target_that_is_checked_out_is_waited_for_and_it_is_said() {
    let bench = Bench::with(&two("verify: 'true'"));
    repository(&bench);
    git(&bench, &["checkout", "--quiet", "main"]);
    let mut running = bench.start(&["run", "w.yaml"]);
    running.until("worker_done a");
    until("it to say what it waits for", || reason(&bench, "a").contains("main is checked out in"));
    assert_eq!(status(&bench, "a"), "worker_done");
    git(&bench, &["checkout", "--quiet", "--detach"]);
    running.done().is(0);
    assert_eq!(landed(&bench).len(), 2);
    assert_tidy(&bench);
}

#[test]
fn what_is_in_the_way_in_a_checkout_is_explained_and_holds_up_nobody_else() {
    let bench = Bench::with(&two("update_checkout: clean"));
    repository(&bench);
    git(&bench, &["checkout", "--quiet", "main"]);
    bench.write("app/a.txt", "precious\n");
    let mut running = bench.start(&["run", "w.yaml"]);
    running.until("worker_done a");
    until("b to land", || status(&bench, "b") == "success");
    until("it to say what it waits for", || {
        reason(&bench, "a").contains("a.txt in it is not tracked")
    });
    until_explained(&bench, "a", "a.txt in it is not tracked");
    assert_eq!(bench.read("app/a.txt"), "precious\n");
    bench.run(&["cancel", "last", "a"]).is(0);
    running.done();
    assert_eq!(
        (status(&bench, "a"), bench.read("app/a.txt")),
        ("cancelled".into(), "precious\n".into())
    );
    assert_eq!((landed(&bench), branches(&bench)), (vec!["w: b".to_owned()], vec!["a".to_owned()]));
    assert_tidy(&bench);
}

#[test]
fn a_checkout_made_while_it_is_verified_is_waited_for_and_it_is_said() {
    let bench = Bench::new();
    // Alone: whoever waits for the checkout is behind nobody, and of two either may be the first.
    let text = held(&bench);
    bench.write("w.yaml", first_of(&text));
    repository(&bench);
    let running = bench.start(&["run", "w.yaml"]);
    bench.hear("up");
    git(&bench, &["checkout", "--quiet", "main"]);
    bench.write("go", "");
    until("it to say what it waits for", || reason(&bench, "a").contains("main is checked out in"));
    until_explained(&bench, "a", "main is checked out in");
    assert_eq!((status(&bench, "a"), landed(&bench).len()), ("worker_done".into(), 0));
    git(&bench, &["checkout", "--quiet", "--detach"]);
    bench.hear("up");
    bench.write("go", "");
    running.done().is(0);
    assert_eq!(landed(&bench), ["w: a"]);
    assert_tidy(&bench);
}

#[test]
fn a_clean_checkout_goes_along() {
    let bench = Bench::with(&two("update_checkout: clean"));
    repository(&bench);
    git(&bench, &["checkout", "--quiet", "main"]);
    bench.run(&["run", "w.yaml"]).is(0);
    assert_eq!((bench.read("app/a.txt"), bench.read("app/b.txt")), ("a\n".into(), "b\n".into()));
    assert_eq!(git(&bench, &["status", "--porcelain"]), "");
    assert_tidy(&bench);
}

/// A verification of `a` that says that it is at work, and waits to be let go.
const HELD: &str = "verify: 'test -e a.txt && test ! -e b.txt || exit 0; \
                    echo now > $MAINSPRING_RUN_INPUT_DIR/up; cat $MAINSPRING_RUN_INPUT_DIR/go'";

fn held(bench: &Bench) -> String {
    bench.fifo("up");
    bench.fifo("go");
    let folder = bench.path("").to_str().expect("UTF-8").trim_end_matches('/').to_owned();
    two(&HELD.replace("$MAINSPRING_RUN_INPUT_DIR", &folder))
}

/// The work of `b` begins when that of `a` is done, so that `a` is the first in the queue.
fn second_after_first(text: &str) -> String {
    text.replace("  b:\n", "  b:\n    depends_on: [{ task: a, when: completed }]\n")
}

#[test]
fn one_that_is_cancelled_while_it_waits_its_turn_does_not_land() {
    let bench = Bench::new();
    bench.write("w.yaml", second_after_first(&held(&bench)));
    repository(&bench);
    let running = bench.start(&["run", "w.yaml"]);
    bench.hear("up");
    until("b to wait its turn", || reason(&bench, "b") == "finalizer_queued");
    bench.run(&["cancel", "last", "b"]).is(0);
    until("b to be cancelled", || status(&bench, "b") == "cancelled");
    bench.write("go", "");
    running.done();
    assert_eq!((landed(&bench), branches(&bench)), (vec!["w: a".to_owned()], vec!["b".to_owned()]));
    assert_eq!(status(&bench, "a"), "success");
    assert_tidy(&bench);
}

#[test]
fn a_repository_has_one_queue_however_it_is_named() {
    let bench = Bench::new();
    let text = second_after_first(&held(&bench));
    let (first, second) = text.split_at(text.find("  b:\n").expect("the second task"));
    let second = second
        .replace("repo: app", "repo: ./link/../app/")
        .replace("into: main", "into: \"${{ 'ma' + 'in' }}\"");
    bench.write("w.yaml", format!("{first}{second}"));
    repository(&bench);
    std::fs::create_dir(bench.path("link")).expect("made");
    let running = bench.start(&["run", "w.yaml"]);
    bench.hear("up");
    until("b to wait its turn", || reason(&bench, "b") == "finalizer_queued");
    let explained = bench.run(&["explain", "last", "b"]);
    explained.is(0).prints("queue:git.main.").prints("is full, 1 of 1 in use: w.a of");
    bench.write("go", "");
    running.done().is(0);
    assert_eq!(landed(&bench), ["w: a", "w: b"]);
}

#[test]
fn one_that_is_cancelled_while_it_is_verified_does_not_land() {
    let bench = Bench::new();
    bench.write("w.yaml", second_after_first(&held(&bench)));
    repository(&bench);
    let running = bench.start(&["run", "w.yaml"]);
    bench.hear("up");
    until("b to wait its turn", || reason(&bench, "b") == "finalizer_queued");
    bench.run(&["cancel", "last", "a"]).is(0);
    running.done();
    assert_eq!((status(&bench, "a"), status(&bench, "b")), ("cancelled".into(), "success".into()));
    assert_eq!((landed(&bench), branches(&bench)), (vec!["w: b".to_owned()], vec!["a".to_owned()]));
    assert_tidy(&bench);
}

/// Where git is, and the PATH that says so.
fn real_git() -> (String, String) {
    let path = std::env::var("PATH").expect("a PATH");
    let real = path.split(':').map(|folder| Path::new(folder).join("git"));
    let real = real.into_iter().find(|path| path.exists()).expect("git");
    (real.display().to_string(), path)
}

/// A PATH on which this script is git.
fn in_place_of_git(bench: &Bench, script: &str, path: &str) -> String {
    std::fs::create_dir_all(bench.path("bin")).expect("made");
    bench.write("bin/git", script);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.path("bin/git"), mode).expect("executable");
    format!("{}:{path}", bench.path("bin").display())
}

/// A git that says when the target has moved, and then does not come back.
fn held_up(bench: &Bench) -> String {
    bench.fifo("moved");
    let (real, path) = real_git();
    let script = format!(
        "#!/bin/sh\nfor arg; do case \"$arg\" in refs/heads/main) moves=1;; update-ref) ref=1;; esac; \
         done\nif test \"$moves$ref\" = 11; then '{real}' \"$@\" || exit; echo now > '{moved}'; \
         exec sleep 1000; fi\nexec '{real}' \"$@\"\n",
        moved = bench.path("moved").display(),
    );
    in_place_of_git(bench, &script, &path)
}

fn server(bench: &Bench, path: Option<&str>) -> Running {
    let mut command = bench.command(&["server", "--listen", "127.0.0.1:0"]);
    command.envs(path.map(|path| ("PATH", path)));
    let mut running = Running::new(command);
    running.until("listening");
    running
}

/// How many commits on the target name an attempt.
fn named(bench: &Bench) -> usize {
    let log = git(bench, &["log", "--format=%B", "main"]);
    log.lines().filter(|line| line.starts_with("Mainspring-Attempt: ")).count()
}

fn one() -> String {
    // Whoever may not land twice says so; it must not stand in the way of what has landed.
    first_of(&two("verify: 'true'")).replace("finalize: {", "finalize: { on_lost: fail,")
}

#[test]
fn a_kill_after_the_target_has_moved_ends_in_one_success() {
    let bench = Bench::with(&one());
    repository(&bench);
    let path = held_up(&bench);
    let mut command = bench.command(&["run", "w.yaml"]);
    command.env("PATH", path);
    let mut running = Running::new(command);
    bench.hear("moved");
    assert_eq!(named(&bench), 1, "it has landed, and nobody knows");
    running.kill();
    running.done();
    bench.run(&["show", "last"]).is(0).prints("worker_done");
    bench.run(&["run", "--resume"]).is(0);
    assert_eq!((named(&bench), landed(&bench)), (1, vec!["w: a".to_owned()]));
    let shown = bench.run(&["show", "last", "a", "-o", "json"]).is(0).json();
    let attempts = shown["attempts"].as_array().expect("attempts");
    let words: Vec<&Value> = attempts.iter().map(|it| &it["status"]).collect();
    assert_eq!(words, ["success", "success"], "no merge was tried again");
    assert_tidy(&bench);
}

#[test]
fn a_server_that_is_killed_after_the_target_has_moved_records_one_success() {
    let bench = Bench::with(&one());
    repository(&bench);
    let mut first = server(&bench, Some(&held_up(&bench)));
    bench.run(&["apply", "w.yaml"]).is(0);
    bench.run(&["trigger", "w"]).is(0);
    bench.hear("moved");
    first.kill();
    first.done();
    let _second = server(&bench, None);
    until("the run's success", || bench.show("last")["run"]["status"] == "success");
    assert_eq!((named(&bench), branches(&bench).len()), (1, 0));
    assert_eq!(landed(&bench), ["w: a"]);
}

/// A git that does not come back from its first look at what has landed until it is let go.
fn asked_in_vain(bench: &Bench) -> String {
    bench.fifo("go");
    let (real, path) = real_git();
    let script = format!(
        "#!/bin/sh\nfor arg; do case \"$arg\" in rev-list) mkdir '{first}' 2> /dev/null && \
         cat '{go}';; esac; done\nexec '{real}' \"$@\"\n",
        first = bench.path("first").display(),
        go = bench.path("go").display(),
    );
    in_place_of_git(bench, &script, &path)
}

#[test]
fn a_cancel_that_comes_before_it_is_known_what_has_landed_ends_in_success() {
    let bench = Bench::with(&one());
    repository(&bench);
    let mut first = server(&bench, Some(&held_up(&bench)));
    bench.run(&["apply", "w.yaml"]).is(0);
    bench.run(&["trigger", "w"]).is(0);
    bench.hear("moved");
    first.kill();
    first.done();
    let _second = server(&bench, Some(&asked_in_vain(&bench)));
    until("it to be asked", || bench.path("first").exists());
    bench.run(&["cancel", "last"]).is(0);
    until("the task's outcome", || status(&bench, "a") != "worker_done");
    assert_eq!((status(&bench, "a"), landed(&bench)), ("success".into(), vec!["w: a".to_owned()]));
    assert_eq!((named(&bench), branches(&bench).len()), (1, 0));
    bench.write("go", "");
}

#[test]
fn a_kill_while_it_is_verified_lands_it_once_in_the_next_life() {
    let bench = Bench::new();
    let text = held(&bench);
    let at = text.find("  b:\n").expect("the second task");
    bench.write("w.yaml", &text[..at]);
    repository(&bench);
    let mut running = bench.start(&["run", "w.yaml"]);
    bench.hear("up");
    running.kill();
    running.done();
    let resumed = bench.start(&["run", "--resume"]);
    bench.hear("up");
    bench.write("go", "");
    resumed.done().is(0);
    assert_eq!((named(&bench), landed(&bench)), (1, vec!["w: a".to_owned()]));
    assert_eq!(branches(&bench), [""; 0]);
    assert_tidy(&bench);
}
