//! Rows as arrays, one for each column: what `unnest` takes apart again.

use super::session::Params;
use super::text;
use std::borrow::Cow;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

/// The arrays of one statement.
pub(super) struct Columns<'r, R> {
    rows: &'r [R],
    arrays: Params<'r>,
}

impl<'r, R> Columns<'r, R> {
    pub fn of(rows: &'r [R]) -> Self {
        Self { rows, arrays: Vec::new() }
    }

    /// The next column.
    pub fn and<T: ToSql + Sync + 'r>(mut self, value: impl Fn(&'r R) -> T) -> Self {
        let array: Vec<T> = self.rows.iter().map(value).collect();
        self.arrays.push(Box::new(array));
        self
    }

    /// A column of strings that may hold anything.
    pub fn text(self, value: impl Fn(&'r R) -> &'r str) -> Self {
        self.and(|row| text::encode(value(row)))
    }

    pub fn maybe_text(self, value: impl Fn(&'r R) -> Option<&'r str>) -> Self {
        self.and(|row| -> Option<Cow<'r, str>> { value(row).map(text::encode) })
    }

    pub fn params(self) -> Params<'r> {
        self.arrays
    }
}

/// Numbers of ours end far below 2^63.
pub(super) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn count(rows_max: usize) -> i64 {
    i64::try_from(rows_max).unwrap_or(i64::MAX)
}

pub(super) fn uuid(bytes: &[u8; 16]) -> Uuid {
    Uuid::from_bytes(*bytes)
}

/// A small structure that is kept as JSON, which escapes what PostgreSQL would refuse.
pub(super) fn structure(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data serializes")
}
