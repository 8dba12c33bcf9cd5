//! From an order to a live process, on a spawn thread: files, environment, stdin, pipes, clone.

use super::artifacts::Outgoing;
use super::clone::{Image, Stack, clone_exec};
use super::command::{Command, NotStarted};
use super::environment::{self, ATTEMPT_ID, DATA_ID};
use super::follow::{self, Follow};
use super::leader::Leader;
use super::pipes::{self, Pipes};
use super::spawner::Job;
use super::table::Shared;
use super::work_files::WorkFiles;
use super::worktree::Working;
use crate::secrets::Patterns;
use mainspring_core::error::{ErrorClass, TaskError, shorten};
use mainspring_core::json::Json;
use mainspring_core::limits::ENV_VALUE_BYTES_MAX;
use mainspring_core::work::{Ended, Launch, Outcome, ProcessWork, Work};
use mainspring_core::work_git::GitMerge;
use rustix::process::Pid;
use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// Starts an attempt, unless it was stopped while it waited.
pub(super) fn launch(job: Job, stack: &mut Stack) {
    let Job { shared, launch, working } = job;
    let ticket = launch.ticket;
    let Some(stop) = shared.activate(ticket.attempt) else { return };
    let _spawning = Spawning(&shared);
    let (work, told) = match carried_out(&shared, &launch) {
        Ok(found) => found,
        Err(error) => return shared.ended(ticket, failed(error)),
    };
    let work = work.as_ref();
    let surroundings = Surroundings { launch: &launch, work, told, working: working.as_deref() };
    match spawn(&shared, &surroundings, stack) {
        Ok(Spawned { leader, pidfd, pipes, files, secrets }) => {
            shared.started(ticket, leader);
            let follow = Follow {
                shared: Arc::clone(&shared),
                ticket,
                step: launch.step(),
                leader: Leader { pid: leader, reaped: false },
                pidfd,
                pipes,
                files,
                stop,
                output: work.output,
                kill_grace: work.kill_grace,
                log_bytes_max: work.log_bytes_max,
                secrets,
                outgoing: outgoing(work),
                working,
                merge: merge(&launch),
            };
            drop(shared.runtime.spawn(follow::follow(follow)));
        }
        Err(NotStarted::Failed(error)) => shared.ended(ticket, failed(error)),
        Err(NotStarted::Refused(why)) => shared.refused(ticket, why),
        Err(NotStarted::Hindered(what)) => shared.ended(ticket, hindered(what)),
    }
}

/// What is executed for an order, and what it reads from stdin if that is not its input.
fn carried_out<'a>(
    shared: &Shared,
    launch: &'a Launch,
) -> Result<(Cow<'a, ProcessWork>, Option<String>), TaskError> {
    match &launch.work {
        Work::Process(work) => Ok((Cow::Borrowed(work), None)),
        Work::GitMerge(merge) => {
            let (work, told) = shared.git.merge_work(launch.ticket.attempt, merge)?;
            Ok((Cow::Owned(work), Some(told)))
        }
        #[cfg(feature = "bench")]
        Work::Echo => unreachable!("echoes go to the echo executor"),
    }
}

fn merge(launch: &Launch) -> Option<Arc<GitMerge>> {
    match &launch.work {
        Work::GitMerge(merge) => Some(Arc::new(merge.clone())),
        _ => None,
    }
}

fn outgoing(work: &ProcessWork) -> Option<Arc<Outgoing>> {
    let outgoing = || Outgoing { workdir: work.workdir.clone(), paths: work.artifacts_out.clone() };
    (!work.artifacts_out.is_empty()).then(|| Arc::new(outgoing()))
}

/// Says that a spawn is over, even when it ran into a bug.
struct Spawning<'a>(&'a Shared);

impl Drop for Spawning<'_> {
    fn drop(&mut self) {
        self.0.spawned();
    }
}

pub(super) fn failed(error: TaskError) -> Ended {
    Ended::unstarted(Outcome::Failed(error))
}

pub(super) fn hindered(what: String) -> Ended {
    Ended::unstarted(Outcome::Hindered(shorten(what).into()))
}

/// The end of an attempt whose start ran into a bug of ours.
pub(super) fn failed_by_us() -> Ended {
    failed(TaskError::new(ErrorClass::Internal, "the process could not be started: a bug"))
}

