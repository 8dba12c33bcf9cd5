//! The workflows of a world. A simulated store keeps no text that could be parsed again: a
//! version's hash says which of these it is.

use mainspring_core::json::Json;
use mainspring_core::kernel::row::RunHead;
use mainspring_core::sketch::sketch;
use mainspring_core::spec::definition::{Action, Definition};
use mainspring_core::world::input::{Deploy, KnownVersion, KnownWorkflow};
use mainspring_store::Model;
use std::sync::{Arc, LazyLock};

/// All that a batch may weigh: one of these and it is cut.
pub static HEAVY: LazyLock<Json> = LazyLock::new(|| {
    let text = format!("{{\"text\":\"{}\"}}", "x".repeat(4 * 1024 * 1024));
    Json::parse(&text).expect("valid")
});

#[derive(Clone, Debug)]
pub struct Text {
    pub sketch: String,
    definition: Arc<Definition>,
    weight: Weight,
}

#[derive(Debug, Default)]
pub struct Library {
    texts: Vec<Text>,
}

impl Library {
    /// Adds a version of a workflow; heavy ones hand megabytes from noop to noop.
    pub fn add(&mut self, workflow: &str, text: String, weight: Weight) {
        let definition = Arc::new(made(workflow, &text, weight));
        self.texts.push(Text { sketch: text, definition, weight });
    }

    pub fn texts(&self) -> &[Text] {
        &self.texts
    }

    pub fn workflow(&self, position: usize) -> Arc<str> {
        Arc::clone(&self.texts[position].definition.name)
    }

    pub fn has_group(&self, position: usize) -> bool {
        self.texts[position].definition.concurrency_group.is_some()
    }

    pub fn deploy(&self, position: usize) -> Deploy {
        let mark = u8::try_from(position).expect("a world has few workflows");
        Deploy {
            definition: Arc::clone(&self.texts[position].definition),
            text: self.texts[position].sketch.as_str().into(),
            hash: [mark; 32],
        }
    }

    /// What a reading of a version finds.
    pub fn version(
        &self,
        model: &Model,
        workflow: &str,
        number: Option<u32>,
    ) -> Option<KnownVersion> {
        let row = model.version(workflow, number)?;
        let definition = Arc::clone(&self.texts[usize::from(row.hash[0])].definition);
        Some(KnownVersion { number: row.number, hash: row.hash, definition })
    }

    /// What a reading of a workflow finds.
    pub fn known(&self, model: &Model, name: &str) -> Option<KnownWorkflow> {
        let row = model.workflow(name)?;
        let latest = self.version(model, name, Some(row.latest));
        Some(KnownWorkflow { row, latest: latest.expect("a workflow's latest version is stored") })
    }

    /// The definition that a run goes by: its version's, and what was added to the run.
    pub fn of(&self, model: &Model, head: &RunHead) -> Arc<Definition> {
        let version = self.version(model, &head.workflow, Some(head.version));
        let version = version.expect("a run's version is stored with it or before it");
        let added = model.additions(head.key);
        match added.is_empty() {
            true => version.definition,
            false => self.extended(&version, added.iter().map(|row| &*row.text)),
        }
    }

    /// A sketch is longer by what was added to it.
    pub fn extended<'a>(
        &self,
        version: &KnownVersion,
        added: impl Iterator<Item = &'a str>,
    ) -> Arc<Definition> {
        let Text { sketch: text, weight, .. } = &self.texts[usize::from(version.hash[0])];
        let text = added.fold(text.clone(), |text, added| format!("{text}\n{added}"));
        Arc::new(made(&version.definition.name, &text, *weight))
    }
}

fn made(workflow: &str, text: &str, weight: Weight) -> Definition {
    let mut definition = sketch(text);
    definition.name = workflow.into();
    if weight == Weight::Heavy {
        let noops = definition.tasks.iter_mut();
        for task in noops.filter(|task| matches!(task.action, Action::Noop)) {
            task.input = HEAVY.clone().into();
        }
    }
    definition
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Light,
    Heavy,
}
