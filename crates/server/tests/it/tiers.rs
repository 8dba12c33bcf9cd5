//! Limits: listed with who holds them, changed at once, and kept. Runs that wait for each other.

use crate::by_hand::ByHand;
use crate::rig::{Answer, Rig, request};
use axum::http::{Method, StatusCode};
use mainspring_core::work::Outcome;
use serde_json::{Value, json};
use std::sync::Arc;

/// The first run has another task than those after it, so that they are told apart.
const ONE_OR_OTHER: &str = "input: {type: object, properties: {first: {default: false}}}\n\
    tasks: {a: {run: x, if: input.first}, b: {run: y, if: '!input.first'}}\n";
const FIRST: &str = r#"{"input": {"first": true}}"#;

async fn put(rig: &Rig, body: &str) -> Answer {
    let json = [("content-type", "application/json")];
    rig.ask(request(Method::PUT, "/tiers", &json, body.to_owned())).await
}

async fn tier(rig: &Rig, name: &str) -> Value {
    let listed = rig.get("/tiers").await;
    assert_eq!(listed.status, StatusCode::OK, "{}", listed.text);
    let items = listed.json()["items"].as_array().unwrap().clone();
    items.into_iter().find(|tier| tier["name"] == name).unwrap_or(Value::Null)
}

async fn trigger(rig: &Rig, body: &str) -> (String, Answer) {
    let answer = rig.post("/workflows/w/runs", body).await;
    let id = answer.json()["id"].as_str().unwrap_or_default().to_owned();
    (format!("/runs/{id}"), answer)
}

async fn at_work(text: &str) -> (Rig, Arc<ByHand>) {
    let (rig, hand) = Rig::at_work().await;
    let answer = rig.deploy(text).await;
    assert!(answer.status.is_success(), "{}", answer.text);
    (rig, hand)
}

#[tokio::test]
async fn limits_are_listed_with_who_holds_them_and_who_waits() {
    let text = "name: w\ntiers: {gpu: {limit: 1, rate: 100/1m}}\n\
                tasks: {a: {run: x, tier: gpu}, b: {run: y, tier: gpu}}\n";
    let (rig, hand) = at_work(text).await;
    let idle = tier(&rig, "w/gpu").await;
    assert_eq!((&idle["limit"], &idle["rate"]), (&json!(1), &json!("100/1m")));
    assert_eq!((&idle["in_use"], &idle["source"]), (&json!(0), &json!("workflow")));
    let (run, _) = trigger(&rig, "{}").await;
    hand.started("a").await;
    let gpu = tier(&rig, "w/gpu").await;
    let id = run.trim_start_matches("/runs/");
    assert_eq!(
        (&gpu["in_use"], &gpu["waiting"], &gpu["workflow"]),
        (&json!(1), &json!(1), &json!("w"))
    );
    assert_eq!((&gpu["holders"][0]["run"], &gpu["holders"][0]["task"]), (&json!(id), &json!("a")));
    assert!(gpu["holders"][0]["since"].is_string() && gpu["holders"][0].get("index").is_none());
    assert_eq!(gpu["waiters"], json!([{"run": id, "workflow": "w", "task": "b"}]));
    let total = tier(&rig, "total").await;
    assert_eq!((&total["source"], &total["waiting"]), (&json!("default"), &json!(0)));
    hand.end("a", Outcome::Success(None));
    hand.started("b").await;
}