struct Spawned {
    leader: Pid,
    pidfd: OwnedFd,
    pipes: Pipes,
    files: WorkFiles,
    /// What its log must not show.
    secrets: Option<Arc<Patterns>>,
}

/// What a process is started with.
struct Surroundings<'a> {
    launch: &'a Launch,
    work: &'a ProcessWork,
    /// On stdin, instead of its input.
    told: Option<String>,
    working: Option<&'a Working>,
}

fn spawn(
    shared: &Shared,
    surroundings: &Surroundings<'_>,
    stack: &mut Stack,
) -> Result<Spawned, NotStarted> {
    let Surroundings { launch, work, told, working } = surroundings;
    let filled = environment::fill(&work.env, &shared.provisions.secrets)?;
    let secrets = Patterns::new(filled.secrets.values()).map(Arc::new);
    let mut files = WorkFiles::new(&shared.work, launch.ticket.attempt);
    let mut own = variables(shared, launch, &mut files)
        .map_err(|error| NotStarted::Refused(format!("cannot write the task's input: {error}")))?;
    let given = |name: &str| filled.variables.iter().any(|(known, _)| *known == name);
    let workspace = working.map(|working| working.workspace.variables()).unwrap_or_default();
    own.extend(workspace.into_iter().filter(|(name, _)| !given(name)));
    let environment = shared.provisions.inherited.with(&filled.variables, &own);
    let command = Command::new(&work.program, &work.workdir, environment.path())?;
    let envp = environment.strings()?;
    let refused = |error: rustix::io::Errno| NotStarted::Refused(format!("no pipes: {error}"));
    let told = told.as_deref().unwrap_or(launch.input.as_str());
    let stdin = pipes::filled(told).map_err(refused)?;
    let (pipes, [stdout, stderr]) = pipes::open().map_err(refused)?;
    let image = Image {
        candidates: &command.candidates,
        argv: &command.argv,
        envp: &envp,
        workdir: &command.workdir,
        stdio: [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()],
    };
    let (leader, pidfd) = clone_exec(stack, &image).map_err(|error| command.explain(error))?;
    Ok(Spawned { leader, pidfd, pipes, files, secrets })
}

/// Mainspring's own variables.
fn variables(
    shared: &Shared,
    launch: &Launch,
    files: &mut WorkFiles,
) -> io::Result<Vec<(&'static str, String)>> {
    let ticket = &launch.ticket;
    let mut own = vec![
        (DATA_ID, shared.data_id.clone()),
        (ATTEMPT_ID, ticket.attempt.to_string()),
        ("MAINSPRING_RUN_ID", launch.run.to_string()),
        ("MAINSPRING_WORKFLOW", launch.workflow.to_string()),
        ("MAINSPRING_TASK", launch.task.to_string()),
        ("MAINSPRING_ATTEMPT", launch.attempt.to_string()),
        ("MAINSPRING_OUTPUT", path_text(&files.output())?),
    ];
    if let Some(work) = launch.finalizes {
        own.push(("MAINSPRING_ROLE", "finalize".to_owned()));
        own.push(("MAINSPRING_WORK_ATTEMPT_ID", work.to_string()));
    }
    if let Some((index, count)) = launch.instance {
        own.push(("MAINSPRING_INDEX", index.to_string()));
        own.push(("MAINSPRING_COUNT", count.to_string()));
    }
    own.push(match fits(&launch.input) {
        true => ("MAINSPRING_INPUT", launch.input.to_string()),
        false => ("MAINSPRING_INPUT_FILE", path_text(&files.write_input(&launch.input)?)?),
    });
    own.push(match fits(&launch.run_input) {
        true => ("MAINSPRING_RUN_INPUT", launch.run_input.to_string()),
        false => {
            let path = files.write_run_input(&launch.run_input)?;
            ("MAINSPRING_RUN_INPUT_FILE", path_text(&path)?)
        }
    });
    Ok(own)
}

fn fits(value: &Json) -> bool {
    value.as_str().len() <= ENV_VALUE_BYTES_MAX
}

fn path_text(path: &Path) -> io::Result<String> {
    let bad = || io::Error::other(format!("{} is not UTF-8", path.display()));
    path.to_str().map(str::to_owned).ok_or_else(bad)
}
