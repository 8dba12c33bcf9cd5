//! Secrets: 256 random bits behind a prefix that scanners for leaked secrets can find.

use crate::cursor::encode;
use mainspring_core::ids::{BulkId, TokenId};
use mainspring_core::time::Timestamp;
use sha2::{Digest as _, Sha256};

const PREFIX: &str = "mst_";
const DIGITS: usize = 64;

/// A new secret and its hash.
pub fn make() -> (String, [u8; 32]) {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    let secret = format!("{PREFIX}{}", encode(&bytes));
    let hash = hash(&secret);
    (secret, hash)
}

/// A new name for a token.
pub fn id(now: Timestamp) -> TokenId {
    let (unix_ms, chance) = parts(now);
    TokenId::from_parts(unix_ms, chance)
}

/// A new name for an order on many runs.
pub fn bulk_id(now: Timestamp) -> BulkId {
    let (unix_ms, chance) = parts(now);
    BulkId::from_parts(unix_ms, chance)
}

fn parts(now: Timestamp) -> (u64, [u8; 10]) {
    let mut chance = [0; 10];
    getrandom::fill(&mut chance).expect("the operating system gives random bytes");
    (u64::try_from(now.0 / 1_000).unwrap_or_default(), chance)
}

/// What is stored. The secret has 256 bits of chance: nothing slower would make guessing harder.
pub fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// Whether it could be one of ours, before anything is looked up.
pub fn is_plausible(secret: &str) -> bool {
    let digits = secret.strip_prefix(PREFIX).unwrap_or_default();
    digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_secret_is_another_one() {
        let (first, first_hash) = make();
        let (second, second_hash) = make();
        assert!(is_plausible(&first) && is_plausible(&second));
        assert_ne!(first, second);
        assert_ne!(first_hash, second_hash);
        assert_eq!(hash(&first), first_hash);
        assert!(!is_plausible("mst_") && !is_plausible("") && !is_plausible(&first[1..]));
    }
}
