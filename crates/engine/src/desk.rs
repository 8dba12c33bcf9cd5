//! Works answers out, and renders those starts that need more than is at hand: off the act
//! thread, so that one large payload holds up nobody else.
//!
//! ```text
//!  act thread ─► question ───┐                        ┌─► inbox        answers
//!             └► slow start ─┴─► pile ─► 2 at once ───┴─► executor     starts
//!  act thread ─► stop, settle, reattach: a start that is still here is taken back first
//! ```

use crate::inbox::Inbox;
use crate::starts::Starts;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::evaluate::{Answer, Question, work_out};
use mainspring_core::ids::AttemptId;
use mainspring_core::launch::StartAttempt;
use mainspring_core::world::input::Answered;
use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Parsing is work for a core, and there are few; a database has as many connections for it.
const AT_ONCE: usize = 2;
/// Before a store that could not be reached is asked again.
const PAUSE: Duration = Duration::from_millis(500);

enum Paper {
    Question(Question),
    Start(StartAttempt),
}

#[derive(Clone)]
pub(crate) struct Desk(Arc<Parts>);

struct Parts {
    starts: Arc<Starts>,
    inbox: Arc<Inbox>,
    pile: Mutex<Pile>,
    closed: Condvar,
}

#[derive(Default)]
struct Pile {
    waiting: VecDeque<Paper>,
    /// Starts that no executor was given yet.
    starts: BTreeSet<AttemptId>,
    at_work: usize,
    is_closed: bool,
}

impl Desk {
    pub fn new(starts: Arc<Starts>) -> Self {
        let inbox = Arc::clone(&starts.inbox);
        Self(Arc::new(Parts { starts, inbox, pile: Mutex::default(), closed: Condvar::new() }))
    }

    pub fn ask(&self, question: Question) {
        self.push(Paper::Question(question));
    }

    pub fn start(&self, start: StartAttempt) {
        self.0.pile().starts.insert(start.ticket.attempt);
        self.push(Paper::Start(start));
    }

    /// Takes a start back. False when an executor was given it, or nobody.
    pub fn take_back(&self, attempt: AttemptId) -> bool {
        self.0.pile().starts.remove(&attempt)
    }

    /// Takes back all starts but these.
    pub fn keep_only(&self, known: &BTreeSet<AttemptId>) {
        self.0.pile().starts.retain(|attempt| known.contains(attempt));
    }

    /// Begins nothing more: what waits is asked again by the next life.
    pub fn close(&self) {
        let mut pile = self.0.pile();
        pile.is_closed = true;
        pile.waiting.clear();
        pile.starts.clear();
        drop(pile);
        self.0.closed.notify_all();
    }

    fn push(&self, paper: Paper) {
        let mut pile = self.0.pile();
        if pile.is_closed {
            return;
        }
        pile.waiting.push_back(paper);
        if pile.at_work < AT_ONCE {
            pile.at_work += 1;
            let parts = Arc::clone(&self.0);
            self.0.starts.keeping.runtime.spawn_blocking(move || parts.work());
        }
    }
}

impl Parts {
    fn pile(&self) -> MutexGuard<'_, Pile> {
        // Each change of it is one call.
        self.pile.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let mut pile = self.pile();
            let Some(paper) = pile.waiting.pop_front() else {
                pile.at_work -= 1;
                return;
            };
            drop(pile);
            match paper {
                Paper::Question(question) => self.answer(&question),
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

    fn answer(&self, question: &Question) {
        let answer = loop {
            let worked_out =
                catch_unwind(AssertUnwindSafe(|| work_out(question, &*self.starts.keeping)));
            match worked_out {
                Ok(Ok(answer)) => break answer,
                // It is nobody's fault but the store's.
                Ok(Err(_)) if self.may_go_on() => {}
                Ok(Err(_)) => return,
                Err(_) => {
                    let what = "it could not be worked out: a bug in Mainspring, see its log";
                    break Answer::Failed(TaskError::new(ErrorClass::Internal, what));
                }
            }
        };
        let Question { run, number, .. } = *question;
        self.inbox.answer(Answered { run, number, answer });
    }

    /// Waits a moment. False when there is nothing left to wait for.
    fn may_go_on(&self) -> bool {
        let waited = self.closed.wait_timeout(self.pile(), PAUSE);
        let (pile, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !pile.is_closed
    }
}
