//! The document as a tree of values that know their place. Nodes lie in one arena, so that
//! dropping a tree never recurses and an alias shares the node it names.

use super::place::Place;
use super::within::within;
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;

pub(super) type NodeId = u32;

#[derive(Debug)]
pub(super) enum Kind<'t> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Cow<'t, str>),
    /// Text with `${{` in it: for fields that take templates only.
    Template(Cow<'t, str>),
    List(Vec<NodeId>),
    Map(Vec<Entry<'t>>),
    /// A mistake that was reported already: nobody complains about it again.
    Broken,
}

#[derive(Debug)]
pub(super) struct Entry<'t> {
    pub key: Cow<'t, str>,
    pub key_place: Place,
    pub value: NodeId,
}

#[derive(Debug)]
pub(super) struct Slot<'t> {
    pub place: Place,
    pub kind: Kind<'t>,
}

#[derive(Debug)]
pub struct Tree<'t> {
    pub(super) text: &'t str,
    pub(super) slots: Vec<Slot<'t>>,
    pub(super) root: NodeId,
}

impl<'t> Tree<'t> {
    pub fn root(&self) -> Node<'_> {
        Node { tree: self, id: self.root }
    }
}

/// One value of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Node<'n> {
    tree: &'n Tree<'n>,
    id: NodeId,
}

/// A key of a map and its value; for an element of a list, the list's own key.
#[derive(Clone, Copy, Debug)]
pub struct Field<'n> {
    pub name: &'n str,
    pub name_place: Place,
    pub value: Node<'n>,
}

impl<'n> Node<'n> {
    fn slot(self) -> &'n Slot<'n> {
        &self.tree.slots[self.id as usize]
    }

    pub fn place(self) -> Place {
        self.slot().place
    }

    pub fn is_broken(self) -> bool {
        matches!(self.slot().kind, Kind::Broken)
    }

    pub fn is_null(self) -> bool {
        matches!(self.slot().kind, Kind::Null)
    }

    pub fn is_map(self) -> bool {
        matches!(self.slot().kind, Kind::Map(_))
    }

    pub fn text(self) -> Option<&'n str> {
        match &self.slot().kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn is_template(self) -> bool {
        matches!(self.slot().kind, Kind::Template(_))
    }

