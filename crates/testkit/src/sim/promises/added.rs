//! Tasks that are added to runs: each addition is there once or not at all, in its order, and what
//! was there before stays as it was.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::answers::{Answer, Asked, Question};
use crate::sim::promises::record::everything;
use mainspring_core::ids::RunId;
use mainspring_core::world::input::Order;
use mainspring_store::Model;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What was said about additions so far. Each text is sent once.
#[derive(Debug, Default)]
pub struct Added {
    accepted: BTreeSet<(RunId, Arc<str>)>,
    refused: BTreeSet<(RunId, Arc<str>)>,
    /// What was durable, in its order.
    known: BTreeMap<RunId, Vec<Arc<str>>>,
}

impl Added {
    pub fn answered(&mut self, question: &Question, answer: &Answer) {
        let Asked::Command(command) = &question.asked else { return };
        let Order::Add(addition) = &command.order else { return };
        let said = if answer.is_ok() { &mut self.accepted } else { &mut self.refused };
        said.insert((command.run, Arc::clone(&addition.text)));
    }

    /// After every commit that became durable.
    pub fn check(&mut self, model: &Model) -> Check {
        for (head, progress) in model.runs(&everything()) {
            let rows = model.additions(head.key);
            let counted = rows.iter().map(|row| row.number).eq(1..=progress.additions);
            Promise::Added.ensure(counted, || {
                format!("run {} says {}, there are {rows:?}", head.key.0, progress.additions)
            })?;
            let texts: Vec<Arc<str>> = rows.into_iter().map(|row| row.text).collect();
            let once = texts.iter().collect::<BTreeSet<_>>().len() == texts.len();
            let known = self.known.entry(head.id).or_default();
            Promise::Added.ensure(once && texts.starts_with(known), || {
                format!("run {} had {known:?}, and has {texts:?}", head.key.0)
            })?;
            known.clone_from(&texts);
            let is_there = |text: &Arc<str>| texts.contains(text);
            let of = |said: &BTreeSet<(RunId, Arc<str>)>| -> Vec<Arc<str>> {
                let said = said.iter().filter(|(run, _)| *run == head.id);
                said.map(|(_, text)| Arc::clone(text)).collect()
            };
            let lost = of(&self.accepted).into_iter().find(|text| !is_there(text));
            Promise::Added.ensure(lost.is_none(), || format!("{lost:?} was accepted"))?;
            let wrong = of(&self.refused).into_iter().find(is_there);
            Promise::Added.ensure(wrong.is_none(), || format!("{wrong:?} was refused"))?;
        }
        Ok(())
    }
}
