//! Attempts in git worktrees of their own.

use crate::git::{Repo, git_in};
use crate::rig::{Rig, With, Written, failure, fifo, hear, is_alive, shell, ticket, until};
use mainspring_core::error::ErrorClass;
use mainspring_core::work::{Launch, Outcome};
use mainspring_core::work_git::GitWorkspace;
use mainspring_exec::Executor;
use std::path::Path;

const BRANCH: &str = "mainspring/run/task";

fn within(repo: &Repo, launch: Launch) -> Launch {
    based(repo, "main", launch)
}

fn based(repo: &Repo, base: &str, launch: Launch) -> Launch {
    let (repo, base) = (repo.text(), base.to_owned());
    launch.with(|work| {
        work.workdir = ".".to_owned();
        work.workspace = Some(GitWorkspace { repo, base, branch: BRANCH.to_owned(), into: None });
    })
}

#[test]
fn an_attempt_works_on_a_branch_of_its_own_in_a_folder_of_its_own() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let base = repo.tip("main");
    let line = "pwd; echo $MAINSPRING_WORKSPACE $MAINSPRING_BRANCH; git branch --show-current; \
                cat README; echo more > new.txt";
    let launch = within(&repo, shell(line));
    let ticket = launch.ticket;
    let folder = rig.folder.path().canonicalize().unwrap();
    let folder = folder.join("worktrees").join(ticket.attempt.to_string());
    let folder_text = folder.to_str().unwrap();
    let written = rig.written(launch).text();
    let expected = format!("{folder_text}\n{folder_text} {BRANCH}\n{BRANCH}\nhello\n");
    assert_eq!(written, expected);
    assert!(folder.exists(), "until it is settled");
    rig.executor.settle(ticket);
    until("the worktree to be removed", || rig.files_in("worktrees").is_empty());
    assert_eq!(repo.worktrees(), 1);
    assert_eq!(repo.files(BRANCH), ["README", "new.txt"]);
    assert_eq!(repo.git(&["rev-parse", &format!("{BRANCH}^")]), base, "one commit on its base");
    let author = repo.git(&["log", "-1", "--format=%an <%ae>, %s", BRANCH]);
    assert_eq!(author, "Mainspring <mainspring@localhost>, nightly: load");
    assert_eq!(repo.tip("main"), base);
}

#[test]
fn what_it_commits_itself_stays_as_it_is() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let line = "echo 1 > one && git add one && git commit -qm mine";
    assert_eq!(rig.written(within(&repo, shell(line))).text(), "");
    assert_eq!(repo.git(&["log", "-1", "--format=%s", BRANCH]), "mine");
    assert_eq!(repo.git(&["rev-list", "--count", BRANCH]), "2");
}

#[test]
fn an_attempt_that_changes_nothing_commits_nothing() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    rig.written(within(&repo, shell("true")));
    assert_eq!(repo.tip(BRANCH), repo.tip("main"));
}

#[test]
fn what_fails_commits_nothing_and_its_own_commits_are_kept_when_it_is_tried_again() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let line = "echo 1 > one && git add one && git commit -qm mine; echo 2 > two; exit 3";
    let ended = rig.run(within(&repo, shell(line)));
    assert_eq!(failure(ended).exit_code, Some(3));
    let former = repo.tip(BRANCH);
    assert_eq!(repo.files(BRANCH), ["README", "one"]);
    // The second attempt begins where the first did.
    assert_eq!(rig.written(within(&repo, shell("ls"))).text(), "README\n");
    assert_eq!(repo.tip(BRANCH), repo.tip("main"));
    let kept = repo.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/mainspring"]);
    assert_eq!(kept, format!("refs/mainspring/kept/run/task/{former} {former}"));
}

#[test]
fn a_finalizer_goes_on_where_the_work_ended() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    rig.written(within(&repo, shell("echo done > work")));
    let tip = repo.tip(BRANCH);
    let mut launch = within(&repo, shell("cat work; echo more > scrap; git checkout -q --detach"));
    launch.finalizes = Some(ticket().attempt);
    assert_eq!(rig.written(launch).text(), "done\n");
    assert_eq!(repo.tip(BRANCH), tip, "what it leaves is no work");
    // Without the branch there is nothing to go on with.
    repo.git(&["update-ref", "-d", &format!("refs/heads/{BRANCH}")]);
    let mut launch = within(&repo, shell("cat work"));
    launch.finalizes = Some(ticket().attempt);
    let error = rig.fail(launch);
    assert_eq!(error.class, ErrorClass::Logic);
    assert!(error.message.contains("somebody has deleted it"), "{}", error.message);
}

