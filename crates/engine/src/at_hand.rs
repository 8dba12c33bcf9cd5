//! Outputs as far as nobody has to wait for them: files that this process has written already. An
//! attempt that needs nothing else is rendered where it is; any other goes to the desk.

use crate::keeping::Keeping;
use mainspring_core::evaluate::{InstanceOutput, Outputs, OutputsError};
use mainspring_core::ids::{RunId, RunKey, TaskNo};
use mainspring_core::json::Json;
use mainspring_core::output::{BlobRef, Output};
use mainspring_core::world::input::Prefetched;
use std::cell::Cell;
use std::sync::Arc;

pub(crate) struct AtHand<'a> {
    keeping: &'a Keeping,
    /// Something was asked for that takes longer.
    lacked: Cell<bool>,
}

impl<'a> AtHand<'a> {
    pub fn of(keeping: &'a Keeping) -> Self {
        Self { keeping, lacked: Cell::new(false) }
    }

    /// Whether whatever was made of it is of no use.
    pub fn has_lacked(&self) -> bool {
        self.lacked.get()
    }

    fn lack<T>(&self) -> Result<T, OutputsError> {
        self.lacked.set(true);
        Err(OutputsError::Unreachable("it is not at hand".to_owned()))
    }
}

impl Outputs for AtHand<'_> {
    fn load(&self, _: RunId, _: &BlobRef) -> Result<Json, OutputsError> {
        self.lack()
    }

    fn file(&self, run: RunId, blob: &BlobRef) -> Result<String, OutputsError> {
        match self.keeping.written_file(run, blob) {
            Some(path) => Ok(path),
            None => self.lack(),
        }
    }

    fn written(&self, _: RunId, _: &Json) -> Result<String, OutputsError> {
        self.lack()
    }

    fn keep(&self, _: RunId, _: Json) -> Result<Output, OutputsError> {
        self.lack()
    }

    fn instances(&self, _: RunKey, _: TaskNo, _: u32) -> Result<Vec<InstanceOutput>, OutputsError> {
        self.lack()
    }

    fn workflow(&self, _: &Arc<str>, _: Option<u32>) -> Result<Prefetched, OutputsError> {
        self.lack()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::LogPlaces;
    use mainspring_store::{Memory, MemoryBlobs, Store};

    #[tokio::test(flavor = "multi_thread")]
    async fn a_file_is_at_hand_from_its_first_reader_to_the_end_of_its_run() {
        let folder = tempfile::tempdir().unwrap();
        let logs = LogPlaces { folder: folder.path().into(), blobs: Arc::new(MemoryBlobs::new()) };
        let store = Arc::new(Memory::default()) as Arc<dyn Store>;
        let keeping = Keeping::new(&store, &logs);
        let (run, other) = (RunId::from_bytes([1; 16]), RunId::from_bytes([2; 16]));
        let blob = keeping.put(run, b"[1]").unwrap();
        let at_hand = |run| {
            let at_hand = AtHand::of(&keeping);
            let found = at_hand.file(run, &blob).ok();
            assert_eq!(at_hand.has_lacked(), found.is_none());
            found
        };
        assert_eq!(at_hand(run), None);
        let path = keeping.file(run, &blob).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"[1]");
        assert_eq!((at_hand(run), at_hand(other)), (Some(path), None));
        keeping.run_ended(run);
        assert_eq!(at_hand(run), None);
    }
}
