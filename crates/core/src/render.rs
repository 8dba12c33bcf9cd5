//! What a process is told, values put in.

use crate::evaluate::Stop;
use crate::expr::{Expr, Part, Scope, Text, put};
use crate::limits::ENV_VALUE_BYTES_MAX;
use crate::spec::definition::{Process, Program, Variable, Workspace};
use crate::spec::{artifact_path, workspace_path};
use crate::work::{self, EnvPart, EnvValue, ProcessWork};
use crate::work_git::GitWorkspace;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Where a process works.
#[derive(Clone, Copy)]
pub(crate) enum Base<'a> {
    /// In this directory, or wherever it says.
    Directory(&'a str),
    /// In its workspace, and nowhere else.
    Workspace,
}

pub(crate) fn render_process(
    process: &Process,
    base: Base<'_>,
    scope: &Scope<'_>,
) -> Result<ProcessWork, Stop> {
    let (program, variables) = program(&process.program, scope)?;
    let mut env = env(process, scope)?;
    env.extend(variables);
    Ok(ProcessWork {
        program,
        env,
        workdir: workdir(process.workdir.as_ref(), base, scope)?,
        workspace: None,
        output: process.output,
        kill_grace: process.kill_grace,
        log_bytes_max: process.log_bytes_max,
        artifacts_in: Vec::new(),
        artifacts_wanted: process.artifacts.wanted.clone(),
        artifacts_out: artifacts(&process.artifacts.out, scope)?,
    })
}

type Env = Vec<(String, EnvValue)>;

/// A program, and the variables that its script reads values from.
fn program(program: &Program, scope: &Scope<'_>) -> Result<(work::Program, Env), Stop> {
    match program {
        Program::Shell(line) => {
            let variables = line.variables().map(|(name, expr)| {
                let field = format!("run: ${{{{{}}}}}", expr.source());
                Ok((name, EnvValue::Text(value(expr, &field, scope)?)))
            });
            let variables: Result<Env, Stop> = variables.collect();
            Ok((work::Program::Shell(Arc::clone(line.script())), variables?))
        }
        Program::Argv(argv) => {
            let argument = |(at, text)| rendered(text, &format!("command[{at}]"), scope);
            let argv: Vec<String> =
                argv.iter().enumerate().map(argument).collect::<Result<_, _>>()?;
            if argv.first().is_none_or(|program| program.trim().is_empty()) {
                return Err(Stop::logic("`command[0]` names no program: it is empty"));
            }
            Ok((work::Program::Argv(argv.into()), Vec::new()))
        }
    }
}

fn env(process: &Process, scope: &Scope<'_>) -> Result<Env, Stop> {
    let variable = |(name, given): (&String, &Variable)| {
        let field = format!("env.{name}");
        let value = match given {
            Variable::Secret(secret) => EnvValue::Parts(vec![EnvPart::Secret(secret.to_string())]),
            Variable::Text(text) => variable(text, &field, scope)?,
        };
        Ok((name.clone(), value))
    };
    process.env.iter().map(variable).collect()
}

/// Text, or parts where secrets are among it: those are put in when the process starts.
fn variable(text: &Text, field: &str, scope: &Scope<'_>) -> Result<EnvValue, Stop> {
    let parts = text.parts();
    let is_secret =
        |part: &Part| matches!(part, Part::Template(expr, _) if expr.secret().is_some());
    if !parts.iter().any(is_secret) {
        return Ok(EnvValue::Text(rendered(text, field, scope)?));
    }
    let part = |part: &Part| match part {
        Part::Plain(plain) => Ok(EnvPart::Text(plain.to_string())),
        Part::Template(expr, _) => match expr.secret() {
            Some(name) => Ok(EnvPart::Secret(name.to_string())),
            None => value(expr, field, scope).map(EnvPart::Text),
        },
    };
    let parts: Result<Vec<EnvPart>, Stop> = parts.iter().map(part).collect();
    Ok(EnvValue::Parts(parts?))
}

fn value(expr: &Expr, field: &str, scope: &Scope<'_>) -> Result<String, Stop> {
    let value = expr.value(scope).map_err(|trouble| trouble.at(field))?;
    let mut text = String::new();
    put(&value, &mut text);
    handed_over(text, field)
}

fn rendered(text: &Text, field: &str, scope: &Scope<'_>) -> Result<String, Stop> {
    let text = text.render(scope).map_err(|trouble| trouble.at(field))?;
    handed_over(text, field)
}

/// What the system can hand over to a process.
fn handed_over(text: String, field: &str) -> Result<String, Stop> {
    if text.contains('\0') {
        return Err(Stop::logic(format!(
            "`{field}` holds a NUL byte, which no process can be given"
        )));
    }
    if text.len() > ENV_VALUE_BYTES_MAX {
        return Err(Stop::logic(format!(
            "`{field}` is {} bytes; at most {ENV_VALUE_BYTES_MAX} are handed over. The task's \
             input may be larger: it is on stdin",
            text.len()
        )));
    }
    Ok(text)
}

/// A task's directory below the run's, unless it is absolute; below its workspace if it has one.
fn workdir(given: Option<&Text>, base: Base<'_>, scope: &Scope<'_>) -> Result<String, Stop> {
    let from = match base {
        Base::Directory(path) => path,
        Base::Workspace => ".",
    };
    let Some(given) = given else { return Ok(from.to_owned()) };
    let path = not_empty(given, "workdir", scope)?;
    match (base, workspace_path::problem(&path)) {
        (Base::Workspace, Some(why)) => Err(Stop::logic(format!(
            "`workdir`: the path `{path}` {why}, and leaves the workspace: what is done there \
             would be on no branch"
        ))),
        _ => Ok(below(path, from)),
    }
}

fn below(path: String, base: &str) -> String {
    match path.starts_with('/') {
        true => path,
        false => format!("{}/{path}", base.trim_end_matches('/')),
    }
}

/// A worktree of a repository that is named from this directory.
pub(crate) fn render_workspace(
    workspace: &Workspace,
    from: &str,
    branch: String,
    scope: &Scope<'_>,
) -> Result<GitWorkspace, Stop> {
    let repo = below(not_empty(&workspace.repo, "workspace.git.repo", scope)?, from);
    let base = not_empty(&workspace.base, "workspace.git.base", scope)?;
    Ok(GitWorkspace { repo, base, branch, into: None })
}

/// The branch that another lands on.
pub(crate) fn render_target(into: &Text, scope: &Scope<'_>) -> Result<String, Stop> {
    not_empty(into, "finalize.git_merge.into", scope)
}

fn not_empty(text: &Text, field: &str, scope: &Scope<'_>) -> Result<String, Stop> {
    let text = rendered(text, field, scope)?;
    match text.trim().is_empty() {
        true => Err(Stop::logic(format!("`{field}` is empty with its values put in"))),
        false => Ok(text),
    }
}

fn artifacts(out: &[Text], scope: &Scope<'_>) -> Result<Vec<String>, Stop> {
    let mut seen = BTreeSet::new();
    let mut paths = Vec::with_capacity(out.len());
    for text in out {
        let path = rendered(text, "artifacts.out", scope)?;
        if let Some(why) = artifact_path::problem(&path) {
            return Err(Stop::logic(format!("`artifacts.out`: the path `{path}` {why}")));
        }
        if !seen.insert(path.clone()) {
            return Err(Stop::logic(format!("`artifacts.out` has `{path}` twice")));
        }
        paths.push(path);
    }
    Ok(paths)
}
