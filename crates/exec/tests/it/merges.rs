//! Branches that land, and those that do not.

use crate::git::{Repo, child_program, git_in};
use crate::rig::{Rig, Written, failure, fifo, hear, is_alive, ticket, until};
use mainspring_core::error::ErrorClass;
use mainspring_core::ids::{AttemptId, Ticket};
use mainspring_core::output::Output;
use mainspring_core::work::{Ended, Launch, Life, Outcome, Question, Reattached, ReportKind, Work};
use mainspring_core::work_git::{GitMerge, MergeStrategy, UpdateCheckout};
use mainspring_exec::Executor;
use std::path::{Path, PathBuf};

const BRANCH: &str = "mainspring/run/task";

fn merge(repo: &Repo, change: impl FnOnce(&mut GitMerge)) -> Launch {
    let mut merge = GitMerge {
        repo: repo.text(),
        branch: BRANCH.to_owned(),
        into: "main".to_owned(),
        base: "main".to_owned(),
        verify: None,
        strategy: MergeStrategy::Squash,
        update_checkout: UpdateCheckout::Never,
        attempt: AttemptId::from_bytes([9; 16]),
        message: "nightly: load".to_owned(),
        workdir: "/".to_owned(),
        kill_grace_ms: 60_000,
        log_bytes_max: 1 << 20,
    };
    change(&mut merge);
    let finalizes = Some(merge.attempt);
    Launch { ticket: ticket(), finalizes, work: Work::GitMerge(merge), ..crate::rig::shell("") }
}

/// What a merge put out.
fn told(ended: &Ended) -> serde_json::Value {
    match &ended.outcome {
        Outcome::Success(Some(Output::Inline(json))) => {
            serde_json::from_str(json.as_str()).unwrap()
        }
        other => panic!("not a success: {other:?}"),
    }
}

fn result(ended: &Ended) -> String {
    told(ended)["result"].as_str().unwrap().to_owned()
}

/// What is in the way of a merge that is not even begun.
fn hindrance(rig: &Rig, launch: Launch) -> String {
    let ticket = rig.start(launch);
    let ended = rig.end_of(ticket);
    assert!(!ended.started);
    what_hinders(ended)
}

fn what_hinders(ended: Ended) -> String {
    match ended.outcome {
        Outcome::Hindered(what) => what.into(),
        other => panic!("nothing is in its way: {other:?}"),
    }
}

/// Nothing but what people have is left of a merge.
fn assert_tidy(rig: &Rig, repo: &Repo, ticket: Ticket) {
    rig.executor.settle(ticket);
    until("scratch and note to be removed", || {
        rig.files_in("worktrees").is_empty() && rig.files_in("merges").is_empty()
    });
    assert_eq!(repo.worktrees(), 1);
}

#[test]
fn a_squash_lands_as_one_commit_that_names_its_attempt() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let old = repo.tip("main");
    repo.commit_on(BRANCH, "one", "1");
    let tip = repo.commit_on(BRANCH, "two", "2");
    let launch = merge(&repo, |_| {});
    let ticket = launch.ticket;
    let ended = rig.run(launch);
    let new = repo.tip("main");
    assert_eq!(
        told(&ended),
        serde_json::json!({ "result": "merged", "commit": new, "into": "main", "branch": BRANCH })
    );
    assert_eq!(repo.git(&["rev-parse", "main^@"]), old, "one parent");
    assert_eq!(repo.files("main"), ["README", "one", "two"]);
    assert_eq!(
        repo.git(&["log", "-1", "--format=%an|%cn|%B", "main"]).trim(),
        format!(
            "Mainspring|Mainspring|nightly: load\n\nMainspring-Attempt: {}\nMainspring-Tip: {tip}",
            AttemptId::from_bytes([9; 16])
        )
    );
    assert!(!repo.has(BRANCH), "its work is on the target");
    assert_tidy(&rig, &repo, ticket);
}

#[test]
fn a_merge_keeps_both_histories() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let tip = repo.commit_on(BRANCH, "one", "1");
    let old = repo.commit_on("main", "other", "2");
    let ended = rig.run(merge(&repo, |merge| merge.strategy = MergeStrategy::Merge));
    assert_eq!(result(&ended), "merged");
    assert_eq!(repo.git(&["rev-parse", "main^@"]), format!("{old}\n{tip}"));
    assert_eq!(repo.files("main"), ["README", "one", "other"]);
    assert!(!repo.has(BRANCH));
}

