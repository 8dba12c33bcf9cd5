//! How long texts may be: what the OpenAPI file says and what is taken are the same, in
//! characters, however many bytes each of them has.

use crate::rig::{Answer, NOOPS, Rig, request};
use axum::http::{HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Of one, two, three and four bytes.
const CHARACTERS: [&str; 4] = ["x", "ä", "語", "😀"];

const WAITS: &str = "name: w\ntasks:\n  a: {approval: {message: go}}\n";

/// Where the file bounds the length of a text in a request, and by how much.
fn bounded(api: &Value) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for item in api["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap();
                look(api, &parameter["schema"], &format!("{id} {name}"), &mut found);
            }
            let media = operation["requestBody"]["content"].as_object();
            for content in media.into_iter().flat_map(|media| media.values()) {
                look(api, &content["schema"], id, &mut found);
            }
        }
    }
    found
}

/// Goes down into a schema, whatever it is made of.
fn look(api: &Value, schema: &Value, at: &str, found: &mut BTreeMap<String, usize>) {
    if let Some(name) = schema["$ref"].as_str() {
        let pointer = name.strip_prefix('#').unwrap();
        return look(api, api.pointer(pointer).unwrap(), at, found);
    }
    if let Some(max) = schema["maxLength"].as_u64() {
        found.insert(at.to_owned(), usize::try_from(max).unwrap());
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        look(api, field, &format!("{at} {name}"), found);
    }
    for (part, word) in [("propertyNames", "key"), ("additionalProperties", "value")] {
        if let Some(schema) = schema.get(part) {
            look(api, schema, &format!("{at} {word}"), found);
        }
    }
    if let Some(items) = schema.get("items") {
        look(api, items, at, found);
    }
    for part in ["oneOf", "anyOf", "allOf"] {
        for schema in schema[part].as_array().into_iter().flatten() {
            look(api, schema, at, found);
        }
    }
}

/// Says this text where it is bounded, in a request in which nothing else is wrong.
async fn say(at: &str, text: &str) -> Answer {
    let rig = Rig::new().await;
    let label = |key: &str, value: &str| json!({"labels": {key: value}}).to_string();
    match at {
        "triggerRun labels key" => trigger(&rig, &label(text, "x")).await,
        "triggerRun labels value" => trigger(&rig, &label("x", text)).await,
        "createToken name" => {
            let body = json!({"name": text, "role": "viewer"}).to_string();
            rig.post("/tokens", &body).await
        }
        "setTier name" => {
            // The longest names are those of queues.
            let name = format!("queue:{}", text.chars().skip(6).collect::<String>());
            let body = json!({"name": name, "limit": 1}).to_string();
            let json = [("content-type", "application/json")];
            rig.ask(request(Method::PUT, "/tiers", &json, body)).await
        }
        "signalRun key" => {
            let body = json!({"key": text}).to_string();
            rig.post(&format!("{}/signal", waiting(&rig).await), &body).await
        }
        "approveTask comment" | "rejectTask comment" => {
            let order = at.split("Task").next().unwrap();
            let path = format!("{}/tasks/a/{order}", waiting(&rig).await);
            rig.post(&path, &json!({"comment": text}).to_string()).await
        }
        _ => panic!("`{at}` has a bound that nobody tries: add it here"),
    }
}

async fn trigger(rig: &Rig, body: &str) -> Answer {
    assert!(rig.deploy(NOOPS).await.status.is_success());
    rig.post("/workflows/w/runs", body).await
}

/// The path of a run whose task waits for somebody.
async fn waiting(rig: &Rig) -> String {
    assert!(rig.deploy(WAITS).await.status.is_success());
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    while rig.get(&format!("{path}/tasks/a")).await.json()["status"] != "waiting" {
        tokio::task::yield_now().await;
    }
    path
}

#[tokio::test]
async fn a_text_is_as_long_as_the_file_says_whatever_its_characters() {
    let api = Rig::new().await.get("/openapi.json").await.json();
    let mut bounded = bounded(&api);
    bounded.retain(|at, _| !at.ends_with("Idempotency-Key"));
    assert_eq!(bounded.len(), 7, "{bounded:?}");
    let mut wrong = Vec::new();
    for (at, max) in bounded {
        for character in CHARACTERS {
            let is_taken = character == "x" || at != "setTier name";
            let longest = say(&at, &character.repeat(max)).await;
            if longest.status.is_success() != is_taken {
                wrong.push(format!("{at}: {max} times {character}: {}", longest.status));
            }
            let longer = say(&at, &character.repeat(max + 1)).await;
            if longer.status != StatusCode::BAD_REQUEST {
                wrong.push(format!("{at}: {} times {character}: {}", max + 1, longer.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A key has a form of its own: one byte is one character.
#[tokio::test]
async fn a_key_is_as_long_as_the_file_says() {
    let rig = Rig::new().await;
    assert!(rig.deploy(NOOPS).await.status.is_success());
    let api = rig.get("/openapi.json").await.json();
    let bounds = bounded(&api).into_iter().filter(|(at, _)| at.ends_with("Idempotency-Key"));
    let mut bounds: Vec<usize> = bounds.map(|(_, max)| max).collect();
    bounds.dedup();
    let [max] = bounds[..] else { panic!("one bound for all of them: {bounds:?}") };
    let ask = async |key: String| {
        let mut asked = request(Method::POST, "/workflows/w/runs", &[], "{}");
        let key = HeaderValue::from_bytes(key.as_bytes()).unwrap();
        asked.headers_mut().insert("idempotency-key", key);
        rig.ask(asked).await
    };
    assert_eq!(ask("x".repeat(max)).await.status, StatusCode::ACCEPTED);
    assert_eq!(ask("x".repeat(max + 1)).await.code(), "bad_request");
    for character in &CHARACTERS[1..] {
        assert_eq!(ask((*character).to_owned()).await.code(), "bad_request", "{character}");
    }
}

/// A tier has no prefix that its name would be longer by.
#[tokio::test]
async fn a_tier_is_called_by_as_much_as_its_pattern_says() {
    let rig = Rig::new().await;
    let api = rig.get("/openapi.json").await.json();
    let name = &api["components"]["schemas"]["TierBody"]["properties"]["name"];
    assert!(name["pattern"].as_str().unwrap().ends_with("{0,127})$"), "{name}");
    for (length, status) in [(128, StatusCode::OK), (129, StatusCode::BAD_REQUEST)] {
        let body = json!({"name": "x".repeat(length), "limit": 1}).to_string();
        let json = [("content-type", "application/json")];
        let answer = rig.ask(request(Method::PUT, "/tiers", &json, body)).await;
        assert_eq!(answer.status, status, "{length}: {}", answer.text);
    }
}
