//! The page as a whole.

use super::{pictures, sentences, tables};

/// The text of docs/states.md.
pub fn page() -> String {
    let parts = [
        "# States\n\nGenerated from the code by `cargo xtask gen`; do not edit.\n".to_owned(),
        "## A run\n".to_owned(),
        pictures::run(),
        sentences::runs(),
        "## A task, as shown\n\nA task with one of the settled words (success, failed, cancelled, \
         skipped, blocked)\nchanges only when a person retries it, or something above it. Of one that never \
         began the\nstrongest cause is shown: blocked over cancelled over skipped, and the cancel of \
         its run is\none of them.\n"
            .to_owned(),
        sentences::words(),
        "## A task, as stored\n\nOne fact is stored for a task; the other words are derived from \
         it, from the edges\nand from holds. Nothing is stored before there is something to say.\n"
            .to_owned(),
        pictures::task(),
        sentences::facts(),
        "### Every event on every fact\n\nA word is the fact that follows. A word in brackets is \
         why nothing changes.\n"
            .to_owned(),
        tables::transitions(),
        sentences::events(),
        "## Dependencies\n\nWhat an edge is while the task above it is in a state: satisfied \
         (yes), not yet (·), or\nnever, and what that makes of the task below. `on_failure: run` \
         turns every edge into\n`finished`. A failure with `allow_failure` satisfies `merged` and \
         `completed` too, and a\ntask that has ever started satisfies `started` for good.\n"
            .to_owned(),
        tables::edges(),
    ];
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_state() {
        let page = page();
        for word in ["cancelling", "worker_done", "blocked", "delayed", "put_off"] {
            assert!(page.contains(word), "{word}");
        }
        assert!(page.lines().all(|line| line == line.trim_end()), "no stray blanks");
    }
}