#[tokio::test]
async fn a_change_takes_effect_at_once_and_is_on_record() {
    let (rig, hand) = at_work("name: w\ntasks: {a: {run: x}}\n").await;
    let answer = put(&rig, r#"{"name": "total", "limit": 0}"#).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!((&answer.json()["limit"], &answer.json()["source"]), (&json!(0), &json!("api")));
    trigger(&rig, "{}").await;
    assert_eq!(tier(&rig, "total").await["waiting"], 1);
    assert!(put(&rig, r#"{"name": "total", "limit": 3}"#).await.status.is_success());
    hand.started("a").await;
    let audit = rig.get("/audit").await.json();
    assert_eq!(audit["items"][0]["action"], "tier.set");
    assert_eq!(audit["items"][0]["target"], "tier total limit 3");
}

#[tokio::test]
async fn a_tier_of_the_server_has_to_be_there_before_it_is_named() {
    let (rig, _) = Rig::at_work().await;
    let text = "name: w\ntasks: {a: {run: x, tier: heavy}}\n";
    let refused = rig.deploy(text).await;
    assert_eq!(refused.code(), "bad_definition");
    assert!(refused.text.contains("There is no tier `heavy`"), "{}", refused.text);
    let added = put(&rig, r#"{"name": "heavy", "limit": 1, "rate": "5/1s"}"#).await;
    assert_eq!((&added.json()["rate"], &added.json()["in_use"]), (&json!("5/1s"), &json!(0)));
    assert!(rig.deploy(text).await.status.is_success());
    let total = rig.deploy("name: v\ntasks: {a: {run: x, tier: total}}\n").await;
    assert_eq!(total.code(), "bad_definition", "it is no tier");
    // Null is something else than nothing.
    let off = put(&rig, r#"{"name": "heavy", "rate": null}"#).await.json();
    assert!(off.get("rate").is_none() && off["limit"] == 1, "{off}");
}

/// The document and the server agree on what a rate is.
#[tokio::test]
async fn a_rate_is_taken_as_the_document_describes_it() {
    let (rig, _) = at_work("name: w\ntasks: {a: {run: x}}\n").await;
    let document = rig.get("/openapi.json").await.json();
    let rate = &document["components"]["schemas"]["TierBody"]["properties"]["rate"];
    let pattern = rate["pattern"].as_str().unwrap_or_else(|| panic!("no pattern: {rate}"));
    let pattern = regex::Regex::new(pattern).expect("a pattern");
    let taken = [
        "7/250ms",
        "100/1m",
        "1/1h30m",
        "1/1h 30m",
        "3/1.5s",
        "1000000/99d 999h 999m 999s 999ms",
        "5/999999999ms",
        "2/90m",
        "1/1d0h",
    ];
    let refused =
        ["often", "0/1s", "1/0s", "1000001/1s", "1/1", "1/s", "-1/1s", "1/1m1h", "1/5000d"];
    for (text, is_taken) in
        taken.map(|text| (text, true)).into_iter().chain(refused.map(|text| (text, false)))
    {
        assert_eq!(pattern.is_match(text), is_taken, "{text}");
        let answer =
            put(&rig, &format!(r#"{{"name": "new", "limit": 1, "rate": "{text}"}}"#)).await;
        assert_eq!(answer.status.is_success(), is_taken, "{text}: {}", answer.text);
    }
}

#[tokio::test]
async fn what_cannot_be_set_is_refused_with_why() {
    let (rig, _) = at_work("name: w\ntiers: {gpu: 1}\ntasks: {a: {run: x, tier: gpu}}\n").await;
    for (body, code, says) in [
        (r#"{"name": "w/gpu", "limit": 9}"#, "tier_of_workflow", "deploy a version"),
        (r#"{"name": "new", "rate": "1/1s"}"#, "tier_not_found", "say its limit"),
        (r#"{"name": "new"}"#, "bad_body", "say a limit"),
        (r#"{"name": "a b", "limit": 1}"#, "bad_body", "letters"),
        (r#"{"name": "executor:nobody", "limit": 1}"#, "bad_body", "no executor"),
        (r#"{"name": "new", "limit": -1}"#, "bad_body", "whole number"),
        (r#"{"name": "new", "limit": 9999999}"#, "bad_body", "from 0 to"),
        (r#"{"name": "new", "limit": 1, "rate": "often"}"#, "bad_body", "like `100/1m`"),
        (r#"{"name": "new", "limit": 1, "rte": "1/1s"}"#, "bad_body", "unknown field `rte`"),
    ] {
        let answer = put(&rig, body).await;
        assert_eq!(answer.code(), code, "{body}: {}", answer.text);
        assert!(answer.text.contains(says), "{body}: {}", answer.text);
    }
    assert_eq!(tier(&rig, "new").await, Value::Null);
}

#[tokio::test]
async fn runs_beyond_max_active_runs_are_pending() {
    let (rig, hand) = at_work(&format!("name: w\nmax_active_runs: 1\n{ONE_OR_OTHER}")).await;
    let (first, answer) = trigger(&rig, FIRST).await;
    assert_eq!(answer.json()["status"], "running");
    hand.started("a").await;
    let (second, answer) = trigger(&rig, "{}").await;
    assert_eq!(answer.json()["status"], "pending");
    assert!(answer.json().get("started_at").is_none());
    let listed = rig.get("/runs?status=pending").await.json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let (third, _) = trigger(&rig, "{}").await;
    assert!(rig.post(&format!("{second}/cancel"), "").await.status.is_success());
    assert_eq!(rig.get(&second).await.json()["status"], "cancelled");
    hand.end("a", Outcome::Success(None));
    hand.started("b").await;
    assert_eq!(rig.get(&first).await.json()["status"], "success");
    assert_eq!(rig.get(&third).await.json()["status"], "running");
}

#[tokio::test]
async fn a_group_that_skips_refuses_the_trigger_and_names_the_holder() {
    let text = "name: w\nconcurrency_group: {key: \"deploy-${{ input.env }}\", on_conflict: skip}\n\
                tasks: {a: {run: x}}\n";
    let (rig, hand) = at_work(text).await;
    let (run, _) = trigger(&rig, r#"{"input": {"env": "prod"}}"#).await;
    hand.started("a").await;
    let (_, refused) = trigger(&rig, r#"{"input": {"env": "prod"}}"#).await;
    assert_eq!((refused.status, refused.code()), (StatusCode::CONFLICT, "group_held".to_owned()));
    assert!(refused.text.contains(run.trim_start_matches("/runs/")), "{}", refused.text);
    assert!(refused.text.contains("deploy-prod"), "{}", refused.text);
    let (_, other) = trigger(&rig, r#"{"input": {"env": "test"}}"#).await;
    assert_eq!(other.json()["status"], "running");
    let (_, bad) = trigger(&rig, "{}").await;
    assert_eq!(
        (bad.status, bad.code()),
        (StatusCode::UNPROCESSABLE_ENTITY, "bad_input".to_owned())
    );
    assert!(bad.text.contains("concurrency_group.key"), "{}", bad.text);
}

#[tokio::test]
async fn a_group_that_cancels_lets_the_new_run_in_when_the_old_one_is_gone() {
    let group = "concurrency_group: {key: k, on_conflict: cancel_previous}";
    let (rig, hand) = at_work(&format!("name: w\n{group}\n{ONE_OR_OTHER}")).await;
    let (first, _) = trigger(&rig, FIRST).await;
    hand.started("a").await;
    let (second, answer) = trigger(&rig, "{}").await;
    assert_eq!(answer.json()["status"], "pending");
    let old = rig.get(&first).await.json();
    assert_eq!(old["status"], "cancelling");
    hand.end("a", Outcome::Stopped);
    hand.started("b").await;
    assert_eq!(rig.get(&second).await.json()["status"], "running");
    let old = rig.get(&first).await.json();
    let why = old["error"]["message"].as_str().unwrap();
    assert!(old["status"] == "cancelled" && why.contains("a newer run"), "{old}");
}

#[tokio::test]
async fn limits_on_runs_are_listed_with_the_runs_that_hold_them_and_those_that_wait() {
    let group = "concurrency_group: {key: \"k-${{ input.first }}\"}";
    let text = format!("name: w\nmax_active_runs: 1\n{group}\n{ONE_OR_OTHER}");
    let (rig, hand) = at_work(&text).await;
    let idle = tier(&rig, "max_active_runs:w").await;
    assert_eq!((&idle["limit"], &idle["in_use"]), (&json!(1), &json!(0)));
    assert_eq!((&idle["source"], &idle["workflow"]), (&json!("workflow"), &json!("w")));
    assert_eq!(tier(&rig, "concurrency_group:k-true").await, Value::Null, "nothing is in it");
    let (first, _) = trigger(&rig, FIRST).await;
    hand.started("a").await;
    let (second, _) = trigger(&rig, FIRST).await;
    let (first, second) = (first.trim_start_matches("/runs/"), second.trim_start_matches("/runs/"));
    for name in ["max_active_runs:w", "concurrency_group:k-true"] {
        let full = tier(&rig, name).await;
        assert_eq!((&full["counts"], &full["limit"]), (&json!("runs"), &json!(1)), "{name}");
        assert_eq!((&full["in_use"], &full["waiting"]), (&json!(1), &json!(1)), "{name}");
        let holder = &full["holders"][0];
        assert_eq!((&holder["run"], &holder["workflow"]), (&json!(first), &json!("w")));
        assert!(holder["since"].is_string() && holder.get("task").is_none(), "{holder}");
        assert_eq!(full["waiters"], json!([{"run": second, "workflow": "w"}]));
    }
    assert_eq!(tier(&rig, "total").await["counts"], "tasks");
    hand.end_and_again("a", Outcome::Success(None)).await;
    let passed_on = tier(&rig, "max_active_runs:w").await;
    assert_eq!(
        (&passed_on["holders"][0]["run"], &passed_on["waiting"]),
        (&json!(second), &json!(0))
    );
}

#[tokio::test]
async fn a_limit_on_runs_is_changed_by_a_version_of_the_workflow_alone() {
    let (rig, _) = at_work("name: w\nmax_active_runs: 1\ntasks: {a: {run: x}}\n").await;
    for name in ["max_active_runs:w", "concurrency_group:any key"] {
        let answer = put(&rig, &json!({"name": name, "limit": 9}).to_string()).await;
        assert_eq!(
            (answer.status, answer.code()),
            (StatusCode::CONFLICT, "tier_of_workflow".to_owned())
        );
        assert!(answer.text.contains("deploy a version"), "{}", answer.text);
    }
    let more = rig.deploy("name: w\nmax_active_runs: 3\ntasks: {a: {run: x}}\n").await;
    assert!(more.status.is_success(), "{}", more.text);
    assert_eq!(tier(&rig, "max_active_runs:w").await["limit"], 3);
}
