//! Idempotency keys of our own: a request that is sent twice is then carried out once.

/// 128 random bits.
pub fn new_key() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
