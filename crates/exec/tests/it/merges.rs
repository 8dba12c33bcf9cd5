//! Branches that land, and those that do not.

use crate::git::{Repo, child_program};
use crate::rig::{Rig, Written, failure, fifo, hear, is_alive, ticket, until};
use mainspring_core::error::ErrorClass;
use mainspring_core::ids::{AttemptId, Ticket};
use mainspring_core::output::Output;
use mainspring_core::work::{Ended, Launch, Life, Outcome, Question, Reattached, ReportKind, Work};
use mainspring_core::work_git::{GitMerge, MergeStrategy, UpdateCheckout};
use mainspring_exec::Executor;
use std::path::{Path, PathBuf};

pub const BRANCH: &str = "mainspring/run/task";

pub fn merge(repo: &Repo, change: impl FnOnce(&mut GitMerge)) -> Launch {
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

pub fn result(ended: &Ended) -> String {
    told(ended)["result"].as_str().unwrap().to_owned()
}

/// What is in the way of a merge that is not even begun.
pub fn hindrance(rig: &Rig, launch: Launch) -> String {
    let ticket = rig.start(launch);
    let ended = rig.end_of(ticket);
    assert!(!ended.started);
    what_hinders(ended)
}

pub fn what_hinders(ended: Ended) -> String {
    match ended.outcome {
        Outcome::Hindered(what) => what.into(),
        other => panic!("nothing is in its way: {other:?}"),
    }
}

/// Nothing but what people have is left of a merge.
pub fn assert_tidy(rig: &Rig, repo: &Repo, ticket: Ticket) {
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
