//! One server and its folder.

use super::programs::{command, unprivileged};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Who administers the server; there is no password on its socket.
pub(super) const USER: &str = "mainspring";

/// What a commit means to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// As in production.
    Full,
    /// For tests that pull no plug: a database is made and dropped in a tenth of the time.
    None,
}

/// A server of its own, stopped and removed when it goes.
#[derive(Debug)]
pub struct Server {
    cluster: Cluster,
    _folder: TempDir,
}

impl Server {
    pub fn start(durability: Durability) -> Self {
        Self::start_in(&std::env::temp_dir(), durability)
    }

    /// In a new folder below this one, which may be on a real disk where temporary files are not.
    pub fn start_in(ground: &Path, durability: Durability) -> Self {
        let folder = new_folder(ground);
        let cluster = Cluster::create(folder.path(), durability);
        cluster.start();
        Self::of(cluster, folder)
    }

    /// As a crash would: no checkpoint, no farewell.
    pub fn kill(&self) {
        self.cluster.stop();
    }

    /// Comes back after a `kill`.
    pub fn restart(&self) {
        self.cluster.start();
    }

    /// Makes a database and returns its URL.
    pub fn create_database(&self, name: &str) -> String {
        self.cluster.create_database(name);
        self.cluster.url(name)
    }

    /// Runs SQL in a database behind everybody's back; what it answers, one row a line.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        self.cluster.sql(database, sql)
    }

    pub(super) fn of(cluster: Cluster, folder: TempDir) -> Self {
        Self { cluster, _folder: folder }
    }
}

pub(super) fn new_folder(ground: &Path) -> TempDir {
    let folder = tempfile::Builder::new().prefix("mainspring-pg-").tempdir_in(ground);
    folder.expect("a temporary folder can be made")
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.cluster.stop_command().output();
    }
}

/// A folder with a server's data and socket.
#[derive(Debug)]
pub(super) struct Cluster {
    folder: PathBuf,
    durability: Durability,
    /// Part of the socket's name, even where nobody listens on it.
    port: u16,
}

impl Cluster {
    pub fn at(folder: &Path, durability: Durability) -> Self {
        Self { folder: folder.to_owned(), durability, port: 5432 }
    }

    pub fn with_port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// The folder exists and is empty.
    pub fn create(folder: &Path, durability: Durability) -> Self {
        // Others may pass through, to the socket; the data inside is private all the same.
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("it is ours");
        if let Some((uid, gid)) = unprivileged() {
            chown(folder, Some(uid), Some(gid)).expect("root may give a folder away");
        }
        let cluster = Self::at(folder, durability);
        let mut initdb = command("initdb");
        initdb.arg("-D").arg(cluster.data()).args(["-U", USER, "-A", "trust", "-E", "UTF8"]);
        initdb.args(["--no-sync", "--no-instructions"]);
        // Words in the order of a dictionary, not of their bytes: what relies on bytes must say so.
        initdb.args(["--locale=C", "--locale-provider=icu", "--icu-locale=en"]);
        run(&mut initdb);
        cluster
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Returns when it takes connections.
    pub fn start(&self) {
        run(&mut self.start_command("-c listen_addresses=''"));
    }

    pub fn start_command(&self, listening: &str) -> Command {
        let mut options = format!("-k {} {listening}", self.folder.display());
        options.push_str(" -c max_connections=200 -c shared_buffers=64MB");
        options.push_str(match self.durability {
            // After a crash it would sync each of its files: seconds for nothing. And a young one
            // fills each new file of its log with zeros, which holds up commits for tens of
            // milliseconds; one that has worked for a while uses its old files again.
            Durability::Full => " -c recovery_init_sync_method=syncfs -c wal_init_zero=off",
            Durability::None => " -c fsync=off -c full_page_writes=off",
        });
        let mut start = command("pg_ctl");
        start.arg("-D").arg(self.data()).arg("-l").arg(self.folder.join("log"));
        start.args(["-w", "-t", "60", "-o", &options, "start"]);
        start
    }

    pub fn stop(&self) {
        run(&mut self.stop_command());
    }

    pub fn stop_command(&self) -> Command {
        let mut stop = command("pg_ctl");
        stop.arg("-D").arg(self.data()).args(["-m", "immediate", "-w", "stop"]);
        stop
    }

    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://{USER}@{folder}/{database}")
    }

    pub fn create_database(&self, name: &str) {
        run(self.client("createdb").arg(name));
    }

    /// Drops it although somebody may still be connected.
    pub fn drop_database(&self, name: &str) {
        // The server may have gone with its runner.
        let _ = self.client("dropdb").args(["--force", "--if-exists", name]).output();
    }

    pub fn sql(&self, database: &str, sql: &str) -> String {
        let mut psql = self.client("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", sql]);
        String::from_utf8(run(&mut psql).stdout).expect("it answers in UTF-8").trim().to_owned()
    }

    fn client(&self, program: &str) -> Command {
        let mut client = command(program);
        client.arg("-h").arg(&self.folder).args(["-p", &self.port.to_string(), "-U", USER]);
        client
    }
}

/// Runs a program that must succeed. Its files are in the way of no pipe: a server that it
/// leaves behind writes to its log.
pub(super) fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed ({}): {said}", output.status);
    output
}
