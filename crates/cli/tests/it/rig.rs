//! A folder, the program in it, and ways to wait for what it does.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_mainspring");
/// Far longer than anything takes, so that a hang is a failure and not a hang.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub struct Bench {
    dir: TempDir,
}

/// A program that has ended.
#[derive(Debug)]
pub struct Done {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Bench {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a folder") }
    }

    /// A bench with one workflow in `w.yaml`.
    pub fn with(workflow: &str) -> Self {
        let bench = Self::new();
        bench.write("w.yaml", workflow);
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).expect("written");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        self.in_folder(Command::new(PROGRAM), args)
    }

    pub fn in_folder(&self, mut command: Command, args: &[&str]) -> Command {
        command.args(args).current_dir(self.dir.path()).stdin(Stdio::null());
        for name in [
            "MAINSPRING_DATA",
            "MAINSPRING_DATABASE",
            "MAINSPRING_CONFIG",
            "MAINSPRING_SERVER",
            "MAINSPRING_DATABASE",
            "MAINSPRING_TOKEN",
            "NO_COLOR",
            "CLICOLOR_FORCE",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// Runs to the end.
    pub fn run(&self, args: &[&str]) -> Done {
        finish(self.command(args))
    }

    /// Runs a shell script with the program as `$M`.
    pub fn shell(&self, script: &str) -> Done {
        let mut command = self.in_folder(Command::new("sh"), &["-c", script]);
        command.env("M", PROGRAM);
        finish(command)
    }

    /// Starts it, its stderr read line by line.
    pub fn start(&self, args: &[&str]) -> Running {
        Running::new(self.command(args))
    }

    /// Starts a shell script with the program as `$M`.
    pub fn start_shell(&self, script: &str) -> Running {
        let mut command = self.in_folder(Command::new("sh"), &["-c", script]);
        command.env("M", PROGRAM);
        Running::new(command)
    }

    /// A run as one document: what `show -o json` prints.
    pub fn show(&self, run: &str) -> Value {
        let done = self.run(&["show", run, "-o", "json"]);
        done.is(0);
        done.json()
    }

    pub fn fifo(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path(name)).status().expect("mkfifo");
        assert!(made.success());
    }

    /// Waits until a task writes to a fifo; what it wrote.
    pub fn hear(&self, fifo: &str) -> String {
        let path = self.path(fifo);
        let (say, heard) = channel();
        std::thread::spawn(move || say.send(fs::read_to_string(path)));
        heard.recv_timeout(PATIENCE).expect("a task speaks").expect("readable")
    }

    /// Processes that carry this folder's id, the dead that nobody reaped not counted.
    pub fn alive(&self) -> Vec<String> {
        let id = self.read(".mainspring/id");
        carriers(id.trim())
    }

    /// Waits until none of the folder's processes is left: a SIGKILL takes its moment.
    pub fn until_none_alive(&self) {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if self.alive().is_empty() {
                return;
            }
            std::thread::yield_now();
        }
        panic!("still alive: {:?}", self.alive());
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for pid in self.alive() {
            let pid = pid.split(' ').next().and_then(|pid| pid.parse().ok());
            if let Some(pid) = pid.and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

fn carriers(id: &str) -> Vec<String> {
    if id.is_empty() {
        return Vec::new();
    }
    let wanted = format!("MAINSPRING_DATA_ID={id}");
    let carries = |folder: &Path| {
        let environ = fs::read(folder.join("environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes())
    };
    let processes = fs::read_dir("/proc").expect("/proc").filter_map(Result::ok);
    processes
        .filter(|entry| carries(&entry.path()))
        .map(|entry| {
            let name = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            format!("{} {}", entry.file_name().to_string_lossy(), name.replace('\0', " "))
        })
        .collect()
}

pub fn finish(mut command: Command) -> Done {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = command.output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Done { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Done {
    /// The exit code is this one.
    #[track_caller]
    pub fn is(&self, code: i32) -> &Self {
        assert_eq!(self.status.code(), Some(code), "{}\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "no {text:?} in stderr:\n{}", self.stderr);
        self
    }

    #[track_caller]
    pub fn prints(&self, text: &str) -> &Self {
        assert!(self.stdout.contains(text), "no {text:?} in stdout:\n{}", self.stdout);
        self
    }

    pub fn was_killed(&self) -> bool {
        self.status.signal() == Some(9)
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).expect("one JSON document on stdout")
    }
}

/// A program that runs. Killed when it is dropped.
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    stdout: Receiver<String>,
    pub heard: String,
    printed: String,
}

impl Running {
    pub fn new(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let (say, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if say.send(line).is_err() {
                    return;
                }
            }
        });
        let (print, stdout) = channel();
        let mut lines_out = BufReader::new(child.stdout.take().expect("piped"));
        std::thread::spawn(move || {
            let mut line = String::new();
            while lines_out.read_line(&mut line).expect("UTF-8") > 0 {
                if print.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        Self { child, lines, stdout, heard: String::new(), printed: String::new() }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it runs");
    }

    /// Waits for a line of stderr that holds this text.
    #[track_caller]
    pub fn until(&mut self, text: &str) -> String {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.heard.push_str(&line);
                    self.heard.push('\n');
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("no {text:?} after:\n{}", self.heard),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("it ended without {text:?}:\n{}", self.heard)
                }
            }
        }
    }

    /// Waits for so many lines of stderr, or for its end.
    pub fn until_lines(&mut self, count: u64) {
        for _ in 0..count {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.heard.push_str(&line);
                    self.heard.push('\n');
                }
                Err(RecvTimeoutError::Timeout) => panic!("silent after:\n{}", self.heard),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// kill -9, which does nothing to what has ended.
    pub fn kill(&mut self) {
        self.child.kill().expect("our child");
    }

    /// Waits for a line of stdout that holds this text.
    #[track_caller]
    pub fn until_printed(&mut self, text: &str) {
        loop {
            let line = self.stdout.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("no {text:?} after:\n{}", self.printed));
            self.printed.push_str(&line);
            if line.contains(text) {
                return;
            }
        }
    }

    /// Waits for the end.
    pub fn done(mut self) -> Done {
        let stdout = std::mem::take(&mut self.printed) + &self.stdout.iter().collect::<String>();
        let status = self.child.wait().expect("waited for");
        let mut stderr = std::mem::take(&mut self.heard);
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            stderr.push_str(&line);
            stderr.push('\n');
        }
        Done { status, stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A task of `show -o json` by its name.
#[track_caller]
pub fn task<'a>(document: &'a Value, name: &str) -> &'a Value {
    let tasks = document["tasks"].as_array().expect("tasks");
    tasks.iter().find(|task| task["name"] == name).unwrap_or_else(|| panic!("no task {name}"))
}