#[test]
fn a_branch_without_changes_is_a_success_and_moves_nothing() {
    for strategy in [MergeStrategy::Squash, MergeStrategy::Merge] {
        let rig = Rig::new();
        let repo = Repo::new(&rig);
        repo.git(&["branch", BRANCH, "main"]);
        let old = repo.commit_on("main", "other", "2");
        let ended = rig.run(merge(&repo, |merge| merge.strategy = strategy));
        assert_eq!((result(&ended).as_str(), repo.tip("main")), ("no_changes", old));
        assert!(!repo.has(BRANCH));
    }
    // The same was done on the target meanwhile.
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on(BRANCH, "same", "1");
    let old = repo.commit_on("main", "same", "1");
    let ended = rig.run(merge(&repo, |_| {}));
    assert_eq!((result(&ended).as_str(), repo.tip("main")), ("no_changes", old));
}

#[test]
fn a_conflict_names_its_files_and_loses_nothing() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let tip = repo.commit_on(BRANCH, "README", "mine\n");
    let old = repo.commit_on("main", "README", "theirs\n");
    for strategy in [MergeStrategy::Squash, MergeStrategy::Merge] {
        let launch = merge(&repo, |merge| merge.strategy = strategy);
        let ticket = launch.ticket;
        let error = failure(rig.run(launch));
        assert_eq!(error.class, ErrorClass::Logic);
        assert!(error.message.starts_with("conflicted: "), "{}", error.message);
        assert!(error.message.contains("both changed README"), "{}", error.message);
        assert_eq!((repo.tip(BRANCH), repo.tip("main")), (tip.clone(), old.clone()));
        assert_tidy(&rig, &repo, ticket);
    }
}

#[test]
fn what_does_not_verify_does_not_land() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let tip = repo.commit_on(BRANCH, "one", "1");
    let old = repo.commit_on("main", "other", "2");
    let verify =
        "cat one other; echo checked >&2; test -z \"$GIT_DIR$MAINSPRING_OUTPUT\" && exit 7";
    let launch = merge(&repo, |merge| merge.verify = Some(verify.to_owned()));
    let ticket = launch.ticket;
    let ended = rig.run(launch);
    let written = Written::of(&rig.log(ticket, ended.log.as_ref()));
    let stdout = String::from_utf8(written.stdout).unwrap();
    assert!(stdout.contains("12") && written.stderr == b"checked\n", "{stdout}");
    let error = failure(ended);
    assert_eq!((error.class, error.exit_code), (ErrorClass::Exit, Some(7)));
    assert!(error.message.starts_with("verify_failed: "), "{}", error.message);
    assert_eq!((repo.tip(BRANCH), repo.tip("main")), (tip, old));
    assert_tidy(&rig, &repo, ticket);
}

#[test]
fn what_a_verification_leaves_does_not_land() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on(BRANCH, "one", "1");
    let verify = "echo x > built; echo changed > one; git commit -qam evil || true";
    let ended = rig.run(merge(&repo, |merge| merge.verify = Some(verify.to_owned())));
    assert_eq!(result(&ended), "merged");
    assert_eq!(repo.files("main"), ["README", "one"]);
    assert_eq!(repo.show("main:one"), "1");
}

#[test]
fn a_target_that_moves_meanwhile_is_merged_anew() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on(BRANCH, "one", "1");
    let (ready, go) = (fifo(&rig, "ready"), fifo(&rig, "go"));
    let verify = format!(
        "if test -e other; then echo again; else echo > '{}'; cat '{}'; fi",
        ready.display(),
        go.display()
    );
    let launch = merge(&repo, |merge| merge.verify = Some(verify));
    let ticket = rig.started(launch);
    hear(&ready);
    let old = repo.commit_on("main", "other", "2");
    std::fs::write(&go, "").unwrap();
    let ended = rig.end_of(ticket);
    assert_eq!(result(&ended), "merged");
    let written = Written::of(&rig.log(ticket, ended.log.as_ref())).stdout;
    assert!(String::from_utf8(written).unwrap().contains("merging anew"));
    assert_eq!(repo.git(&["rev-parse", "main^@"]), old);
    assert_eq!(repo.files("main"), ["README", "one", "other"]);
}