    /// Text, with templates or without.
    pub fn templated(self) -> Option<&'n str> {
        match &self.slot().kind {
            Kind::Text(text) | Kind::Template(text) => Some(text),
            _ => None,
        }
    }

    /// Where a piece of its text is written; the whole of it, or its field, when that cannot be
    /// told.
    pub fn place_within(self, at: Range<usize>, field: Place) -> Place {
        let written = self.tree.text.get(self.place().range()).unwrap_or_default();
        let found = within(self.templated().unwrap_or_default(), written, self.place(), at);
        let whole = if written.contains('\n') { field } else { self.place() };
        found.filter(|place| !place.is_empty()).unwrap_or(whole)
    }

    /// The first text with templates in it.
    pub fn first_template(self) -> Option<Node<'n>> {
        match &self.slot().kind {
            Kind::Template(_) => Some(self),
            Kind::List(_) => self.items().into_iter().flatten().find_map(Node::first_template),
            Kind::Map(_) => {
                self.fields().into_iter().flatten().find_map(|field| field.value.first_template())
            }
            _ => None,
        }
    }

    /// A scalar as text: numbers and booleans as they were written.
    pub fn scalar(self) -> Option<&'n str> {
        match &self.slot().kind {
            Kind::Text(text) => Some(text),
            Kind::Bool(_) | Kind::Int(_) | Kind::Float(_) => {
                self.tree.text.get(self.place().range())
            }
            Kind::Null | Kind::Template(_) | Kind::List(_) | Kind::Map(_) | Kind::Broken => None,
        }
    }

    pub fn bool(self) -> Option<bool> {
        match self.slot().kind {
            Kind::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub fn int(self) -> Option<i64> {
        match self.slot().kind {
            Kind::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Any number.
    pub fn float(self) -> Option<f64> {
        match self.slot().kind {
            #[expect(clippy::cast_precision_loss, reason = "a factor needs no 64 bits")]
            Kind::Int(value) => Some(value as f64),
            Kind::Float(value) => Some(value),
            _ => None,
        }
    }

    pub fn items(self) -> Option<impl ExactSizeIterator<Item = Node<'n>>> {
        match &self.slot().kind {
            Kind::List(items) => Some(items.iter().map(move |&id| Node { tree: self.tree, id })),
            _ => None,
        }
    }

    pub fn fields(self) -> Option<impl ExactSizeIterator<Item = Field<'n>>> {
        match &self.slot().kind {
            Kind::Map(entries) => Some(entries.iter().map(move |entry| Field {
                name: &entry.key,
                name_place: entry.key_place,
                value: Node { tree: self.tree, id: entry.value },
            })),
            _ => None,
        }
    }

    /// What a message calls it.
    pub fn what(self) -> &'static str {
        match &self.slot().kind {
            Kind::Null if self.place().is_empty() => "empty",
            Kind::Null => "null",
            Kind::Bool(_) => "true or false",
            Kind::Int(_) | Kind::Float(_) => "a number",
            Kind::Text(_) => "text",
            Kind::Template(_) => "a template",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
            Kind::Broken => "broken",
        }
    }

    /// The same value as JSON; its depth and size are bounded by those of the document.
    pub fn to_json(self) -> Value {
        match &self.slot().kind {
            Kind::Null | Kind::Broken => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Int(value) => Value::from(*value),
            Kind::Float(value) => Value::from(*value),
            Kind::Text(text) | Kind::Template(text) => Value::from(text.as_ref()),
            Kind::List(_) => self.items().into_iter().flatten().map(Node::to_json).collect(),
            Kind::Map(_) => Value::Object(
                self.fields()
                    .into_iter()
                    .flatten()
                    .map(|field| (field.name.to_owned(), field.value.to_json()))
                    .collect(),
            ),
        }
    }

    /// Whether some mistake inside was reported already.
    pub fn has_broken(self) -> bool {
        match &self.slot().kind {
            Kind::Broken => true,
            Kind::List(_) => self.items().into_iter().flatten().any(Node::has_broken),
            Kind::Map(_) => {
                self.fields().into_iter().flatten().any(|field| field.value.has_broken())
            }
            _ => false,
        }
    }

    /// How many values it holds, itself included; stops counting above `enough`.
    pub fn count(self, enough: usize) -> usize {
        let inner: &mut dyn Iterator<Item = Node<'n>> = match &self.slot().kind {
            Kind::List(_) => &mut self.items().into_iter().flatten(),
            Kind::Map(_) => &mut self.fields().into_iter().flatten().map(|field| field.value),
            _ => &mut std::iter::empty(),
        };
        let mut total = 1;
        for node in inner {
            if total > enough {
                break;
            }
            total += node.count(enough - total);
        }
        total
    }

    /// The JSON pointer to the innermost value, or to the field whose name or value it is, that
    /// a place lies in. What an alias shares is found where it is written.
    pub fn path_of(self, place: Place) -> String {
        let mut path = String::new();
        let mut at = self;
        // What is missing has no place of its own, and is told at the beginning.
        while !place.is_empty()
            && let Some((step, inner)) = at.step_to(place)
        {
            path.push('/');
            path.push_str(&step.replace('~', "~0").replace('/', "~1"));
            at = inner;
        }
        path
    }

    fn step_to(self, place: Place) -> Option<(Cow<'n, str>, Node<'n>)> {
        let within = |outer: Place| outer.start <= place.start && place.end <= outer.end;
        // An alias comes after what it shares, which is found first.
        match &self.slot().kind {
            Kind::Map(_) => self.fields()?.find_map(|field| {
                let hit = within(field.name_place) || within(field.value.place());
                hit.then(|| (Cow::from(field.name), field.value))
            }),
            Kind::List(_) => self.items()?.enumerate().find_map(|(index, item)| {
                within(item.place()).then(|| (Cow::from(index.to_string()), item))
            }),
            _ => None,
        }
    }

    /// Follows a JSON pointer as far as it goes, and says where that is.
    pub fn place_of(self, pointer: &str) -> Place {
        self.follow(pointer).place()
    }

    /// Follows a JSON pointer as far as it goes.
    pub fn follow(self, pointer: &str) -> Field<'n> {
        let mut at = Field { name: "", name_place: self.place(), value: self };
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match &at.value.slot().kind {
                Kind::Map(_) => at.value.fields().into_iter().flatten().find(|f| f.name == step),
                Kind::List(items) => step
                    .parse::<usize>()
                    .ok()
                    .and_then(|index| items.get(index))
                    .map(|&id| Field { value: Node { tree: self.tree, id }, ..at }),
                _ => None,
            };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }
}

impl Field<'_> {
    /// Where to point at for a bad value: at the value, or at the name when that is empty or
    /// a whole block.
    pub fn place(&self) -> Place {
        let place = self.value.place();
        let block = self.value.tree.text.get(place.range()).is_some_and(|text| text.contains('\n'));
        if place.is_empty() || block { self.name_place } else { place }
    }
}
