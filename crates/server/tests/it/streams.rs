//! Streams of states, and logs as text.

use crate::rig::{NOOPS, RETENTION, Rig, request};
use axum::http::{Method, StatusCode};
use futures_util::StreamExt as _;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::work::Outcome;
use mainspring_core::world::input::{Forget, Forgotten, Input};
use mainspring_engine::events::Observer as _;
use mainspring_server::app::now;
use mainspring_server::events::place::Place;
use mainspring_store::Store as _;
use mainspring_testkit::shaky::Fate;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Reads events until one has this name; all that were read.
async fn until(body: &mut axum::body::BodyDataStream, name: &str) -> String {
    let mut text = String::new();
    while !text.contains(&format!("event: {name}\n")) || !text.ends_with("\n\n") {
        let chunk = body.next().await.expect("the stream goes on").unwrap();
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    text
}

fn last_id(text: &str) -> String {
    let mut ids = text.lines().rev().filter_map(|line| line.strip_prefix("id: "));
    ids.next().expect("an id").to_owned()
}

#[tokio::test]
async fn a_reader_hears_of_what_happens_and_goes_on_where_it_was() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    let response = rig.send(request(Method::GET, "/events", &[], "")).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    let mut body = response.into_body().into_data_stream();
    let ready = until(&mut body, "ready").await;
    let first = rig.run().await;
    let heard = until(&mut body, "run").await;
    assert!(heard.contains(&first) && heard.contains("\"status\":\"success\""), "{heard}");
    drop(body);

    let second = rig.run().await;
    let place = last_id(&heard);
    let resumed = request(Method::GET, "/events", &[("last-event-id", &place)], "");
    let mut body = rig.send(resumed).await.into_body().into_data_stream();
    let missed = until(&mut body, "run").await;
    assert!(missed.contains(&second) && !missed.contains(&first), "{missed}");

    let from_start = last_id(&ready);
    let resumed = request(Method::GET, "/events", &[("last-event-id", &from_start)], "");
    let mut body = rig.send(resumed).await.into_body().into_data_stream();
    let both = until(&mut body, "run").await;
    assert!(both.contains(&first), "{both}");
}

#[tokio::test]
async fn a_place_that_is_not_known_is_answered_by_a_reset() {
    let rig = Rig::new().await;
    rig.run().await;
    let foreign = "00000000-0000-7000-8000-000000000000:1:1";
    for place in ["nonsense", foreign] {
        let request = request(Method::GET, "/events", &[("last-event-id", place)], "");
        let mut body = rig.send(request).await.into_body().into_data_stream();
        let first = until(&mut body, "reset").await;
        assert!(first.starts_with("event: reset\n"), "{first}");
    }
}

/// Runs that ended since may be gone.
#[tokio::test]
async fn a_place_older_than_runs_are_kept_is_answered_by_a_reset() {
    let rig = Rig::new().await;
    rig.run().await;
    let mut body =
        rig.send(request(Method::GET, "/events", &[], "")).await.into_body().into_data_stream();
    let place: Place = last_id(&until(&mut body, "ready").await).parse().unwrap();
    let ago = |span: Span| Place { at: place.at - span, ..place }.to_string();
    let younger = Span(RETENTION.0 / 2);
    for (age, first) in [(Span(RETENTION.0 * 2), "reset"), (younger, "ready")] {
        let request = request(Method::GET, "/events", &[("last-event-id", &ago(age))], "");
        let mut body = rig.send(request).await.into_body().into_data_stream();
        until(&mut body, first).await;
    }
}

/// Runs that it has missed are gone, and a commit comes while it is told so.
#[tokio::test]
async fn a_commit_while_a_reader_catches_up_is_not_lost() {
    let rig = Rig::new().await;
    let old = rig.run().await;
    let stored = rig.store.run(old.parse().unwrap()).await.unwrap().unwrap();
    let (key, id, stamp) = (stored.head.key, stored.head.id, stored.progress.stamp);
    let runs = vec![Forgotten { key, id, stamp }];
    let forget = Forget { runs, keys_before: Timestamp(0) };
    rig.app.engine.submit(Input::Forget(forget)).await.unwrap();
    rig.app.hub.loaded(stamp);
    let place = Place { scheduler: rig.app.scheduler, stamp: 0, at: now() }.to_string();
    let resumed = request(Method::GET, "/events", &[("last-event-id", &place)], "");
    let mut body = rig.send(resumed).await.into_body().into_data_stream();
    let stop = &rig.store.catching_up;
    stop.is_set.store(true, Ordering::Relaxed);
    let (heard, new) = tokio::join!(until(&mut body, "run"), async {
        stop.reached.notified().await;
        let new = rig.run().await;
        stop.released.notify_one();
        new
    });
    assert!(heard.contains(&new), "{heard}");
}

