//! The page: where it is, what it may do, how long it is kept.

use crate::rig::{NOOPS, Rig};
use axum::http::{Method, StatusCode, header};

/// The address that the page names for a file of its own.
fn address(start: &str, file: &str) -> String {
    let at = start.find(file).unwrap_or_else(|| panic!("{file} is named in {start}"));
    let from = start[..at].rfind('"').unwrap() + 1;
    format!("{}{file}", &start[from..at])
}

#[tokio::test]
async fn the_root_leads_to_the_page_and_every_place_in_it_is_the_page() {
    let rig = Rig::new().await;
    for path in ["/", "/ui"] {
        let answer = rig.get(path).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{path}");
        assert_eq!(answer.headers[header::LOCATION], "/ui/");
    }
    let start = rig.get("/ui/").await;
    assert_eq!(start.headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
    for path in
        ["/ui/runs", "/ui/approvals", "/ui/a", "/ui/runs/x/tasks/y?index=3", "/ui/workflows/a%20b"]
    {
        assert_eq!(rig.get(path).await.text, start.text, "{path}");
    }
    assert!(!start.text.contains("{{"), "{}", start.text);
}

#[tokio::test]
async fn the_page_may_load_nothing_but_its_own_files() {
    let rig = Rig::new().await;
    let start = rig.get("/ui/").await;
    for path in ["/ui/".to_owned(), address(&start.text, "/src/app.js")] {
        let answer = rig.get(&path).await;
        let policy = answer.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    }
}

#[tokio::test]
async fn files_are_kept_for_good_under_their_hash_and_the_page_is_asked_for_again() {
    let rig = Rig::new().await;
    let start = rig.get("/ui/").await;
    assert_eq!(start.headers[header::CACHE_CONTROL], "no-cache");
    let app = address(&start.text, "/src/app.js");
    let file = rig.get(&app).await;
    assert_eq!(file.headers[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
    assert_eq!(file.headers[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
    let old = rig.get("/ui/a/0000000000000000/src/app.js").await;
    assert_eq!((old.status, &old.text), (StatusCode::OK, &file.text));
    assert_eq!(old.headers[header::CACHE_CONTROL], "no-store");
    for path in ["/ui/a/0/src/none.js", "/ui/a/0/package.json", "/ui/a/0/../Cargo.toml"] {
        assert_eq!(rig.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let tag = start.headers[header::ETAG].to_str().unwrap();
    let again = crate::rig::request(Method::GET, "/ui/", &[("if-none-match", tag)], "");
    let again = rig.ask(again).await;
    assert_eq!((again.status, again.text.as_str()), (StatusCode::NOT_MODIFIED, ""));
}

#[tokio::test]
async fn everything_the_page_names_is_there_and_small_when_compressed() {
    let rig = Rig::new().await;
    let start = rig.get("/ui/").await;
    let named = start.text.split('"').filter(|part| part.starts_with("/ui/a/"));
    let mut bytes = 0;
    for path in named.collect::<std::collections::BTreeSet<_>>() {
        let zipped = crate::rig::request(Method::GET, path, &[("accept-encoding", "br, gzip")], "");
        let answer = rig.ask(zipped).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert_eq!(answer.headers[header::CONTENT_ENCODING], "gzip", "{path}");
        let length = answer.headers[header::CONTENT_LENGTH].to_str().unwrap();
        bytes += length.parse::<usize>().unwrap();
    }
    assert!((10_000..150_000).contains(&bytes), "{bytes} bytes");
}

#[tokio::test]
async fn a_graph_is_shown_of_every_version_for_as_long_as_its_runs() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    let more = "  c: {noop: {}, depends_on: [{task: a, when: finished}, b], parallel: 3, on_failure: run}\n";
    rig.deploy(&format!("{NOOPS}{more}")).await;
    let first = rig.get("/workflows/w/versions/1/graph").await.json();
    let edge = serde_json::json!([{"task": "a", "when": "merged"}]);
    assert_eq!(
        (&first["tasks"][1]["name"], &first["tasks"][1]["depends_on"]),
        (&"b".into(), &edge)
    );
    let latest = rig.get("/workflows/w/versions/latest/graph").await.json();
    assert_eq!(latest["version"], 2);
    let c = &latest["tasks"][2];
    assert_eq!((&c["fan_out"], &c["on_failure"]), (&"× 3".into(), &"run".into()));
    assert_eq!(c["depends_on"][0], serde_json::json!({"task": "a", "when": "finished"}));
    for number in ["3", "x", "-1"] {
        let path = format!("/workflows/w/versions/{number}/graph");
        assert_eq!(rig.get(&path).await.code(), "workflow_not_found", "{number}");
    }
    rig.delete("/workflows/w").await;
    assert_eq!(rig.get("/workflows/w/versions/1/graph").await.status, StatusCode::OK);
    let path = "/workflows/w/versions/latest/graph";
    assert_eq!(rig.get(path).await.code(), "workflow_not_found");
}
