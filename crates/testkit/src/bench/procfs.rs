//! What this process has used, as the kernel tells it.

use std::path::Path;
use std::time::Duration;

/// Processor time so far: ours, and that of children that have been waited for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu {
    pub own: Duration,
    pub children: Duration,
}

impl Cpu {
    pub fn now() -> Self {
        Self::of(Path::new("/proc/self"))
    }

    /// Of the process that this folder of /proc tells of.
    pub fn of(process: &Path) -> Self {
        let stat = std::fs::read_to_string(process.join("stat")).expect("it lives, on Linux");
        // The second field is a name in brackets that may hold anything.
        let (_, rest) = stat.rsplit_once(')').expect("the name is in brackets");
        let ticks = |field: usize| -> u64 {
            let text = rest.split_whitespace().nth(field - 3).unwrap_or_default();
            text.parse().unwrap_or(0)
        };
        // The kernel shows hundredths of a second to user space, whatever it counts in.
        let time = |ticks: u64| Duration::from_millis(10 * ticks);
        Self { own: time(ticks(14) + ticks(15)), children: time(ticks(16) + ticks(17)) }
    }

    pub fn add(&mut self, more: Self) {
        self.own += more.own;
        self.children += more.children;
    }

    pub fn since(self, earlier: Self) -> Self {
        Self {
            own: self.own.saturating_sub(earlier.own),
            children: self.children.saturating_sub(earlier.children),
        }
    }
}

/// Resident memory of this process in megabytes (10⁶ bytes).
pub fn resident_mb() -> f64 {
    crate::load::resident_mb(Path::new("/proc/self"))
}
