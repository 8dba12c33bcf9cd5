//! What is particular to one place for blobs: what a crash leaves in a folder, what a lost
//! connection leaves in a database.

use crate::asking::{commit, register};
use crate::conformance::blobs::{content, name, of_run, read};
use crate::rows::{SCHEDULER, head, progress, run_id};
use crate::servers::CUT_OFF;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::world::batch::Change;
use mainspring_store::{Blobs as _, FolderBlobs, Postgres};
use mainspring_throwaway::database;
use std::fs;
use std::io::{self, Read};

#[test]
fn a_folder_is_made_with_its_first_blob_and_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path().join("blobs");
    let blobs = FolderBlobs::open(&root).unwrap();
    assert!(blobs.open(name(1)).unwrap().is_none());
    assert!(!root.exists());
    blobs.put(name(1), &mut &b"x"[..]).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&root), 0o700);
    let shelf = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    let shelf = shelf.filter(|path| !path.ends_with("new")).collect::<Vec<_>>();
    assert_eq!(shelf.len(), 1);
    assert_eq!(mode(&shelf[0].join(name(1).to_string())), 0o600);
}

#[test]
fn what_a_crash_left_half_written_goes_at_the_next_start() {
    let root = tempfile::tempdir().unwrap();
    let half = root.path().join("new").join(format!("{}.0", name(1)));
    let blobs = FolderBlobs::open(root.path()).unwrap();
    blobs.put(name(2), &mut &b"whole"[..]).unwrap();
    fs::write(&half, "half").unwrap();
    assert!(FolderBlobs::open_read_only(root.path()).open(name(1)).unwrap().is_none());
    assert!(half.exists(), "whoever looks changes nothing");
    let blobs = FolderBlobs::open(root.path()).unwrap();
    assert!(!half.exists());
    blobs.put(name(1), &mut &b"again"[..]).unwrap();
    assert_eq!(read(&blobs, name(1)).as_deref(), Some(&b"again"[..]));
    assert_eq!(read(&blobs, name(2)).as_deref(), Some(&b"whole"[..]));
}

#[test]
fn files_of_others_are_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let blobs = FolderBlobs::open(root.path()).unwrap();
    blobs.put(name(1), &mut &b"x"[..]).unwrap();
    fs::write(root.path().join("notes.txt"), "n").unwrap();
    fs::create_dir_all(root.path().join("00")).unwrap();
    fs::write(root.path().join("00/notes.txt"), "n").unwrap();
    fs::write(root.path().join("00").join(run_id(9).to_string()), "n").unwrap();
    let listed = blobs.list(None, 10).unwrap();
    assert_eq!(listed.iter().map(|entry| entry.name).collect::<Vec<_>>(), [name(1)]);
}

#[test]
fn the_folder_of_a_run_goes_with_its_last_content_unless_something_else_is_in_it() {
    let root = tempfile::tempdir().unwrap();
    let blobs = FolderBlobs::open(root.path()).unwrap();
    let shelf = root.path().join("00");
    for run in [1, 2] {
        blobs.put(of_run(run, 1), &mut &b"x"[..]).unwrap();
        assert!(shelf.join(run_id(run).to_string()).is_dir());
    }
    let notes = shelf.join(run_id(2).to_string()).join("notes.txt");
    fs::write(&notes, "n").unwrap();
    for run in [1, 2] {
        assert_eq!(blobs.remove_contents(run_id(run), 9).unwrap(), 1);
        assert_eq!(blobs.remove_contents(run_id(run), 9).unwrap(), 0);
    }
    assert!(!shelf.join(run_id(1).to_string()).exists());
    assert!(notes.exists());
    assert_eq!(blobs.list(None, 9).unwrap(), []);
    blobs.put(of_run(1, 1), &mut &b"again"[..]).unwrap();
    assert_eq!(read(&blobs, of_run(1, 1)).as_deref(), Some(&b"again"[..]));
}

#[test]
fn a_folder_that_cannot_be_written_is_named_with_what_to_do() {
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path().join("file");
    fs::write(&root, "in the way").unwrap();
    let blobs = FolderBlobs::open_read_only(&root);
    let error = blobs.put(name(1), &mut &b"x"[..]).unwrap_err().to_string();
    assert!(error.contains(root.to_str().unwrap()) && error.contains("check the disk"), "{error}");
}

/// Does something when its first chunk was taken.
struct Midway<F> {
    whole: Vec<u8>,
    sent: usize,
    act: Option<F>,
}

const WHOLE: usize = 2_000_000;

impl<F: FnOnce()> Read for Midway<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let piece = buffer.len().min(10_000).min(WHOLE - self.sent);
        buffer[..piece].copy_from_slice(&self.whole[self.sent..][..piece]);
        self.sent += piece;
        if self.sent > WHOLE / 2
            && let Some(act) = self.act.take()
        {
            act();
        }
        Ok(piece)
    }
}

#[test]
fn a_blob_on_its_way_holds_up_no_commit_and_is_not_seen() {
    let database = database();
    let store = Postgres::open(&database.url()).unwrap();
    let fence = register(&store, SCHEDULER).fence;
    let mut midway = Midway {
        whole: content(WHOLE, 3),
        sent: 0,
        act: Some(|| {
            let run = Change::NewRun(head(1), progress(RunStatus::Running, 1));
            commit(&store, fence, vec![run]).unwrap();
            assert!(store.open(name(1)).unwrap().is_none());
            assert_eq!(store.list(None, 10).unwrap(), []);
        }),
    };
    store.put(name(1), &mut midway).unwrap();
    assert!(read(&store, name(1)) == Some(content(WHOLE, 3)));
}

#[test]
fn a_blob_whose_connection_is_lost_leaves_nothing_and_can_be_put_again() {
    let database = database();
    let store = Postgres::open(&database.url()).unwrap();
    let mut midway =
        Midway { whole: content(WHOLE, 3), sent: 0, act: Some(|| drop(database.sql(CUT_OFF))) };
    store.put(name(1), &mut midway).unwrap_err();
    assert_eq!(database.sql("select count(*) from mainspring.blob_chunks"), "0");
    // A try that comes at once may still be told of the loss.
    while store.put(name(1), &mut &content(WHOLE, 3)[..]).is_err() {}
    assert!(read(&store, name(1)) == Some(content(WHOLE, 3)));
    store.remove(name(1), mainspring_core::time::Timestamp(i64::MAX)).unwrap();
    assert_eq!(database.sql("select count(*) from mainspring.blob_chunks"), "0");
}

#[test]
fn a_database_opened_for_looking_shows_blobs_and_takes_none() {
    let database = database();
    let store = Postgres::open(&database.url()).unwrap();
    store.put(name(1), &mut &content(WHOLE, 3)[..]).unwrap();
    let reader = Postgres::open_read_only(&database.url()).unwrap();
    assert!(read(&reader, name(1)) == Some(content(WHOLE, 3)));
    let error = reader.put(name(2), &mut &content(WHOLE, 3)[..]).unwrap_err();
    assert!(error.to_string().contains("for reading only"), "{error}");
    let error = reader.remove(name(1), mainspring_core::time::Timestamp(i64::MAX)).unwrap_err();
    assert!(error.to_string().contains("for reading only"), "{error}");
}
