//! Targets that a person has checked out, or is in the middle of something with.

use crate::git::{Repo, git_in};
use crate::merges::{BRANCH, assert_tidy, hindrance, merge, result, what_hinders};
use crate::rig::{Rig, Written, fifo, hear};
use mainspring_core::ids::AttemptId;
use mainspring_core::work_git::{GitMerge, UpdateCheckout};
use std::path::{Path, PathBuf};

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
