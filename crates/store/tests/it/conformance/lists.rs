//! Lists of runs.

use super::begin::{accept, begin, key};
use crate::asking::{ask, commit, register};
use crate::rows::{OTHER, SCHEDULER, head, parent, plain, progress, run_id};
use mainspring_core::json::Json;
use mainspring_core::kernel::row::{RunHead, RunProgress, RunStatus};
use mainspring_core::limits::INPUT_LISTED_BYTES_MAX;
use mainspring_core::output::Output;
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{RunsQuery, Store};

fn numbers(store: &dyn Store, query: RunsQuery) -> Vec<u64> {
    ask(store.runs(query)).iter().map(|(head, _)| head.key.sequence()).collect()
}

pub fn unfinished_runs_are_listed_oldest_first(store: &dyn Store) {
    let fence = begin(store);
    register(store, OTHER);
    for (number, status) in [5, 1, 4, 2, 6, 3, 7].into_iter().zip(RunStatus::ALL) {
        accept(store, fence, number, *status);
    }
    let foreign = RunProgress { owner: OTHER, ..progress(RunStatus::Running, 1) };
    commit(store, fence, vec![Change::NewRun(head(8), foreign)]).unwrap();
    let expected = [1, 2, 4, 5].map(|number| (key(number), run_id(number)));
    assert_eq!(ask(store.unfinished(SCHEDULER)), expected);
    assert_eq!(ask(store.unfinished(OTHER)), [(key(8), run_id(8))]);
    commit(store, fence, vec![Change::PutRun(key(2), progress(RunStatus::Failed, 9))]).unwrap();
    commit(store, fence, vec![Change::PutRun(key(3), progress(RunStatus::Running, 9))]).unwrap();
    let expected = [1, 3, 4, 5].map(|number| (key(number), run_id(number)));
    assert_eq!(ask(store.unfinished(SCHEDULER)), expected);
}

pub fn runs_are_listed_newest_first_in_pages(store: &dyn Store) {
    let fence = begin(store);
    for number in [2, 4, 1, 3] {
        accept(store, fence, number, RunStatus::Success);
    }
    // Accepted in the same microsecond as run 3: the id decides.
    let twin = RunHead { created_at: Timestamp(3), ..head(5) };
    commit(store, fence, vec![Change::NewRun(twin, progress(RunStatus::Running, 5))]).unwrap();
    let page = |after, limit| RunsQuery { after, limit, ..RunsQuery::default() };
    assert_eq!(numbers(store, page(None, 100)), [4, 5, 3, 2, 1]);
    assert_eq!(numbers(store, page(None, 2)), [4, 5]);
    assert_eq!(numbers(store, page(Some((Timestamp(3), run_id(5))), 2)), [3, 2]);
    assert_eq!(numbers(store, page(Some((Timestamp(1), run_id(1))), 2)), [0_u64; 0]);
    assert_eq!(numbers(store, page(None, 0)), [0_u64; 0]);
}

pub fn runs_are_filtered_by_status_and_workflow(store: &dyn Store) {
    use RunStatus::{Cancelled, Cancelling, Failed, Pending, Running, Success};
    let fence = begin(store);
    for (number, status) in (1..).zip(RunStatus::ALL) {
        accept(store, fence, number, *status);
        let other = RunHead { workflow: "deploy".into(), ..head(number + 10) };
        commit(store, fence, vec![Change::NewRun(other, progress(*status, 1))]).unwrap();
    }
    let with = |statuses: &[RunStatus], workflow: Option<&str>| {
        let workflow = workflow.map(str::to_owned);
        let statuses = statuses.to_vec();
        numbers(store, RunsQuery { statuses, workflow, limit: 100, ..RunsQuery::default() })
    };
    assert_eq!(with(&[Failed], None), [16, 6]);
    assert_eq!(with(&[Running, Pending], None), [12, 11, 2, 1]);
    assert_eq!(with(&[Running, Success, Failed], None), [16, 15, 12, 6, 5, 2]);
    assert_eq!(with(&[], Some("deploy")), [17, 16, 15, 14, 13, 12, 11]);
    assert_eq!(with(&[Cancelled, Cancelling, Success], Some("build")), [7, 5, 4]);
    assert_eq!(with(RunStatus::ALL, Some("nothing")), [0_u64; 0]);
    let statuses = vec![Failed, Running, Failed];
    let after = Some((Timestamp(16), run_id(16)));
    let query = RunsQuery { statuses, after, limit: 2, ..RunsQuery::default() };
    assert_eq!(numbers(store, query), [12, 6]);
}

pub fn children_are_found_by_their_parent(store: &dyn Store) {
    let fence = begin(store);
    for (number, status) in (1..).zip(RunStatus::ALL) {
        let parent = (number > 1).then(|| parent(1 + number % 2, plain(0)));
        let head = RunHead { parent, ..head(number) };
        commit(store, fence, vec![Change::NewRun(head, progress(*status, number))]).unwrap();
    }
    let below = |number, statuses: &[RunStatus], limit| {
        let (parent, statuses) = (Some(run_id(number)), statuses.to_vec());
        numbers(store, RunsQuery { parent, statuses, limit, ..RunsQuery::default() })
    };
    assert_eq!(below(1, &[], 9), [6, 4, 2]);
    assert_eq!(below(2, &[], 2), [7, 5]);
    assert_eq!(below(2, &[RunStatus::Paused, RunStatus::Success], 9), [5, 3]);
    assert_eq!(below(3, &[], 9), [0_u64; 0]);
}