#[test]
fn what_cannot_be_prepared_says_what_and_how_to_mend_it() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    std::fs::create_dir(rig.path("empty")).unwrap();
    std::fs::write(rig.path("file"), "").unwrap();
    std::fs::create_dir(rig.path("new")).unwrap();
    git_in(&rig.path("new"), &["init", "--quiet"]).unwrap();
    let at = |name: &str| rig.path(name).to_str().unwrap().to_owned();
    for (path, base, expected) in [
        (at("nowhere"), "main", "nowhere is no git repository that can be used: No such file"),
        (at("file"), "main", "it is not a folder"),
        (at("empty"), "main", "not a git repository"),
        (repo.text(), "trunk", "there is no commit trunk in"),
        (repo.text(), "--all", "there is no commit --all in"),
        (at("new"), "HEAD", "a repository needs at least one commit"),
    ] {
        let launch = within(&repo, shell("true")).with(|work| {
            let base = base.to_owned();
            work.workspace =
                Some(GitWorkspace { repo: path, base, branch: BRANCH.to_owned(), into: None });
        });
        let error = rig.fail(launch);
        assert_eq!(error.class, ErrorClass::Logic, "{}", error.message);
        assert!(error.message.contains(expected), "{expected}: {}", error.message);
    }
}

#[test]
fn bases_may_be_tags_commits_and_branches_of_bare_repositories() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let first = repo.tip("main");
    repo.git(&["tag", "--annotate", "--message", "one", "v1"]);
    repo.commit_on("main", "second", "2");
    let mut bare = Repo { path: rig.path("bare.git") };
    repo.git(&["clone", "--quiet", "--bare", &repo.text(), &bare.text()]);
    for base in ["v1", &first, "main~1"] {
        for repo in [&repo, &bare] {
            assert_eq!(rig.written(based(repo, base, shell("ls"))).text(), "README\n");
        }
    }
    // From a folder of the repository, and from another worktree of it.
    std::fs::create_dir(repo.path.join("sub")).unwrap();
    bare.path = repo.path.join("sub");
    assert_eq!(rig.written(based(&bare, "main", shell("ls"))).text(), "README\nsecond\n");
}

#[test]
fn a_task_that_leaves_its_branch_or_half_a_merge_fails() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on("other", "README", "theirs\n");
    for (line, expected) in [
        ("git switch -qc elsewhere", "on elsewhere, not on its branch mainspring/run/task"),
        ("git checkout -q --detach", "on no branch at all"),
        (
            "echo mine > README && git commit -qam mine; git merge -q other || true",
            "conflicts in its worktree: README",
        ),
        ("git init -q inner && cd inner && git commit -q --allow-empty -m x", "of its own"),
        ("rm .git && git init -q && git commit -q --allow-empty -m x", "README"),
    ] {
        let ended = rig.run(within(&repo, shell(line)));
        if line.starts_with("rm") {
            // What it made of its folder changes nothing about where it is committed.
            assert_eq!(ended.outcome, Outcome::Success(None));
            assert_eq!(repo.tip(BRANCH), repo.tip("main"));
            continue;
        }
        let error = failure(ended);
        assert_eq!(error.class, ErrorClass::Logic, "{}", error.message);
        assert!(error.message.contains(expected), "{expected}: {}", error.message);
    }
}

#[test]
fn files_that_were_only_brought_are_not_committed() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    std::fs::write(rig.path("lent"), "lent").unwrap();
    let launch = within(&repo, shell("cat in/lent.txt; echo out > result"))
        .brings("in/lent.txt", &rig.path("lent"))
        .with(|work| work.workdir = "deep/er".to_owned());
    assert_eq!(rig.written(launch).text(), "lent");
    assert_eq!(repo.files(BRANCH), ["README", "deep/er/result"]);
}

