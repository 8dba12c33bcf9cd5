//! How much is held for requests at once. Whoever does not fit is told to come back: memory has
//! a bound whatever is sent, by however many.

use crate::auth::who::Pass;
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
    /// Of those who come through the owner's socket, and of all others: strangers who listen keep
    /// nobody out there.
    own_streams: Arc<Semaphore>,
    streams: Arc<Semaphore>,
}

/// The place of somebody who listens. Given back when it is dropped.
#[derive(Debug)]
pub struct Seat {
    _taken: OwnedSemaphorePermit,
}

/// A body's share. It grows with what has arrived, not with what was announced: whoever sends
/// nothing takes nothing from others. Given back when it is dropped.
#[derive(Debug)]
pub struct Share {
    bodies: Arc<Semaphore>,
    bytes: usize,
    taken: Option<OwnedSemaphorePermit>,
}

impl Share {
    pub fn grow(&mut self, bytes: usize) -> Result<(), Problem> {
        self.bytes += bytes;
        if self.bytes <= SMALL_BYTES {
            return Ok(());
        }
        let taken = self.taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = u32::try_from(self.bytes - taken).unwrap_or(u32::MAX);
        let Ok(more) = Arc::clone(&self.bodies).try_acquire_many_owned(more) else {
            return Err(Problem::new(Code::Busy, "too many large requests are under way"));
        };
        match &mut self.taken {
            Some(taken) => taken.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

impl Room {
    /// Streams take at most half of the connections of a door: whoever listens keeps nobody from
    /// asking, least of all those who look whether the server is alive.
    pub fn new(connections: u32) -> Self {
        let streams = (connections as usize / 2).max(1);
        Self {
            bodies: Arc::new(Semaphore::new(BODIES_BYTES_MAX)),
            parsers: Semaphore::new(PARSERS_MAX),
            own_streams: Arc::new(Semaphore::new(streams)),
            streams: Arc::new(Semaphore::new(streams)),
        }
    }

    /// For somebody who listens until something ends.
    pub fn for_stream(&self, pass: Pass) -> Result<Seat, Problem> {
        let streams = if pass == Pass::Owner { &self.own_streams } else { &self.streams };
        match Arc::clone(streams).try_acquire_owned() {
            Ok(taken) => Ok(Seat { _taken: taken }),
            Err(_) => {
                let detail = "as many streams are open as this server serves at once";
                Err(Problem::new(Code::Busy, detail))
            }
        }
    }

    /// For a body of which nothing has arrived yet.
    pub fn for_body(&self) -> Share {
        Share { bodies: Arc::clone(&self.bodies), bytes: 0, taken: None }
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
        let room = Room::new(8);
        let grown = |bytes: usize| {
            let mut share = room.for_body();
            share.grow(bytes).map(|()| share)
        };
        let mut held: Vec<Share> =
            (0..16).map(|_| grown(DEFINITION_BYTES_MAX / 2).expect("there is room")).collect();
        for share in &mut held {
            share.grow(DEFINITION_BYTES_MAX / 2).expect("there is room for the other half");
        }
        assert_eq!(grown(SMALL_BYTES + 1).expect_err("full").code, Code::Busy.word());
        let mut small = grown(SMALL_BYTES).expect("small");
        assert_eq!(small.grow(1).expect_err("no longer small").code, Code::Busy.word());
        drop(held);
        assert!(grown(SMALL_BYTES + 1).expect("room again").taken.is_some());
    }

    #[test]
    fn streams_take_half_of_the_connections() {
        let room = Room::new(8);
        let anyone = || room.for_stream(Pass::Nothing);
        let seats: Vec<Seat> = (0..4).map(|_| anyone().expect("free")).collect();
        assert_eq!(anyone().expect_err("full").code, Code::Busy.word());
        assert!(room.for_stream(Pass::Owner).is_ok(), "the owner has seats of their own");
        drop(seats);
        assert!(anyone().is_ok());
    }
}
