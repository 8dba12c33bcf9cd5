//! The second step of a task: what lands its work.

use super::super::code::Code;
use super::super::definition::{
    Artifacts, FinalAction, Finalize, Landing, OnLost, OutputFrom, Process, Program, Workspace,
};
use super::super::format::{FINAL_ACTIONS, FINALIZE};
use super::super::report::Report;
use super::super::tree::Field;
use super::action::{Doing, program};
use super::duration::{Zero, duration};
use super::env::{Env, env};
use super::fields::Fields;
use super::mention::{Given, Mention, Named, Of, Secrets, Sight};
use super::retries::{self, retries};
use super::settings::workdir;
use super::size::size;
use super::{expect, git_merge, name, workspace};
use crate::expr::Text;
use crate::limits::{
    KILL_GRACE_DEFAULT, LOG_BYTES_DEFAULT, LOG_BYTES_MAX, START_TIMEOUT_DEFAULT, TIMEOUT_DEFAULT,
};
use std::sync::Arc;

/// A finalizer as it is written. Its expressions may name its own task: the work is done by then.
#[derive(Debug)]
pub struct Written<'n> {
    pub value: Finalize,
    /// What its program and its directory read, and what its variables do.
    mentions: Vec<Arc<[Mention<'n>]>>,
    env: Option<Arc<[Mention<'n>]>>,
}

impl<'n> Written<'n> {
    pub fn check(&self, sight: &Sight<'_, 'n>, named: &mut Vec<Named<'n>>, report: &mut Report) {
        let of = match sight.of {
            Of::Task(no) => Of::Finalizer(no),
            of => of,
        };
        let sight = Sight { of, ..*sight };
        for mentions in &self.mentions {
            sight.check(mentions, named, report);
        }
        if let Some(env) = &self.env {
            Sight { secrets: Secrets::Seen, ..sight }.check(env, named, report);
        }
    }
}

/// Reads it, and refuses it beside an action that leaves nothing to land.
pub fn finalize<'n>(
    field: Field<'n>,
    (doing, works_in): (Option<&Doing<'n>>, Option<&Workspace>),
    report: &mut Report,
) -> Option<Written<'n>> {
    let idle = match doing {
        Some(Doing::Noop) => Some("noop"),
        Some(Doing::Control(control)) => Some(control.value.word()),
        _ => None,
    };
    if let Some(action) = idle {
        let message = format!("A `{action}` task does no work that could be finalized.");
        report
            .add(Code::NothingToFinalize, field.name_place, message)
            .hint("make it the finalizer of a task with `run` or `command`, or a task of its own");
    }
    let fields = Fields::read(field, &FINALIZE, report)?;
    let action = final_action(field, &fields, report);
    let rest = Rest::read(&fields, report);
    let Given { value: action, mentions } = action?;
    let workdir_mentions = rest.workdir.as_ref().map(|given| Arc::clone(&given.mentions));
    let env_mentions = rest.env.as_ref().map(|given| Arc::clone(&given.mentions));
    let value = match action {
        Does::Program(program) => {
            if let (Some(_), Some(workdir)) = (works_in, fields.get("workdir")) {
                workspace::check_workdir(workdir, rest.workdir.as_ref(), report);
            }
            rest.around(program)
        }
        Does::Land(landing) => {
            if works_in.is_none() {
                git_merge::no_workspace(field, report);
                return None;
            }
            rest.around_merge(landing)
        }
    };
    let mentions = [Some(mentions), workdir_mentions].into_iter().flatten().collect();
    Some(Written { value, mentions, env: env_mentions })
}

/// What it does, without what is around it.
enum Does {
    Program(Program),
    Land(Landing),
}