#[test]
fn two_merges_that_race_both_land_one_after_the_other() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let branches: Vec<String> = (0..4).map(|no| format!("mainspring/run/task/{no}")).collect();
    for (no, branch) in branches.iter().enumerate() {
        repo.commit_on(branch, &format!("file{no}"), "x");
    }
    for (no, branch) in branches.iter().enumerate() {
        rig.start(merge(&repo, |merge| {
            merge.branch = branch.clone();
            merge.attempt = AttemptId::from_bytes([no as u8; 16]);
        }));
    }
    let mut landed = 0;
    while landed < branches.len() {
        if let ReportKind::Ended(ended) = rig.next().what {
            assert_eq!(result(&ended), "merged");
            landed += 1;
        }
    }
    assert_eq!(repo.git(&["rev-list", "--count", "main"]), "5");
    assert_eq!(repo.git(&["rev-list", "--count", "--merges", "main"]), "0");
    assert_eq!(repo.files("main"), ["README", "file0", "file1", "file2", "file3"]);
    assert!(!branches.iter().any(|branch| repo.has(branch)));
}

#[test]
fn a_target_that_is_checked_out_waits() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on(BRANCH, "one", "1");
    repo.git(&["checkout", "--quiet", "main"]);
    let why = hindrance(&rig, merge(&repo, |_| {}));
    assert!(why.contains("main is checked out in") && why.contains("a repository"), "{why}");
    // A linked worktree counts as well.
    repo.git(&["checkout", "--quiet", "--detach"]);
    let linked = rig.path("linked");
    repo.git(&["worktree", "add", "--quiet", linked.to_str().unwrap(), "main"]);
    let why = hindrance(&rig, merge(&repo, |_| {}));
    assert!(why.contains("linked"), "{why}");
    git_in(&linked, &["checkout", "--quiet", "--detach"]).unwrap();
    assert_eq!(result(&rig.run(merge(&repo, |_| {}))), "merged");
}

fn clean(merge: &mut GitMerge) {
    merge.update_checkout = UpdateCheckout::Clean;
}

#[test]
fn a_clean_checkout_follows_and_a_dirty_one_waits() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on(BRANCH, "one", "1");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("README", "changed\n");
    let why = hindrance(&rig, merge(&repo, clean));
    assert!(why.contains("with changes that are not committed"), "{why}");
    repo.git(&["checkout", "--quiet", "README"]);
    repo.write("notes", "untracked\n");
    // Written anew, and the same as before.
    std::fs::remove_file(repo.path.join("README")).unwrap();
    repo.write("README", "hello\n");
    assert_eq!(result(&rig.run(merge(&repo, clean))), "merged");
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? notes");
    assert_eq!(std::fs::read_to_string(repo.path.join("one")).unwrap(), "1");
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), repo.tip("main"));
    assert_eq!(repo.git(&["branch", "--show-current"]), "main");
}

#[test]
fn a_file_in_the_way_of_a_checkout_is_waited_for_and_not_overwritten() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on(BRANCH, "one", "1");
    let old = repo.tip("main");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("one", "precious\n");
    let why = hindrance(&rig, merge(&repo, clean));
    assert!(why.contains("one in it is not tracked"), "{why}");
    assert_eq!((repo.tip("main"), repo.has(BRANCH)), (old, true));
    assert_eq!(std::fs::read_to_string(repo.path.join("one")).unwrap(), "precious\n");
    std::fs::remove_file(repo.path.join("one")).unwrap();
    assert_eq!(result(&rig.run(merge(&repo, clean))), "merged");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

/// What a person does to their checkout while a merge is verified, and what the merge says then.
fn meanwhile(change: fn(&mut GitMerge), person: impl FnOnce(&Repo)) -> String {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let tip = repo.commit_on(BRANCH, "one", "1");
    let old = repo.tip("main");
    let (ready, go) = (fifo(&rig, "ready"), fifo(&rig, "go"));
    let verify = format!("echo > '{}'; cat '{}'", ready.display(), go.display());
    let launch = merge(&repo, |merge| {
        change(merge);
        merge.verify = Some(verify);
    });
    repo.git(&["checkout", "--quiet", "-b", "elsewhere", "main"]);
    let ticket = rig.started(launch);
    hear(&ready);
    person(&repo);
    std::fs::write(&go, "").unwrap();
    let ended = rig.end_of(ticket);
    assert!(ended.started);
    assert_eq!((repo.tip(BRANCH), repo.tip("main")), (tip, old), "nothing has landed");
    assert_tidy(&rig, &repo, ticket);
    what_hinders(ended)
}

