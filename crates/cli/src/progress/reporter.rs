//! Where progress goes: a picture on a terminal, plain lines anywhere else.

use super::live::Live;
use super::standing::Standing;
use super::step::Step;
use crate::{out, terminal};
use mainspring_core::time::Timestamp;

#[derive(Debug)]
pub enum Reporter {
    Live(Live),
    /// Lines gathered since the last flush.
    Plain(String),
    /// Says only what is no step.
    Quiet,
}

impl Reporter {
    /// As stderr is.
    pub fn new() -> Self {
        match terminal::stderr_size() {
            Some(_) => Self::Live(Live::default()),
            None => Self::Plain(String::new()),
        }
    }

    pub fn step(&mut self, step: &Step, now: Timestamp) {
        match self {
            Self::Live(_) if step.is_in_picture() => {}
            Self::Quiet => {}
            _ => self.line(&step.line(now)),
        }
    }

    pub fn line(&mut self, line: &str) {
        match self {
            Self::Live(live) => live.above(line),
            Self::Plain(gathered) => {
                gathered.push_str(line);
                gathered.push('\n');
            }
            Self::Quiet => out::say(&format!("{line}\n")),
        }
    }

    /// After a batch of steps. A picture waits for `tick`, so that it does not flicker.
    pub fn flush(&mut self) {
        if let Self::Plain(gathered) = self {
            out::say(&std::mem::take(gathered));
        }
    }

    /// A few times a second.
    pub fn tick(&mut self, standing: &dyn Standing, now: Timestamp) {
        match self {
            Self::Live(live) => live.draw(standing, now),
            Self::Plain(_) | Self::Quiet => self.flush(),
        }
    }

    /// Nothing moves any more.
    pub fn finish(&mut self) {
        match self {
            Self::Live(live) => live.clear(),
            Self::Plain(_) | Self::Quiet => self.flush(),
        }
    }
}
