//! The rounds of a fuzz, and what the fuzzer is told in each.

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use super::python;
use super::target::{Pace, Target, copy_settings};
use crate::checkout::{cargo, target_folder};

/// How long, and with what.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// How long to go on; without it, as long as the step of `cargo xtask test`
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// An empty PostgreSQL database, instead of the embedded one
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Make the same requests again
    #[arg(long)]
    seed: Option<u64>,
}

/// Of the step of `cargo xtask test`: a run there fails for a reason, not by chance.
const SEED: u64 = 8_070;
/// Cases for each operation in the step, chosen so that it takes some twenty seconds.
const EXAMPLES: u32 = 5;

/// Who asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Caller<'a> {
    /// While there is no token.
    Anyone,
    Admin {
        id: &'a str,
        secret: &'a str,
    },
    /// While there is one.
    Nobody,
}

struct Fuzz<'a> {
    args: &'a Args,
    seed: u64,
}

/// As the tests build it: another choice of packages would mean other features of what they have in
/// common, and everything would be built twice.
pub const BUILD_WITH_TESTS: &[&str] = &["test", "--quiet", "--workspace", "--no-run"];

/// The step of `cargo xtask test`.
pub fn step(root: &Path) -> Result<()> {
    run(root, &Args { minutes: None, database: None, seed: Some(SEED) })
}

pub fn run(root: &Path, args: &Args) -> Result<()> {
    python::install(root)?;
    let built = cargo(root, BUILD_WITH_TESTS).status().context("could not start cargo")?;
    if !built.success() {
        bail!("the server could not be built ({built})");
    }
    let folder = target_folder()?.join("fuzz-work");
    let mut target = Target::start(folder, args.database.as_deref())?;
    copy_settings(root, &target.folder)?;
    target.prepare(if args.minutes.is_some() { Pace::Slow } else { Pace::Quick })?;
    let before = target.memory_mib()?;
    let fuzz = Fuzz { args, seed: args.seed.unwrap_or_else(chance) };
    check_metrics(&target, "")?;
    fuzz.round(&mut target, Caller::Anyone)?;
    let (id, secret) = target.guard()?;
    check_metrics(&target, &secret)?;
    fuzz.round(&mut target, Caller::Admin { id: &id, secret: &secret })?;
    check_metrics(&target, &secret)?;
    fuzz.round(&mut target, Caller::Nobody)?;
    let after = target.memory_mib()?;
    eprintln!("the server goes on; its memory was {before} MiB, and is {after} MiB");
    Ok(())
}

/// As Prometheus reads them: nothing that only rises has fallen since the last time.
fn check_metrics(target: &Target, secret: &str) -> Result<()> {
    let mut command = Command::new(python::program("python")?);
    command.args(["metrics.py", &target.url, "metrics.json"]).env("FUZZ_TOKEN", secret);
    let status = command.current_dir(&target.folder).status().context("could not start Python")?;
    if !status.success() {
        bail!("/metrics is not what Prometheus reads (see above)");
    }
    Ok(())
}

fn chance() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs()
}

impl Fuzz<'_> {
    fn round(&self, target: &mut Target, caller: Caller<'_>) -> Result<()> {
        let name = match caller {
            Caller::Anyone => "anyone",
            Caller::Admin { .. } => "admin",
            Caller::Nobody => "nobody",
        };
        eprintln!("==> fuzz: as {name}, seed {}", self.seed);
        let mut command = self.command(target)?;
        match caller {
            Caller::Anyone => {
                // There is no token to ask for; and the first one would end this round.
                command.args(["--exclude-checks", "ignored_auth"]);
                command.args(["--exclude-operation-id", "createToken"]);
            }
            Caller::Admin { id, secret } => {
                command.args(["--header", &format!("Authorization: Bearer {secret}")]);
                command.env("FUZZ_TOKEN_ID", id);
            }
            // Nothing gets past the door, so that more of the same tells nothing new.
            Caller::Nobody => {
                command.args(["--phases", "coverage"]);
            }
        }
        if caller != Caller::Nobody {
            self.bound(&mut command);
        }
        let status = command.status().context("could not start schemathesis")?;
        target.check()?;
        if !status.success() {
            bail!("schemathesis found something as {name} (see above, and server.log)");
        }
        Ok(())
    }

    fn bound(&self, command: &mut Command) {
        match self.args.minutes {
            None => command.args(["--max-examples", &EXAMPLES.to_string()]),
            // Two rounds share the time.
            Some(minutes) => command.args(["--max-time", &(minutes * 30).max(1).to_string()]),
        };
    }

    fn command(&self, target: &Target) -> Result<Command> {
        let mut command = Command::new(python::program("schemathesis")?);
        command.current_dir(&target.folder);
        command.args(["--config-file", "schemathesis.toml", "run"]);
        command.arg(format!("{}/openapi.json", target.url));
        command.args(["--seed", &self.seed.to_string(), "--warnings", "off"]);
        // What an earlier run remembers must not decide what this one does.
        command.args(["--generation-database", "none"]);
        Ok(command)
    }
}