#[test]
fn a_checkout_that_comes_in_the_way_while_it_is_verified_ends_the_merge_until_later() {
    let why = meanwhile(|_| {}, |repo| drop(repo.git(&["checkout", "--quiet", "main"])));
    assert!(why.contains("main is checked out in"), "{why}");
    let why = meanwhile(clean, |repo| {
        repo.git(&["checkout", "--quiet", "main"]);
        repo.write("README", "changed\n");
    });
    assert!(why.contains("with changes that are not committed"), "{why}");
    let why = meanwhile(clean, |repo| {
        repo.git(&["checkout", "--quiet", "main"]);
        repo.write("one", "precious\n");
    });
    assert!(why.contains("one in it is not tracked"), "{why}");
    let why = meanwhile(clean, |repo| {
        repo.git(&["checkout", "--quiet", "main"]);
        repo.write(".git/index.lock", "");
    });
    assert!(why.contains("where git is at work"), "{why}");
}

/// A target whose rebase onto `onto` stops at a conflict: `main` has a commit of its own.
fn rebasable(repo: &Repo) -> String {
    repo.commit_on("onto", "README", "theirs\n");
    repo.commit_on("main", "README", "mine\n")
}

/// Begins a rebase that stops at its conflict.
fn begin_rebase(folder: &Path, more: &[&str]) {
    let args: Vec<&str> = ["rebase", "--quiet"].into_iter().chain(more.iter().copied()).collect();
    git_in(folder, &args).expect_err("it conflicts");
}

#[test]
fn a_target_that_is_being_rebased_waits_and_loses_nothing() {
    for (change, backend) in [(clean as fn(&mut GitMerge), "--merge"), (|_| {}, "--apply")] {
        let rig = Rig::new();
        let repo = Repo::new(&rig);
        repo.commit_on(BRANCH, "one", "1");
        let old = rebasable(&repo);
        let linked = rig.path("linked");
        repo.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
        for folder in [&repo.path, &linked] {
            git_in(folder, &["checkout", "--quiet", "main"]).unwrap();
            begin_rebase(folder, &[backend, "onto"]);
            let why = hindrance(&rig, merge(&repo, change));
            let said = format!("a rebase of main is under way in {}", folder.display());
            assert!(why.contains(&said) && why.contains("git rebase --abort"), "{why}");
            assert_eq!(repo.tip("main"), old);
            git_in(folder, &["rebase", "--abort"]).unwrap();
            assert_eq!(repo.tip("main"), old);
            git_in(folder, &["checkout", "--quiet", "--detach"]).unwrap();
        }
        assert_eq!(result(&rig.run(merge(&repo, change))), "merged");
        assert_eq!(repo.files("main"), ["README", "one"]);
        assert_eq!(repo.git(&["rev-parse", "main^"]), old);
    }
}

#[test]
fn a_target_that_goes_along_with_the_rebase_of_another_waits() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on(BRANCH, "one", "1");
    let old = rebasable(&repo);
    repo.git(&["checkout", "--quiet", "-b", "above", "main"]);
    repo.write("above", "2");
    repo.commit_all("above");
    begin_rebase(&repo.path, &["--update-refs", "onto"]);
    let why = hindrance(&rig, merge(&repo, clean));
    assert!(why.contains("a rebase of main is under way in"), "{why}");
    repo.git(&["rebase", "--abort"]);
    assert_eq!(repo.tip("main"), old);
    assert_eq!(result(&rig.run(merge(&repo, clean))), "merged");
}

#[test]
fn a_target_that_a_bisect_returns_to_waits() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let first = repo.tip("main");
    repo.commit_on(BRANCH, "one", "1");
    (0..3).for_each(|no| drop(repo.commit_on("main", "count", &no.to_string())));
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["bisect", "start", "main", &first]);
    let why = hindrance(&rig, merge(&repo, clean));
    assert!(why.contains("a bisect that began on main is under way in"), "{why}");
    repo.git(&["bisect", "reset"]);
    assert_eq!(result(&rig.run(merge(&repo, clean))), "merged");
}

