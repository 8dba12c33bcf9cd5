//! Works answers out, and renders those starts that need more than is at hand: off the act
//! thread, so that one large payload holds up nobody else.
//!
//! ```text
//!  act thread ─► question ───┐                        ┌─► inbox        answers
//!             └► slow start ─┴─► pile ─► 2 at once ───┼─► executor     starts
//!                                 ▲                   └─► later        the store is away
//!                                 └────── a pause ────────┘
//!  act thread ─► stop, settle, reattach: a start that is still here is taken back first
//!             └► run ended: nobody waits for an answer to its questions any more
//! ```
//! A start that the store keeps waiting is refused, and the world gives it another try.

use crate::again::{Again, Wait};
use crate::inbox::Inbox;
use crate::starts::Starts;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::evaluate::{Answer, Question, work_out};
use mainspring_core::ids::{AttemptId, RunId};
use mainspring_core::launch::StartAttempt;
use mainspring_core::world::input::Answered;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Parsing is work for a core, and there are few; a database has as many connections for it.
const AT_ONCE: usize = 2;

enum Paper {
    Question(Asked),
    Start(StartAttempt),
}

struct Asked {
    question: Question,
    /// It was tried before.
    wait: Option<Wait>,
}

/// Of a question: a run's are next to each other.
type Number = (RunId, (u64, u64));

impl Asked {
    fn number(&self) -> Number {
        (self.question.around.run, self.question.number)
    }
}

#[derive(Clone)]
pub(crate) struct Desk(Arc<Parts>);

struct Parts {
    starts: Arc<Starts>,
    inbox: Arc<Inbox>,
    again: Again,
    pile: Mutex<Pile>,
}

#[derive(Default)]
struct Pile {
    waiting: VecDeque<Paper>,
    /// Starts that no executor was given yet.
    starts: BTreeSet<AttemptId>,
    /// Questions that somebody waits for an answer to.
    asked: BTreeSet<Number>,
    /// Those of them that the store keeps waiting.
    later: BTreeMap<Number, Asked>,
    at_work: usize,
    is_closed: bool,
}

impl Pile {
    /// Nobody waits for answers about this run any more.
    fn forget(&mut self, run: RunId) {
        let all = (run, (0, 0))..=(run, (u64::MAX, u64::MAX));
        let numbers: Vec<Number> = self.asked.range(all).copied().collect();
        for number in numbers {
            self.asked.remove(&number);
            self.later.remove(&number);
        }
    }
}

impl Desk {
    pub fn new(starts: Arc<Starts>, again: Again) -> Self {
        let inbox = Arc::clone(&starts.inbox);
        Self(Arc::new(Parts { starts, inbox, again, pile: Mutex::default() }))
    }

    pub fn ask(&self, question: Question) {
        let asked = Asked { question, wait: None };
        self.0.pile().asked.insert(asked.number());
        self.0.push(Paper::Question(asked));
    }

    pub fn run_ended(&self, run: RunId) {
        self.0.pile().forget(run);
    }

    pub fn start(&self, start: StartAttempt) {
        self.0.pile().starts.insert(start.ticket.attempt);
        self.0.push(Paper::Start(start));
    }

    /// Takes a start back. False when an executor was given it, or nobody.
    pub fn take_back(&self, attempt: AttemptId) -> bool {
        self.0.pile().starts.remove(&attempt)
    }

    /// There is another world: takes back all starts but these, and all questions, which it
    /// asks again.
    pub fn keep_only(&self, known: &BTreeSet<AttemptId>) {
        let mut pile = self.0.pile();
        pile.starts.retain(|attempt| known.contains(attempt));
        pile.asked.clear();
        pile.later.clear();
    }

    /// Begins nothing more: what waits is asked again by the next life.
    pub fn close(&self) {
        let mut pile = self.0.pile();
        pile.is_closed = true;
        pile.waiting.clear();
        pile.starts.clear();
        pile.asked.clear();
        pile.later.clear();
    }
}

impl Parts {
    fn pile(&self) -> MutexGuard<'_, Pile> {
        // Each change of it is one call.
        self.pile.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(self: &Arc<Self>, paper: Paper) {
        let mut pile = self.pile();
        if pile.is_closed {
            return;
        }
        pile.waiting.push_back(paper);
        if pile.at_work < AT_ONCE {
            pile.at_work += 1;
            let parts = Arc::clone(self);
            self.starts.keeping.runtime.spawn_blocking(move || parts.work());
        }
    }

    fn work(self: &Arc<Self>) {
        loop {
            let mut pile = self.pile();
            let Some(paper) = pile.waiting.pop_front() else {
                pile.at_work -= 1;
                return;
            };
            drop(pile);
            match paper {
                Paper::Question(asked) => self.answer(asked),
                Paper::Start(start) => self.start(&start),
            }
        }
    }

    fn start(&self, start: &StartAttempt) {
        let rendered = self.starts.render(start);
        // Held while the executor is told: whoever takes it back comes before that or after.
        let mut pile = self.pile();
        if pile.starts.remove(&start.ticket.attempt) {
            self.starts.carry_out(start, rendered);
        }
    }

    fn answer(self: &Arc<Self>, asked: Asked) {
        let number = asked.number();
        if !self.pile().asked.contains(&number) {
            return;
        }
        let question = &asked.question;
        let worked_out =
            catch_unwind(AssertUnwindSafe(|| work_out(question, &*self.starts.keeping)));
        let answer = match worked_out {
            Ok(Ok(answer)) => answer,
            // It is nobody's fault but the store's.
            Ok(Err(error)) => return self.put_off(asked, &error.to_string()),
            Err(_) => {
                let what = "it could not be worked out: a bug in Mainspring, see its log";
                Answer::Failed(TaskError::new(ErrorClass::Internal, what))
            }
        };
        self.pile().asked.remove(&number);
        let Question { run, number, .. } = *question;
        self.inbox.answer(Answered { run, number, answer });
    }

    /// Back to the end of the pile, after a pause that takes nobody's place.
    fn put_off(self: &Arc<Self>, asked: Asked, why: &str) {
        let number = asked.number();
        if !self.pile().asked.contains(&number) {
            return;
        }
        let wait = self.again.wait(asked.wait, why);
        let pause = wait.pause();
        let mut pile = self.pile();
        if !pile.asked.contains(&number) {
            return;
        }
        pile.later.insert(number, Asked { wait: Some(wait), ..asked });
        drop(pile);
        let parts = Arc::clone(self);
        self.starts.keeping.runtime.spawn(async move {
            tokio::time::sleep(pause).await;
            let later = parts.pile().later.remove(&number);
            if let Some(asked) = later {
                parts.push(Paper::Question(asked));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_ends_takes_its_questions_along_and_no_other() {
        let run = |byte| RunId::from_bytes([byte; 16]);
        let mut pile = Pile::default();
        for byte in 1..=3 {
            pile.asked.insert((run(byte), (1, u64::from(byte))));
            pile.asked.insert((run(byte), (u64::MAX, u64::MAX)));
        }
        pile.forget(run(2));
        let left: Vec<RunId> = pile.asked.iter().map(|(run, _)| *run).collect();
        assert_eq!(left, [run(1), run(1), run(3), run(3)]);
    }
}
