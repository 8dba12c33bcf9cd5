//! The life of a run and of a task, as pictures.

use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::kernel::transition::{Event, transition};
use std::fmt::Write as _;

/// The arrows of a run. That it takes no other is checked in every simulated world.
const RUN: &[(RunStatus, RunStatus, &str)] = &[
    (RunStatus::Pending, RunStatus::Running, "picked up"),
    (RunStatus::Pending, RunStatus::Cancelled, "cancel"),
    (RunStatus::Running, RunStatus::Paused, "pause"),
    (RunStatus::Paused, RunStatus::Running, "resume"),
    (RunStatus::Running, RunStatus::Cancelling, "cancel, run timeout"),
    (RunStatus::Paused, RunStatus::Cancelling, "cancel, run timeout"),
    (RunStatus::Running, RunStatus::Success, "everything settled"),
    (RunStatus::Running, RunStatus::Failed, "a failure nobody handled"),
    (RunStatus::Running, RunStatus::Cancelled, "a task was cancelled by itself"),
    (RunStatus::Cancelling, RunStatus::Cancelled, "the work is gone"),
    (RunStatus::Cancelling, RunStatus::Failed, "timed out, the work is gone"),
    (RunStatus::Failed, RunStatus::Running, "retry"),
    (RunStatus::Cancelled, RunStatus::Running, "retry"),
    (RunStatus::Failed, RunStatus::Pending, "retry beyond max_active_runs"),
    (RunStatus::Cancelled, RunStatus::Pending, "retry beyond max_active_runs"),
];

pub fn run() -> String {
    let mut lines = "  [*] --> pending\n".to_owned();
    for (from, to, why) in RUN {
        let _ = writeln!(lines, "  {} --> {}: {why}", from.word(), to.word());
    }
    // The only end that nothing leads out of.
    lines.push_str("  success --> [*]\n");
    picture(&lines)
}

/// From the transition function itself; refusals are in the table below it.
pub fn task() -> String {
    let mut lines = "  [*] --> none\n".to_owned();
    for from in Fact::ALL {
        for to in Fact::ALL {
            let leads = |event: &&Event| transition(*from, **event) == Ok(*to);
            let events: Vec<&str> =
                Event::ALL.iter().filter(leads).map(|event| event.word()).collect();
            if !events.is_empty() {
                let _ =
                    writeln!(lines, "  {} --> {}: {}", from.word(), to.word(), events.join(", "));
            }
        }
    }
    picture(&lines)
}

fn picture(lines: &str) -> String {
    format!("```mermaid\nstateDiagram-v2\n{lines}```\n")
}