#[test]
fn a_rebase_that_begins_while_a_merge_is_verified_ends_it_until_later() {
    let why = meanwhile(clean, |repo| {
        // One that stops although it conflicts with nothing.
        repo.git(&["checkout", "--quiet", "main"]);
        repo.try_git(&["rebase", "--quiet", "--force-rebase", "--root", "--exec", "false"])
            .expect_err("it stops");
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
    });
    assert!(why.contains("a rebase of main is under way in"), "{why}");
}

/// A filter that cannot write `new` into a person's checkout as long as the file is there that is
/// returned: git gives up half way then, as it does on a full disk.
fn full_disk(rig: &Rig, repo: &Repo) -> PathBuf {
    let (script, full) = (rig.path("smudge"), rig.path("full"));
    let text = format!(
        "text=$(cat)\ncase \"$PWD:$text\" in */worktrees/*) ;; *:new) test ! -e '{}' || exit 1;; \
         esac\nprintf '%s\\n' \"$text\"\n",
        full.display()
    );
    std::fs::write(&script, text).unwrap();
    repo.git(&["config", "filter.disk.smudge", &format!("sh '{}'", script.display())]);
    repo.git(&["config", "filter.disk.clean", "cat"]);
    repo.git(&["config", "filter.disk.required", "true"]);
    full
}

/// A target with `middle` on that disk, and a branch that changes it among others.
fn half_written(repo: &Repo) {
    repo.git(&["checkout", "--quiet", "main"]);
    ["above", "gone", "middle", "under"].iter().for_each(|name| repo.write(name, "old\n"));
    repo.write(".gitattributes", "middle filter=disk\n");
    repo.commit_all("old");
    repo.git(&["checkout", "--quiet", "-b", BRANCH]);
    ["above", "middle", "under"].iter().for_each(|name| repo.write(name, "new\n"));
    write_below(&repo.path, "added/deep/file", "new\n");
    std::fs::remove_file(repo.path.join("gone")).unwrap();
    repo.commit_all("new");
    repo.git(&["checkout", "--quiet", "main"]);
}

#[test]
fn a_checkout_that_cannot_be_written_is_put_back_and_says_why() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let full = full_disk(&rig, &repo);
    half_written(&repo);
    let old = repo.tip("main");
    repo.git(&["branch", "mainspring/run/later", &repo.commit_on("later", "later", "3")]);
    repo.git(&["checkout", "--quiet", "main"]);
    std::fs::write(&full, "").unwrap();
    let launch = merge(&repo, clean);
    let ticket = launch.ticket;
    let ended = rig.run(launch);
    assert_eq!(result(&ended), "merged");
    let log = String::from_utf8(Written::of(&rig.log(ticket, ended.log.as_ref())).stdout).unwrap();
    assert!(log.contains("its files could not be written: "), "{log}");
    assert!(log.contains("smudge filter disk failed") && !log.contains("was changed"), "{log}");
    // All of it is what it was, and nothing a mixture.
    assert_eq!(repo.git(&["diff", "--name-only"]), "");
    assert_eq!(repo.git(&["ls-files", "--others"]), "");
    assert_eq!(repo.git(&["diff", "--cached", "--name-only", &old]), "");
    assert!(!repo.path.join("added").exists());
    // Who comes later does not blame a person for it.
    let later = |merge: &mut GitMerge| {
        clean(merge);
        merge.branch = "mainspring/run/later".to_owned();
        merge.attempt = AttemptId::from_bytes([8; 16]);
    };
    let why = hindrance(&rig, merge(&repo, later));
    assert!(why.contains("could not go along") && why.contains("smudge filter disk"), "{why}");
    assert!(!why.contains("not committed"), "{why}");
    std::fs::remove_file(&full).unwrap();
    repo.git(&["stash", "--quiet"]);
    assert_eq!(result(&rig.run(merge(&repo, later))), "merged");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert!(!repo.path.join(".git/mainspring.behind").exists());
}

