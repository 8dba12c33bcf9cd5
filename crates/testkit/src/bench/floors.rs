//! What the machine itself can do, with nothing of ours in the way.

use crate::load::Client;
use rusqlite::{Connection, params};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::process::Command;

/// One write of 4 KiB at the end of a file, made durable; the mean of so many.
pub fn synced_write(folder: &Path, times: usize) -> Duration {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("synced"))
        .expect("a file can be made");
    let page = [0x5a_u8; 4096];
    let begun = Instant::now();
    for _ in 0..times {
        file.write_all(&page).expect("there is room");
        file.sync_data().expect("the disk works");
    }
    begun.elapsed() / u32::try_from(times).expect("few")
}

/// So many processes through tokio alone, so many at once, their output captured.
pub async fn bare_processes(count: usize, at_once: u32) -> Duration {
    let next = Arc::new(AtomicUsize::new(0));
    let begun = Instant::now();
    let lanes: Vec<_> = (0..at_once)
        .map(|_| {
            let next = Arc::clone(&next);
            tokio::spawn(async move {
                while next.fetch_add(1, Ordering::Relaxed) < count {
                    let mut command = Command::new("/bin/true");
                    let output = command.stdin(Stdio::null()).output().await;
                    assert!(output.expect("it can be started").status.success());
                }
            })
        })
        .collect();
    for lane in lanes {
        lane.await.expect("no lane panics");
    }
    begun.elapsed()
}

/// So many requests that decide nothing, by so many clients: what HTTP alone costs.
pub fn requests(address: SocketAddr, clients: usize, count: usize) -> Duration {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut client = Client::connect(address).expect("it listens");
        while next.fetch_add(1, Ordering::Relaxed) < count {
            assert_eq!(client.get("/healthz").expect("it answers").status, 200);
        }
    };
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(work);
        }
    });
    begun.elapsed()
}

/// Rows in SQLite alone: each is inserted by one group commit and updated by a later one, as
/// lean as a task's row can be. `group` rows are inserted and as many updated per commit.
pub fn bare_rows(folder: &Path, rows: usize, group: usize) -> Duration {
    let path = folder.join("bare.db");
    let mut conn = Connection::open(&path).expect("a database can be made");
    let set_up = "pragma journal_mode = wal; pragma synchronous = full;
        pragma wal_autocheckpoint = 0; drop table if exists tasks;
        create table tasks (run integer not null, no integer not null, fact text not null,
            id blob, at integer, primary key (run, no)) without rowid, strict;";
    conn.execute_batch(set_up).expect("it is right");
    let begun = Instant::now();
    let mut done = 0;
    while done < rows + group {
        let tx = conn.transaction().expect("nobody else writes");
        {
            let insert = "insert into tasks values (1, ?1, 'dispatched', ?2, ?3)";
            let update = "update tasks set fact = 'success', at = ?2 where run = 1 and no = ?1";
            let mut insert = tx.prepare_cached(insert).expect("it is right");
            let mut update = tx.prepare_cached(update).expect("it is right");
            for no in done..(done + group).min(rows) {
                insert.execute(params![no, [7_u8; 16], 1_700_000_000_000_000_i64]).expect("room");
            }
            for no in done.saturating_sub(group)..done.min(rows) {
                update.execute(params![no, 1_700_000_000_000_001_i64]).expect("room");
            }
        }
        tx.commit().expect("the disk works");
        done += group;
    }
    begun.elapsed()
}
