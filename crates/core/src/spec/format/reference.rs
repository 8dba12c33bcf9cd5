//! The tables of the reference page.

use super::finalize::FINALIZE;
use super::shape::Shape;
use super::table::{Entry, Group};
use super::task::{ACTIONS, DEPENDENCY, RETRIES, TASK};
use super::workflow::WORKFLOW;

/// A table of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    Workflow,
    Actions,
    Task,
    Retries,
    Finalize,
    When,
}

impl Page {
    pub const ALL: &[Self] =
        &[Self::Workflow, Self::Actions, Self::Task, Self::Retries, Self::Finalize, Self::When];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Workflow => "workflow",
            Self::Actions => "actions",
            Self::Task => "task",
            Self::Retries => "retries",
            Self::Finalize => "finalize",
            Self::When => "when",
        }
    }
}

/// One table in Markdown.
pub fn markdown(page: Page) -> String {
    let is_action = |entry: &Entry| ACTIONS.contains(&entry.name);
    match page {
        Page::Workflow => table(&WORKFLOW, |_| true),
        Page::Actions => table(&TASK, is_action),
        Page::Task => table(&TASK, |entry| !is_action(entry)),
        Page::Retries => table(&RETRIES, |_| true),
        Page::Finalize => table(&FINALIZE, |_| true),
        Page::When => words(&DEPENDENCY, "when"),
    }
}

fn table(group: &Group, shown: impl Fn(&Entry) -> bool) -> String {
    let mut text = "| field | default | meaning |\n| --- | --- | --- |\n".to_owned();
    for entry in group.listed().filter(|entry| shown(entry)) {
        let default = match entry.default {
            _ if group.required.contains(&entry.name) => "required".to_owned(),
            Some(default) => format!("`{default}`"),
            None => String::new(),
        };
        let line = format!("| `{}` | {default} | {} |\n", entry.name, meaning(entry));
        text.push_str(&line.replace("|  |", "| |"));
    }
    text
}

fn meaning(entry: &Entry) -> String {
    let mut text = entry.about.to_owned();
    if let Shape::Words(words) = entry.shape {
        let words = words.iter().map(|(word, meaning)| format!("`{word}`: {meaning}"));
        text.push_str(&format!(" {}.", words.collect::<Vec<_>>().join("; ")));
    }
    if let Some(example) = entry.examples.first() {
        text.push_str(&format!(" Example: `{}: {example}`.", entry.name));
    }
    text
}

fn words(group: &Group, name: &str) -> String {
    let mut text = format!("| `{name}` | once the other task |\n| --- | --- |\n");
    let entry = group.known.iter().find(|entry| entry.name == name);
    if let Some(Entry { shape: Shape::Words(words), .. }) = entry {
        for (word, meaning) in *words {
            text.push_str(&format!("| `{word}` | {meaning} |\n"));
        }
    }
    text
}
