//! Memory: an engine at rest, and what live processes add to it.

use super::definitions::{Action, Workflow};
use super::procfs::resident_mb;
use super::report::Line;
use super::rig::Rig;
use super::sample::Spread;
use super::sizes::Sizes;
use super::workload::folder;
use std::path::Path;

pub async fn measure(ground: &Path, sizes: &Sizes) -> Vec<Line> {
    let folder = folder(ground);
    let count = sizes.live_processes;
    mainspring_exec::raise_open_files().expect("the limit can be raised");
    let live = Workflow::wide(count, |_| Action::Sleep);
    let first = Workflow::wide(sizes.processes.min(count), |_| Action::True);
    let processes = u32::try_from(count).expect("few");
    let mut rig = Rig::start(&folder.path().join("data"), processes).await;
    let idle = resident_mb();
    // Whatever is made once and kept is not what live processes cost.
    rig.deploy(&first).await;
    rig.run(&first).await;
    rig.deploy(&live).await;
    let warm = resident_mb();
    rig.trigger(&live).await;
    let before = rig.seen().tasks_running;
    rig.wait(|seen| seen.tasks_running >= before + count).await;
    let busy = resident_mb();
    rig.end();
    let one = |value: f64| Spread::of([value]);
    vec![
        Line::new("idle engine", "MB RSS", one(idle)).budget("< 20 MB"),
        Line::new(format!("{count} live processes, over idle"), "MB RSS", one(busy - idle))
            .budget("≤ 10 MB")
            .note(format!("{:.1} MB over an engine that has worked before", busy - warm)),
    ]
}
