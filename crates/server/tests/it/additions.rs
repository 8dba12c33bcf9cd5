//! Tasks that are added to runs.

use crate::rig::{Answer, Rig, request};
use axum::http::{Method, StatusCode};
use mainspring_core::kernel::record::Role;
use mainspring_core::work::Outcome;
use serde_json::Value;

const WORK: &str =
    "name: w\ndefaults: {retries: 2}\ntasks:\n  a: {run: x}\n  b: {run: y, depends_on: [a]}\n";

async fn begin(rig: &Rig) -> String {
    assert!(rig.deploy(WORK).await.status.is_success());
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    format!("/runs/{}", run["id"].as_str().unwrap())
}

async fn add(rig: &Rig, run: &str, text: &str) -> Answer {
    let yaml = [("content-type", "application/yaml")];
    rig.ask(request(Method::POST, &format!("{run}/tasks"), &yaml, text.to_owned())).await
}

/// Asks until it is in this state.
async fn until(rig: &Rig, path: &str, status: &str) -> Value {
    loop {
        let found = rig.get(path).await.json();
        if found["status"] == status {
            return found;
        }
        tokio::task::yield_now().await;
    }
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn added_tasks_run_and_are_shown_like_all_others() {
    let (rig, hand) = Rig::at_work().await;
    let run = begin(&rig).await;
    hand.started("a").await;
    let text = "tasks:\n  c: {run: z, depends_on: [a]}\n  ok: {approval: {message: 'Go?'}, depends_on: [c]}\n";
    let added = add(&rig, &run, text).await;
    assert_eq!(added.status, StatusCode::CREATED, "{}", added.text);
    assert_eq!(added.json()["tasks"]["total"], 4);
    let json = [("content-type", "application/json")];
    let text = r#"{"tasks": {"d": {"noop": {}, "depends_on": ["ok", "b"]}}}"#;
    let path = format!("{run}/tasks");
    let added = rig.ask(request(Method::POST, &path, &json, text)).await;
    assert_eq!(added.json()["tasks"]["total"], 5, "{}", added.text);
    let listed = rig.get(&path).await.json();
    assert_eq!(names(&listed["items"]), ["a", "b", "c", "ok", "d"]);
    assert_eq!(rig.get(&format!("{run}/tasks/c")).await.json()["tries_max"], 3, "by default");
    let graph = rig.get(&format!("{run}/graph")).await.json();
    assert_eq!(names(&graph["tasks"]), ["a", "b", "c", "ok", "d"]);
    assert_eq!(graph["tasks"][4]["depends_on"][0]["task"], "ok");
    let added: Vec<bool> =
        graph["tasks"].as_array().unwrap().iter().map(|it| it["added"] == true).collect();
    assert_eq!(added, [false, false, true, true, true], "and which were not there from the start");
    let version = rig.get("/workflows/w/versions/1/graph").await.json();
    assert_eq!(names(&version["tasks"]), ["a", "b"], "the version is as it was");
    for task in ["a", "c", "b"] {
        hand.started(task).await;
        hand.end(task, Outcome::Success(None));
    }
    until(&rig, &format!("{run}/tasks/ok"), "waiting").await;
    let waiting = rig.get("/approvals").await.json();
    assert_eq!(waiting["items"][0]["task"], "ok");
    let approved = rig.post(&format!("{run}/tasks/ok/approve"), "").await;
    assert_eq!(approved.status, StatusCode::OK, "{}", approved.text);
    until(&rig, &run, "success").await;
    assert_eq!(rig.get(&format!("{run}/tasks/d")).await.json()["status"], "success");
    let attempts = rig.get(&format!("{run}/attempts")).await.json();
    assert!(attempts["items"].as_array().unwrap().iter().any(|it| it["task"] == "c"), "{attempts}");
    let audit = rig.get("/audit").await.json();
    assert!(audit["items"].as_array().unwrap().iter().any(|it| it["action"] == "run.add_tasks"));
    // Run anew with all of it, and from what was added.
    let anew = rig.post(&format!("{run}/rerun"), r#"{"from": "d"}"#).await.json();
    assert_eq!(anew["tasks"]["total"], 5);
    let anew = format!("/runs/{}", anew["id"].as_str().unwrap());
    until(&rig, &anew, "success").await;
    assert_eq!(rig.get(&format!("{anew}/tasks/c")).await.json()["reason"], "copied");
}

#[tokio::test]
async fn mistakes_are_refused_all_at_once_and_change_nothing() {
    let rig = Rig::new().await;
    let run = begin(&rig).await;
    let refused =
        add(&rig, &run, "tasks:\n  a: {noop: {}}\n  c: {noop: {}, depends_on: [nope]}\n").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(refused.code(), "bad_definition");
    let errors = refused.json()["errors"].clone();
    let places: Vec<(u64, u64)> = errors
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["line"].as_u64().unwrap(), it["column"].as_u64().unwrap()))
        .collect();
    assert_eq!(places, [(2, 3), (3, 30)], "{errors}");
    let bad = [
        ("tasks: {", "E004"),
        ("tasks: {}", "E201"),
        ("name: w\ntasks: {c: {noop: {}}}", "E101"),
        ("tasks: {c: {noop: {}, depends_on: [c]}}", "E206"),
        ("tasks: {c: {noop: {}, depends_on: [d]}, d: {noop: {}, depends_on: [c]}}", "E208"),
        ("tasks: {c: {noop: {}, run: x}}", "E204"),
        ("tasks: {c: {run: x, tier: nowhere}}", "E210"),
        ("[]", "E104"),
        ("", "E008"),
    ];
    for (text, code) in bad {
        let refused = add(&rig, &run, text).await;
        assert_eq!(refused.code(), "bad_definition", "{text}");
        assert_eq!(refused.json()["errors"][0]["code"], code, "{text}");
    }
    let csv = [("content-type", "text/csv")];
    let path = format!("{run}/tasks");
    assert_eq!(rig.ask(request(Method::POST, &path, &csv, "x")).await.code(), "media_type");
    assert_eq!(rig.get(&run).await.json()["tasks"]["total"], 2);
}