#[test]
fn a_change_that_git_was_told_not_to_look_at_is_not_overwritten() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let rig = Rig::new();
        let repo = Repo::new(&rig);
        let tip = repo.commit_on(BRANCH, "README", "theirs\n");
        let old = repo.tip("main");
        repo.git(&["checkout", "--quiet", "main"]);
        repo.git(&["update-index", flag, "README"]);
        repo.write("README", "mine\n");
        let why = what_hinders(rig.run(merge(&repo, clean)));
        assert!(why.contains("cannot take the merge along"), "{why}");
        assert_eq!(std::fs::read_to_string(repo.path.join("README")).unwrap(), "mine\n");
        assert_eq!((repo.tip(BRANCH), repo.tip("main")), (tip, old));
    }
}

#[test]
fn a_file_of_a_checkout_is_not_overwritten_for_being_ignored() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on("main", ".gitignore", ".env\nbuilt\nlogs\n");
    let old = repo.tip("main");
    repo.git(&["checkout", "--quiet", "main"]);
    // What is in the way of each: itself, a folder in its place, a file in its folder's place.
    for (path, precious) in [(".env", ".env"), ("built", "built/cache"), ("logs/today", "logs")] {
        let branch = format!("mainspring/run/{}", path.replace(['.', '/'], "-"));
        let made = rig.path(&branch.replace('/', "-"));
        let made_text = made.to_str().unwrap();
        repo.git(&["worktree", "add", "--quiet", "-b", &branch, made_text, "main"]);
        write_below(&made, path, "mine\n");
        git_in(&made, &["add", "--force", "."]).unwrap();
        git_in(&made, &["commit", "--quiet", "--message", "forced"]).unwrap();
        repo.git(&["worktree", "remove", made_text]);
        write_below(&repo.path, precious, "precious\n");
        let with = |merge: &mut GitMerge| {
            clean(merge);
            merge.branch = branch.clone();
        };
        let why = hindrance(&rig, merge(&repo, with));
        assert!(why.contains(&format!("{precious} in it is not tracked")), "{why}");
        assert_eq!((repo.tip("main"), repo.has(&branch)), (old.clone(), true));
        let text = std::fs::read_to_string(repo.path.join(precious)).unwrap();
        assert_eq!(text, "precious\n");
    }
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

