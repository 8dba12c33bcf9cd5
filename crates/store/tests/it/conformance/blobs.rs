//! Blobs: put whole, read as they were put, removed by age.

use crate::rows::run_id;
use mainspring_core::ids::AttemptId;
use mainspring_core::time::Timestamp;
use mainspring_store::{BlobName, Blobs};
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::thread;

/// The size in which PostgreSQL keeps them: what is odd is odd around it.
const CHUNK: usize = 256 * 1024;
const ALWAYS: Timestamp = Timestamp(i64::MAX);

pub fn name(number: u64) -> BlobName {
    // Ids end with chance, and places may go by their end.
    let [.., last] = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    let mut bytes = [last; 16];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    BlobName::Log(AttemptId::from_bytes(bytes))
}

/// Something that a run put out.
pub fn of_run(run: u64, number: u8) -> BlobName {
    BlobName::Content(run_id(run), [number; 32])
}

pub fn content(bytes: usize, seed: u8) -> Vec<u8> {
    let byte = |at: usize| (at.wrapping_mul(31) >> 3) as u8 ^ seed;
    (0..bytes).map(byte).collect()
}

pub fn read(blobs: &dyn Blobs, name: BlobName) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    blobs.open(name).unwrap()?.read_to_end(&mut bytes).unwrap();
    Some(bytes)
}

/// Comes in small pieces of odd sizes, and may end with an error.
pub struct Trickle<'a> {
    pub rest: &'a [u8],
    pub fails: bool,
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() && self.fails {
            return Err(io::Error::other("no more of it"));
        }
        let piece = self.rest.len() % 997 + 1;
        let piece = piece.min(buffer.len()).min(self.rest.len());
        buffer[..piece].copy_from_slice(&self.rest[..piece]);
        self.rest = &self.rest[piece..];
        Ok(piece)
    }
}

pub fn what_was_never_put_is_not_there(blobs: &dyn Blobs) {
    assert!(blobs.open(name(1)).unwrap().is_none());
    assert_eq!(blobs.list(None, 10).unwrap(), []);
    blobs.remove(name(1), ALWAYS).unwrap();
}

pub fn a_blob_is_read_as_it_was_put(blobs: &dyn Blobs) {
    let sizes = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 7 * CHUNK + 3];
    for (number, size) in (0..).zip(sizes) {
        let bytes = content(size, 7);
        for name in [name(number.into()), of_run(1, number)] {
            blobs.put(name, &mut Trickle { rest: &bytes, fails: false }).unwrap();
        }
    }
    for (number, size) in (0..).zip(sizes) {
        for name in [name(number.into()), of_run(1, number)] {
            assert!(read(blobs, name) == Some(content(size, 7)), "{name}, {size} bytes");
        }
    }
}

pub fn a_blob_that_is_put_again_is_replaced(blobs: &dyn Blobs) {
    for (size, seed) in [(3 * CHUNK, 1), (CHUNK / 2, 2), (0, 3), (2 * CHUNK, 4)] {
        blobs.put(name(1), &mut &content(size, seed)[..]).unwrap();
        assert!(read(blobs, name(1)) == Some(content(size, seed)), "of {size} bytes");
    }
    assert_eq!(blobs.list(None, 10).unwrap().len(), 1);
}

pub fn content_that_cannot_be_read_leaves_things_as_they_were(blobs: &dyn Blobs) {
    blobs.put(name(2), &mut &b"before"[..]).unwrap();
    for size in [0, 1, CHUNK, 2 * CHUNK + 1] {
        for name in [name(1), name(2)] {
            let bytes = content(size, 1);
            let error = blobs.put(name, &mut Trickle { rest: &bytes, fails: true }).unwrap_err();
            assert!(error.to_string().contains("no more of it"), "{error}");
        }
    }
    assert_eq!(read(blobs, name(1)), None);
    assert_eq!(read(blobs, name(2)).as_deref(), Some(&b"before"[..]));
    blobs.put(name(1), &mut &b"after"[..]).unwrap();
    assert_eq!(read(blobs, name(1)).as_deref(), Some(&b"after"[..]));
}

pub fn a_removed_blob_is_gone_and_the_others_stay(blobs: &dyn Blobs) {
    for number in 1..=3 {
        blobs.put(name(number), &mut &content(CHUNK + 1, 1)[..]).unwrap();
    }
    for _ in 0..2 {
        blobs.remove(name(2), ALWAYS).unwrap();
    }
    assert_eq!(read(blobs, name(2)), None);
    for number in [1, 3] {
        assert!(read(blobs, name(number)) == Some(content(CHUNK + 1, 1)), "{number}");
    }
    assert_eq!(blobs.list(None, 10).unwrap().len(), 2);
}