#[tokio::test]
async fn only_a_run_that_goes_on_takes_more() {
    let rig = Rig::new().await;
    let ended = rig.run().await;
    let one = "tasks: {c: {noop: {}}}";
    let refused = add(&rig, &format!("/runs/{ended}"), one).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::CONFLICT, "run_state"));
    let nobody = "/runs/00000000-0000-7000-8000-000000000000";
    assert_eq!(add(&rig, nobody, one).await.code(), "run_not_found");
    let run = begin(&rig).await;
    rig.post(&format!("{run}/pause"), "").await;
    assert_eq!(add(&rig, &run, one).await.status, StatusCode::CREATED, "paused");
    let refused = add(&rig, &run, one).await;
    assert_eq!(refused.json()["errors"][0]["code"], "E009", "it is there: {}", refused.text);
}

#[tokio::test]
async fn a_key_adds_them_once() {
    let rig = Rig::new().await;
    let run = begin(&rig).await;
    let headers = [("content-type", "application/yaml"), ("idempotency-key", "k")];
    let path = format!("{run}/tasks");
    let ask =
        async |text: &'static str| rig.ask(request(Method::POST, &path, &headers, text)).await;
    assert_eq!(ask("tasks: {c: {noop: {}}}").await.status, StatusCode::CREATED);
    let again = ask("tasks: {c: {noop: {}}}").await;
    assert_eq!((again.status, &again.json()["tasks"]["total"]), (StatusCode::CREATED, &3.into()));
    assert_eq!(ask("tasks: {d: {noop: {}}}").await.code(), "key_reused");
}

#[tokio::test]
async fn what_may_run_is_for_an_admin_to_say() {
    let rig = Rig::new().await;
    let run = begin(&rig).await;
    let bearer = format!("Bearer {}", rig.token(Role::Operator, None));
    let headers = [("content-type", "application/yaml"), ("authorization", bearer.as_str())];
    let text = "tasks: {c: {noop: {}}}";
    let path = format!("{run}/tasks");
    assert_eq!(rig.ask(request(Method::POST, &path, &headers, text)).await.code(), "forbidden");
}

#[tokio::test]
async fn several_at_once_are_added_one_after_the_other() {
    let rig = Rig::new().await;
    let run = begin(&rig).await;
    let texts: Vec<String> = (0..8).map(|no| format!("tasks: {{c{no}: {{noop: {{}}}}}}")).collect();
    let all = texts.iter().map(|text| add(&rig, &run, text));
    for answer in futures_util::future::join_all(all).await {
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
    }
    assert_eq!(rig.get(&run).await.json()["tasks"]["total"], 10);
}
