//! Many independent tasks at once: what a task costs when commits carry thousands.

use super::definitions::{Action, Workflow};
use super::floors;
use super::procfs::Cpu;
use super::report::Line;
use super::rig::Rig;
use super::sample::{Round, Spread};
use super::sizes::Sizes;
use super::workload::folder;
use std::path::Path;
use std::time::Instant;

/// As many as the default limit on attempts at once lets the engine put into one commit.
const GROUP: usize = 1_000;

pub async fn measure(ground: &Path, sizes: &Sizes) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut taken: Vec<(usize, Vec<f64>)> = Vec::new();
    for tasks in &sizes.fanouts {
        let (line, seconds) = measure_one(ground, sizes, *tasks).await;
        lines.push(line);
        taken.push((*tasks, seconds));
    }
    let (few, base) = &taken[0];
    let base = Spread::of(base.iter().copied()).median;
    for (many, seconds) in &taken[1..] {
        let name = format!("fan-out, time for {} × the tasks", many / few);
        let growth = Spread::of(seconds.iter().map(|seconds| seconds / base));
        lines.push(Line::new(name, "×", growth).budget("≤ 11 for 10"));
    }
    lines
}

async fn measure_one(ground: &Path, sizes: &Sizes, tasks: usize) -> (Line, Vec<f64>) {
    let folder = folder(ground);
    let workflow = Workflow::wide(tasks, |_| Action::Light);
    let mut rig = Rig::start(&folder.path().join("data"), 16).await;
    rig.deploy(&workflow).await;
    rig.run(&workflow).await;
    let (mut rounds, mut taken) = (Vec::new(), Vec::new());
    let mut own = 0.0;
    for _ in 0..sizes.rounds {
        let floor = floors::bare_rows(folder.path(), tasks, GROUP).as_secs_f64();
        let (begun, cpu) = (Instant::now(), Cpu::now());
        rig.run(&workflow).await;
        let seconds = begun.elapsed().as_secs_f64();
        own += Cpu::now().since(cpu).own.as_secs_f64();
        taken.push(seconds);
        rounds.push(Round { figure: tasks as f64 / seconds, floor: tasks as f64 / floor });
    }
    rig.end();
    let each = own * 1e6 / tasks as f64 / sizes.rounds as f64;
    let line = Line::of(format!("fan-out of {tasks}"), "/s", "/s bare SQLite rows", &rounds)
        .budget("≥ 60,000/s (2 cores)")
        .note(format!("{each:.1} µs CPU per task"));
    (line, taken)
}