pub fn a_young_blob_is_not_removed(blobs: &dyn Blobs) {
    blobs.put(name(1), &mut &content(CHUNK + 1, 1)[..]).unwrap();
    let put_at = blobs.list(None, 1).unwrap()[0].put_at;
    blobs.remove(name(1), put_at).unwrap();
    assert!(read(blobs, name(1)) == Some(content(CHUNK + 1, 1)));
    blobs.remove(name(1), Timestamp(put_at.0 + 1)).unwrap();
    assert_eq!(read(blobs, name(1)), None);
    assert_eq!(blobs.list(None, 1).unwrap(), []);
}

pub fn blobs_are_listed_in_pages(blobs: &dyn Blobs) {
    let contents = (1..=5).flat_map(|run| (1..=6).map(move |number| of_run(run, number)));
    let names: BTreeSet<BlobName> = (1..=50).map(name).chain(contents).collect();
    for name in &names {
        blobs.put(*name, &mut &b"x"[..]).unwrap();
    }
    for limit in [1, 7, 50, 100] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = blobs.list(after, limit).unwrap();
            assert!(page.len() <= limit);
            let Some(last) = page.last() else { break };
            after = Some(last.name);
            found.extend(page.into_iter().map(|entry| entry.name));
        }
        assert_eq!(found.len(), names.len(), "each once");
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), names);
    }
    assert_eq!(blobs.list(None, 0).unwrap(), []);
}

pub fn contents_go_with_their_run(blobs: &dyn Blobs) {
    assert_eq!(blobs.remove_contents(run_id(1), 10).unwrap(), 0);
    for number in 1..=5 {
        for run in 1..=2 {
            blobs.put(of_run(run, number), &mut &content(CHUNK + 1, number)[..]).unwrap();
        }
    }
    blobs.put(name(1), &mut &b"log"[..]).unwrap();
    assert_eq!(blobs.remove_contents(run_id(1), 3).unwrap(), 3);
    assert_eq!(blobs.list(None, 100).unwrap().len(), 8);
    assert_eq!(blobs.remove_contents(run_id(1), 3).unwrap(), 2);
    assert_eq!(blobs.remove_contents(run_id(1), 3).unwrap(), 0);
    assert_eq!(blobs.remove_contents(run_id(3), 3).unwrap(), 0);
    let left: BTreeSet<_> = blobs.list(None, 100).unwrap().iter().map(|it| it.name).collect();
    let expected = (1..=5).map(|number| of_run(2, number)).chain([name(1)]);
    assert_eq!(left, expected.collect());
    for number in 1..=5 {
        assert_eq!(read(blobs, of_run(1, number)), None);
        assert!(read(blobs, of_run(2, number)) == Some(content(CHUNK + 1, number)));
    }
    blobs.remove(of_run(2, 3), ALWAYS).unwrap();
    assert_eq!(read(blobs, of_run(2, 3)), None);
    assert_eq!(blobs.remove_contents(run_id(2), 9).unwrap(), 4);
    assert_eq!(blobs.list(None, 100).unwrap().len(), 1);
}

pub fn a_blob_that_goes_while_it_is_read_never_seems_to_end_early(blobs: &dyn Blobs) {
    let whole = content(4 * CHUNK, 5);
    blobs.put(name(1), &mut &whole[..]).unwrap();
    let mut reader = blobs.open(name(1)).unwrap().unwrap();
    let mut bytes = vec![0; 100];
    reader.read_exact(&mut bytes).unwrap();
    blobs.remove(name(1), ALWAYS).unwrap();
    let is_whole = reader.read_to_end(&mut bytes).is_ok();
    assert!(!is_whole || bytes == whole, "it ended after {} bytes", bytes.len());
}

pub fn many_can_be_put_at_once(blobs: &dyn Blobs) {
    let whole = content(2 * CHUNK + 5, 9);
    thread::scope(|scope| {
        // Two of each name.
        for number in (1..=6).chain(1..=6) {
            let rest = &whole[..];
            scope.spawn(move || {
                blobs.put(name(number), &mut Trickle { rest, fails: false }).unwrap();
            });
        }
    });
    for number in 1..=6 {
        assert!(read(blobs, name(number)).as_ref() == Some(&whole), "{number}");
    }
}
