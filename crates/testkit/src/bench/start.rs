//! A start with a lot to carry on, from opening the file to the first answer.

use super::definitions::{Action, Workflow};
use super::report::Line;
use super::rig::Rig;
use super::sample::Spread;
use super::sizes::Sizes;
use super::workload::folder;
use mainspring_core::ids::RunId;
use mainspring_core::world::input::{Command, Input, Order, Verb};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Requests on their way at once while runs are made.
pub const AT_ONCE: usize = 256;
/// No process may start: whatever needs one stays unfinished.
const NO_PROCESSES: u32 = 0;

pub async fn measure(ground: &Path, sizes: &Sizes) -> Vec<Line> {
    vec![many_runs(ground, sizes).await, one_run(ground, sizes).await]
}

/// Runs of three tasks, two of them done (with the feature `bench`).
async fn many_runs(ground: &Path, sizes: &Sizes) -> Line {
    let folder = folder(ground);
    let path = folder.path().join("data");
    let workflow = Workflow::chain(3, Action::True);
    let rig = Arc::new(Rig::start(&path, NO_PROCESSES).await);
    rig.deploy(&workflow).await;
    let mut lanes = Vec::new();
    for lane in 0..AT_ONCE {
        let (rig, workflow) = (Arc::clone(&rig), workflow.clone());
        let runs = (lane..sizes.unfinished_runs).step_by(AT_ONCE).count();
        lanes.push(tokio::spawn(async move {
            for _ in 0..runs {
                rig.trigger(&workflow).await;
            }
        }));
    }
    for lane in lanes {
        lane.await.expect("no lane panics");
    }
    settle(&rig).await;
    Arc::into_inner(rig).expect("the lanes have ended").end();
    let name = format!("start with {} unfinished runs", sizes.unfinished_runs);
    starts(name, &path, sizes).await
}

/// One run of very many tasks, every other one done (with the feature `bench`).
async fn one_run(ground: &Path, sizes: &Sizes) -> Line {
    let folder = folder(ground);
    let path = folder.path().join("data");
    let action = |no: usize| if no.is_multiple_of(2) { Action::Light } else { Action::True };
    let workflow = Workflow::wide(sizes.unfinished_tasks, action);
    let rig = Rig::start(&path, NO_PROCESSES).await;
    rig.deploy(&workflow).await;
    rig.trigger(&workflow).await;
    settle(&rig).await;
    rig.end();
    let name = format!("start with one run of {} tasks", sizes.unfinished_tasks);
    starts(name, &path, sizes).await
}

/// Until nothing more is written: all that can be done is.
async fn settle(rig: &Rig) {
    let mut before = None;
    loop {
        let stamp = rig.last_stamp().await;
        if before == Some(stamp) {
            return;
        }
        before = Some(stamp);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

pub async fn starts(name: String, path: &Path, sizes: &Sizes) -> Line {
    let mut taken = Vec::new();
    for _ in 0..sizes.rounds {
        let begun = Instant::now();
        let rig = Rig::start(path, NO_PROCESSES).await;
        // About a run that nobody knows: the world has to look at it, and the store.
        let question = Command {
            run: RunId::from_bytes([0; 16]),
            order: Order::Run(Verb::Pause),
            by: "bench".to_owned(),
        };
        let _ = rig.engine.submit(Input::Command(question)).await;
        taken.push(begun.elapsed().as_secs_f64());
        rig.end();
    }
    Line::new(name, "s", Spread::of(taken)).budget("< 2 s")
}
