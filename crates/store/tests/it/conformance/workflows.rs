//! Workflows by name, and all their versions.

use super::begin::begin;
use crate::asking::{ask, commit};
use crate::rows::{version, workflow};
use mainspring_core::kernel::row::WorkflowRow;
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{Store, VersionsQuery};

pub fn the_last_word_on_a_workflow_stands(store: &dyn Store) {
    let fence = begin(store);
    let first = workflow("build", 1);
    commit(store, fence, vec![Change::PutWorkflow(first.clone())]).unwrap();
    assert_eq!(ask(store.workflow("build")), Some(first));
    let hidden = WorkflowRow { deleted_at: Some(Timestamp(9)), ..workflow("build", 3) };
    let changes = vec![
        Change::PutWorkflow(workflow("build", 2)),
        Change::PutWorkflow(hidden.clone()),
        Change::PutWorkflow(workflow("Build", 7)),
    ];
    commit(store, fence, changes).unwrap();
    assert_eq!(ask(store.workflow("build")), Some(hidden));
    assert_eq!(ask(store.workflow("Build")), Some(workflow("Build", 7)));
    assert_eq!(ask(store.workflow("buil")), None);
}

pub fn workflows_that_are_not_hidden_are_listed_by_name(store: &dyn Store) {
    let fence = begin(store);
    let hidden = WorkflowRow { deleted_at: Some(Timestamp(9)), ..workflow("b", 1) };
    let mut changes: Vec<Change> =
        ["ä", "a-b", "a", "c", "Z"].map(|name| Change::PutWorkflow(workflow(name, 1))).into();
    changes.push(Change::PutWorkflow(hidden));
    commit(store, fence, changes).unwrap();
    let names = |after, limit| -> Vec<String> {
        ask(store.workflows(after, limit)).iter().map(|row| row.name.to_string()).collect()
    };
    assert_eq!(names(None, 100), ["Z", "a", "a-b", "c", "ä"]);
    assert_eq!(names(None, 2), ["Z", "a"]);
    assert_eq!(names(Some("a"), 2), ["a-b", "c"]);
    assert_eq!(names(Some("b"), 100), ["c", "ä"]);
    assert_eq!(names(Some("ä"), 100), [""; 0]);
    assert_eq!(names(None, 0), [""; 0]);
}

pub fn versions_are_listed_newest_first_in_pages(store: &dyn Store) {
    let fence = begin(store);
    for number in [1, 10, 2, 3] {
        let changes = vec![
            Change::NewVersion(version("build", number, "x")),
            Change::NewVersion(version("build2", number, "y")),
        ];
        commit(store, fence, changes).unwrap();
    }
    let list =
        |workflow, below, limit| ask(store.versions(VersionsQuery { workflow, below, limit }));
    let versions = |numbers: &[u32]| -> Vec<_> {
        numbers.iter().map(|number| version("build", *number, "x")).collect()
    };
    assert_eq!(list("build", None, 100), versions(&[10, 3, 2, 1]));
    assert_eq!(list("build", None, 2), versions(&[10, 3]));
    assert_eq!(list("build", Some(3), 2), versions(&[2, 1]));
    assert_eq!(list("build", Some(1), 2), versions(&[]));
    assert_eq!(list("buil", None, 2), versions(&[]));
}
