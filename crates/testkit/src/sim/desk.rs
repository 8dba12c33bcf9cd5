//! The simulated desk: questions that wait to be worked out, answers on their way, and starts
//! that need more than is at hand. It belongs to the process, not to a world: what a former world
//! asked is answered all the same, and must be refused.

use crate::sim::conditions::overrule;
use crate::sim::outputs::Shelf;
use crate::sim::trouble::{Luck, Trouble};
use mainspring_core::evaluate::{Question, work_out};
use mainspring_core::ids::AttemptId;
use mainspring_core::launch::StartAttempt;
use mainspring_core::output::Output;
use mainspring_core::world::input::Answered;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub struct Desk {
    questions: Vec<Question>,
    starts: Vec<StartAttempt>,
    answers: Vec<Answered>,
    /// Answers of this process that were heard.
    heard: Vec<Answered>,
}

/// What there is to do at the desk.
pub enum Paper {
    Answered,
    Start(Box<StartAttempt>),
}

impl Desk {
    pub fn ask(&mut self, question: Question) {
        self.questions.push(question);
    }

    /// Whether a start may take its time.
    pub fn is_slow(start: &StartAttempt) -> bool {
        let large = |output: &Option<Output>| matches!(output, Some(Output::Blob(_)));
        start.lacks_items() || start.around.upstream.iter().any(|upstream| large(&upstream.output))
    }

    pub fn start(&mut self, start: StartAttempt) {
        self.starts.push(start);
    }

    /// Takes a start back. False when an executor has it, or nobody.
    pub fn take_back(&mut self, attempt: AttemptId) -> bool {
        let before = self.starts.len();
        self.starts.retain(|start| start.ticket.attempt != attempt);
        self.starts.len() < before
    }

    pub fn keep_only(&mut self, known: &BTreeSet<AttemptId>) {
        self.starts.retain(|start| known.contains(&start.ticket.attempt));
    }

    /// The process was killed.
    pub fn die(&mut self) {
        *self = Self::default();
    }

    pub fn is_empty(&self) -> bool {
        self.questions.is_empty() && self.starts.is_empty() && self.answers.is_empty()
    }

    pub fn has_papers(&self) -> bool {
        !self.questions.is_empty() || !self.starts.is_empty()
    }

    pub fn has_answers(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Takes up one paper, whichever it is. A question that cannot be worked out now stays.
    pub fn work(&mut self, luck: &mut Luck, shelf: &Shelf<'_>) -> Option<Paper> {
        let papers = self.questions.len() + self.starts.len();
        if papers == 0 {
            return None;
        }
        let pick = luck.pick(papers);
        if pick >= self.questions.len() {
            let start = self.starts.swap_remove(pick - self.questions.len());
            return Some(Paper::Start(Box::new(start)));
        }
        let answer = work_out(&self.questions[pick], shelf).ok()?;
        let question = self.questions.swap_remove(pick);
        let answer = overrule(&question, answer);
        let Question { run, number, .. } = question;
        self.answers.push(Answered { run, number, answer });
        Some(Paper::Answered)
    }

    /// The answer that is heard next: in any order, some twice, and some again much later.
    pub fn next_answer(&mut self, luck: &mut Luck) -> Option<Answered> {
        if !self.heard.is_empty() && luck.strikes(Trouble::AnswerLate, 12) {
            return Some(self.heard[luck.pick(self.heard.len())].clone());
        }
        if self.answers.is_empty() {
            return None;
        }
        let pick = luck.pick(self.answers.len());
        if luck.strikes(Trouble::AnswerTwice, 10) {
            return Some(self.answers[pick].clone());
        }
        let answer = self.answers.swap_remove(pick);
        self.heard.push(answer.clone());
        Some(answer)
    }
}
