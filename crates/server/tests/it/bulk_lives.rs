//! One action on many runs, when the server or its store ends in the middle of it.

use crate::bulk::{begin, count, over};
use crate::rig::{Answer, NOOPS, Rig, request};
use axum::http::{Method, StatusCode};
use mainspring_server::Scope;
use mainspring_store::Store as _;
use mainspring_testkit::shaky::Fate;
use serde_json::{Value, json};

/// More than anything here commits.
const FOR_LONG: usize = 10_000;

async fn ask(rig: &Rig, key: &str, body: &Value) -> Answer {
    let headers = [("content-type", "application/json"), ("idempotency-key", key)];
    rig.ask(request(Method::POST, "/runs/bulk", &headers, body.to_string())).await
}

/// The order is stored, what comes next is done although nobody is told, and nothing after it.
fn done_in_part(rig: &Rig) {
    let mut fates = vec![Fate::Durable, Fate::DurableButReportedFailed];
    fates.extend(vec![Fate::Lost; FOR_LONG]);
    rig.store.next(&fates);
}

/// A life that ends in the middle of it, and the next.
async fn interrupted(rig: Rig, body: &Value, is_begun: impl AsyncFn(&Rig) -> bool) -> (Rig, Value) {
    done_in_part(&rig);
    let begun = ask(&rig, "k", body).await;
    assert_eq!(begun.status, StatusCode::ACCEPTED, "{}", begun.text);
    while !is_begun(&rig).await {
        tokio::task::yield_now().await;
    }
    assert_eq!(rig.store.unfinished_bulks().await.unwrap().len(), 1);
    rig.end().await;
    rig.store.forget_fates();
    (rig.reborn().await, begun.json())
}

#[tokio::test]
async fn the_next_life_goes_on_with_it() {
    let rig = Rig::new().await;
    begin(&rig, 30).await;
    let body = json!({"action": "cancel", "filter": {"workflow": "p"}});
    let is_begun = async |rig: &Rig| count(rig, "status=cancelled").await > 0;
    let (rig, begun) = interrupted(rig, &body, is_begun).await;
    let end = over(&rig, &begun).await;
    assert_eq!((&end["matched"], &end["done"]), (&30.into(), &30.into()), "counted anew: {end}");
    assert_eq!(count(&rig, "status=cancelled").await, 30);
    assert_eq!(rig.store.unfinished_bulks().await.unwrap(), []);
    // And so it is known to the life after that.
    let rig = rig.reborn().await;
    let path = format!("/runs/bulk/{}", begun["id"].as_str().unwrap());
    assert_eq!(rig.get(&path).await.json(), end);
    let told = rig.get(&format!("{path}?follow=true")).await.text;
    assert_eq!(told.matches("event: progress").count(), 1, "{told}");
    let audit = rig.get("/audit?limit=1000").await.json();
    let count = |action: &str| {
        audit["items"].as_array().unwrap().iter().filter(|it| it["action"] == action).count()
    };
    assert_eq!((count("run.bulk"), count("run.cancel")), (1, 30));
}

#[tokio::test]
async fn the_next_life_reruns_nothing_twice_and_knows_the_key() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    for _ in 0..12 {
        rig.post("/workflows/w/runs", "{}").await;
    }
    let body = json!({"action": "rerun", "filter": {"workflow": "w"}});
    let is_begun = async |rig: &Rig| count(rig, "workflow=w").await > 12;
    let (rig, begun) = interrupted(rig, &body, is_begun).await;
    assert_eq!(ask(&rig, "k", &body).await.json()["id"], begun["id"], "while it is at work");
    let end = over(&rig, &begun).await;
    assert_eq!((&end["matched"], &end["done"]), (&12.into(), &12.into()), "{end}");
    let again = ask(&rig, "k", &body).await;
    assert_eq!((again.status, again.json()), (StatusCode::ACCEPTED, end), "and when it is over");
    assert_eq!(count(&rig, "workflow=w").await, 24);
    let other = json!({"action": "rerun", "all": true});
    assert_eq!(ask(&rig, "k", &other).await.code(), "key_reused");
}

/// The runs are those that were found, whatever the filter would find by now.
#[tokio::test]
async fn what_ends_meanwhile_is_not_rerun() {
    let rig = Rig::new().await;
    rig.run().await;
    begin(&rig, 1).await;
    let mut fates = vec![Fate::Durable];
    fates.extend(vec![Fate::Lost; FOR_LONG]);
    rig.store.next(&fates);
    let begun = ask(&rig, "k", &json!({"action": "rerun", "all": true})).await.json();
    assert_eq!(begun["matched"], 1);
    let running = rig.get("/runs?workflow=p").await.json()["items"][0]["id"].clone();
    let running = running.as_str().unwrap();
    rig.end().await;
    rig.store.forget_fates();
    // `mainspring run` carries on one run, and leaves the order to a server.
    let one = rig.reborn_within(Scope::OneRun(running.parse().unwrap())).await;
    let cancelled = one.post(&format!("/runs/{running}/cancel"), "").await;
    assert_eq!(cancelled.status, StatusCode::OK, "{}", cancelled.text);
    let path = format!("/runs/bulk/{}", begun["id"].as_str().unwrap());
    assert_eq!(one.get(&path).await.json(), begun);
    let rig = one.reborn().await;
    let end = over(&rig, &begun).await;
    assert_eq!((&end["matched"], &end["done"]), (&1.into(), &1.into()), "{end}");
    assert_eq!((count(&rig, "workflow=w").await, count(&rig, "workflow=p").await), (2, 1));
}

#[tokio::test]
async fn one_that_was_stored_although_nobody_was_told_is_worked_on() {
    let rig = Rig::new().await;
    begin(&rig, 5).await;
    let body = json!({"action": "cancel", "filter": {"workflow": "p"}});
    rig.store.next(&[Fate::Lost]);
    assert_eq!(ask(&rig, "k", &body).await.code(), "unknown_outcome");
    assert_eq!(count(&rig, "status=cancelled").await, 0);
    rig.store.next(&[Fate::DurableButReportedFailed]);
    let answer = loop {
        // Until it is known what became of the first, its key is taken.
        let answer = ask(&rig, "k", &body).await;
        if answer.json()["code"] != "key_in_flight" && answer.json()["code"] != "store_unavailable"
        {
            break answer;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(answer.code(), "unknown_outcome");
    while count(&rig, "status=cancelled").await < 5 {
        tokio::task::yield_now().await;
    }
    let again = ask(&rig, "k", &body).await.json();
    let end = over(&rig, &again).await;
    assert_eq!((&end["matched"], &end["done"]), (&5.into(), &5.into()), "{end}");
}
