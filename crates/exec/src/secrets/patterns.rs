//! The texts to hide, as one automaton (Aho and Corasick's): each byte of a log is looked at
//! once, however many secrets there are. States are a tree of prefixes in a vector, so that a
//! secret costs 24 bytes for each of its own.

use super::escapes::ESCAPE_BYTES_MAX;
use super::value::Secret;
use std::collections::VecDeque;
use std::fmt;

/// Shorter texts are not hidden: they turn up by chance, and hiding them would tell them.
const BYTES_MIN: usize = 4;

/// Where a search begins, and falls back to.
pub(super) const START: u32 = 0;
const NONE: u32 = u32::MAX;

pub(crate) struct Patterns {
    nodes: Vec<Node>,
    /// The states after the first byte of a pattern; `START` where none begins so.
    first: Box<[u32; 256]>,
    longest: usize,
}

struct Node {
    /// The last byte of this prefix.
    byte: u8,
    child: u32,
    sibling: u32,
    /// The longest other prefix that this one ends with.
    fallback: u32,
    /// How long this prefix is.
    depth: u32,
    /// How long the longest pattern is that this prefix ends with.
    matched: u32,
}

/// Texts of secrets are in here.
impl fmt::Debug for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Patterns(***)")
    }
}

impl Patterns {
    /// None when there is nothing to hide.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Option<Self> {
        let texts: Vec<Vec<u8>> =
            secrets.into_iter().flat_map(|secret| texts(secret.reveal())).collect();
        if texts.is_empty() {
            return None;
        }
        let mut patterns =
            Self { nodes: vec![Node::new(0, 0)], first: Box::new([START; 256]), longest: 0 };
        for text in texts {
            patterns.insert(&text);
        }
        patterns.link();
        patterns.nodes.shrink_to_fit();
        Some(patterns)
    }

    /// How many bytes a secret may be written with.
    pub fn longest_written(&self) -> usize {
        self.longest * ESCAPE_BYTES_MAX
    }

    fn insert(&mut self, text: &[u8]) {
        if text.len() < BYTES_MIN {
            return;
        }
        let mut state = START;
        for byte in text {
            state = self.child(state, *byte).unwrap_or_else(|| self.grow(state, *byte));
        }
        let node = &mut self.nodes[state as usize];
        node.matched = node.depth;
        self.longest = self.longest.max(text.len());
    }

    fn grow(&mut self, parent: u32, byte: u8) -> u32 {
        let new = u32::try_from(self.nodes.len()).expect("an environment is far below 4 GiB");
        let mut node = Node::new(byte, self.nodes[parent as usize].depth + 1);
        if parent == START {
            self.first[usize::from(byte)] = new;
        } else {
            node.sibling = self.nodes[parent as usize].child;
            self.nodes[parent as usize].child = new;
        }
        self.nodes.push(node);
        new
    }

    fn child(&self, state: u32, byte: u8) -> Option<u32> {
        if state == START {
            return Some(self.first[usize::from(byte)]).filter(|child| *child != START);
        }
        self.children(state).find(|child| self.nodes[*child as usize].byte == byte)
    }

    /// Of any state but the first.
    fn children(&self, state: u32) -> impl Iterator<Item = u32> {
        let known = |state: u32| Some(state).filter(|state| *state != NONE);
        std::iter::successors(known(self.nodes[state as usize].child), move |child| {
            known(self.nodes[*child as usize].sibling)
        })
    }

    /// Sets the fallbacks, shorter prefixes first: the longer ones are found through them.
    fn link(&mut self) {
        let mut queue: VecDeque<u32> =
            self.first.iter().copied().filter(|state| *state != START).collect();
        while let Some(state) = queue.pop_front() {
            let children: Vec<u32> = self.children(state).collect();
            for child in children {
                let byte = self.nodes[child as usize].byte;
                let fallback = self.next(self.nodes[state as usize].fallback, byte);
                let shorter = self.nodes[fallback as usize].matched;
                let node = &mut self.nodes[child as usize];
                node.fallback = fallback;
                node.matched = node.matched.max(shorter);
                queue.push_back(child);
            }
        }
    }

    /// The state after one more byte: the longest prefix that what was read ends with.
    pub(super) fn next(&self, mut state: u32, byte: u8) -> u32 {
        while state != START {
            match self.child(state, byte) {
                Some(child) => return child,
                None => state = self.nodes[state as usize].fallback,
            }
        }
        self.first[usize::from(byte)]
    }

    /// Whether any pattern begins with it.
    pub(super) fn begins_with(&self, byte: u8) -> bool {
        self.first[usize::from(byte)] != START
    }

    /// How many of the bytes read last may be the beginning of a pattern.
    pub(super) fn depth(&self, state: u32) -> usize {
        self.nodes[state as usize].depth as usize
    }

    /// How many of the bytes read last are a pattern; 0 when none ends here.
    pub(super) fn matched(&self, state: u32) -> usize {
        self.nodes[state as usize].matched as usize
    }
}

impl Node {
    fn new(byte: u8, depth: u32) -> Self {
        Self { byte, child: NONE, sibling: NONE, fallback: START, depth, matched: 0 }
    }
}

/// What of a secret is hidden: the whole, and each of its lines.
fn texts(value: &[u8]) -> Vec<Vec<u8>> {
    if value.len() < BYTES_MIN {
        return Vec::new();
    }
    let without_return = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).to_vec();
    let mut texts = vec![value.to_vec()];
    texts.extend(value.split(|byte| *byte == b'\n').map(without_return));
    texts
}
