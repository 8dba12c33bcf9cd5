//! What an expression reads: known from its text alone, so that it can be checked when it is
//! deployed and fetched when it is evaluated, and nothing else is.

use super::path::{Chain, Step};
use super::problem::{Problem, nearest, quoted};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// The run's input.
    Input,
    Output(Arc<str>),
    Status(Arc<str>),
    Item,
    Index,
    Count,
    RunId,
    ScheduledFor,
    Secret(Arc<str>),
}

/// One value that an expression reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub root: Root,
    /// The way from there.
    pub steps: Vec<Step>,
    /// Bytes of the expression.
    pub at: Range<usize>,
    /// Bytes of the task's or secret's name, or of the whole.
    pub name_at: Range<usize>,
}

const ROOTS: &[&str] = &["input", "tasks", "item", "index", "count", "run", "secrets"];

/// What other programs call them.
const ROOTS_ELSEWHERE: &[(&str, &str)] = &[
    ("inputs", "input"),
    ("params", "input"),
    ("parameters", "input"),
    ("trigger", "input"),
    ("steps", "tasks"),
    ("needs", "tasks"),
    ("jobs", "tasks"),
    ("task", "tasks"),
    ("secret", "secrets"),
    ("each", "item"),
    ("matrix", "item"),
    ("i", "index"),
];

impl Reference {
    /// What a chain of names stands for.
    pub fn of(chain: &Chain, source: &str) -> Result<Self, Problem> {
        let (root, taken) = match &*chain.root.0 {
            "input" => (Root::Input, 0),
            "item" => (Root::Item, 0),
            "index" => (Root::Index, 0),
            "count" => (Root::Count, 0),
            "tasks" => task(chain, source)?,
            "run" => run(chain)?,
            "secrets" => secret(chain)?,
            _ => return Err(unknown(chain)),
        };
        let name_at = match root {
            Root::Output(_) | Root::Status(_) | Root::Secret(_) => chain.steps[0].1.clone(),
            _ => chain.at(),
        };
        let steps: Vec<Step> = chain.steps[taken..].iter().map(|(step, _)| step.clone()).collect();
        if let (Some((_, at)), true) = (chain.steps.get(taken), root.is_plain()) {
            let message = format!("{} has no fields.", quoted(&root.to_string()));
            return Err(Problem::new(at.clone(), message));
        }
        Ok(Self { root, steps, at: chain.at(), name_at })
    }
}

impl Root {
    /// A text or a number, never a map or a list.
    fn is_plain(&self) -> bool {
        !matches!(self, Self::Input | Self::Output(_) | Self::Item)
    }
}

fn task(chain: &Chain, source: &str) -> Result<(Root, usize), Problem> {
    let Some((Step::Field(name), name_at)) = chain.steps.first() else {
        let message = "`tasks` needs the name of a task after it.";
        return Err(Problem::new(chain.at(), message).with_hint("write `tasks.name.output`"));
    };
    let own = written(name);
    match chain.steps.get(1) {
        Some((Step::Field(field), _)) if &**field == "output" => {
            Ok((Root::Output(name.clone()), 2))
        }
        Some((Step::Field(field), _)) if &**field == "status" => {
            Ok((Root::Status(name.clone()), 2))
        }
        Some((step, at)) => {
            let message =
                format!("A task has `output` and `status`, not {}.", quoted(&step.bare()));
            let hint = match dashed(source, name_at) {
                Some((hint, _)) => hint,
                None => format!("write `tasks{own}.output{step}` for a field of its output"),
            };
            Err(Problem::new(at.clone(), message).with_hint(hint))
        }
        None => {
            if let Some((hint, end)) = dashed(source, name_at) {
                return Err(Problem::new(chain.at().start..end, SUBTRACTION).with_hint(hint));
            }
            let message = format!("It does not say what of the task {} is meant.", quoted(name));
            let hint = format!("write `tasks{own}.output` or `tasks{own}.status`");
            Err(Problem::new(chain.at(), message).with_hint(hint))
        }
    }
}

const SUBTRACTION: &str = "A name with `-` in it reads as a subtraction here.";

/// A name that was meant to be longer: `my-task` is a subtraction.
fn dashed_name<'s>(source: &'s str, name_at: &Range<usize>) -> Option<&'s str> {
    let rest = source.get(name_at.start..)?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
    let name = name.trim_end_matches('-');
    let in_quotes = source.get(..name_at.start)?.ends_with(['\'', '"']);
    (name.contains('-') && !in_quotes).then_some(name)
}

/// `tasks.my-task.output` is a subtraction. What to write instead, and where it ends.
fn dashed(source: &str, name_at: &Range<usize>) -> Option<(String, usize)> {
    let name = dashed_name(source, name_at)?;
    let end = name_at.start + name.len();
    let field = ["output", "status"].into_iter().find(|field| {
        source[end..].strip_prefix('.').is_some_and(|after| after.starts_with(field))
    });
    let hint = format!("write `tasks['{name}'].{}`", field.unwrap_or("output"));
    Some((hint, end + field.map_or(0, |field| field.len() + 1)))
}

/// The same for `secrets.api-token`.
pub fn dashed_secret(source: &str, reference: &Reference) -> Option<Problem> {
    let name = dashed_name(source, &reference.name_at)?;
    let at = reference.at.start..reference.name_at.start + name.len();
    Some(Problem::new(at, SUBTRACTION).with_hint(format!("write `secrets['{name}']`")))
}

fn run(chain: &Chain) -> Result<(Root, usize), Problem> {
    match chain.steps.first() {
        Some((Step::Field(field), _)) if &**field == "id" => Ok((Root::RunId, 1)),
        Some((Step::Field(field), _)) if &**field == "scheduled_for" => Ok((Root::ScheduledFor, 1)),
        found => {
            let at = found.map_or(chain.at(), |(_, at)| at.clone());
            let message = "A run has `run.id` and `run.scheduled_for`.";
            Err(Problem::new(at, message))
        }
    }
}

fn secret(chain: &Chain) -> Result<(Root, usize), Problem> {
    match chain.steps.first() {
        Some((Step::Field(name), _)) => Ok((Root::Secret(name.clone()), 1)),
        _ => {
            let message = "`secrets` needs the name of a secret after it.";
            Err(Problem::new(chain.at(), message).with_hint("write `secrets.name`"))
        }
    }
}

fn unknown(chain: &Chain) -> Problem {
    let (name, at) = &chain.root;
    let elsewhere = ROOTS_ELSEWHERE.iter().find(|(theirs, _)| *theirs == &**name);
    let near = elsewhere.map(|(_, ours)| *ours).or_else(|| nearest(name, ROOTS.iter().copied()));
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("text is written in quotes; names are `{}`", ROOTS.join("`, `")),
    };
    Problem::new(at.clone(), format!("There is no {} in expressions.", quoted(name)))
        .with_hint(hint)
}

/// The name as a step: `.fetch`, or `['my-task']` where that would not be read as a name.
fn written(name: &Arc<str>) -> String {
    Step::Field(name.clone()).to_string()
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input => f.write_str("input"),
            Self::Output(task) => write!(f, "tasks{}.output", written(task)),
            Self::Status(task) => write!(f, "tasks{}.status", written(task)),
            Self::Item => f.write_str("item"),
            Self::Index => f.write_str("index"),
            Self::Count => f.write_str("count"),
            Self::RunId => f.write_str("run.id"),
            Self::ScheduledFor => f.write_str("run.scheduled_for"),
            Self::Secret(name) => write!(f, "secrets{}", written(name)),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.root)?;
        self.steps.iter().try_for_each(|step| write!(f, "{step}"))
    }
}