#[test]
fn hooks_and_what_people_have_configured_take_no_part() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    for hook in ["post-checkout", "pre-commit", "commit-msg", "reference-transaction"] {
        let path = repo.path.join(".git/hooks").join(hook);
        let mark = rig.path("hooked");
        std::fs::write(&path, format!("#!/bin/sh\necho {hook} >> '{}'\nexit 1\n", mark.display()))
            .unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    }
    repo.git(&["config", "commit.gpgSign", "true"]);
    repo.git(&["config", "core.safecrlf", "true"]);
    repo.git(&["config", "core.autocrlf", "input"]);
    let launch = within(&repo, shell("printf 'a\\r\\nb\\n' > mixed"));
    assert_eq!(rig.written(launch).text(), "");
    assert!(!rig.path("hooked").exists());
    assert_eq!(repo.files(BRANCH), ["README", "mixed"]);
}

/// A filter that says its pid and waits; `git checkout` waits with it.
fn hang(rig: &Rig, repo: &Repo, how: &str) -> std::path::PathBuf {
    let ready = fifo(rig, "ready");
    let filter = format!("sh -c 'echo $$ > {}; exec sleep 1000'", ready.display());
    repo.git(&["config", &format!("filter.hang.{how}"), &filter]);
    repo.git(&["config", "filter.hang.required", "true"]);
    ready
}

#[test]
fn a_stop_while_it_is_prepared_ends_that_and_nothing_is_left() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    repo.commit_on("main", ".gitattributes", "README filter=hang\n");
    let ready = hang(&rig, &repo, "smudge");
    let ticket = rig.start(within(&repo, shell("true")));
    let pid = hear(&ready);
    assert!(is_alive(&pid));
    rig.stop(ticket);
    let ended = rig.end_of(ticket);
    assert_eq!((ended.started, ended.outcome), (false, Outcome::Stopped));
    assert!(!is_alive(&pid), "the work is gone when its end is said");
    rig.executor.settle(ticket);
    until("the worktree to be removed", || rig.files_in("worktrees").is_empty());
    assert_eq!(repo.worktrees(), 1);
}

#[test]
fn a_stop_while_its_work_is_committed_ends_that() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let ready = hang(&rig, &repo, "clean");
    let line = "echo '* filter=hang' > .gitattributes; echo x > README";
    let ticket = rig.started(within(&repo, shell(line)));
    let pid = hear(&ready);
    rig.stop(ticket);
    assert_eq!(rig.end_of(ticket).outcome, Outcome::Stopped);
    assert!(!is_alive(&pid));
    assert_eq!(repo.tip(BRANCH), repo.tip("main"));
}

#[test]
fn one_that_waits_for_the_lock_of_its_repository_can_be_stopped() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let lock = std::fs::File::create(repo.path.join(".git/mainspring.lock")).unwrap();
    lock.lock().unwrap();
    let waits = rig.start(within(&repo, shell("true")));
    let lasts = rig.start(within(&repo, shell("true")));
    rig.stop(waits);
    let ended = rig.end_of(waits);
    assert_eq!((ended.started, ended.outcome), (false, Outcome::Stopped));
    drop(lock);
    let report = rig.next();
    assert_eq!(report.ticket, lasts);
    assert_eq!(rig.end_of(lasts).outcome, Outcome::Success(None));
}

#[test]
fn a_later_life_removes_what_a_former_one_left_and_keeps_the_branch() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let ready = fifo(&rig, "ready");
    let line = "echo 1 > one && git add one && git commit -qm mine; mkdir ro && touch ro/file \
                && chmod a-w ro; echo > $READY; sleep 1000";
    rig.started(within(&repo, shell(line).env("READY", &ready)));
    hear(&ready);
    let tip = repo.tip(BRANCH);
    assert_eq!(repo.worktrees(), 2);
    // Somebody's own, whose folder is not there just now.
    let elsewhere = rig.path("elsewhere");
    repo.git(&["worktree", "add", "--quiet", "-b", "theirs", elsewhere.to_str().unwrap(), "main"]);
    std::fs::rename(&elsewhere, rig.path("away")).unwrap();
    let reborn = rig.reborn();
    until("the worktree to be removed", || reborn.files_in("worktrees").is_empty());
    assert_eq!(repo.tip(BRANCH), tip);
    assert_eq!(repo.worktrees(), 2, "theirs is still known");
}

