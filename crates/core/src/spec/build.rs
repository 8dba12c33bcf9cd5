//! From parser events to the tree: everything bounded, nothing expanded, mistakes that leave
//! the structure intact collected and not fatal.

use super::code::Code;
use super::place::Place;
use super::report::{Report, quoted};
use super::syntax;
use super::tagged::{Tagged, check_collection_tag, check_tag, copy_of, scalar_kind};
use super::tree::{Entry, Kind, NodeId, Slot, Tree};
use crate::expr::OPEN;
use crate::limits::{DEFINITION_BYTES_MAX, DOCUMENT_DEPTH_MAX, DOCUMENT_NODES_MAX};
use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle};
use std::borrow::Cow;
use std::collections::BTreeMap;

const ALIAS_HINT: &str =
    "an alias counts as all that it stands for: use fewer, or put the data into a file";

/// The rest of the text is of no use: what was wrong is in the report.
#[derive(Debug)]
pub struct Fatal;

/// Reads one document. `None`: the structure could not be read, the report says why.
pub fn build<'t>(text: &'t str, report: &mut Report) -> Option<Tree<'t>> {
    let options = granit_parser::options! {
        emit_comments: false,
        emit_unresolved_aliases: true,
        flow_nesting_limit: DOCUMENT_DEPTH_MAX + 1,
        block_nesting_limit: DOCUMENT_DEPTH_MAX + 1,
    };
    let mut builder = Builder::new(text, report);
    for event in Parser::new_from_str_with_options(text, options) {
        let step = match event {
            Ok((event, span)) => builder.event(event, &span),
            Err(error) => builder.syntax(&error),
        };
        if step.is_err() {
            return None;
        }
    }
    let Builder { slots, root, .. } = builder;
    let Some(root) = root else {
        report
            .add(Code::EmptyDocument, Place::default(), "The text holds no workflow.")
            .hint("begin with `name:` and `tasks:`");
        return None;
    };
    Some(Tree { text, slots, root })
}

/// How much a value comes to with its aliases followed.
#[derive(Clone, Copy, Default)]
struct Weight {
    nodes: usize,
    bytes: usize,
}

enum Anchor {
    Open,
    Done { id: NodeId, weight: Weight, height: usize },
}

enum Items<'t> {
    List(Vec<NodeId>),
    Map { entries: Vec<Entry<'t>>, key: Option<Key<'t>>, seen: BTreeMap<Cow<'t, str>, Place> },
}

enum Key<'t> {
    Good(Cow<'t, str>, Place),
    /// Reported; its value is read and dropped.
    Bad,
}

/// A list or map that is still open.
struct Frame<'t> {
    items: Items<'t>,
    start: Place,
    style: StructureStyle,
    anchor: usize,
    before: Weight,
    /// How deep what it holds goes.
    height: usize,
    last_end: u32,
}

struct Builder<'t, 'r> {
    text: &'t str,
    report: &'r mut Report,
    slots: Vec<Slot<'t>>,
    open: Vec<Frame<'t>>,
    anchors: BTreeMap<usize, Anchor>,
    total: Weight,
    root: Option<NodeId>,
    documents: usize,
}

impl<'t, 'r> Builder<'t, 'r> {
    fn new(text: &'t str, report: &'r mut Report) -> Self {
        Self {
            text,
            report,
            slots: Vec::new(),
            open: Vec::new(),
            anchors: BTreeMap::new(),
            total: Weight::default(),
            root: None,
            documents: 0,
        }
    }

    fn event(&mut self, event: Event<'t>, span: &granit_parser::Span) -> Result<(), Fatal> {
        let place = self.place(span);
        match event {
            Event::DocumentStart(..) => self.document(place),
            Event::Scalar(text, style, anchor, tag) => {
                let tag = check_tag(tag.as_deref(), span.tag_span(), self.report);
                self.scalar(text, (style, tag), anchor, place)
            }
            Event::SequenceStart(style, anchor, tag) => {
                check_collection_tag(tag.as_deref(), "seq", span, self.report);
                self.open(Items::List(Vec::new()), (style, anchor), place)
            }
            Event::MappingStart(style, anchor, tag) => {
                check_collection_tag(tag.as_deref(), "map", span, self.report);
                let items = Items::Map { entries: Vec::new(), key: None, seen: BTreeMap::new() };
                self.open(items, (style, anchor), place)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(place),
            Event::Alias(anchor) => self.alias(anchor, place),
            Event::UnresolvedAlias(name) => {
                let message = format!("The alias {} has no anchor before it.", quoted(&name));
                self.report.add(Code::UnknownAlias, place, message).hint(format!(
                    "mark the value it stands for with `&{name}`, or put text in quotes"
                ));
                self.broken(place)
            }
            // Comments, and whatever a later parser tells of, are no data.
            _ => Ok(()),
        }
    }

    fn place(&self, span: &granit_parser::Span) -> Place {
        let start = span.start.byte_offset().unwrap_or(0).min(self.text.len());
        let end = span.end.byte_offset().unwrap_or(start).min(self.text.len());
        let trimmed = self.text.get(start..end).map_or(end, |text| start + text.trim_end().len());
        Place::new(start, trimmed)
    }

    fn syntax(&mut self, error: &ScanError) -> Result<(), Fatal> {
        let at = error.marker().byte_offset().unwrap_or(0).min(self.text.len());
        let next = self.text.ceil_char_boundary((at + 1).min(self.text.len()));
        let place = Place::new(at, next);
        if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
            return self.too_deep(place);
        }
        syntax::tell(error, place, self.text, self.report);
        Err(Fatal)
    }

