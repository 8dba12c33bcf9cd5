//! How to work: what the command line says, within what the machine gives.

use crate::args::RunArgs;
use crate::out;
use anyhow::{Result, bail};
use mainspring_exec::{attempts_within, open_files_min, raise_open_files};

#[derive(Clone, Debug)]
pub struct Settings {
    pub max_processes: u32,
    pub pass_env: Vec<String>,
}

impl Settings {
    /// Changes the limit on open files; writes nothing.
    pub fn new(args: &RunArgs) -> Result<Self> {
        let wanted = args.max_processes.map_or_else(processes_default, std::num::NonZero::get);
        let max_processes = within_open_files(wanted)?;
        Ok(Self { max_processes, pass_env: args.pass_env.clone() })
    }
}

/// Four for each core: most wait for something else most of the time.
pub fn processes_default() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(4 * cores).unwrap_or(u32::MAX)
}

/// Raises the limit on open files, and stays within it.
pub fn within_open_files(wanted: u32) -> Result<u32> {
    let limit = match raise_open_files() {
        Ok(limit) => limit,
        Err(error) => {
            let head = out::yellow("warning");
            out::say(&format!("{head}: the limit on open files stays: {error}\n"));
            None
        }
    };
    let Some(limit) = limit else { return Ok(wanted) };
    let possible = u32::try_from(attempts_within(limit)).unwrap_or(u32::MAX);
    if possible == 0 {
        let least = open_files_min();
        bail!("the limit on open files is {limit}: raise it to at least {least} (`ulimit -n`)");
    }
    if possible < wanted {
        let head = out::yellow("note");
        out::say(&format!(
            "{head}: at most {possible} processes at once, not {wanted}: the limit on open files \
             is {limit} (`ulimit -n`)\n"
        ));
    }
    Ok(wanted.min(possible))
}
