//! The executor as others see it: every call takes a lock for a moment and returns.

use super::config::{ProcessConfig, SetupError};
use super::environment::{Inherited, Provisions};
use super::leftovers::{self, StillAlive};
use super::spawner::{self, Job, Spawner};
use super::table::{Known, Means, Shared};
use super::worktree::{GitDesk, Landed};
use super::{adopted, keeper, prepare};
use crate::contract::{Executor, Reports};
use crate::log::assemble;
use crate::secrets::Secrets;
use mainspring_core::ids::Ticket;
use mainspring_core::work::{Ended, Launch, Life, Question, Reattached, ReportKind, Stop};
use rustix::process::{getpid, set_child_subreaper};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longer than it takes to remove some gigabytes; what is left then is removed by the next life.
const CLEARING_WAIT_MAX: Duration = Duration::from_secs(10);
/// A spawn takes about a millisecond, unless its program is on a file system that hangs.
const SPAWN_WAIT_MAX: Duration = Duration::from_secs(5);

/// Carries out attempts as child processes. `kill_leftovers` comes before it, once.
pub struct ProcessExecutor {
    shared: Arc<Shared>,
    spawner: &'static Spawner,
}

impl std::fmt::Debug for ProcessExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProcessExecutor").field("data_id", &self.shared.data_id).finish()
    }
}

impl ProcessExecutor {
    /// Makes its folders, empties the one for live attempts, and makes this process the reaper
    /// of orphans. `runtime` needs its I/O and time drivers.
    pub fn new(
        config: ProcessConfig,
        runtime: tokio::runtime::Handle,
        reports: Arc<dyn Reports>,
    ) -> Result<Self, SetupError> {
        let ProcessConfig { data_id, folder, pass_env, secrets_dir, git_merge } = config;
        // Children find their files from other directories than ours.
        let folder = absolute(folder)?;
        let secrets = Secrets::new(secrets_dir.map(absolute).transpose()?);
        make_folder(&folder.join("logs"))?;
        empty_folder(&folder.join("work"))?;
        let git = GitDesk::open(&folder, git_merge, &runtime)
            .map_err(|source| SetupError::Folder { path: folder.clone(), source })?;
        set_child_subreaper(Some(getpid())).map_err(|error| SetupError::Subreaper(error.into()))?;
        let spawner = spawner::start().map_err(SetupError::Threads)?;
        keeper::start().map_err(SetupError::Threads)?;
        adopted::works_for(&data_id);
        let provisions = Provisions { inherited: Inherited::read(&pass_env), secrets };
        let means = Means { provisions, git, runtime, reports };
        let shared = Arc::new(Shared::new(data_id, &folder, means));
        Ok(Self { shared, spawner })
    }

    /// Kills everything it started, at once, and says what could not be killed. Attempts that end
    /// by this are not reported: the next life finds them lost.
    pub fn kill_all(&self) -> Result<(), StillAlive> {
        let groups = self.shared.kill_groups();
        // What a spawn thread has in hand is killed by it as soon as it runs.
        let until = Instant::now() + SPAWN_WAIT_MAX;
        while self.shared.is_spawning() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        leftovers::kill_until_gone(&self.shared.data_id, &groups).map(|_| ())
    }
}

impl Executor for ProcessExecutor {
    fn start(&self, launch: Launch) {
        if self.shared.enqueue(launch.ticket) {
            let job = Job { shared: Arc::clone(&self.shared), launch, working: None };
            prepare::submit(job, self.spawner);
        }
    }

    fn stop(&self, stop: Stop) {
        self.shared.stop(stop.ticket);
    }

    fn reattach(&self, question: Question, life: Life) {
        let Question { ticket, number } = question;
        let answer = match (self.shared.look_up(question), life) {
            (None, _) => return,
            (Some(Known::Refused(why)), _) => {
                return self.shared.report(ticket, ReportKind::Refused(why));
            }
            (Some(Known::Running), _) => Reattached::Running,
            (Some(Known::Ended(ended)), _) => Reattached::Ended(ended),
            (Some(Known::Nothing), Life::This) => Reattached::NeverStarted,
            (Some(Known::Nothing), Life::Former) => {
                let shared = Arc::clone(&self.shared);
                // Putting a log together copies files.
                drop(self.shared.runtime.spawn_blocking(move || {
                    let log = assemble::assemble(&shared.place(ticket.attempt)).ok().flatten();
                    let answer = match shared.landed_before(ticket.attempt) {
                        Some(Landed::Yes(outcome)) => {
                            Reattached::Ended(Ended { log, ..Ended::of(outcome) })
                        }
                        Some(Landed::No) | None => Reattached::Unknown { log },
                        // The next life is asked again.
                        Some(Landed::Unsaid) => return,
                    };
                    shared.report(ticket, ReportKind::Reattached(number, answer));
                }));
                return;
            }
        };
        self.shared.report(ticket, ReportKind::Reattached(number, answer));
    }

    fn settle(&self, ticket: Ticket) {
        self.shared.settle(ticket.attempt);
    }

    fn held(&self) -> Vec<Ticket> {
        self.shared.held()
    }

    fn shut_down(&self) {
        // What a SIGKILL cannot end is found by the next life.
        let _ = self.kill_all();
        self.shared.clearing.wait(CLEARING_WAIT_MAX);
    }
}

fn absolute(path: PathBuf) -> Result<PathBuf, SetupError> {
    std::path::absolute(&path).map_err(|source| SetupError::Folder { path, source })
}

fn make_folder(path: &Path) -> Result<(), SetupError> {
    std::fs::create_dir_all(path)
        .map_err(|source| SetupError::Folder { path: path.to_owned(), source })
}

/// Files of attempts of a former life are of no use to anyone.
fn empty_folder(path: &Path) -> Result<(), SetupError> {
    match std::fs::remove_dir_all(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(SetupError::Folder { path: path.to_owned(), source })
        }
        _ => make_folder(path),
    }
}
