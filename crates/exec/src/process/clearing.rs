//! What is being removed of attempts that are over, so that whoever ends can wait for it: a runtime
//! that ends drops what it has not begun.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Clearing {
    under_way: Mutex<usize>,
    over: Condvar,
}

/// One that is under way, or waits for its turn, until this is dropped.
pub(super) struct Turn(Arc<Clearing>);

impl Clearing {
    pub fn begin(self: &Arc<Self>) -> Turn {
        *self.under_way.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Turn(Arc::clone(self))
    }

    /// Waits until nothing is under way, but not for ever: the next life removes what is left.
    pub fn wait(&self, at_most: Duration) {
        let under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.over.wait_timeout_while(under_way, at_most, |under_way| *under_way > 0));
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.over.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn whoever_waits_goes_on_when_the_last_one_is_over() {
        let clearing = Arc::new(Clearing::default());
        let (first, second) = (clearing.begin(), clearing.begin());
        let (say, hear) = mpsc::channel();
        let waiting = Arc::clone(&clearing);
        let waits = std::thread::spawn(move || {
            waiting.wait(Duration::from_secs(60));
            say.send(*waiting.under_way.lock().expect("unpoisoned")).expect("heard");
        });
        drop(first);
        drop(second);
        assert_eq!(hear.recv(), Ok(0));
        waits.join().expect("it went on");
    }

    #[test]
    fn nobody_waits_for_ever() {
        let clearing = Arc::new(Clearing::default());
        let _turn = clearing.begin();
        clearing.wait(Duration::ZERO);
    }
}
