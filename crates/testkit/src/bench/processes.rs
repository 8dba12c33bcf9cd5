//! Processes that end at once: what an engine takes away from what the machine can spawn.

use super::definitions::{Action, Workflow};
use super::floors;
use super::procfs::Cpu;
use super::report::Line;
use super::rig::Rig;
use super::sample::Round;
use super::sizes::Sizes;
use super::workload::folder;
use std::path::Path;
use std::time::{Duration, Instant};

pub async fn measure(ground: &Path, sizes: &Sizes) -> Vec<Line> {
    let workflow = Workflow::wide(sizes.processes, |_| Action::True);
    let mut lines = Vec::new();
    for at_once in &sizes.concurrencies {
        lines.push(measure_one(ground, sizes, &workflow, *at_once).await);
    }
    lines
}

async fn measure_one(ground: &Path, sizes: &Sizes, workflow: &Workflow, at_once: u32) -> Line {
    let folder = folder(ground);
    let mut rig = Rig::start(&folder.path().join("data"), at_once).await;
    rig.deploy(workflow).await;
    rig.run(workflow).await;
    let mut rounds = Vec::new();
    let (mut engine, mut bare) = (Cpu::default(), Cpu::default());
    let count = sizes.processes as f64;
    for _ in 0..sizes.rounds {
        let cpu = Cpu::now();
        let floor = count / floors::bare_processes(sizes.processes, at_once).await.as_secs_f64();
        let between = Cpu::now();
        let begun = Instant::now();
        rig.run(workflow).await;
        let figure = count / begun.elapsed().as_secs_f64();
        bare.add(between.since(cpu));
        engine.add(Cpu::now().since(between));
        rounds.push(Round { figure, floor });
    }
    rig.end();
    let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / count / sizes.rounds as f64;
    let text = |cpu: Cpu| format!("{:.0} + {:.0}", each(cpu.own), each(cpu.children));
    let name = format!("{} × /bin/true, {at_once} at once", sizes.processes);
    let note = format!("µs CPU each, own + children: {}; bare {}", text(engine), text(bare));
    Line::of(name, "/s", "/s bare loop", &rounds).budget("ratio ≥ 0.9").note(note)
}
