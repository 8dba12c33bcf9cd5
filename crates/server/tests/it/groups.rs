//! Fan-outs: one task with counts, and its instances by index.

use crate::by_hand::ByHand;
use crate::rig::{Answer, Rig, request};
use axum::http::{Method, StatusCode};
use futures_util::{FutureExt as _, StreamExt as _};
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::json::Json;
use mainspring_core::work::Outcome;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const FOUR: &str = "name: w\ntasks:\n  a: {run: x, parallel: 4, concurrency: 2}\n  \
                    b: {run: y, depends_on: [a]}\n";

fn failed() -> Outcome {
    Outcome::Failed(TaskError::new(ErrorClass::Logic, "no luck"))
}

fn success(output: &str) -> Outcome {
    Outcome::Success(Some(Json::parse(output).unwrap().into()))
}

/// A run whose first two instances are at work; the path of its fan-out.
async fn fanned_out(text: &str) -> (Rig, Arc<ByHand>, String) {
    let (rig, hand) = Rig::at_work().await;
    let answer = rig.deploy(text).await;
    assert!(answer.status.is_success(), "{}", answer.text);
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    hand.started("a[0]").await;
    hand.started("a[1]").await;
    let path = format!("/runs/{}/tasks/a", run["id"].as_str().unwrap());
    // That they have started rides on a later commit.
    for index in 0..2 {
        while rig.get(&format!("{path}?index={index}")).await.json()["status"] != "running" {
            tokio::task::yield_now().await;
        }
    }
    (rig, hand, path)
}

async fn end(hand: &ByHand, name: &str, outcome: Outcome) {
    hand.started(name).await;
    hand.end(name, outcome);
    hand.gone(name).await;
}

/// Asks until it has this state: what follows from an end is worked out elsewhere.
async fn until(rig: &Rig, path: &str, status: &str) -> Value {
    loop {
        let task = rig.get(path).await.json();
        if task["status"] == status {
            return task;
        }
        tokio::task::yield_now().await;
    }
}

