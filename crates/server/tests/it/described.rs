//! The OpenAPI file: what it says, and that it says all of it.

use crate::rig::{Rig, request};
use axum::http::StatusCode;
use mainspring_server::problem::Code;

#[tokio::test]
async fn the_file_and_the_page_are_served() {
    let rig = Rig::new().await;
    let file = rig.get("/openapi.json").await;
    assert_eq!(file.status, StatusCode::OK);
    let api = file.json();
    assert_eq!(api["openapi"], "3.1.0");
    let page = rig.get("/docs").await;
    for path in api["paths"].as_object().unwrap().keys() {
        assert!(page.text.contains(path), "{path} is not on the page");
    }
}

#[tokio::test]
async fn every_operation_says_what_it_does_and_how_it_fails() {
    let api = Rig::new().await.get("/openapi.json").await.json();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert!(operation["summary"].is_string(), "{method} {path} has no summary");
            let answers = operation["responses"].as_object().unwrap();
            let fails = answers.keys().any(|status| status.starts_with('5'));
            assert!(fails || path == "/healthz", "{method} {path} never fails?");
            for (status, answer) in answers {
                assert!(
                    status.parse::<u16>().is_ok(),
                    "{method} {path}: which status is {status}?"
                );
                assert_ne!(answer["description"], "", "{method} {path} {status}");
            }
        }
    }
}

#[tokio::test]
async fn a_body_that_may_be_left_out_is_said_to_be_optional() {
    let rig = Rig::new().await;
    let id = rig.run().await;
    let api = rig.get("/openapi.json").await.json();
    assert_eq!(rig.post(&format!("/runs/{id}/rerun"), "").await.status, StatusCode::ACCEPTED);
    for path in ["/workflows/{name}/runs", "/runs/{id}/retry", "/runs/{id}/rerun"] {
        let body = &api["paths"][path]["post"]["requestBody"];
        assert!(body.is_object(), "{path} takes a body");
        assert_ne!(body["required"], true, "{path}");
    }
}

#[tokio::test]
async fn every_operation_has_a_name_of_its_own() {
    let api = Rig::new().await.get("/openapi.json").await.json();
    let mut names = std::collections::BTreeSet::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for operation in item.as_object().unwrap().values() {
            let name = operation["operationId"].as_str().unwrap().to_owned();
            assert!(names.insert(name), "{path}: {}", operation["operationId"]);
        }
    }
}

/// What is misspelt or misplaced is never ignored, by any route.
#[tokio::test]
async fn no_operation_takes_a_field_that_it_does_not_know() {
    let rig = Rig::new().await;
    let api = rig.get("/openapi.json").await.json();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let path = path.replace(['{', '}'], "");
            let method = method.to_uppercase().parse().unwrap();
            let answer = rig.ask(request(method, &format!("{path}?nope=1"), &[], "")).await;
            assert_eq!(answer.code(), "bad_query", "{path}");
            let says = operation["responses"]["400"]["description"].as_str().unwrap_or_default();
            assert!(says.contains("`bad_query`"), "{path}: {says}");
        }
    }
    assert_eq!(rig.get("/openapi.json?x").await.code(), "bad_query");
    assert_eq!(rig.get("/healthz?").await.status, StatusCode::OK);
}

/// `?force` is `?force=true`, which no boolean says.
#[tokio::test]
async fn a_flag_is_said_to_be_set_by_being_there() {
    let rig = Rig::new().await;
    let api = rig.get("/openapi.json").await.json();
    let mut flags = 0;
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
                assert!(!schema.to_string().contains("boolean"), "{path}: {name}: {schema}");
                if schema["pattern"] != "^(true|false)?$" {
                    continue;
                }
                flags += 1;
                let path = path.replace(['{', '}'], "");
                let method: axum::http::Method = method.to_uppercase().parse().unwrap();
                let ask = async |query: &str| {
                    rig.ask(request(method.clone(), &format!("{path}?{query}"), &[], "")).await
                };
                for query in [name.to_owned(), format!("{name}="), format!("{name}=false")] {
                    assert_ne!(ask(&query).await.code(), "bad_query", "{path}?{query}");
                }
                assert_eq!(ask(&format!("{name}=1")).await.code(), "bad_query", "{path}");
            }
        }
    }
    assert_eq!(flags, 6);
}

/// Absent fields are absent: null would be one more thing to be ready for.
#[tokio::test]
async fn no_field_of_an_answer_is_null() {
    let api = Rig::new().await.get("/openapi.json").await.json();
    for (name, schema) in api["components"]["schemas"].as_object().unwrap() {
        let says_null = schema.to_string().contains("\"null\"");
        assert!(!says_null || name.ends_with("Body"), "{name}: {schema}");
    }
}

#[tokio::test]
async fn the_figures_are_what_prometheus_reads() {
    let rig = Rig::new().await;
    rig.run().await;
    let answer = rig.get("/metrics").await;
    assert!(answer.headers["content-type"].to_str().unwrap().starts_with("text/plain"));
    assert!(answer.text.contains("mainspring_runs_ended_total{status=\"success\"} 1\n"));
    for line in answer.text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').expect("a name and a value");
        assert!(name.starts_with("mainspring_"), "{line}");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[test]
fn codes_have_statuses_of_errors() {
    for code in Code::ALL {
        assert!(code.status().is_client_error() || code.status().is_server_error());
    }
}
