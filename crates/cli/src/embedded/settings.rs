//! How to work: what the command line says, within what the machine gives.

use crate::args::RunArgs;
use crate::limits::{self, Tiers};
use crate::{data, out};
use anyhow::{Result, bail};
use mainspring_core::kernel::limit::LimitSetting;
use mainspring_exec::{attempts_within, left_beside, open_files_min, raise_open_files};
use mainspring_server::config::CONNECTIONS_MAX;
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct Settings {
    pub limits: Vec<LimitSetting>,
    /// Open connections at once at its door.
    pub connections: u32,
    pub pass_env: Vec<String>,
    pub secrets_dir: PathBuf,
}

impl Settings {
    /// Changes the limit on open files; writes nothing.
    pub fn new(args: &RunArgs, tiers: &Tiers) -> Result<Self> {
        let given = limits::processes(args.max_processes, tiers)?;
        let wanted = given.unwrap_or_else(processes_default).max(1);
        // Its one door is the socket in the data folder.
        let OpenFiles { processes, connections } = share_open_files(wanted, 1, 0)?;
        let beside = || data::secrets_dir(&args.data.folder);
        let secrets_dir = args.secrets_dir.clone().unwrap_or_else(beside);
        let pass_env = args.pass_env.clone();
        let limits = limits::settings(tiers, limits::of_processes(tiers, given, processes));
        Ok(Self { limits, connections, pass_env, secrets_dir })
    }
}

/// Four for each core: most wait for something else most of the time.
pub fn processes_default() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(4 * cores).unwrap_or(u32::MAX)
}

/// What the limit on open files leaves room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFiles {
    pub processes: u32,
    /// Open connections at each door.
    pub connections: u32,
}

/// A connection takes one, and another while a log is read through it.
const OF_A_CONNECTION: u64 = 2;
/// At each door: enough to ask what is going on.
const CONNECTIONS_MIN: u64 = 4;

/// Raises the limit on open files, and divides it: processes first, but for what a few
/// connections at each door take. Connections never take what a process needs.
///
/// `beside` is what the store keeps open besides what a file does.
pub fn share_open_files(wanted: u32, doors: usize, beside: u64) -> Result<OpenFiles> {
    let limit = match raise_open_files() {
        Ok(limit) => limit,
        Err(error) => {
            let head = out::yellow("warning");
            out::say(&format!("{head}: the limit on open files stays: {error}\n"));
            None
        }
    };
    let Some(limit) = limit else {
        return Ok(OpenFiles { processes: wanted, connections: CONNECTIONS_MAX });
    };
    let doors = u64::try_from(doors).unwrap_or(u64::MAX).max(1);
    let Some(shared) = shared(limit.saturating_sub(beside), wanted, doors) else {
        let least = open_files_min() + doors * CONNECTIONS_MIN * OF_A_CONNECTION + beside;
        bail!("the limit on open files is {limit}: raise it to at least {least} (`ulimit -n`)");
    };
    if shared.processes < wanted {
        let (head, possible) = (out::yellow("note"), shared.processes);
        out::say(&format!(
            "{head}: at most {possible} processes at once, not {wanted}: the limit on open files \
             is {limit} (`ulimit -n`)\n"
        ));
    }
    Ok(shared)
}

/// None when there is not even room for one process.
fn shared(limit: u64, wanted: u32, doors: u64) -> Option<OpenFiles> {
    let reserved = doors * CONNECTIONS_MIN * OF_A_CONNECTION;
    let possible = attempts_within(limit.saturating_sub(reserved));
    let processes = wanted.min(u32::try_from(possible).unwrap_or(u32::MAX));
    let connections = left_beside(limit, processes) / OF_A_CONNECTION / doors;
    let connections = u32::try_from(connections).unwrap_or(u32::MAX).min(CONNECTIONS_MAX);
    (processes > 0).then_some(OpenFiles { processes, connections })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_get_what_processes_leave() {
        let share = |limit, wanted, doors| {
            shared(limit, wanted, doors).map(|it| (it.processes, it.connections))
        };
        assert_eq!(share(1 << 20, 8, 2), Some((8, CONNECTIONS_MAX)));
        assert_eq!(share(1_024, 8, 2), Some((8, 241)));
        assert_eq!(share(1_024, 200, 2), Some((200, 49)));
        assert_eq!(share(1_024, 9_999, 2), Some((245, 4)), "a few connections always");
        assert_eq!(share(48, 8, 2), Some((1, 4)));
        assert_eq!(share(47, 8, 2), None);
    }
}
