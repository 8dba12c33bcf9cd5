//! Blobs in memory that cannot be put, or not yet, when a test says so.

use mainspring_core::ids::RunId;
use mainspring_core::time::Timestamp;
use mainspring_store::{BlobEntry, BlobError, BlobName, BlobReader, Blobs, MemoryBlobs};
use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub struct ShakyBlobs {
    pub memory: MemoryBlobs,
    /// Puts that fail before one works.
    pub failing: Mutex<u32>,
    /// Nothing can be opened just now.
    pub unreadable: AtomicBool,
    /// Puts wait for whoever holds this.
    pub gate: Mutex<()>,
}

impl ShakyBlobs {
    /// Cuts every blob in half, as a disk does that was full once.
    pub fn damage(&self) {
        for entry in self.memory.list(None, usize::MAX).expect("listed") {
            let mut content = Vec::new();
            let mut reader = self.memory.open(entry.name).expect("opened").expect("listed");
            reader.read_to_end(&mut content).expect("read");
            content.truncate(content.len() / 2);
            self.memory.put(entry.name, &mut &content[..]).expect("put");
        }
    }
}

impl Blobs for ShakyBlobs {
    fn put(&self, name: BlobName, content: &mut dyn Read) -> Result<(), BlobError> {
        drop(self.gate.lock().expect("unpoisoned"));
        let mut failing = self.failing.lock().expect("unpoisoned");
        if *failing > 0 {
            *failing -= 1;
            return Err(BlobError { what: "no space left".to_owned(), source: None });
        }
        self.memory.put(name, content)
    }

    fn open(&self, name: BlobName) -> Result<Option<BlobReader>, BlobError> {
        if self.unreadable.load(Ordering::Relaxed) {
            return Err(BlobError { what: "nobody answers".to_owned(), source: None });
        }
        self.memory.open(name)
    }

    fn remove(&self, name: BlobName, put_before: Timestamp) -> Result<(), BlobError> {
        self.memory.remove(name, put_before)
    }

    fn remove_contents(&self, run: RunId, limit: usize) -> Result<usize, BlobError> {
        self.memory.remove_contents(run, limit)
    }

    fn list(&self, after: Option<BlobName>, limit: usize) -> Result<Vec<BlobEntry>, BlobError> {
        self.memory.list(after, limit)
    }
}
