//! Questions about payloads, and what follows from their answers. Nothing is stored of a question:
//! whoever forgets one asks it again.

use crate::error::TaskError;
use crate::evaluate::{Answer, Asked, Question, Surroundings, Upstream, error_of};
use crate::ids::{RunKey, TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::transition::Event;
use crate::output::Output;
use crate::time::Timestamp;
use crate::world::advance::supersede;
use crate::world::batch::{Change, Effect};
use crate::world::input::{Answered, Refusal, Reply};
use crate::world::report::step;
use crate::world::run::{About, Run};
use crate::world::state::World;
use std::sync::Arc;

impl World {
    /// Asks, unless that is being worked out already.
    pub(super) fn ask(&mut self, now: Timestamp, key: RunKey, what: Asked) {
        let about = About::of(&what);
        let number = (self.epoch, self.next_question);
        let run = self.run_mut(key);
        if run.asked.contains_key(&about) {
            return;
        }
        run.asked.insert(about, number.1);
        let around = Arc::new(run.surroundings(about.task(), now));
        let child = about.task().and_then(|no| self.known_child(key, no));
        self.next_question += 1;
        self.effect(Effect::Evaluate(Question { run: key, number, what, around, child }));
    }

    pub(super) fn answer(&mut self, now: Timestamp, given: Answered) -> Result<Reply, Refusal> {
        let (epoch, number) = given.number;
        let run = self.runs.get_mut(&given.run).filter(|_| epoch == self.epoch);
        let run = run.ok_or(Refusal::Stale)?;
        let asked = run.asked.iter().find(|(_, asked)| **asked == number);
        let about = asked.map(|(about, _)| *about).ok_or(Refusal::Stale)?;
        run.asked.remove(&about);
        match about {
            About::Opening(no) => self.opening(now, given.run, no, given.answer),
            About::Items(no) => self.items_known(now, given.run, no, given.answer),
            About::Noops(no) => self.noops_known(now, given.run, no, given.answer),
            About::List(no) => self.list_known(now, given.run, no, given.answer),
            About::Work(no) => self.work_known(given.run, no, given.answer),
            About::RunOutput => {
                let output = match given.answer {
                    Answer::Value(output) => Ok(output),
                    answer => Err(error_of(answer)),
                };
                self.run_mut(given.run).output = Some(output);
                self.ending.insert(given.run);
            }
        }
        Ok(Reply::Done)
    }

    /// What was true when it was asked may not be any more: then a resume asks again.
    fn opening(&mut self, now: Timestamp, key: RunKey, no: TaskNo, answer: Answer) {
        if !self.run_mut(key).is_startable(no, now) {
            return;
        }
        match answer {
            Answer::Go => {
                self.run_mut(key).passed.insert(no);
                self.enqueue(key, no);
            }
            Answer::Fan { count, items } => self.open_group(now, (key, no), count, items),
            Answer::Park(parking) => {
                let task = TaskRef::plain(no);
                match self.park(now, key, task, parking) {
                    Ok(()) => self.fire(now, key, task),
                    Err(error) => self.decide(now, task, key, Err(error)),
                }
            }
            Answer::Noop(output) => self.decide(now, TaskRef::plain(no), key, Ok(output)),
            Answer::Skip => {
                self.change(key, TaskRef::plain(no), |row| {
                    step(row, Event::ConditionFalse);
                    row.settled_at = Some(now);
                });
                self.decided(now, key, no);
            }
            answer => self.decide(now, TaskRef::plain(no), key, Err(error_of(answer))),
        }
    }

    /// An outcome without an attempt.
    pub(super) fn decide(
        &mut self,
        now: Timestamp,
        task: TaskRef,
        key: RunKey,
        outcome: Result<Output, TaskError>,
    ) {
        self.draft.weigh(outcome.as_ref().map_or(0, Output::weight));
        let mut superseded = None;
        self.change(key, task, |row| {
            superseded = supersede(row);
            row.settled_at = Some(now);
            row.hold = None;
            match outcome {
                Ok(output) => {
                    step(row, Event::DecidedSuccess);
                    row.output = Some(output);
                }
                Err(error) => {
                    step(row, Event::DecidedFailure);
                    row.error = Some(Box::new(error));
                }
            }
        });
        if let Some(attempt) = superseded {
            self.draft.add(Change::NewAttempt(key, attempt));
        }
        self.draft.task(key, task);
        if task.index.is_none() {
            self.decided(now, key, task.no);
        }
    }

    /// A task as a whole has its outcome.
    pub(super) fn decided(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        self.draft.task(key, TaskRef::plain(no));
        self.follow(key, no);
        self.pass_checkpoint(now, key, no);
        self.ending.insert(key);
    }
}

impl Run {
    /// What the expressions of a task, or those of the run as a whole, can see.
    pub fn surroundings(&self, no: Option<TaskNo>, now: Timestamp) -> Surroundings {
        let definition = &self.blueprint.definition;
        let seen: Vec<TaskNo> = match no {
            None => definition.output_reads().to_vec(),
            Some(no) => {
                let task = definition.task(no);
                let direct = task.depends_on.iter().map(|edge| edge.upstream);
                direct.chain(task.reads.iter().copied()).collect()
            }
        };
        let upstream = |above| {
            let row = self.rows.get(above);
            let done = row.filter(|row| matches!(row.fact, Fact::Success | Fact::WorkerDone));
            Upstream {
                no: above,
                word: self.word(above, now),
                output: row.and_then(|row| row.readable_output().cloned()),
                attempt: done.and_then(|row| Some(row.attempt.as_ref()?.id)),
                work: no.and_then(|no| self.work_read(no, above)),
            }
        };
        Surroundings {
            run: self.head.id,
            key: self.head.key,
            definition: Arc::clone(definition),
            run_input: self.head.input.clone(),
            parent: self.head.parent.as_deref().map(|parent| parent.run),
            upstream: seen.into_iter().map(upstream).collect(),
        }
    }
}
