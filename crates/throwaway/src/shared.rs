//! The server that all tests of one run share, and a database for each of them.

use super::programs::unprivileged;
use super::server::{Cluster, Durability, USER};
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, parent_id};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// An empty database, dropped when it goes.
#[derive(Debug)]
pub struct Database {
    cluster: &'static Cluster,
    name: String,
}

impl Database {
    pub fn url(&self) -> String {
        self.cluster.url(&self.name)
    }

    /// Runs SQL behind everybody's back; what it answers, one row a line.
    pub fn sql(&self, sql: &str) -> String {
        self.cluster.sql(&self.name, sql)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.cluster.drop_database(&self.name);
    }
}

/// A new database on the server of this run.
pub fn database() -> Database {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let cluster = CLUSTER.get_or_init(shared);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("test_{}_{number}", std::process::id());
    cluster.create_database(&name);
    Database { cluster, name }
}

/// Finds the server of the process that runs the tests, or starts it.
fn shared() -> Cluster {
    let runner = parent_id();
    let folder = folder_of(runner);
    // Another test may have been faster.
    fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let lock = File::create(folder.join("lock")).expect("a lock file can be made");
    lock.lock().expect("a file can be locked");
    let ready = folder.join("ready");
    if ready.exists() {
        return Cluster::at(&folder, Durability::None);
    }
    // What a start that was killed half way left behind.
    let _ = fs::remove_dir_all(folder.join("data"));
    let cluster = Cluster::create(&folder, Durability::None);
    watch(runner, &cluster, &folder);
    cluster.start();
    File::create(ready).expect("the folder is there");
    cluster
}

/// Named by the runner and its start: numbers of processes are used again.
fn folder_of(runner: u32) -> PathBuf {
    let stat = fs::read_to_string(format!("/proc/{runner}/stat")).expect("a parent is alive");
    // After the name, which may hold anything, the 20th field is the start.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let begun = after_name.split_whitespace().nth(19).unwrap_or("0");
    let user = unprivileged().map_or_else(|| USER.to_owned(), |(uid, _)| uid.to_string());
    std::env::temp_dir().join(format!("mainspring-pg-{runner}-{begun}-{user}"))
}

/// A process that outlives this one, waits for the runner's end, and cleans up.
fn watch(runner: u32, cluster: &Cluster, folder: &Path) {
    let stop = cluster.stop_command();
    let mut watcher = Command::new("sh");
    watcher.arg("-c").arg(
        "(tail --pid=\"$1\" -f /dev/null; folder=$2; shift 2; \"$@\"; \
          rm -rf \"$folder\") &",
    );
    watcher.arg("watcher").arg(runner.to_string()).arg(folder);
    watcher.arg(stop.get_program()).args(stop.get_args());
    if let Some((uid, gid)) = unprivileged() {
        watcher.uid(uid).gid(gid);
    }
    watcher.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    watcher.process_group(0).current_dir("/");
    // The shell leaves at once; what it leaves behind belongs to nobody.
    let left = watcher.status().expect("a shell can be started");
    assert!(left.success(), "{watcher:?} failed ({left})");
}