    fn document(&mut self, place: Place) -> Result<(), Fatal> {
        self.documents += 1;
        if self.documents < 2 {
            return Ok(());
        }
        self.report
            .add(Code::SeveralDocuments, place, "A second document begins here.")
            .hint("put each workflow in a text of its own");
        Err(Fatal)
    }

    fn too_deep(&mut self, place: Place) -> Result<(), Fatal> {
        let message = format!("Nested more than {DOCUMENT_DEPTH_MAX} deep.");
        let hint = "values like this one belong into a file that a task reads";
        self.report.add(Code::TooDeep, place, message).hint(hint);
        Err(Fatal)
    }

    /// Counts what a value comes to; the text itself is bounded, aliases could multiply it.
    fn count(&mut self, weight: Weight, place: Place) -> Result<(), Fatal> {
        self.total.nodes += weight.nodes;
        self.total.bytes += weight.bytes;
        if self.total.nodes > DOCUMENT_NODES_MAX {
            let message = format!("More than {DOCUMENT_NODES_MAX} values, aliases followed.");
            self.report.add(Code::TooManyNodes, place, message).hint(ALIAS_HINT);
            return Err(Fatal);
        }
        if self.total.bytes > DEFINITION_BYTES_MAX {
            let message =
                format!("More than {DEFINITION_BYTES_MAX} bytes of text, aliases followed.");
            self.report.add(Code::TooLarge, place, message).hint(ALIAS_HINT);
            return Err(Fatal);
        }
        Ok(())
    }

    fn in_key_position(&self) -> bool {
        matches!(self.open.last(), Some(Frame { items: Items::Map { key: None, .. }, .. }))
    }

    fn push(&mut self, kind: Kind<'t>, place: Place) -> NodeId {
        let id = NodeId::try_from(self.slots.len()).expect("bounded by DOCUMENT_NODES_MAX");
        self.slots.push(Slot { place, kind });
        id
    }

    fn broken(&mut self, place: Place) -> Result<(), Fatal> {
        self.count(Weight { nodes: 1, bytes: 0 }, place)?;
        let id = self.push(Kind::Broken, place);
        self.attach(id, 0);
        Ok(())
    }

    fn scalar(
        &mut self,
        text: Cow<'t, str>,
        (style, tag): (ScalarStyle, Tagged),
        anchor: usize,
        place: Place,
    ) -> Result<(), Fatal> {
        // A key is kept within its map, and bounded by the value that follows it.
        let nodes = usize::from(!self.in_key_position());
        let weight = Weight { nodes, bytes: text.len() };
        self.count(weight, place)?;
        let plain = style == ScalarStyle::Plain;
        if plain && text == "<<" && self.in_key_position() {
            self.report
                .add(Code::MergeKey, place, "The merge key `<<` is not supported.")
                .hint("write the fields out, or share them through `defaults:`");
            self.set_key(Key::Bad);
            return Ok(());
        }
        let kind = scalar_kind(text, (plain, tag), place, self.report);
        if anchor != 0 {
            // A key is taken out of the arena again, so what its anchor names is a copy.
            let id = match self.in_key_position() {
                true => self.push(copy_of(&kind), place),
                false => NodeId::try_from(self.slots.len()).expect("bounded"),
            };
            self.anchors.insert(anchor, Anchor::Done { id, weight, height: 0 });
        }
        let id = self.push(kind, place);
        self.attach(id, 0);
        Ok(())
    }

