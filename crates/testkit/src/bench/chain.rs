//! A chain: what one step costs from one task's end to the next one's, made durable between.

use super::definitions::{Action, Workflow};
use super::floors;
use super::procfs::Cpu;
use super::report::Line;
use super::rig::Rig;
use super::sample::Round;
use super::sizes::Sizes;
use super::workload::folder;
use std::path::Path;
use std::time::Instant;

pub async fn measure(ground: &Path, sizes: &Sizes) -> Vec<Line> {
    let folder = folder(ground);
    let workflow = Workflow::chain(sizes.chain_tasks, Action::Light);
    let mut rig = Rig::start(&folder.path().join("data"), 16).await;
    rig.deploy(&workflow).await;
    rig.run(&workflow).await;
    let mut rounds = Vec::new();
    let cpu = Cpu::now();
    // A chain is over in a tenth of a second: more rounds cost little.
    for _ in 0..3 * sizes.rounds {
        let floor = floors::synced_write(folder.path(), sizes.chain_tasks).as_secs_f64() * 1e3;
        let begun = Instant::now();
        rig.run(&workflow).await;
        let figure = begun.elapsed().as_secs_f64() * 1e3 / sizes.chain_tasks as f64;
        rounds.push(Round { figure, floor });
    }
    let cpu = Cpu::now().since(cpu).own.as_secs_f64() * 1e6;
    let steps = rounds.len() * sizes.chain_tasks;
    rig.end();
    let name = format!("chain of {}, per step", sizes.chain_tasks);
    let line = Line::of(name, "ms", "ms write + fdatasync", &rounds)
        .budget("ratio ≤ 2")
        .note(format!("{:.0} µs CPU per step and floor", cpu / steps as f64));
    vec![line]
}
