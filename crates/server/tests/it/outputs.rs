//! What tasks and runs put out: with their views while it is small, whole whatever its size.

use crate::rig::{Answer, Rig, request};
use axum::http::{Method, StatusCode};
use mainspring_core::ids::RunId;
use mainspring_core::json::Json;
use mainspring_core::output::Output;
use mainspring_core::time::Timestamp;
use mainspring_core::work::Outcome;
use mainspring_store::{BlobName, Store as _};
use mainspring_testkit::shaky::Fault;
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// More than is kept in a row, and compressible.
fn large() -> String {
    let items: Vec<String> = (0..60_000).map(|item| format!("\"item {item}\"")).collect();
    format!("[{}]", items.join(","))
}

/// A run whose only task has put this out.
async fn put_out(output: Option<&str>) -> (Rig, String) {
    let (rig, hand) = Rig::at_work().await;
    let text = "name: w\ntasks: {a: {run: x}}\noutputs: {all: \"${{ tasks.a.output }}\"}\n";
    let answer = rig.deploy(text).await;
    assert!(answer.status.is_success(), "{}", answer.text);
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    hand.started("a").await;
    let output = output.map(|text| Output::Inline(Json::parse(text).unwrap()));
    hand.end("a", Outcome::Success(output));
    hand.gone("a").await;
    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    while rig.get(&path).await.json()["status"] != "success" {
        tokio::task::yield_now().await;
    }
    (rig, path)
}

#[tokio::test]
async fn a_small_output_is_shown_with_its_task() {
    let (rig, path) = put_out(Some("{\"b\": 1, \"a\": [2]}")).await;
    let task = rig.get(&format!("{path}/tasks/a")).await.json();
    assert_eq!((&task["output"], task.get("output_blob")), (&json!({"b": 1, "a": [2]}), None));
    let whole = rig.get(&format!("{path}/tasks/a/output")).await;
    assert_eq!(whole.text, "{\"b\": 1, \"a\": [2]}", "as it was put out");
    assert_eq!(whole.headers["content-type"], "application/json");
    let run = rig.get(&path).await.json();
    assert_eq!(run["output"], json!({"all": {"b": 1, "a": [2]}}));
    assert_eq!(rig.get(&format!("{path}/output")).await.json(), run["output"]);
    let listed = rig.get("/runs").await.json();
    assert!(listed["items"][0].get("output").is_none(), "lists are without: {listed}");
}

#[tokio::test]
async fn nothing_is_put_out_but_null_is_something() {
    let (rig, path) = put_out(None).await;
    assert_eq!(rig.get(&format!("{path}/tasks/a/output")).await.code(), "no_output");
    assert_eq!(rig.get(&format!("{path}/output")).await.json(), json!({"all": null}));
    let (rig, path) = put_out(Some("null")).await;
    assert_eq!(rig.get(&format!("{path}/tasks/a/output")).await.text, "null");
}

async fn plain(rig: &Rig, path: &str) -> Answer {
    rig.ask(request(Method::GET, path, &[], "")).await
}

#[tokio::test]
async fn a_large_output_is_named_and_given_whole() {
    let text = large();
    let (rig, path) = put_out(Some(&text)).await;
    let task = rig.get(&format!("{path}/tasks/a")).await.json();
    assert!(task.get("output").is_none());
    let hash: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(task["output_blob"], json!({"bytes": text.len(), "sha256": hash}));
    let whole = plain(&rig, &format!("{path}/tasks/a/output")).await;
    assert_eq!((whole.status, whole.text.as_str()), (StatusCode::OK, text.as_str()));
    assert_eq!(whole.headers["content-length"], text.len().to_string().as_str());
    let run = rig.get(&path).await.json();
    assert!(run.get("output").is_none());
    assert!(run["output_blob"]["bytes"].as_u64().unwrap() > text.len() as u64);
    let whole = plain(&rig, &format!("{path}/output")).await;
    assert_eq!(whole.text, format!("{{\"all\":{text}}}"));
    let attempts = rig.get(&format!("{path}/tasks/a/attempts")).await.json();
    assert_eq!(attempts["items"][0]["output_blob"]["sha256"], hash);
}

#[tokio::test]
async fn an_output_that_is_gone_or_damaged_is_told_of() {
    let (rig, path) = put_out(Some(&large())).await;
    let id: RunId = path.trim_start_matches("/runs/").parse().unwrap();
    let stored = rig.store.run(id).await.unwrap().unwrap();
    let Some(Output::Blob(blob)) = &stored.tasks[0].output else { panic!("it is large") };
    let blobs = &rig.app.config.logs.blobs;
    let name = BlobName::Content(id, blob.hash);
    let mut other = flate2::read::GzEncoder::new(&b"[1]"[..], flate2::Compression::fast());
    blobs.put(name, &mut other).unwrap();
    let lost = async || {
        let lost = rig.get(&format!("{path}/tasks/a/output")).await;
        assert_eq!(lost.code(), "content_lost");
        assert_eq!(lost.status, StatusCode::INTERNAL_SERVER_ERROR);
        let detail = lost.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("from a backup") && detail.contains("rerun"), "{detail}");
        detail
    };
    assert!(lost().await.contains("not what was put"));
    // Longer than what is read before the head is sent: the body does not end as it should.
    let other = large().replace("item 59999", "another");
    let mut other = flate2::read::GzEncoder::new(other.as_bytes(), flate2::Compression::fast());
    blobs.put(name, &mut other).unwrap();
    let ask = request(Method::GET, &format!("{path}/tasks/a/output"), &[], "");
    let response = rig.send(ask).await;
    assert!(axum::body::to_bytes(response.into_body(), usize::MAX).await.is_err());
    blobs.remove(name, Timestamp(i64::MAX)).unwrap();
    assert!(lost().await.contains("is not in the blob store any more"));
    rig.store.set(Fault::Unreachable);
    let away = rig.get(&format!("{path}/tasks/a/output")).await;
    assert_eq!(away.code(), "store_unavailable");
}
