//! Where simulated outputs are that are not in rows, and the rows of instances: a store that may
//! be out of reach for a while.

use crate::sim::library::Library;
use crate::sim::life::find;
use crate::sim::store::FaultyStore;
use mainspring_core::evaluate::{InstanceOutput, Outputs, OutputsError};
use mainspring_core::ids::{RunId, RunKey, TaskNo};
use mainspring_core::json::Json;
use mainspring_core::limits::BATCH_BYTES_MAX;
use mainspring_core::output::{BlobRef, Output};
use mainspring_core::world::input::{Need, Prefetched};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is longer goes into the blob store: far less than in earnest, and more than memory keeps
/// for nobody.
const INLINE_BYTES_MAX: usize = 400;
/// Outputs that are read at a time: so few that there are pages.
const PAGE: usize = 2;

#[derive(Debug, Default)]
pub struct Blobs(RefCell<BTreeMap<(RunId, [u8; 32]), Json>>);

impl Blobs {
    /// An output as it goes into a row.
    pub fn keep(&self, run: RunId, json: Json) -> Output {
        // The heavy ones are to fill batches.
        let length = json.as_str().len();
        if length <= INLINE_BYTES_MAX || length >= BATCH_BYTES_MAX {
            return Output::Inline(json);
        }
        let blob = BlobRef { hash: hash(json.as_str()), bytes: length as u64 };
        self.0.borrow_mut().insert((run, blob.hash), json);
        Output::Blob(blob)
    }

    /// Gives a run what is another run's.
    pub fn copy(&self, output: &Output, from: RunId, to: RunId) {
        if let Output::Blob(blob) = output {
            let json = self.get(from, blob).expect("kept before it was told of");
            self.0.borrow_mut().insert((to, blob.hash), json);
        }
    }

    fn get(&self, run: RunId, blob: &BlobRef) -> Option<Json> {
        self.0.borrow().get(&(run, blob.hash)).cloned()
    }

    /// What a row's output is, wherever it is.
    pub fn value(&self, run: RunId, output: &Output) -> Json {
        match output {
            Output::Inline(json) => json.clone(),
            Output::Blob(blob) => self.get(run, blob).expect("kept before it was told of"),
        }
    }
}

/// Of the simulation only: spread over all bytes, and the same everywhere.
pub fn hash(text: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    for (part, bytes) in hash.chunks_exact_mut(8).enumerate() {
        let mut sum = 0xcbf2_9ce4_8422_2325 ^ part as u64;
        for byte in text.bytes() {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        bytes.copy_from_slice(&sum.to_be_bytes());
    }
    hash
}

/// Whether the store answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    There,
    Away,
}

/// What questions are answered from, and starts rendered with.
pub struct Shelf<'a> {
    pub store: &'a FaultyStore,
    pub library: &'a Library,
    pub blobs: &'a Blobs,
    pub reach: Reach,
}

impl Shelf<'_> {
    fn reach(&self) -> Result<(), OutputsError> {
        match self.reach {
            Reach::There => Ok(()),
            Reach::Away => Err(OutputsError::Unreachable("the store is away".to_owned())),
        }
    }
}

impl Outputs for Shelf<'_> {
    fn load(&self, run: RunId, blob: &BlobRef) -> Result<Json, OutputsError> {
        self.reach()?;
        self.blobs.get(run, blob).ok_or_else(|| OutputsError::Lost(blob.hex()))
    }

    fn file(&self, run: RunId, blob: &BlobRef) -> Result<String, OutputsError> {
        self.load(run, blob)?;
        Ok(blob.hex())
    }

    fn written(&self, _: RunId, json: &Json) -> Result<String, OutputsError> {
        Ok(format!("{:x?}", hash(json.as_str())))
    }

    fn keep(&self, run: RunId, json: Json) -> Result<Output, OutputsError> {
        self.reach()?;
        Ok(self.blobs.keep(run, json))
    }

    fn instances(
        &self,
        run: RunKey,
        task: TaskNo,
        from: u32,
    ) -> Result<Vec<InstanceOutput>, OutputsError> {
        self.reach()?;
        Ok(self.store.model.outputs(run, task, from, PAGE))
    }

    fn workflow(&self, name: &Arc<str>, version: Option<u32>) -> Result<Prefetched, OutputsError> {
        self.reach()?;
        let mut needs = vec![Need::Workflow(Arc::clone(name))];
        needs.extend(version.map(|number| Need::Version(Arc::clone(name), number)));
        Ok(find(&self.store.model, self.library, &needs))
    }
}
