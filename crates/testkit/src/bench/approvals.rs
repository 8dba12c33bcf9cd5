//! Runs that wait for a person: what they cost while they wait, and how long it takes from a yes to
//! what follows.

use super::definitions::Workflow;
use super::procfs::{Cpu, resident_mb};
use super::report::Line;
use super::rig::Rig;
use super::sample::Spread;
use super::sizes::Sizes;
use super::start::{AT_ONCE, starts};
use super::workload::folder;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::record::Role;
use mainspring_core::kernel::wait::Verdict;
use mainspring_core::world::input::{Command, Input, Order, Ruling};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long nothing happens while processor time is counted.
const REST: Duration = Duration::from_secs(3);

pub async fn measure(ground: &Path, sizes: &Sizes) -> Vec<Line> {
    let folder = folder(ground);
    let path = folder.path().join("data");
    let workflow = Workflow::approval();
    let rig = Arc::new(Rig::start(&path, 4).await);
    rig.deploy(&workflow).await;
    let idle = resident_mb();
    trigger_all(&rig, &workflow, sizes.unfinished_runs).await;
    let mut rig = Arc::into_inner(rig).expect("the lanes have ended");
    rig.wait(|seen| seen.tasks_waiting >= sizes.unfinished_runs).await;
    let waiting = resident_mb();
    let before = Cpu::now();
    tokio::time::sleep(REST).await;
    let used = Cpu::now().since(before).own.as_secs_f64() / REST.as_secs_f64();
    let taken = decide(&mut rig, sizes).await;
    rig.end();
    let count = sizes.unfinished_runs;
    let one = |value: f64| Spread::of([value]);
    vec![
        Line::new(format!("{count} waiting approvals, over idle"), "MB RSS", one(waiting - idle))
            .budget("≤ 10 MB"),
        Line::new(format!("{count} waiting approvals"), "% CPU", one(used * 100.0)).budget("none"),
        Line::new("from a yes to the end of what follows", "ms", Spread::of(taken))
            .budget("≤ 20 ms"),
        starts(format!("start with {count} waiting approvals"), &path, sizes).await,
    ]
}

async fn trigger_all(rig: &Arc<Rig>, workflow: &Workflow, count: usize) {
    let mut lanes = Vec::new();
    for lane in 0..AT_ONCE {
        let (rig, workflow) = (Arc::clone(rig), workflow.clone());
        let runs = (lane..count).step_by(AT_ONCE).count();
        lanes.push(tokio::spawn(async move {
            for _ in 0..runs {
                rig.trigger(&workflow).await;
            }
        }));
    }
    for lane in lanes {
        lane.await.expect("no lane panics");
    }
}

/// Milliseconds from each yes until the run has ended.
async fn decide(rig: &mut Rig, sizes: &Sizes) -> Vec<f64> {
    let mut taken = Vec::new();
    for run in rig.asked(sizes.rounds).await {
        let ended = rig.seen().runs_ended;
        let begun = Instant::now();
        rig.engine.submit(Input::Command(approve(run))).await.expect("it waits for that");
        rig.wait(|seen| seen.runs_ended > ended).await;
        taken.push(begun.elapsed().as_secs_f64() * 1_000.0);
    }
    taken
}

fn approve(run: RunId) -> Command {
    let ruling = Ruling { verdict: Verdict::Approved, comment: None, role: Role::Operator };
    Command { run, order: Order::Rule("ask".into(), ruling), by: "bench".to_owned() }
}
