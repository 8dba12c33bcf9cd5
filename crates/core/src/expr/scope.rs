//! What expressions are evaluated in. Nothing is fetched that no expression reads; what is, is
//! fetched once, and each value of it is made once.

use super::convert::{Boxed, write_text};
use super::path::Step;
use super::reads::told;
use super::reference::{Reference, Root};
use super::seek::seek;
use super::trouble::{Trouble, Unread};
use crate::json::Json;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Where the values come from.
pub trait Source {
    /// The run's input.
    fn input(&self) -> Json;
    fn run_id(&self) -> String;
    /// The moment that a schedule meant, as RFC 3339.
    fn scheduled_for(&self) -> Option<String>;
    /// What a task above put out; none when it put out nothing.
    fn output(&self, task: &str) -> Result<Option<Json>, Unread>;
    /// The word for where a task above stands.
    fn status(&self, task: &str) -> &str;
}

/// A source, and what was read from it so far.
pub struct Known<'a> {
    source: &'a dyn Source,
    texts: RefCell<BTreeMap<Root, Json>>,
    values: RefCell<BTreeMap<Root, Paths>>,
}

/// The values of one root that were asked for, by the way to them.
type Paths = BTreeMap<Vec<Step>, Kept>;

/// Where a value is kept once it is made.
pub type Kept = Arc<OnceLock<Made>>;

/// A value, and what it took: each evaluation that reads it pays for it, so that what is refused
/// does not depend on who came first.
#[derive(Debug)]
pub struct Made {
    pub value: Boxed,
    pub steps: usize,
}

/// Which instance of a group this is for.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub index: u32,
    pub count: u32,
    /// JSON text; none without `foreach`.
    pub item: Option<&'a str>,
}

/// What an expression may see.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    known: &'a Known<'a>,
    place: Option<Place<'a>>,
}

/// JSON text, shared or lent.
#[derive(Clone, Debug)]
pub enum Found<'a> {
    Shared(Json),
    Lent(&'a str),
}

impl Found<'_> {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Shared(json) => json.as_str(),
            Self::Lent(text) => text,
        }
    }
}

impl<'a> Known<'a> {
    pub fn new(source: &'a dyn Source) -> Self {
        Self { source, texts: RefCell::default(), values: RefCell::default() }
    }

    /// For a task that is no group, or for a group as a whole.
    pub fn scope(&'a self) -> Scope<'a> {
        Scope { known: self, place: None }
    }

    pub fn instance(&'a self, place: Place<'a>) -> Scope<'a> {
        Scope { known: self, place: Some(place) }
    }

    /// What has been made into values so far.
    #[cfg(test)]
    pub(super) fn made(&self) -> Vec<String> {
        let values = self.values.borrow();
        let paths = values.iter().flat_map(|(root, paths)| paths.iter().map(move |it| (root, it)));
        let made = paths.filter(|(_, (_, cell))| cell.get().is_some());
        let shown = |(root, (steps, _)): (&Root, (&Vec<Step>, _))| {
            steps.iter().fold(root.to_string(), |path, step| path + &step.to_string())
        };
        made.map(shown).collect()
    }

    fn text(&self, root: &Root) -> Result<Json, Trouble> {
        if let Some(text) = self.texts.borrow().get(root) {
            return Ok(text.clone());
        }
        let text = match root {
            Root::Input => self.source.input(),
            Root::Output(task) => self.source.output(task)?.unwrap_or_else(Json::null),
            Root::Status(task) => text_of(self.source.status(task)),
            Root::RunId => text_of(&self.source.run_id()),
            Root::ScheduledFor => {
                self.source.scheduled_for().map_or_else(Json::null, |time| text_of(&time))
            }
            Root::Item | Root::Index | Root::Count | Root::Secret(_) => return Err(absent(root)),
        };
        self.texts.borrow_mut().insert(root.clone(), text.clone());
        Ok(text)
    }
}

impl<'a> Scope<'a> {
    /// The text of a whole root.
    pub(super) fn text(&self, root: &Root) -> Result<Found<'a>, Trouble> {
        let number = |number: u32| Ok(Found::Shared(Json::composed(number.to_string())));
        match (root, self.place) {
            (Root::Index, Some(place)) => number(place.index),
            (Root::Count, Some(place)) => number(place.count),
            (Root::Item, Some(Place { item: Some(item), .. })) => Ok(Found::Lent(item)),
            _ => self.known.text(root).map(Found::Shared),
        }
    }

    /// The value at a reference, as it is written.
    pub(super) fn read(&self, reference: &Reference) -> Result<Json, Trouble> {
        let text = self.text(&reference.root)?;
        if let (Found::Shared(json), []) = (&text, reference.steps.as_slice()) {
            return Ok(json.clone());
        }
        match seek(text.as_str(), &reference.steps) {
            Ok(found) => Ok(Json::composed(found.to_owned())),
            Err(missing) => Err(Trouble::Wrong(told(reference, &missing))),
        }
    }

    /// Where the value of a reference is kept once it is made. An instance's own are not shared.
    pub(super) fn kept(&self, reference: &Reference) -> Kept {
        if matches!(reference.root, Root::Item | Root::Index | Root::Count) {
            return Arc::default();
        }
        let mut values = self.known.values.borrow_mut();
        let paths = values.entry(reference.root.clone()).or_default();
        Arc::clone(paths.entry(reference.steps.clone()).or_default())
    }
}

fn text_of(text: &str) -> Json {
    let mut json = String::with_capacity(text.len() + 2);
    write_text(text, &mut json);
    Json::composed(json)
}

/// Where a definition was accepted, none of these is read where there is none.
fn absent(root: &Root) -> Trouble {
    Trouble::Wrong(format!("there is no `{root}` here"))
}

impl std::fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope").field("place", &self.place).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Known<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known").field("texts", &self.texts).finish_non_exhaustive()
    }
}
