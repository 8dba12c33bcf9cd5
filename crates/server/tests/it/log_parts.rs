//! A log in the blob store: whole, from its end, in parts, and what is said when it is damaged.

use crate::rig::{Answer, Rig, request};
use axum::http::{Method, StatusCode};
use flate2::Compression;
use flate2::read::GzEncoder;
use mainspring_core::ids::{AttemptId, RunKey, SchedulerId, TaskNo, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, Log, TaskRow};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{BlobName, Fence};
use std::io::Read as _;

const LINES: usize = 5_000;
const ATTEMPT: AttemptId = AttemptId::from_bytes([9; 16]);
const AT: Timestamp = Timestamp(1);

/// As it is kept, and as it is shown.
fn log() -> (Vec<u8>, String) {
    let shown: Vec<String> =
        (0..LINES).map(|no| format!("line {no} {}\n", "é".repeat(20))).collect();
    let record = |line| format!("2026-11-15T23:44:22.123456Z o {line}");
    let kept: String = shown.iter().map(record).collect();
    (kept.into_bytes(), shown.concat())
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::new();
    GzEncoder::new(bytes, Compression::fast()).read_to_end(&mut compressed).unwrap();
    compressed
}

/// A run whose only task has ended; its log is said to be in the blob store.
pub async fn ended(rig: &Rig, blob: Option<&[u8]>) -> String {
    rig.deploy("name: w\ntasks: {a: {run: x}}\n").await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let attempt = Attempt {
        number: 1,
        id: ATTEMPT,
        dispatched_at: AT,
        started_at: Some(AT),
        finished_at: Some(AT),
        end: Some(AttemptEnd::Success),
    };
    let row = TaskRow {
        fact: Fact::Success,
        attempts: 1,
        attempt: Some(attempt),
        ever_started: true,
        settled_at: Some(AT),
        ..TaskRow::new(TaskRef::plain(TaskNo(0)))
    };
    let key = RunKey::new(1, 1);
    let changes = vec![
        Change::PutTask(key, row),
        Change::NewLog(key, ATTEMPT, Log::Blob { bytes: 1_000_000 }),
    ];
    let fence = Fence { scheduler: SchedulerId::from_bytes([5; 16]), epoch: 1 };
    let (say, told) = tokio::sync::oneshot::channel();
    rig.app.store.commit(fence, changes, Box::new(|result| say.send(result).unwrap()));
    told.await.unwrap().unwrap();
    if let Some(mut blob) = blob {
        rig.app.config.logs.blobs.put(BlobName::Log(ATTEMPT), &mut blob).unwrap();
    }
    format!("/runs/{}/tasks/a/logs", run["id"].as_str().unwrap())
}

async fn part(rig: &Rig, path: &str, range: &str) -> Answer {
    rig.ask(request(Method::GET, path, &[("range", range)], "")).await
}

#[tokio::test]
async fn any_part_of_a_log_can_be_asked_for() {
    let rig = Rig::new().await;
    let (kept, shown) = log();
    let path = ended(&rig, Some(&compressed(&kept))).await;
    assert!(rig.get(&path).await.text == shown);
    let total = shown.len();
    // The text is made in chunks of 64 KiB: parts within one, over several, and at their edges.
    for (first, last) in [(0, 0), (0, 99), (70_000, 70_001), (65_000, 200_000), (total - 1, total)]
    {
        let answer = part(&rig, &path, &format!("bytes={first}-{last}")).await;
        let last = last.min(total - 1);
        assert_eq!(answer.status, StatusCode::PARTIAL_CONTENT);
        assert_eq!(answer.headers["content-range"], format!("bytes {first}-{last}/{total}"));
        assert!(
            answer.text.as_bytes()
                == String::from_utf8_lossy(&shown.as_bytes()[first..=last]).as_bytes()
        );
    }
    let rest = part(&rig, &path, "bytes=100000-").await;
    assert!(rest.text == String::from_utf8_lossy(&shown.as_bytes()[100_000..]));
    let end = part(&rig, &path, "bytes=-11").await;
    assert_eq!(end.headers["content-range"], format!("bytes {}-{}/{total}", total - 11, total - 1));
    assert!(end.text == shown[total - 11..]);
    for outside in [format!("bytes={total}-"), "bytes=-0".to_owned()] {
        let answer = part(&rig, &path, &outside).await;
        assert_eq!(answer.code(), "bad_range");
        assert_eq!(answer.headers["content-range"], format!("bytes */{total}"));
    }
    for other in ["lines=0-9", "bytes=0-1,3-4", "bytes=9-1"] {
        let answer = part(&rig, &path, other).await;
        assert_eq!(answer.status, StatusCode::OK, "{other}");
        assert!(answer.text == shown, "{other}");
    }
}

