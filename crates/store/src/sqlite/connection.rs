//! Connections: every setting that differs from SQLite's own is chosen here.

use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// Nobody in this process contends for the file, so this is for others: a backup tool that
/// takes a lock for a moment, or the last connection of another process cleaning up.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Each kind of statement has its own place; there are fewer kinds than this.
const STATEMENTS_CACHED: usize = 64;

/// The one connection that writes. The file exists and its journal is a WAL.
pub(super) fn open_writer(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = prepare(Connection::open_with_flags(path, flags)?)?;
    // FULL: a commit that was acknowledged survives a power cut.
    conn.pragma_update(None, "synchronous", "full")?;
    // Checkpoints are the checkpoint thread's, so that no commit waits for one.
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    conn.pragma_update(None, "cache_size", -8_000)?;
    Ok(conn)
}

/// For checkpoints: gives way at once when it is not its turn.
pub(super) fn open_checkpointer(path: &Path) -> rusqlite::Result<Connection> {
    let conn = open_writer(path)?;
    conn.busy_timeout(Duration::ZERO)?;
    Ok(conn)
}

/// A connection that can change nothing and takes no lock that a writer would wait for.
pub(super) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    query_only(Connection::open_with_flags(path, flags)?)
}

/// A connection to a file that nobody writes to. It neither looks for a WAL nor locks: see
/// `frozen` for when that is right.
pub(super) fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    query_only(Connection::open_with_flags(immutable_uri(path), flags)?)
}

fn query_only(conn: Connection) -> rusqlite::Result<Connection> {
    let conn = prepare(conn)?;
    conn.pragma_update(None, "query_only", true)?;
    // Enough for the inner pages of every tree. What else was read once is in the system's cache,
    // and a connection that rests would keep it for good.
    conn.pragma_update(None, "cache_size", -256)?;
    Ok(conn)
}

fn prepare(conn: Connection) -> rusqlite::Result<Connection> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    // Rows belong to runs and batches are refused by our own checks, which every store shares.
    conn.pragma_update(None, "foreign_keys", false)?;
    // A list that must be sorted is small: no temporary files.
    conn.pragma_update(None, "temp_store", "memory")?;
    Ok(conn)
}

fn immutable_uri(path: &Path) -> String {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                uri.push(char::from(*byte));
            }
            byte => write!(uri, "%{byte:02x}").expect("a string takes everything"),
        }
    }
    uri.push_str("?immutable=1");
    uri
}