fn indexes(answer: &Answer) -> Vec<u64> {
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let items = answer.json()["items"].clone();
    items.as_array().unwrap().iter().map(|item| item["index"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_fan_out_is_one_task_with_counts() {
    let (rig, hand, path) = fanned_out(FOUR).await;
    let group = rig.get(&path).await.json();
    assert_eq!((&group["status"], &group["count"]), (&"running".into(), &4.into()));
    assert_eq!(group["instances"], json!({"total": 4, "running": 2, "pending": 2}));
    assert!(group.get("index").is_none());
    let run = path.trim_end_matches("/tasks/a");
    assert_eq!(rig.get(run).await.json()["tasks"], json!({"total": 2, "running": 1, "pending": 1}));
    let tasks = rig.get(&format!("{run}/tasks")).await.json();
    assert_eq!(tasks["items"].as_array().unwrap().len(), 2);
    assert_eq!(tasks["items"][0], group);

    let one = rig.get(&format!("{path}?index=1")).await.json();
    assert_eq!((&one["index"], &one["count"], &one["attempt"]), (&1.into(), &4.into(), &1.into()));
    assert!(one.get("instances").is_none());

    end(&hand, "a[0]", success("7")).await;
    end(&hand, "a[1]", failed()).await;
    end(&hand, "a[2]", success("[1]")).await;
    end(&hand, "a[3]", Outcome::Success(None)).await;
    let group = until(&rig, &path, "failed").await;
    assert_eq!(group["instances"], json!({"total": 4, "success": 3, "failed": 1}));
    assert_eq!(group["output"], json!([7, null, [1], null]));
    let why = group["error"]["message"].as_str().unwrap();
    assert!(why.contains("1 of 4 instances failed") && why.contains("index 1"), "{why}");
    assert_eq!(rig.get(&format!("{path}/output")).await.json(), group["output"]);
    assert_eq!(rig.get(&format!("{path}/output?index=2")).await.json(), json!([1]));
    assert_eq!(rig.get(&format!("{path}?index=0")).await.json()["output"], 7);
    assert_eq!(rig.get(&format!("{path}/output?index=3")).await.code(), "no_output");
}

#[tokio::test]
async fn instances_are_listed_by_state_and_page() {
    let (rig, hand, path) = fanned_out(FOUR).await;
    let list = async |query: &str| rig.get(&format!("{path}/instances{query}")).await;
    assert_eq!(indexes(&list("").await), [0, 1], "those that have not begun have no rows");
    end(&hand, "a[1]", failed()).await;
    end(&hand, "a[2]", failed()).await;
    hand.started("a[3]").await;
    assert_eq!(indexes(&list("?status=failed").await), [1, 2]);
    assert_eq!(indexes(&list("?status=failed,running&status=dispatched").await), [0, 1, 2, 3]);
    for none in ["pending", "ready", "paused", "success", "skipped", "blocked", "worker_done"] {
        let found = list(&format!("?status={none}")).await;
        assert_eq!(indexes(&found), Vec::<u64>::new(), "{none}");
    }
    let mut seen = Vec::new();
    let mut page = list("?limit=1&status=failed").await;
    loop {
        seen.extend(indexes(&page));
        let Some(cursor) = page.json()["next_cursor"].as_str().map(str::to_owned) else { break };
        page = list(&format!("?limit=1&status=failed&cursor={cursor}")).await;
    }
    assert_eq!(seen, [1, 2]);
    assert_eq!(list("?status=nope").await.code(), "bad_query");
    let run = path.trim_end_matches("/tasks/a");
    let answer = rig.get(&format!("{run}/tasks/b/instances")).await;
    assert_eq!(answer.code(), "not_a_group");
}

/// What waits for another try is one fact and three words.
#[tokio::test]
async fn a_held_instance_is_listed_as_such() {
    let (rig, hand, path) = fanned_out(FOUR).await;
    let held = rig.post(&format!("{path}/pause?index=1"), "").await.json();
    assert_eq!((&held["index"], &held["stopping"]), (&1.into(), &"pause".into()));
    end(&hand, "a[1]", Outcome::Stopped).await;
    assert_eq!(rig.get(&format!("{path}?index=1")).await.json()["status"], "paused");
    let paused = rig.get(&format!("{path}/instances?status=paused")).await;
    assert_eq!(indexes(&paused), [1]);
    hand.started("a[2]").await;
    let counts = rig.get(&path).await.json()["instances"].clone();
    assert_eq!(counts, json!({"total": 4, "running": 2, "paused": 1, "pending": 1}));
    for other in ["pending", "ready"] {
        let found = rig.get(&format!("{path}/instances?status={other}&limit=1")).await;
        assert_eq!(indexes(&found), Vec::<u64>::new(), "{other}");
    }
}

#[tokio::test]
async fn one_instance_is_steered_and_the_others_go_on() {
    let (rig, hand, path) = fanned_out(FOUR).await;
    let order = async |order: &str| rig.post(&format!("{path}/{order}"), "").await;
    assert_eq!(order("pause?index=0").await.json()["held"]["by"], "anonymous");
    assert_eq!(order("pause?index=0").await.code(), "task_held");
    end(&hand, "a[0]", Outcome::Stopped).await;
    // Its place is another's.
    hand.started("a[2]").await;
    let resumed = order("resume?index=0").await.json();
    assert_eq!((&resumed["index"], resumed.get("held")), (&0.into(), None));
    assert_eq!(order("resume?index=0").await.code(), "task_not_held");
    assert_eq!(order("retry?index=1").await.code(), "task_not_failed");
    let cancelled = order("cancel?index=1").await.json();
    assert_eq!((&cancelled["index"], &cancelled["stopping"]), (&1.into(), &"cancel".into()));
    assert_eq!(order("cancel?index=1").await.code(), "task_stopping");
    let forced = order("cancel?index=1&force").await;
    assert_eq!(forced.json()["status"], "cancelled", "{}", forced.text);
    let again = order("retry?index=1").await.json();
    assert_eq!((&again["index"], &again["status"]), (&1.into(), &"ready".into()));
    let run = path.trim_end_matches("/tasks/a");
    assert_eq!(rig.get(run).await.json()["status"], "running");
    let audit = rig.get("/audit?limit=1").await.json();
    assert!(audit["items"][0]["target"].as_str().unwrap().ends_with("task a[1]"), "{audit}");
    assert_eq!(order("pause?nope=1").await.code(), "bad_query");
}

#[tokio::test]
async fn each_instance_has_its_own_attempts_and_log() {
    let text = "name: w\ntasks:\n  a: {run: x, parallel: 2, retries: {max: 1, delay: 0s}}\n";
    let (rig, hand, path) = fanned_out(text).await;
    hand.end_and_again("a[1]", failed()).await;
    end(&hand, "a[1]", Outcome::Success(None)).await;
    let attempts = rig.get(&format!("{path}/attempts?index=1")).await.json();
    let numbers: Vec<&Value> =
        attempts["items"].as_array().unwrap().iter().map(|it| &it["attempt"]).collect();
    assert_eq!(numbers, [1, 2]);
    let first = rig.get(&format!("{path}/attempts?index=1&limit=1")).await.json();
    let after = first["next_cursor"].as_str().unwrap();
    let second = rig.get(&format!("{path}/attempts?index=1&cursor={after}")).await.json();
    assert_eq!(second["items"][0]["attempt"], 2);
    let own = rig.get(&format!("{path}/attempts")).await.json();
    assert_eq!(own["items"], json!([]), "a fan-out has none of its own");
    let run = path.trim_end_matches("/tasks/a");
    assert_eq!(rig.get(&format!("{run}/attempts")).await.json()["items"], json!([]));

    for query in ["index=1", "index=1&attempt=1", "index=1&attempt=2&tail=1"] {
        assert_eq!(rig.get(&format!("{path}/logs?{query}")).await.text, "a line\n", "{query}");
    }
    let missing = rig.get(&format!("{path}/logs?index=0&attempt=2")).await;
    assert_eq!(missing.code(), "attempt_not_found");
    assert_eq!(rig.get(&format!("{path}/logs")).await.code(), "bad_query");
    assert_eq!(rig.get(&format!("{path}/logs?follow=true")).await.code(), "bad_query");
}

#[tokio::test]
async fn the_log_of_an_instance_is_followed_through_its_attempts() {
    let text = "name: w\ntasks:\n  \
                a: {run: x, parallel: 3, concurrency: 2, retries: {max: 1, delay: 0s}}\n";
    let (rig, hand, path) = fanned_out(text).await;
    let follow = async |index: u32| {
        let path = format!("{path}/logs?index={index}&follow=true");
        let response = rig.send(request(Method::GET, &path, &[], "")).await;
        assert_eq!(response.status(), StatusCode::OK);
        response.into_body().into_data_stream()
    };
    let mut first = follow(0).await;
    assert!(first.next().now_or_never().is_none(), "it has written nothing yet");
    // It has not begun, and is waited for.
    let mut third = follow(2).await;
    hand.end_and_again("a[0]", failed()).await;
    for name in ["a[0]", "a[1]", "a[2]"] {
        end(&hand, name, Outcome::Success(None)).await;
    }
    for (body, lines) in [(&mut first, 2), (&mut third, 1)] {
        let mut heard = String::new();
        while let Some(chunk) = body.next().await {
            heard.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
        }
        assert_eq!(heard.matches("event: line").count(), lines, "{heard}");
        assert!(
            heard.contains("event: end") && heard.contains("\"status\":\"success\""),
            "{heard}"
        );
    }
}

#[tokio::test]
async fn the_log_of_an_instance_that_never_starts_ends_with_its_group() {
    let (rig, hand, path) = fanned_out(FOUR).await;
    let follow = request(Method::GET, &format!("{path}/logs?index=3&follow=true"), &[], "");
    let mut body = rig.send(follow).await.into_body().into_data_stream();
    rig.post(&format!("{path}/cancel"), "").await;
    end(&hand, "a[0]", Outcome::Stopped).await;
    end(&hand, "a[1]", Outcome::Stopped).await;
    let mut heard = String::new();
    while let Some(chunk) = body.next().await {
        heard.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
    }
    assert!(heard.contains("event: end") && heard.contains("cancelled"), "{heard}");
    let beyond = rig.get(&format!("{path}/logs?index=4&follow=true")).await;
    assert_eq!(beyond.code(), "instance_not_found");
}

/// Instances are numbers in the view of their group, however many there are.
#[tokio::test]
async fn readers_of_events_hear_of_counts_and_not_of_instances() {
    let text = "name: w\ntasks: {a: {noop: {}, parallel: 5000}}\n";
    let (rig, _hand) = Rig::at_work().await;
    assert!(rig.deploy(text).await.status.is_success());
    let mut all =
        rig.send(request(Method::GET, "/events", &[], "")).await.into_body().into_data_stream();
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let id = run["id"].as_str().unwrap();
    let events = format!("/events?run={id}");
    let mut one =
        rig.send(request(Method::GET, &events, &[], "")).await.into_body().into_data_stream();
    let end = format!("/runs/{id}");
    until(&rig, &end, "success").await;
    let mut heard = String::new();
    while !heard.contains("event: run\n") || !heard.contains("\"status\":\"success\"") {
        let next = tokio::select! { next = one.next() => next, next = all.next() => next };
        heard.push_str(std::str::from_utf8(&next.unwrap().unwrap()).unwrap());
    }
    assert!(!heard.contains("\"index\""), "{heard}");
    let names: BTreeSet<&str> = heard.matches("\"name\":\"a\"").collect();
    assert!(names.len() <= 1);
    // Told as often as there was time for, never as often as there are instances.
    assert!(heard.matches("\"name\":\"a\"").count() < 50, "{}", heard.len());
}

/// With the rows of its instances a run may be large: those who only look do without.
#[tokio::test]
async fn nobody_who_looks_reads_all_instances() {
    let (rig, hand, path) = fanned_out(FOUR).await;
    end(&hand, "a[0]", failed()).await;
    let run = path.trim_end_matches("/tasks/a");
    let before = rig.store.whole_runs.load(Ordering::Relaxed);
    for path in [run, &format!("{run}/tasks"), &format!("{run}/attempts"), &path] {
        assert_eq!(rig.get(path).await.status, StatusCode::OK);
    }
    for rest in ["?index=0", "/instances", "/attempts?index=0", "/logs?index=0"] {
        assert_eq!(rig.get(&format!("{path}{rest}")).await.status, StatusCode::OK, "{rest}");
    }
    assert_eq!(rig.store.whole_runs.load(Ordering::Relaxed), before);
}

#[tokio::test]
async fn a_fan_out_without_items_is_a_success_of_none() {
    let (rig, _hand) = Rig::at_work().await;
    let text = "name: w\ntasks: {a: {noop: {}, foreach: []}}\n";
    let answer = rig.deploy(text).await;
    assert!(answer.status.is_success(), "{}", answer.text);
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let path = format!("/runs/{}/tasks/a", run["id"].as_str().unwrap());
    let group = until(&rig, &path, "success").await;
    assert_eq!((&group["count"], &group["instances"]), (&0.into(), &json!({"total": 0})));
    assert_eq!(group["output"], json!([]));
    assert_eq!(rig.get(&format!("{path}?index=0")).await.code(), "instance_not_found");
    assert_eq!(indexes(&rig.get(&format!("{path}/instances")).await), Vec::<u64>::new());
}