#[tokio::test]
async fn nothing_has_no_parts() {
    let rig = Rig::new().await;
    let id = rig.run().await;
    let path = format!("/runs/{id}/tasks/a/logs");
    let answer = part(&rig, &path, "bytes=0-").await;
    assert_eq!(
        (answer.code().as_str(), &answer.headers["content-range"]),
        ("bad_range", &"bytes */0".parse().unwrap())
    );
}

#[tokio::test]
async fn only_the_end_of_a_log_can_be_asked_for() {
    let rig = Rig::new().await;
    let (kept, shown) = log();
    let path = ended(&rig, Some(&compressed(&kept))).await;
    let lines: Vec<&str> = shown.split_inclusive('\n').collect();
    for count in [0, 1, 77, LINES, LINES + 1] {
        let answer = rig.get(&format!("{path}?tail={count}")).await;
        assert!(answer.text == lines[LINES.saturating_sub(count)..].concat(), "{count}");
    }
    let both = part(&rig, &format!("{path}?tail=2"), "bytes=0-7").await;
    assert_eq!(both.text, &lines[LINES - 2][..8]);
}

#[tokio::test]
async fn a_log_is_followed_from_its_last_lines_on() {
    let rig = Rig::new().await;
    let (kept, shown) = log();
    let path = ended(&rig, Some(&compressed(&kept))).await;
    let told = rig.get(&format!("{path}?follow=true&tail=2")).await.text;
    let ids: Vec<&str> = told.lines().filter(|line| line.starts_with("id: ")).collect();
    assert_eq!(ids, ["id: 1:4999", "id: 1:5000"], "{told}");
    assert!(told.contains("line 4999") && told.contains("event: end\n"), "{told}");
    // Whoever was cut off has heard of some of them.
    let heard = [("last-event-id", "1:4997")];
    let again = format!("{path}?follow=true&tail=2");
    let told = rig.ask(request(Method::GET, &again, &heard, "")).await.text;
    assert_eq!(told.matches("id: 1:").count(), 3, "{told}");
    for (tail, from) in [("&tail=2", LINES - 2), ("", 0)] {
        let accept = [("accept", "text/plain"), ("accept-encoding", "gzip")];
        let path = format!("{path}?follow=true{tail}");
        let answer = rig.ask(request(Method::GET, &path, &accept, "")).await;
        assert_eq!(answer.headers["content-type"], "text/plain; charset=utf-8");
        let lines: Vec<&str> = shown.split_inclusive('\n').collect();
        assert!(answer.text == lines[from..].concat(), "{tail}");
    }
}

#[tokio::test]
async fn a_log_that_is_cut_short_does_not_seem_whole() {
    let rig = Rig::new().await;
    let blob = compressed(&log().0);
    let path = ended(&rig, Some(&blob[..blob.len() / 2])).await;
    let followed = rig.get(&format!("{path}?follow=true")).await;
    assert!(followed.text.contains("event: error\n"), "{}", followed.text.len());
    assert!(!followed.text.contains("event: end\n"));
    assert_eq!(rig.get(&format!("{path}?tail=3")).await.code(), "content_lost");
    let response = rig.send(request(Method::GET, &path, &[], "")).await;
    axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap_err();
}

#[tokio::test]
async fn a_log_that_is_damaged_where_it_begins_is_said_to_be() {
    let rig = Rig::new().await;
    let mut blob = compressed(&log().0);
    blob[20..27].fill(0xff);
    let path = ended(&rig, Some(&blob)).await;
    for answer in [rig.get(&path).await, part(&rig, &path, "bytes=0-7").await] {
        assert_eq!(answer.code(), "content_lost");
        assert!(answer.text.contains("from a backup"), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_log_that_is_gone_is_said_to_be() {
    let rig = Rig::new().await;
    let path = ended(&rig, None).await;
    let answer = rig.get(&path).await;
    assert_eq!(answer.code(), "content_lost");
    assert!(answer.text.contains("from a backup"), "{}", answer.text);
    assert!(answer.text.contains("neither in the blob store nor in the data folder"));
}
