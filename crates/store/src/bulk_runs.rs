//! The runs of an order, as a cell holds them: one id behind the other, 16 bytes each. A hundred
//! thousand of them are not worth rows of their own: they are written once and read whole.

use mainspring_core::ids::RunId;
use std::sync::Arc;

const ID_BYTES: usize = 16;

pub(crate) fn encode(runs: &[RunId]) -> Vec<u8> {
    runs.iter().flat_map(|run| *run.as_bytes()).collect()
}

/// None if it was not written here.
pub(crate) fn decode(bytes: &[u8]) -> Option<Arc<[RunId]>> {
    let (ids, rest) = bytes.as_chunks::<ID_BYTES>();
    rest.is_empty().then(|| ids.iter().map(|id| RunId::from_bytes(*id)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_read_as_they_were_written() {
        for count in [0, 1, 3] {
            let runs: Vec<RunId> = (0..count).map(|no| RunId::from_bytes([no; 16])).collect();
            assert_eq!(decode(&encode(&runs)).as_deref(), Some(&*runs));
        }
        assert_eq!(decode(&[0; 17]), None);
    }
}