    fn open(
        &mut self,
        items: Items<'t>,
        (style, anchor): (StructureStyle, usize),
        start: Place,
    ) -> Result<(), Fatal> {
        if self.open.len() >= DOCUMENT_DEPTH_MAX {
            return self.too_deep(start);
        }
        let before = self.total;
        self.count(Weight { nodes: 1, bytes: 0 }, start)?;
        if anchor != 0 {
            self.anchors.insert(anchor, Anchor::Open);
        }
        let last_end = start.end;
        self.open.push(Frame { items, start, style, anchor, before, height: 0, last_end });
        Ok(())
    }

    fn close(&mut self, end: Place) -> Result<(), Fatal> {
        let frame = self.open.pop().expect("the parser closes only what it opened");
        let end = match frame.style {
            StructureStyle::Flow => end.end,
            StructureStyle::Block => frame.last_end,
        };
        let place = Place { start: frame.start.start, end: end.max(frame.start.start) };
        let kind = match frame.items {
            Items::List(items) => Kind::List(items),
            Items::Map { entries, .. } => Kind::Map(entries),
        };
        let id = self.push(kind, place);
        let height = frame.height + 1;
        if frame.anchor != 0 {
            let weight = Weight {
                nodes: self.total.nodes - frame.before.nodes,
                bytes: self.total.bytes - frame.before.bytes,
            };
            self.anchors.insert(frame.anchor, Anchor::Done { id, weight, height });
        }
        self.attach(id, height);
        Ok(())
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Result<(), Fatal> {
        let (id, weight, height) = match self.anchors.get(&anchor) {
            Some(Anchor::Done { id, weight, height }) => (*id, *weight, *height),
            Some(Anchor::Open) => {
                let message = "This alias stands inside the value that it stands for.";
                let hint = "write the value out here";
                self.report.add(Code::RecursiveAlias, place, message).hint(hint);
                return self.broken(place);
            }
            None => return self.broken(place),
        };
        if self.open.len() + height > DOCUMENT_DEPTH_MAX {
            return self.too_deep(place);
        }
        self.count(weight, place)?;
        if self.in_key_position() {
            self.bad_key(place);
            return Ok(());
        }
        self.attach(id, height);
        if let Some(frame) = self.open.last_mut() {
            frame.last_end = frame.last_end.max(place.end);
        }
        Ok(())
    }

    /// Puts a finished value where it belongs: as root, element, key or value.
    fn attach(&mut self, id: NodeId, height: usize) {
        if self.in_key_position() {
            return self.attach_key(id);
        }
        let end = self.slots[id as usize].place.end;
        let Some(frame) = self.open.last_mut() else {
            self.root = Some(id);
            return;
        };
        frame.height = frame.height.max(height);
        // An alias names an earlier place, which does not move the end back.
        frame.last_end = frame.last_end.max(end);
        match &mut frame.items {
            Items::List(items) => items.push(id),
            Items::Map { entries, key, seen } => {
                let Some(Key::Good(name, place)) = key.take() else { return };
                let Some(&first) = seen.get(&name) else {
                    seen.insert(name.clone(), place);
                    entries.push(Entry { key: name, key_place: place, value: id });
                    return;
                };
                let message = format!("{} is given twice.", quoted(&name));
                self.report
                    .add(Code::DuplicateKey, place, message)
                    .hint("keep one of them")
                    .related(first, "first given here");
            }
        }
    }

    fn attach_key(&mut self, id: NodeId) {
        let Slot { place, kind } = &mut self.slots[id as usize];
        let place = *place;
        match std::mem::replace(kind, Kind::Null) {
            Kind::Text(text) => {
                // Its node was the last one made, and nothing refers to it.
                if id as usize + 1 == self.slots.len() {
                    self.slots.pop();
                }
                self.set_key(Key::Good(text, place));
            }
            Kind::Broken => self.set_key(Key::Bad),
            _ => self.bad_key(place),
        }
    }

    fn bad_key(&mut self, place: Place) {
        let shown = self.text.get(place.range()).unwrap_or_default();
        if shown.contains(OPEN) {
            let message = format!("The name of a field takes no template: {}.", quoted(shown));
            let hint = "write the name itself; templates stand in values";
            self.report.add(Code::Template, place, message).hint(hint);
            return self.set_key(Key::Bad);
        }
        let message = format!("A field name must be text, and {} is not.", quoted(shown));
        self.report.add(Code::BadKey, place, message).hint("put it in quotes");
        self.set_key(Key::Bad);
    }

    fn set_key(&mut self, new: Key<'t>) {
        if let Some(Frame { items: Items::Map { key, .. }, .. }) = self.open.last_mut() {
            *key = Some(new);
        }
    }
}
