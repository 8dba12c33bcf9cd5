//! The workflows that are measured.

use mainspring_core::spec::definition::Definition;
use mainspring_core::spec::{self, Context};
use mainspring_core::world::input::Deploy;
use std::fmt::Write as _;
use std::sync::Arc;

/// What a task does.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Nothing, by way of dispatch, executor and report. Without the feature `bench` there is
    /// no such action, and a process has to do.
    Light,
    True,
    /// Longer than any benchmark.
    Sleep,
}

impl Action {
    const fn text(self) -> &'static str {
        match self {
            Self::Light if cfg!(feature = "bench") => "echo: {}",
            Self::Light | Self::True => "command: [/bin/true]",
            Self::Sleep => "command: [/bin/sleep, '3600']",
        }
    }
}

/// A workflow, checked and ready to be deployed.
#[derive(Clone, Debug)]
pub struct Workflow {
    pub definition: Arc<Definition>,
    text: Arc<str>,
    hash: [u8; 32],
}

impl Workflow {
    fn parse(text: &str) -> Self {
        let parsed = spec::parse(text, &Context::STORED).expect("a benchmark's text is right");
        Self { definition: Arc::new(parsed.definition), text: text.into(), hash: parsed.hash }
    }

    /// Independent tasks; task `no` does what `action(no)` says.
    pub fn wide(tasks: usize, action: impl Fn(usize) -> Action) -> Self {
        let mut text = format!("name: wide-{tasks}\ntasks:\n");
        for no in 0..tasks {
            let _ = writeln!(text, " t{no}: {{{}}}", action(no).text());
        }
        Self::parse(&text)
    }

    /// Each task depends on the one before; the last one does what `last` says.
    pub fn chain(tasks: usize, last: Action) -> Self {
        let mut text = format!("name: chain-{tasks}\ntasks:\n");
        for no in 0..tasks {
            let action = if no + 1 == tasks { last } else { Action::Light };
            let edge = match no {
                0 => String::new(),
                _ => format!(", depends_on: [t{}]", no - 1),
            };
            let _ = writeln!(text, " t{no}: {{{}{edge}}}", action.text());
        }
        Self::parse(&text)
    }

    /// A person, then a task.
    pub fn approval() -> Self {
        let last = Action::Light.text();
        Self::parse(&format!(
            "name: approval\ntasks:\n ask: {{approval: {{message: 'Go on?'}}}}\n \
             last: {{{last}, depends_on: [ask]}}\n"
        ))
    }

    pub fn deploy(&self) -> Deploy {
        Deploy {
            definition: Arc::clone(&self.definition),
            text: Arc::clone(&self.text),
            hash: self.hash,
        }
    }
}
