//! Where the attempts of a task work.

use super::super::code::Code;
use super::super::definition::Workspace;
use super::super::format::{GIT_WORKSPACE, WORKSPACE};
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::super::workspace_path;
use super::env::filled;
use super::fields::Fields;
use super::mention::{Given, Mention};
use super::template;
use crate::expr::Text;
use crate::limits::ENV_VALUE_BYTES_MAX;

pub fn workspace<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Workspace>> {
    let fields = Fields::read(field, &WORKSPACE, report)?;
    let git = fields.required("git", "A workspace", report)?;
    let fields = Fields::read(git, &GIT_WORKSPACE, report)?;
    let mut mentions = Vec::new();
    let repo = text(fields.get("repo"), ".", &mut mentions, report);
    let base = text(fields.get("base"), "HEAD", &mut mentions, report);
    Some(Given { value: Workspace { repo: repo?, base: base? }, mentions: mentions.into() })
}

fn text<'n>(
    field: Option<Field<'n>>,
    default: &str,
    mentions: &mut Vec<Mention<'n>>,
    report: &mut Report,
) -> Option<Text> {
    let Some(field) = field else { return Text::parse(default).ok() };
    filled(field, ENV_VALUE_BYTES_MAX, report)?;
    let given = template::text(field, report)?;
    if let Some(fixed) = given.value.fixed()
        && (fixed.starts_with('-') || fixed.chars().any(char::is_control))
    {
        let message = format!("{} is nothing that git could find.", quoted(fixed));
        report
            .add(Code::BadText, field.place(), message)
            .hint("write a path for `repo`; a branch, a tag or a commit for `base`");
        return None;
    }
    mentions.extend(given.mentions.iter().cloned());
    Some(given.value)
}

/// A success that is taken again has no branch.
pub fn check(workspace: Option<Field<'_>>, cache: Option<Field<'_>>, report: &mut Report) {
    let (Some(workspace), Some(cache)) = (workspace, cache) else { return };
    let message = "A task with a `workspace` cannot have a `cache`: its work is on a branch.";
    report
        .add(Code::BesideWorkspace, cache.name_place, message)
        .hint("leave the cache out, or work without a workspace")
        .related(workspace.name_place, "the workspace");
}

/// What is known of a directory beside a workspace before any value is.
pub fn check_workdir(field: Field<'_>, given: Option<&Given<'_, Text>>, report: &mut Report) {
    let Some(path) = given.and_then(|given| given.value.fixed()) else { return };
    let Some(why) = workspace_path::problem(path) else { return };
    let message = format!("The `workdir` {} {why}, and leaves the workspace.", quoted(path));
    report
        .add(Code::OutsideWorkspace, field.place(), message)
        .hint("write a path below the worktree, such as `sub/folder`");
}