fn write_below(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn what_has_landed_is_not_landed_again() {
    for strategy in [MergeStrategy::Squash, MergeStrategy::Merge] {
        let rig = Rig::new();
        let repo = Repo::new(&rig);
        let tip = repo.commit_on(BRANCH, "one", "1");
        let with = |merge: &mut GitMerge| merge.strategy = strategy;
        let first = told(&rig.run(merge(&repo, with)));
        // Others go on, and the branch is there again or not.
        let later = repo.commit_on("main", "other", "2");
        assert_eq!(told(&rig.run(merge(&repo, with))), first);
        repo.git(&["branch", BRANCH, &tip]);
        assert_eq!(told(&rig.run(merge(&repo, with))), first);
        assert_eq!(repo.tip("main"), later);
        assert!(!repo.has(BRANCH));
        // What is on the branch since has not landed.
        repo.git(&["branch", BRANCH, &tip]);
        let since = repo.commit_on(BRANCH, "since", "3");
        assert_eq!(told(&rig.run(merge(&repo, with))), first);
        assert_eq!(repo.tip(BRANCH), since);
        repo.git(&["update-ref", "-d", &format!("refs/heads/{BRANCH}")]);
        // It does not wait for a checkout either.
        repo.git(&["checkout", "--quiet", "main"]);
        assert_eq!(told(&rig.run(merge(&repo, with))), first);
        // Another attempt's work is another matter.
        let other = |merge: &mut GitMerge| merge.attempt = AttemptId::from_bytes([8; 16]);
        repo.git(&["checkout", "--quiet", "--detach"]);
        let error = failure(rig.run(merge(&repo, other)));
        assert!(error.message.contains("has not landed: somebody has deleted it"), "{error:?}");
    }
}

/// A child whose git says when the target has moved, and waits then.
fn held_up(folder: &Path) -> Vec<String> {
    let real = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&real).map(|path| path.join("git"));
    let real = real.into_iter().find(|path| path.exists()).unwrap();
    let bin = folder.join("bin");
    std::fs::create_dir(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\nfor arg; do case \"$arg\" in refs/heads/main) moves=1;; update-ref) ref=1;; esac; \
         done\nif test \"$moves$ref\" = 11; then '{real}' \"$@\" || exit; echo $$ > '{folder}/moved'; \
         exec sleep 1000; fi\nexec '{real}' \"$@\"\n",
        real = real.display(),
        folder = folder.display(),
    );
    std::fs::write(bin.join("git"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("git"), mode).unwrap();
    let line = format!("PATH='{}':$PATH exec \"$@\"", bin.display());
    let start = ["/bin/sh", "-c", &line, "sh"].map(str::to_owned);
    start.into_iter().chain(child_program()).collect()
}

fn moved(rig: &Rig) -> PathBuf {
    fifo(rig, "moved")
}

#[test]
fn one_that_is_stopped_after_it_has_landed_is_a_success() {
    let rig = Rig::landing(held_up);
    let repo = Repo::new(&rig);
    repo.commit_on(BRANCH, "one", "1");
    let moved = moved(&rig);
    let ticket = rig.started(merge(&repo, |_| {}));
    let pid = hear(&moved);
    rig.stop(ticket);
    let ended = rig.end_of(ticket);
    assert_eq!(told(&ended)["commit"], repo.tip("main"));
    assert!(!is_alive(&pid));
}

#[test]
fn a_later_life_knows_what_has_landed_before_anybody_heard_of_it() {
    let rig = Rig::landing(held_up);
    let repo = Repo::new(&rig);
    repo.commit_on(BRANCH, "one", "1");
    let moved = moved(&rig);
    let ticket = rig.started(merge(&repo, |_| {}));
    hear(&moved);
    let new = repo.tip("main");
    let reborn = rig.reborn();
    let answer = reborn.reattached(ticket, Life::Former);
    let Reattached::Ended(ended) = answer else { panic!("{answer:?}") };
    assert_eq!(told(&ended)["commit"], new);
    assert!(!repo.has(BRANCH), "what was left to do is done");
    reborn.executor.settle(ticket);
    until("its note and scratch to be removed", || {
        reborn.files_in("merges").is_empty() && reborn.files_in("worktrees").is_empty()
    });
    assert_eq!(repo.worktrees(), 1);
}

#[test]
fn a_later_life_that_is_told_to_stop_what_has_landed_says_so() {
    for asked in [false, true] {
        let rig = Rig::landing(held_up);
        let repo = Repo::new(&rig);
        repo.commit_on(BRANCH, "one", "1");
        let moved = moved(&rig);
        let ticket = rig.started(merge(&repo, |_| {}));
        hear(&moved);
        let new = repo.tip("main");
        let reborn = rig.reborn();
        if asked {
            reborn.executor.reattach(Question { ticket, number: 7 }, Life::Former);
        }
        // Before it is known what became of it.
        reborn.stop(ticket);
        for _ in 0..=usize::from(asked) {
            let report = reborn.next();
            let (ReportKind::Ended(ended) | ReportKind::Reattached(7, Reattached::Ended(ended))) =
                report.what
            else {
                panic!("not an end: {report:?}")
            };
            assert_eq!(told(&ended)["commit"], new);
        }
        assert!(!repo.has(BRANCH), "what was left to do is done");
        reborn.executor.settle(ticket);
        until("its note and scratch to be removed", || {
            reborn.files_in("merges").is_empty() && reborn.files_in("worktrees").is_empty()
        });
    }
}

#[test]
fn a_later_life_that_is_told_to_stop_what_has_not_landed_says_so_too() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let tip = repo.commit_on(BRANCH, "one", "1");
    let old = repo.tip("main");
    let ready = fifo(&rig, "ready");
    let verify = format!("echo > '{}'; exec sleep 1000", ready.display());
    let ticket = rig.started(merge(&repo, |merge| merge.verify = Some(verify)));
    hear(&ready);
    let reborn = rig.reborn();
    reborn.stop(ticket);
    assert_eq!(reborn.end_of(ticket).outcome, Outcome::Stopped);
    assert_eq!((repo.tip(BRANCH), repo.tip("main")), (tip, old));
}