pub fn runs_are_filtered_by_age(store: &dyn Store) {
    let fence = begin(store);
    for number in 1..=6 {
        accept(store, fence, number, RunStatus::Success);
    }
    let between = |since: Option<i64>, until: Option<i64>, after: Option<u64>| {
        let (since, until) = (since.map(Timestamp), until.map(Timestamp));
        let after = after.map(|number| (head(number).created_at, run_id(number)));
        numbers(store, RunsQuery { since, until, after, limit: 3, ..RunsQuery::default() })
    };
    assert_eq!(between(Some(5), None, None), [6, 5]);
    assert_eq!(between(None, Some(3), None), [2, 1]);
    assert_eq!(between(Some(2), Some(6), None), [5, 4, 3]);
    assert_eq!(between(Some(2), Some(6), Some(3)), [2]);
    assert_eq!(between(None, Some(3), Some(5)), [2, 1], "the lower end of the two counts");
    assert_eq!(between(Some(4), Some(4), None), [0_u64; 0]);
}

pub fn runs_are_filtered_by_labels(store: &dyn Store) {
    let fence = begin(store);
    let labels = [
        vec![("team", "core"), ("env", "prod")],
        vec![("team", "core")],
        vec![("team", "cor")],
        vec![("a\"b\\c\u{1}", "\n'ü\u{1F41F}\"")],
        vec![("core", "team"), ("env", "prod")],
        vec![("team", "core"), ("env", "prod"), ("a.b", "")],
        vec![],
    ];
    for (number, labels) in (1..).zip(labels) {
        let labels = labels.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let head = RunHead { labels: labels.collect(), ..head(number) };
        let change = Change::NewRun(head, progress(RunStatus::Running, number));
        commit(store, fence, vec![change]).unwrap();
    }
    let page = |labels: &[(&str, &str)], after: Option<u64>, limit| {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let after = after.map(|number| (head(number).created_at, run_id(number)));
        let labels = labels.collect();
        numbers(store, RunsQuery { labels, after, limit, ..RunsQuery::default() })
    };
    assert_eq!(page(&[("team", "core")], None, 9), [6, 2, 1]);
    assert_eq!(page(&[("team", "core")], None, 2), [6, 2]);
    assert_eq!(page(&[("team", "core")], Some(2), 2), [1]);
    assert_eq!(page(&[("env", "prod"), ("team", "core")], None, 9), [6, 1]);
    assert_eq!(page(&[("a.b", "")], None, 9), [6]);
    assert_eq!(page(&[("a\"b\\c\u{1}", "\n'ü\u{1F41F}\"")], None, 9), [4]);
    assert_eq!(page(&[("team", "core"), ("team", "cor")], None, 9), [0_u64; 0]);
}

pub fn those_of_some_runs_that_are_stored(store: &dyn Store) {
    let fence = begin(store);
    for number in [1, 2, 3] {
        accept(store, fence, number, RunStatus::Success);
    }
    commit(store, fence, vec![Change::DropRun(key(2), 2)]).unwrap();
    let mut known = ask(store.known_runs(&[4, 3, 2, 1].map(run_id)));
    known.sort_unstable();
    assert_eq!(known, [1, 3].map(run_id));
    assert_eq!(ask(store.known_runs(&[])), []);
}

pub fn what_is_large_is_not_in_lists(store: &dyn Store) {
    let fence = begin(store);
    let text = |bytes: usize| Json::parse(&format!("\"{}\"", "x".repeat(bytes - 2))).unwrap();
    let inputs = [text(INPUT_LISTED_BYTES_MAX), text(INPUT_LISTED_BYTES_MAX + 1)];
    for (number, input) in (1..).zip(&inputs) {
        let head = RunHead { input: input.clone(), ..head(number) };
        let output = Some(Output::Inline(Json::empty_list()));
        let ended = RunProgress { output, ..progress(RunStatus::Success, number) };
        commit(store, fence, vec![Change::NewRun(head, ended)]).unwrap();
    }
    let mut listed = ask(store.runs(RunsQuery { limit: 10, ..RunsQuery::default() }));
    listed.reverse();
    assert_eq!(listed, ask(store.changed(SCHEDULER, 0, 10)));
    let inputs_listed: Vec<Json> = listed.iter().map(|(head, _)| head.input.clone()).collect();
    assert_eq!(inputs_listed, [inputs[0].clone(), Json::unread()]);
    assert!(listed.iter().all(|(_, progress)| progress.output.is_none()));
    let whole = ask(store.run(run_id(2))).expect("it is stored");
    assert_eq!(whole.head.input, inputs[1]);
    assert_eq!(whole.progress.output, Some(Output::Inline(Json::empty_list())));
}
