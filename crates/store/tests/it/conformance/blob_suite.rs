//! Every case, in every place for blobs.

use super::blobs;
use mainspring_store::{FolderBlobs, MemoryBlobs, Postgres};

macro_rules! suite {
    ($($case:ident,)*) => {
        mod memory {
            use super::*;
            $(#[test] fn $case() { blobs::$case(&MemoryBlobs::new()); })*
        }
        mod folder {
            use super::*;
            $(#[test] fn $case() {
                let folder = tempfile::tempdir().unwrap();
                blobs::$case(&FolderBlobs::open(&folder.path().join("blobs")).unwrap());
            })*
        }
        mod postgres {
            use super::*;
            $(#[test] fn $case() {
                let database = mainspring_throwaway::database();
                blobs::$case(&Postgres::open(&database.url()).unwrap());
            })*
        }
    };
}

suite! {
    what_was_never_put_is_not_there,
    a_blob_is_read_as_it_was_put,
    a_blob_that_is_put_again_is_replaced,
    content_that_cannot_be_read_leaves_things_as_they_were,
    a_removed_blob_is_gone_and_the_others_stay,
    a_young_blob_is_not_removed,
    blobs_are_listed_in_pages,
    contents_go_with_their_run,
    a_blob_that_goes_while_it_is_read_never_seems_to_end_early,
    many_can_be_put_at_once,
}
