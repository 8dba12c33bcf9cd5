//! Chance inside a world: ids and jitter, from a seed, so that a simulated world replays.
//! Secrets and tokens never come from here.

use crate::time::Timestamp;

/// SplitMix64: ten lines, passes the usual batteries, any seed will do.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub fn fraction(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Below `bound`, which is not 0. The bias is below 2^-32 for the bounds in use.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound
    }

    /// The two parts of a version 7 UUID.
    pub fn id_parts(&mut self, now: Timestamp) -> (u64, [u8; 10]) {
        let (a, b) = (self.draw().to_be_bytes(), self.draw().to_be_bytes());
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&a);
        bytes[8..].copy_from_slice(&b[..2]);
        (now.unix_ms(), bytes)
    }
}
