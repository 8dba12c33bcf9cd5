//! Files that come from code are what the code says.

#[test]
fn the_page_of_states_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/states.md");
    let stored = std::fs::read_to_string(path).unwrap();
    let page = mainspring_testkit::states::page();
    assert!(stored == page, "docs/states.md is not what the code says: run `cargo xtask gen`");
}
