//! Follows a run on a server until it ends.

use crate::client::wire::{Run, SomeTasks, Task};
use crate::client::{Ask, Client, ClientError, Heard, Stream, items};
use crate::fan::NAMED_MAX;
use crate::out;
use crate::print::Tree;
use crate::progress::{Reporter, Watched};
use crate::signals::Signals;
use anyhow::Result;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::MissedTickBehavior;

const TICK: Duration = Duration::from_millis(100);

/// What is news at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Everything: the run has just been started from here.
    Fresh,
    /// Only what runs now.
    UnderWay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Final,
    /// Ctrl-C: whoever watched has left, and the run goes on.
    Left,
}

struct Follower {
    client: Arc<Client>,
    id: String,
    watched: Watched,
    reporter: Reporter,
    start: Start,
}

pub async fn follow(
    client: &Arc<Client>,
    id: &str,
    start: Start,
    reporter: Reporter,
) -> Result<Ending> {
    let mut signals = Signals::listen()?;
    let ask = Ask::get(&["events"]).with("run", id);
    let mut heard = Stream::open(Arc::clone(client), ask).await?.listen();
    let (client, id) = (Arc::clone(client), id.to_owned());
    let mut follower = Follower { client, id, watched: Watched::default(), reporter, start };
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            next = heard.recv() => match next {
                Some(Ok(next)) => follower.take(next).await?,
                Some(Err(error)) => {
                    follower.reporter.finish();
                    return Err(error.into());
                }
                None => return Ok(Ending::Left),
            },
            _ = signals.next() => {
                follower.reporter.finish();
                return Ok(Ending::Left);
            }
            _ = tick.tick() => follower.reporter.tick(&follower.watched, mainspring_exec::now()),
        }
        if follower.watched.run().is_some_and(Run::is_final) {
            follower.reporter.finish();
            return Ok(Ending::Final);
        }
    }
}

impl Follower {
    async fn take(&mut self, heard: Heard) -> Result<()> {
        match heard {
            Heard::Cut(why) => {
                let head = out::yellow("connection lost");
                self.reporter.line(&format!("{head}, trying again: {}", out::tame(&why)));
            }
            Heard::Again => self.reporter.line(&format!("{} again", out::green("connected"))),
            Heard::Event(event) => match event.name.as_str() {
                // Whatever was missed is read; what has been heard already is no news.
                "ready" | "reset" => self.read().await?,
                "run" => {
                    let run: Run = parse(&self.client, &event.data)?;
                    let is_final = run.is_final();
                    self.watched.put_run(run);
                    if is_final {
                        // The tasks that ended with it are told of after it.
                        self.read().await?;
                    }
                }
                "tasks" => {
                    let changed: SomeTasks = parse(&self.client, &event.data)?;
                    for task in changed.tasks {
                        self.put(task).await?;
                    }
                }
                _ => {}
            },
        }
        self.reporter.flush();
        Ok(())
    }

    /// The run and all its tasks, as they stand. A server that is gone again is heard of.
    async fn read(&mut self) -> Result<()> {
        let run: Run = match self.client.answer(&Ask::get(&["runs", &self.id])).await {
            Err(error) if error.is_passing() => return Ok(()),
            answer => answer?,
        };
        let ask = Ask::get(&["runs", &self.id, "tasks"]);
        let tasks = match items(&self.client, &ask, usize::MAX).await {
            Err(error) if error.is_passing() => return Ok(()),
            answer => answer?,
        };
        for task in tasks.iter().map(Tree::read::<Task>) {
            let task = task.map_err(|error| self.client.foreign(&error.to_string()))?;
            if self.start == Start::Fresh || task.is_live() {
                self.put(task).await?;
            } else {
                // What it did until now is no news.
                drop(self.watched.put_task(task));
            }
        }
        self.start = Start::Fresh;
        self.watched.put_run(run);
        Ok(())
    }

    async fn put(&mut self, task: Task) -> Result<()> {
        let now = mainspring_exec::now();
        if self.watched.unnamed(&task) > 0 {
            for instance in self.failed_instances(&task).await? {
                if let Some(step) = self.watched.put_failed(&instance) {
                    self.reporter.step(&step, now);
                }
            }
        }
        for step in self.watched.put_task(task) {
            self.reporter.step(&step, now);
        }
        Ok(())
    }

    /// Events tell of fan-outs in counts: which instances failed has to be asked for.
    async fn failed_instances(&self, task: &Task) -> Result<Vec<Task>> {
        let ask = Ask::get(&["runs", &self.id, "tasks", &task.name, "instances"]);
        let failed = match items(&self.client, &ask.with("status", "failed"), NAMED_MAX).await {
            Err(error) if error.is_passing() => return Ok(Vec::new()),
            answer => answer?,
        };
        let read = failed.iter().map(Tree::read::<Task>).collect::<Result<_, _>>();
        Ok(read.map_err(|error| self.client.foreign(&error.to_string()))?)
    }
}

fn parse<T: DeserializeOwned>(client: &Client, text: &str) -> Result<T, ClientError> {
    serde_json::from_str(text).map_err(|error| client.foreign(&error.to_string()))
}