#[test]
fn a_later_life_knows_nothing_of_what_has_not_landed() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let tip = repo.commit_on(BRANCH, "one", "1");
    let old = repo.tip("main");
    let ready = fifo(&rig, "ready");
    let verify = format!("echo > '{}'; exec sleep 1000", ready.display());
    let ticket = rig.started(merge(&repo, |merge| merge.verify = Some(verify)));
    hear(&ready);
    let reborn = rig.reborn();
    let answer = reborn.reattached(ticket, Life::Former);
    assert!(matches!(answer, Reattached::Unknown { .. }), "{answer:?}");
    assert_eq!((repo.tip(BRANCH), repo.tip("main")), (tip, old));
}

#[test]
fn a_stop_while_it_is_verified_lands_nothing() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let tip = repo.commit_on(BRANCH, "one", "1");
    let old = repo.tip("main");
    let ready = fifo(&rig, "ready");
    let verify = format!("echo $$ > '{}'; exec sleep 1000", ready.display());
    let ticket = rig.started(merge(&repo, |merge| merge.verify = Some(verify)));
    let pid = hear(&ready);
    rig.stop(ticket);
    assert_eq!(rig.end_of(ticket).outcome, Outcome::Stopped);
    assert!(!is_alive(&pid));
    assert_eq!((repo.tip(BRANCH), repo.tip("main")), (tip, old));
    assert_tidy(&rig, &repo, ticket);
}

#[test]
fn what_cannot_be_landed_says_why() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on(BRANCH, "one", "1");
    let error = rig.fail(merge(&repo, |merge| merge.into = "trunk".to_owned()));
    assert_eq!(error.class, ErrorClass::Logic);
    assert!(error.message.contains("there is no branch trunk"), "{}", error.message);
    // Names of commits, not of branches.
    for into in ["main~1", "main^", "main@{0}", "main^{commit}", "main:README", "a b", ""] {
        let error = rig.fail(merge(&repo, |merge| merge.into = into.to_owned()));
        assert_eq!(error.class, ErrorClass::Logic, "{into}: {}", error.message);
        assert!(error.message.contains(&format!("there is no branch {into}")), "{}", error.message);
    }
    let error = rig.fail(merge(&repo, |merge| merge.repo = "/nowhere".to_owned()));
    assert!(error.message.contains("/nowhere is no git repository"), "{}", error.message);
    // Nothing in common.
    repo.git(&["checkout", "--quiet", "--orphan", "alien"]);
    let alien = repo.commit_all("alien");
    repo.git(&["checkout", "--quiet", "--detach"]);
    repo.git(&["update-ref", &format!("refs/heads/{BRANCH}"), &alien]);
    let error = failure(rig.run(merge(&repo, |_| {})));
    assert_eq!(error.class, ErrorClass::Logic);
    assert!(error.message.contains("unrelated histories"), "{}", error.message);
    assert!(repo.has(BRANCH));
}

#[test]
fn a_worktree_that_is_half_made_holds_up_a_merge_and_does_not_fail_it() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on(BRANCH, "one", "1");
    // As git leaves it for a moment.
    let half = repo.path.join(".git/worktrees/half");
    std::fs::create_dir_all(&half).unwrap();
    std::fs::write(half.join("gitdir"), rig.path("half/.git").to_str().unwrap()).unwrap();
    std::fs::write(half.join("commondir"), "").unwrap();
    assert!(repo.try_git(&["worktree", "list"]).is_err(), "git fails");
    let ticket = rig.start(merge(&repo, |_| {}));
    std::fs::write(half.join("commondir"), "../..\n").unwrap();
    std::fs::write(half.join("HEAD"), "0000000000000000000000000000000000000000\n").unwrap();
    assert_eq!(rig.next().what, ReportKind::Started);
    assert_eq!(result(&rig.end_of(ticket)), "merged");
}

#[test]
fn hooks_take_no_part_in_a_merge() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on(BRANCH, "one", "1");
    for hook in ["pre-merge-commit", "commit-msg", "reference-transaction", "post-checkout"] {
        let path = repo.path.join(".git/hooks").join(hook);
        std::fs::write(&path, "#!/bin/sh\nexit 1\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    }
    repo.git(&["config", "merge.ff", "only"]);
    assert_eq!(result(&rig.run(merge(&repo, |_| {}))), "merged");
}