/// Nobody was told of what is durable all the same.
#[tokio::test]
async fn an_end_whose_commit_was_said_to_have_failed_is_told_all_the_same() {
    let (rig, hand) = Rig::at_work().await;
    rig.deploy("name: w\ntasks: {a: {run: x}}\n").await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let id = run["id"].as_str().unwrap();
    hand.started("a").await;
    // The commit that fails is the one of the end.
    let path = format!("/runs/{id}/tasks/a");
    while rig.get(&path).await.json()["status"] != "running" {
        tokio::task::yield_now().await;
    }
    let mut bodies = Vec::new();
    for path in ["/events".to_owned(), format!("/events?run={id}")] {
        let response = rig.send(request(Method::GET, &path, &[], "")).await;
        let mut body = response.into_body().into_data_stream();
        until(&mut body, "ready").await;
        bodies.push(body);
    }
    rig.store.next(&[Fate::DurableButReportedFailed]);
    hand.end("a", Outcome::Success(None));
    for mut body in bodies {
        while !until(&mut body, "run").await.contains("\"status\":\"success\"") {}
    }
    let log = rig.get(&format!("/runs/{id}/tasks/a/logs?follow=true")).await.text;
    assert!(log.contains("event: end"), "{log}");
}

#[tokio::test]
async fn one_run_is_told_with_its_tasks() {
    let rig = Rig::new().await;
    let text = "name: w\ntasks: {a: {run: x}}\n";
    rig.deploy(text).await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let id = run["id"].as_str().unwrap();
    let path = format!("/events?run={id}");
    let mut body =
        rig.send(request(Method::GET, &path, &[], "")).await.into_body().into_data_stream();
    until(&mut body, "ready").await;
    assert_eq!(rig.post(&format!("/runs/{id}/pause"), "").await.status, StatusCode::OK);
    let heard = until(&mut body, "run").await;
    assert!(heard.contains("\"status\":\"paused\"") && heard.contains("\"name\":\"a\""), "{heard}");
    assert_eq!(rig.get("/events?run=nope").await.code(), "run_not_found");
    assert_eq!(rig.get("/events?nope=1").await.code(), "bad_query");
}

#[tokio::test]
async fn streams_end_when_the_server_does() {
    let rig = Rig::new().await;
    let response = rig.send(request(Method::GET, "/events", &[], "")).await;
    let mut body = response.into_body().into_data_stream();
    until(&mut body, "ready").await;
    rig.app.draining.send_replace(true);
    assert!(body.next().await.is_none());
}

#[tokio::test]
async fn a_task_that_is_settled_has_nothing_to_follow() {
    let rig = Rig::new().await;
    let id = rig.run().await;
    let answer = rig.get(&format!("/runs/{id}/tasks/a/logs?follow=true")).await;
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    assert!(answer.text.contains("event: end\ndata: {\"status\":\"success\"}"), "{}", answer.text);
    assert!(rig.folder().exists());
    let answer = rig.get(&format!("/runs/{id}/tasks/a/logs?follow=true&timestamps=true")).await;
    assert_eq!(answer.code(), "bad_query");
    let answer = rig.get(&format!("/runs/{id}/tasks/a/logs?follow=true&attempt=1")).await;
    assert_eq!(answer.code(), "attempt_not_found");
}

/// Attempts that write a line each.
#[tokio::test]
async fn one_attempt_is_followed_until_its_end() {
    let (rig, hand) = Rig::at_work().await;
    rig.deploy("name: w\ntasks: {a: {run: x, retries: {max: 1, delay: 1ms}}}\n").await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let path = format!("/runs/{}/tasks/a/logs?follow=true", run["id"].as_str().unwrap());
    hand.started("a").await;
    let follow = async |more: &str| {
        let ask = request(Method::GET, &format!("{path}{more}"), &[], "");
        rig.send(ask).await.into_body()
    };
    let first = follow("&attempt=1").await;
    let failure = TaskError::new(ErrorClass::Transient, "no");
    hand.end_and_again("a", Outcome::Failed(failure)).await;
    let read = async |body| {
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    };
    let told = read(first).await;
    assert!(told.contains("id: 1:1\n") && !told.contains("id: 2:"), "{told}");
    assert!(told.contains("event: end\ndata: {\"status\":\"failed\"}"), "{told}");
    assert_eq!(read(follow("&attempt=1").await).await, told, "also when it is over");
    assert_eq!(rig.get(&format!("{path}&attempt=3")).await.code(), "attempt_not_found");
    let (second, all) = (follow("&attempt=2").await, follow("").await);
    hand.end("a", Outcome::Success(None));
    for body in [second, all] {
        let told = read(body).await;
        assert!(told.contains("id: 2:1\n") && !told.contains("id: 1:"), "{told}");
        assert!(told.contains("event: end\ndata: {\"status\":\"success\"}"), "{told}");
    }
}

