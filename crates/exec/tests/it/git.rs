//! Repositories of tests, and the child process that lands branches for them.

use crate::rig::Rig;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Not a test by itself, unless an executor starts it: lands a branch, as told on stdin.
#[test]
fn child() {
    let (Ok("finalize"), Some(output)) = (
        std::env::var("MAINSPRING_ROLE").as_deref(),
        std::env::var_os("MAINSPRING_OUTPUT").map(PathBuf::from),
    ) else {
        return;
    };
    let order = std::io::read_to_string(std::io::stdin()).unwrap();
    let code = mainspring_exec::land_branch(&order, &output, || true);
    std::process::exit(code.into());
}

/// This test program, playing that child.
pub fn child_program() -> Vec<String> {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    [&program, "--exact", "git::child", "--nocapture"].map(str::to_owned).into()
}

/// A repository with one commit on `main`, and nobody on it.
pub struct Repo {
    pub path: PathBuf,
}

impl Repo {
    pub fn new(rig: &Rig) -> Self {
        Self::named(rig, "a repository")
    }

    pub fn named(rig: &Rig, name: &str) -> Self {
        let path = rig.path(name);
        std::fs::create_dir(&path).unwrap();
        let repo = Self { path };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo.write("README", "hello\n");
        repo.commit_all("first");
        repo.git(&["checkout", "--quiet", "--detach"]);
        repo
    }

    pub fn text(&self) -> String {
        self.path.to_str().unwrap().to_owned()
    }

    pub fn git(&self, args: &[&str]) -> String {
        self.try_git(args).unwrap_or_else(|error| panic!("git {args:?}: {error}"))
    }

    pub fn try_git(&self, args: &[&str]) -> Result<String, String> {
        git_in(&self.path, args)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path.join(name), text).unwrap();
    }

    pub fn commit_all(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// A commit on a branch that nobody has checked out: one file more.
    pub fn commit_on(&self, branch: &str, file: &str, text: &str) -> String {
        self.git(&["checkout", "--quiet", "-B", branch, self.tip_or(branch, "main").as_str()]);
        self.write(file, text);
        let commit = self.commit_all(&format!("changes {file}"));
        self.git(&["checkout", "--quiet", "--detach"]);
        commit
    }

    fn tip_or(&self, branch: &str, base: &str) -> String {
        let name = format!("refs/heads/{branch}");
        self.try_git(&["rev-parse", "--verify", "--quiet", &name])
            .unwrap_or_else(|_| self.git(&["rev-parse", base]))
    }

    pub fn tip(&self, branch: &str) -> String {
        self.git(&["rev-parse", "--verify", &format!("refs/heads/{branch}")])
    }

    pub fn has(&self, branch: &str) -> bool {
        let name = format!("refs/heads/{branch}");
        self.try_git(&["rev-parse", "--verify", "--quiet", &name]).is_ok()
    }

    pub fn show(&self, what: &str) -> String {
        self.git(&["show", what])
    }

    pub fn files(&self, commit: &str) -> Vec<String> {
        let list = self.git(&["ls-tree", "-r", "--name-only", commit]);
        list.lines().map(str::to_owned).collect()
    }

    /// How many worktrees it knows of, the first included.
    pub fn worktrees(&self) -> usize {
        self.git(&["worktree", "list"]).lines().count()
    }
}

pub fn git_in(folder: &Path, args: &[&str]) -> Result<String, String> {
    let done = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=A Person", "-c", "user.email=person@example.com"])
        .args(args)
        .env_remove("GIT_DIR")
        .output()
        .unwrap();
    match done.status.success() {
        true => Ok(String::from_utf8(done.stdout).unwrap().trim_end().to_owned()),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}