/// Exactly one action.
fn final_action<'n>(
    whole: Field<'n>,
    fields: &Fields<'n>,
    report: &mut Report,
) -> Option<Given<'n, Does>> {
    let mut given = fields.iter().filter(|field| FINAL_ACTIONS.contains(&field.name));
    let Some(&first) = given.next() else {
        if !fields.has_misspelt(FINAL_ACTIONS) {
            report
                .add(Code::NoAction, whole.name_place, "The finalizer does nothing.")
                .hint("give it `run: …`, `command: […]` or `git_merge: {into: …}`");
        }
        return None;
    };
    for second in given {
        let message =
            format!("A finalizer does one thing: `{}` beside `{}`.", second.name, first.name);
        report
            .add(Code::SeveralActions, second.name_place, message)
            .hint("put both into one script")
            .related(first.name_place, "the first action");
    }
    if first.name == "git_merge" {
        let Given { value, mentions } = git_merge::git_merge(first, fields, report)?;
        return Some(Given { value: Does::Land(value), mentions });
    }
    let Given { value, mentions } = program(first, report)?;
    Some(Given { value: Does::Program(value), mentions })
}

/// Everything but what it does.
struct Rest<'n> {
    queue: Option<Arc<str>>,
    env: Option<Given<'n, Env>>,
    workdir: Option<Given<'n, Text>>,
    finalize: Finalize,
    process: Process,
}

impl<'n> Rest<'n> {
    fn read(fields: &Fields<'n>, report: &mut Report) -> Self {
        let get = |name| fields.get(name);
        let on_lost = [("retry", OnLost::Retry), ("fail", OnLost::Fail)];
        let output = [("file", OutputFrom::File), ("stdout", OutputFrom::Stdout)];
        let span = |name, default, zero, report: &mut Report| {
            get(name).and_then(|f| duration(f, zero, report)).unwrap_or(default)
        };
        let process = Process {
            program: Program::Argv([].into()),
            env: Env::new(),
            workdir: None,
            output: get("output")
                .and_then(|f| expect::word(f, &output, report))
                .unwrap_or(OutputFrom::File),
            kill_grace: span("kill_grace", KILL_GRACE_DEFAULT, Zero::Allowed, report),
            log_bytes_max: get("log_limit")
                .and_then(|f| size(f, 1..=LOG_BYTES_MAX, report))
                .unwrap_or(LOG_BYTES_DEFAULT),
            artifacts: Artifacts::default(),
        };
        let finalize = Finalize {
            queue: None,
            action: FinalAction::Process(process.clone()),
            retries: get("retries").and_then(|f| retries(f, report)).unwrap_or_else(retries::none),
            on_lost: get("on_lost")
                .and_then(|f| expect::word(f, &on_lost, report))
                .unwrap_or(OnLost::Retry),
            timeout: span("timeout", TIMEOUT_DEFAULT, Zero::Refused, report),
            start_timeout: span("start_timeout", START_TIMEOUT_DEFAULT, Zero::Refused, report),
        };
        Self {
            queue: get("queue").and_then(|f| queue(f, report)),
            env: get("env").and_then(|f| env(f, report)),
            workdir: get("workdir").and_then(|f| workdir(f, report)),
            finalize,
            process,
        }
    }

    fn around(self, program: Program) -> Finalize {
        let process = Process {
            program,
            env: self.env.map(|given| given.value).unwrap_or_default(),
            workdir: self.workdir.map(|given| given.value),
            ..self.process
        };
        Finalize { queue: self.queue, action: FinalAction::Process(process), ..self.finalize }
    }

    /// Unless it names one, its queue is known when its work is done.
    fn around_merge(self, landing: Landing) -> Finalize {
        let Process { kill_grace, log_bytes_max, .. } = self.process;
        let landing = Landing { kill_grace, log_bytes_max, ..landing };
        Finalize { queue: self.queue, action: FinalAction::GitMerge(landing), ..self.finalize }
    }
}

fn queue(field: Field<'_>, report: &mut Report) -> Option<Arc<str>> {
    let given = expect::text(field, report)?;
    name::check(given, "a queue", field.place(), report).then(|| given.into())
}