/// A round is two messages, however many tasks have changed.
#[tokio::test]
async fn tasks_that_change_together_are_told_together() {
    let rig = Rig::new().await;
    let tasks: Vec<String> = (0..50).map(|no| format!("  t{no}: {{run: x}}\n")).collect();
    rig.deploy(&format!("name: w\ntasks:\n{}", tasks.concat())).await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let id = run["id"].as_str().unwrap();
    let path = format!("/events?run={id}");
    let mut body =
        rig.send(request(Method::GET, &path, &[], "")).await.into_body().into_data_stream();
    until(&mut body, "ready").await;
    assert_eq!(rig.post(&format!("/runs/{id}/pause"), "").await.status, StatusCode::OK);
    let heard = until(&mut body, "run").await;
    let events: Vec<&str> = heard.lines().filter(|line| line.starts_with("event: ")).collect();
    assert_eq!(events, ["event: tasks", "event: run"]);
    assert_eq!(heard.matches("\"name\":\"t").count(), 50);
}

/// Each change here is a wave of two messages, and the next one is made when it was heard.
#[tokio::test]
async fn a_run_with_its_tasks_is_told_of_ten_times_a_second_at_most() {
    let rig = Rig::new().await;
    rig.deploy("name: w\ntasks: {a: {run: x}, b: {run: x, depends_on: a}}\n").await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let id = run["id"].as_str().unwrap();
    let path = format!("/events?run={id}");
    let mut body =
        rig.send(request(Method::GET, &path, &[], "")).await.into_body().into_data_stream();
    until(&mut body, "ready").await;
    let (begin, mut messages) = (Instant::now(), 0);
    for order in ["pause", "resume"].iter().cycle().take(6) {
        let order = format!("/runs/{id}/tasks/b/{order}");
        assert_eq!(rig.post(&order, "").await.status, StatusCode::OK);
        messages += until(&mut body, "run").await.matches("event: ").count();
    }
    assert_eq!(messages, 12);
    assert!(begin.elapsed() >= Duration::from_secs(1), "{:?}", begin.elapsed());
}

/// Whatever is compressed is asked for more after its end.
#[tokio::test]
async fn a_log_is_read_by_somebody_who_takes_gzip() {
    let (rig, hand) = Rig::at_work().await;
    rig.deploy("name: w\ntasks: {a: {run: x}}\n").await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    hand.started("a").await;
    hand.end("a", Outcome::Success(None));
    let path = format!("/runs/{}/tasks/a/logs", run["id"].as_str().unwrap());
    let followed = rig.get(&format!("{path}?follow=true")).await.text;
    assert!(followed.contains("a line") && followed.contains("event: end"), "{followed}");
    assert_eq!(rig.get(&path).await.text, "a line\n");
    let answer = rig.ask(request(Method::GET, &path, &[("accept-encoding", "gzip")], "")).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.headers["content-encoding"], "gzip");
}

#[tokio::test]
async fn whoever_listens_keeps_nobody_from_asking() {
    let rig = Rig::new().await;
    rig.deploy("name: w\ninput: {type: object}\ntasks: {a: {noop: {}}}\n").await;
    // Half of the connections of the rig.
    let mut open = Vec::new();
    for _ in 0..8 {
        let response = rig.send(request(Method::GET, "/events", &[], "")).await;
        assert_eq!(response.status(), StatusCode::OK);
        open.push(response.into_body().into_data_stream());
    }
    let refused = rig.get("/events").await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, "busy")
    );
    assert_eq!(rig.get("/readyz").await.status, StatusCode::OK);

    // What is large is not told to each of them.
    let body = format!(r#"{{"input": {{"text": "{}"}}}}"#, "x".repeat(2_000));
    rig.post("/workflows/w/runs", &body).await;
    let heard = until(&mut open[0], "run").await;
    assert!(heard.contains("\"workflow\":\"w\"") && !heard.contains("xxx"), "{heard}");
    open.pop();
    assert_eq!(rig.send(request(Method::GET, "/events", &[], "")).await.status(), StatusCode::OK);
}
