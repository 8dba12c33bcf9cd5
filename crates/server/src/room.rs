//! How much is held for requests at once. Whoever does not fit is told to come back: memory has
//! a bound whatever is sent, by however many.

use crate::problem::{Code, Problem};
use mainspring_core::limits::DEFINITION_BYTES_MAX;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bodies of requests under way: sixteen of the largest.
const BODIES_BYTES_MAX: usize = 16 * DEFINITION_BYTES_MAX;
/// Bodies up to this size are not counted: there are no more of them than connections.
const SMALL_BYTES: usize = 8 * 1024;
/// Definitions read at once. Each may take a hundred times its size in memory and a second of a
/// core; more at once would not be faster.
const PARSERS_MAX: usize = 2;

#[derive(Debug)]
pub struct Room {
    bodies: Arc<Semaphore>,
    parsers: Semaphore,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            bodies: Arc::new(Semaphore::new(BODIES_BYTES_MAX)),
            parsers: Semaphore::new(PARSERS_MAX),
        }
    }
}

/// A body's share, given back when it is dropped.
pub type Share = Option<OwnedSemaphorePermit>;

impl Room {
    /// For a body of at most so many bytes.
    pub fn for_body(&self, bytes: usize) -> Result<Share, Problem> {
        if bytes <= SMALL_BYTES {
            return Ok(None);
        }
        let share = u32::try_from(bytes.min(DEFINITION_BYTES_MAX)).unwrap_or(u32::MAX);
        match Arc::clone(&self.bodies).try_acquire_many_owned(share) {
            Ok(share) => Ok(Some(share)),
            Err(_) => Err(Problem::new(Code::Busy, "too many large requests are under way")),
        }
    }

    /// Does what takes a while of a core, off the threads that answer.
    pub async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let _turn = self.parsers.acquire().await.expect("it is never closed");
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|_| Problem::new(Code::Internal, "the definition could not be read"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bodies_have_a_bound_and_small_ones_pass() {
        let room = Room::default();
        let held: Vec<Share> =
            (0..16).map(|_| room.for_body(usize::MAX).expect("there is room")).collect();
        assert_eq!(room.for_body(SMALL_BYTES + 1).expect_err("full").code, Code::Busy.word());
        assert!(room.for_body(SMALL_BYTES).expect("small").is_none());
        drop(held);
        assert!(room.for_body(SMALL_BYTES + 1).expect("room again").is_some());
    }
}