#[test]
fn many_attempts_begin_at_once() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let tickets: Vec<_> = (0..20)
        .map(|no| {
            let launch = within(&repo, shell("echo x > file")).with(|work| {
                let workspace = work.workspace.as_mut().unwrap();
                workspace.branch = format!("mainspring/run/task/{no}");
            });
            rig.start(launch)
        })
        .collect();
    let mut ended = 0;
    while ended < tickets.len() {
        if let mainspring_core::work::ReportKind::Ended(end) = rig.next().what {
            assert_eq!(end.outcome, Outcome::Success(None));
            ended += 1;
        }
    }
    for no in 0..20 {
        assert_eq!(repo.files(&format!("mainspring/run/task/{no}")), ["README", "file"]);
    }
}

#[test]
fn its_log_is_its_own() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let launch = within(&repo, shell("echo out; echo more > file"));
    let ticket = launch.ticket;
    let ended = rig.run(launch);
    let written = Written::of(&rig.log(ticket, ended.log.as_ref()));
    assert_eq!((written.text(), ended.started), ("out\n".to_owned(), true));
}

#[test]
fn the_repository_is_told_by_its_one_path_however_it_is_named() {
    let rig = Rig::new();
    let (repo, other) = (Repo::new(&rig), Repo::named(&rig, "another"));
    let below = repo.path.join("sub");
    std::fs::create_dir(&below).unwrap();
    let linked = rig.path("linked");
    std::os::unix::fs::symlink(&repo.path, &linked).unwrap();
    let worktree = rig.path("worktree");
    repo.git(&["worktree", "add", "--quiet", "--detach", worktree.to_str().unwrap()]);
    let told = |path: &Path| {
        let launch = shell("true").with(|work| {
            let (repo, base) = (path.to_str().unwrap().to_owned(), "main".to_owned());
            let (branch, into) = (BRANCH.to_owned(), Some("main".to_owned()));
            work.workspace = Some(GitWorkspace { repo, base, branch, into });
        });
        let launch = Launch { ticket: ticket(), ..launch };
        let lands = *rig.run(launch).lands.expect("it is told");
        assert_eq!(lands.into.as_deref(), Some("main"));
        lands.repository
    };
    let one = told(&repo.path);
    let up_and_down = below.join("..").join(".");
    for path in [&below, &linked, &worktree, &up_and_down, &repo.path.join(".git")] {
        assert_eq!(told(path), one, "{}", path.display());
    }
    assert_ne!(told(&other.path), one);
}

#[test]
fn what_is_committed_on_no_branch_is_kept_when_its_worktree_goes() {
    let rig = Rig::new();
    let repo = Repo::new(&rig);
    let lines = [
        "git checkout -q --detach; echo q > q; git add q; git commit -qm detached",
        // In the middle of a rebase.
        "echo 1 > q; git add q; git commit -qm first; echo 2 > r; git add r; git commit -qm second; \
         GIT_SEQUENCE_EDITOR='echo break >' git rebase -q -i HEAD~2; \
         git commit -q --allow-empty -m between",
    ];
    for (line, subject) in lines.into_iter().zip(["detached", "between"]) {
        let launch = within(&repo, shell(line));
        let ticket = launch.ticket;
        let error = failure(rig.run(launch));
        assert!(error.message.contains("has left its worktree on no branch"), "{}", error.message);
        rig.executor.settle(ticket);
        until("its worktree to be removed", || rig.files_in("worktrees").is_empty());
        let kept =
            repo.git(&["for-each-ref", "--format=%(contents:subject)", "refs/mainspring/kept"]);
        assert!(kept.lines().any(|kept| kept == subject), "{kept}");
        assert_eq!(repo.worktrees(), 1);
    }
    // What some branch holds need not be.
    let launch = within(&repo, shell("git checkout -q --detach main"));
    let ticket = launch.ticket;
    let before = repo.git(&["for-each-ref", "refs/mainspring/kept"]);
    failure(rig.run(launch));
    rig.executor.settle(ticket);
    until("its worktree to be removed", || rig.files_in("worktrees").is_empty());
    assert_eq!(
        repo.git(&["for-each-ref", "refs/mainspring/kept"]).lines().count(),
        before.lines().count() + 1
    );
}
