//! Chance that can be had again: the seed is printed, and `MAINSPRING_SEED` replays it.

use std::io::Read as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that decides everything random in a test; shown when the test fails.
pub fn seed() -> u64 {
    let seed = match std::env::var("MAINSPRING_SEED") {
        Ok(seed) => seed.parse().expect("a number"),
        Err(_) => {
            let mut bytes = [0; 8];
            let mut random = std::fs::File::open("/dev/urandom").expect("chance");
            random.read_exact(&mut bytes).expect("chance");
            u64::from_ne_bytes(bytes) >> 1
        }
    };
    println!("MAINSPRING_SEED={seed}");
    seed
}

/// SplitMix64.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// Rounds of a test side by side, each with a seed of its own; how many said yes.
pub fn rounds(count: u64, at_once: usize, round: impl Fn(u64) -> bool + Sync) -> u64 {
    let (base, next, yes) = (seed(), AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        loop {
            let no = next.fetch_add(1, Ordering::Relaxed);
            if no >= count {
                return;
            }
            // Steps of a large prime: what is taken modulo something small is spread out.
            let said = round(base.wrapping_add(no.wrapping_mul(7_919)));
            yes.fetch_add(u64::from(said), Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(work);
        }
    });
    yes.into_inner()
}
