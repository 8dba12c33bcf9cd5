//! The log: a line for every change and every failure, and for nothing else.

use crate::rig::{NOOPS, Rig, request};
use axum::http::Method;
use mainspring_testkit::shaky::Fault;
use serde_json::Value;
use std::io::Write;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn lines(&self) -> Vec<Value> {
        let text = String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[tokio::test]
async fn changes_and_failures_are_told_with_their_requests() {
    let log = Log::default();
    let writer = log.clone();
    let lines = tracing_subscriber::fmt().json().flatten_event(true);
    let _guard =
        tracing::subscriber::set_default(lines.with_writer(move || writer.clone()).finish());
    let rig = Rig::new().await;
    let headers = [("x-request-id", "r-1"), ("authorization", "Bearer hush")];
    rig.ask(request(Method::POST, "/workflows", &headers, NOOPS)).await;
    let told = log.lines();
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0]["request"], &told[0]["level"]), (&"r-1".into(), &"INFO".into()));
    assert_eq!((&told[0]["method"], &told[0]["path"]), (&"POST".into(), &"/workflows".into()));
    assert!(!told[0].to_string().contains("hush"));
    rig.get("/workflows").await;
    rig.get("/nowhere").await;
    rig.post("/workflows/x/runs", "{}").await;
    assert_eq!(log.lines(), Vec::<Value>::new(), "nothing changed, and nothing failed");
    for (fault, level, code) in
        [(Fault::Unreachable, "WARN", "store_unavailable"), (Fault::Damaged, "ERROR", "internal")]
    {
        rig.store.set(fault);
        let answer = rig.get("/audit?limit=7").await;
        let told = log.lines();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!((&told[0]["level"], &told[0]["code"]), (&level.into(), &code.into()));
        assert_eq!(told[0]["request"], answer.headers["x-request-id"].to_str().unwrap());
        assert_eq!(
            (&told[0]["path"], &told[0]["why"]),
            (&"/audit".into(), &answer.json()["detail"])
        );
    }
}
