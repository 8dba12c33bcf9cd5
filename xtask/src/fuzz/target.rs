//! The server that is fuzzed: the real program, in a folder of its own.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::checkout::target_folder;

const START_TIME_MAX: Duration = Duration::from_secs(120);

/// Ends in no time, one way or the other.
const QUICK: &str = "name: quick\ntasks:\n  first: { run: 'echo out; echo err >&2' }\n  \
                     second: { depends_on: [first], run: 'true' }\n";
const FAILS: &str = "name: fails\ntasks:\n  first: { run: 'exit 3' }\n  \
                     second: { depends_on: [first], run: 'true' }\n";
/// Is there to be paused, cancelled and followed.
const SLOW: &str = "name: slow\ntasks:\n  first: { run: 'echo up; exec sleep 600' }\n  \
                    second: { depends_on: [first], run: 'true' }\n";

/// Killed when it is dropped, and its processes with it.
#[derive(Debug)]
pub struct Target {
    program: PathBuf,
    pub folder: PathBuf,
    child: Child,
    pub url: String,
}

/// Whether there are runs that do not end by themselves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pace {
    Quick,
    Slow,
}

impl Target {
    pub fn start(folder: PathBuf, database: Option<&str>) -> Result<Self> {
        let program = target_folder()?.join("debug/mainspring");
        if folder.exists() {
            fs::remove_dir_all(&folder).context("could not empty the working folder")?;
        }
        fs::create_dir_all(&folder).context("could not make the working folder")?;
        let mut command = Command::new(&program);
        command.args(["server", "--listen", "127.0.0.1:0", "--max-processes", "16"]);
        if let Some(database) = database {
            command.args(["--database", database]);
        }
        command.current_dir(&folder).env_remove("MAINSPRING_DATA");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().context("could not start the server")?;
        let (say, heard) = channel();
        let lines = BufReader::new(child.stderr.take().context("its stderr is piped")?);
        let log = File::create(folder.join("server.log")).context("could not write a log")?;
        std::thread::spawn(move || keep(lines, log, &say));
        let mut target = Self { program, folder, child, url: String::new() };
        let Ok(address) = heard.recv_timeout(START_TIME_MAX) else {
            bail!("the server did not start:\n{}", target.log());
        };
        target.url = format!("http://{address}");
        Ok(target)
    }

    /// Deploys and runs a little, so that there is something to ask for.
    pub fn prepare(&self, pace: Pace) -> Result<()> {
        let slow = (pace == Pace::Slow).then_some(("slow", SLOW, "--key"));
        let all = [("quick", QUICK, "--wait"), ("fails", FAILS, "--wait")];
        let mut ids = Vec::new();
        for (name, text, wait) in all.into_iter().chain(slow) {
            let file = format!("{name}.yaml");
            fs::write(self.folder.join(&file), text).context("could not write a workflow")?;
            self.tell(&["apply", &file])?;
            let args: &[&str] = if wait == "--wait" { &["--wait"] } else { &["--key", "fuzz"] };
            let answer = self.tell(&[&["trigger", name, "-o", "json"], args].concat())?;
            let answer: Value = serde_json::from_slice(&answer.stdout)?;
            let id = answer["run"]["id"].as_str().or(answer["id"].as_str());
            ids.push(format!("\"{}\"\n", id.context("a run has an id")?));
        }
        fs::write(self.folder.join("runs.txt"), ids.concat()).context("could not write the ids")
    }

    /// From now on a token is asked for. Its id and its secret.
    pub fn guard(&self) -> Result<(String, String)> {
        let made = self.tell(&["tokens", "create", "fuzz", "--role", "admin"])?;
        let secret = String::from_utf8(made.stdout)?.trim().to_owned();
        let listed = self.tell(&["tokens", "list", "-o", "json"])?;
        let listed: Value = serde_json::from_slice(&listed.stdout)?;
        let items = listed["items"].as_array().context("a list")?;
        let own = items.iter().find(|token| token["name"] == "fuzz");
        let id = own.and_then(|token| token["id"].as_str()).context("the new token is listed")?;
        Ok((id.to_owned(), secret))
    }

    /// A command through the socket in the data folder. A run that fails is no failure here.
    fn tell(&self, args: &[&str]) -> Result<Output> {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(&self.folder).env_remove("MAINSPRING_DATA");
        let output = command.env_remove("MAINSPRING_SERVER").output()?;
        if output.stdout.is_empty() {
            bail!("`{}`: {}", args.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(output)
    }

    /// It goes on, and nothing in it has panicked.
    pub fn check(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("the server ended ({status}):\n{}", self.log());
        }
        let log = self.log();
        if let Some(at) = log.find("panicked at") {
            let end = log[at..].char_indices().nth(2_000).map_or(log.len(), |(end, _)| at + end);
            bail!("the server panicked, see server.log: {}", &log[at..end]);
        }
        Ok(())
    }

    /// Memory in use, as the kernel counts it.
    pub fn memory_mib(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().split(' ').next());
        Ok(kib.context("/proc says how much")?.parse::<u64>()? / 1_024)
    }

    fn log(&self) -> String {
        let bytes = fs::read(self.folder.join("server.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes down what the server says, and tells where it listens.
fn keep(lines: impl BufRead, mut log: File, say: &Sender<String>) {
    for line in lines.lines().map_while(Result::ok) {
        let _ = writeln!(log, "{line}");
        let told: Option<Value> = serde_json::from_str(&line).ok();
        let address = told.as_ref().and_then(|line| line["address"].as_str());
        if let Some(address) = address {
            let _ = say.send(address.to_owned());
        }
    }
}

/// Copies what the fuzzer reads into the folder that it runs in.
pub fn copy_settings(root: &Path, folder: &Path) -> Result<()> {
    for file in ["schemathesis.toml", "hooks.py", "metrics.py"] {
        fs::copy(root.join("xtask/fuzz").join(file), folder.join(file))
            .with_context(|| format!("could not copy {file}"))?;
    }
    Ok(())
}
