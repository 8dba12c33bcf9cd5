//! Reads the columns of a row one after another, and says precisely what is wrong with one.

use super::fault::Fault;
use mainspring_core::json::Json;
use mainspring_core::output::Output;
use mainspring_core::time::Timestamp;
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, ValueRef};
use serde::de::DeserializeOwned;

/// A row of `table`, whose first `keys` selected columns tell it apart from the others.
pub(super) struct Cells<'a> {
    row: &'a Row<'a>,
    table: &'static str,
    keys: usize,
    at: usize,
}

impl<'a> Cells<'a> {
    pub fn of(row: &'a Row<'a>, table: &'static str, keys: usize) -> Self {
        Self { row, table, keys, at: 0 }
    }

    pub fn take<T: FromSql>(&mut self) -> Result<T, Fault> {
        let value = self.next()?;
        T::column_result(value).map_err(|error| match error {
            FromSqlError::Other(cause) => self.damaged(value, &cause.to_string()),
            error => self.damaged(value, &error.to_string()),
        })
    }

    pub fn time(&mut self) -> Result<Timestamp, Fault> {
        self.take().map(Timestamp)
    }

    pub fn maybe_time(&mut self) -> Result<Option<Timestamp>, Fault> {
        Ok(self.take::<Option<i64>>()?.map(Timestamp))
    }

    pub fn word<T>(&mut self, from_word: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
        let value = self.next()?;
        let known = value.as_str().ok().and_then(from_word);
        known.ok_or_else(|| self.damaged(value, "not a word this program knows"))
    }

    pub fn maybe_word<T>(
        &mut self,
        from_word: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        self.unless_null(|cells| cells.word(from_word))
    }

    /// A small structure that is kept as JSON.
    pub fn structure<T: DeserializeOwned>(&mut self) -> Result<T, Fault> {
        let value = self.next()?;
        let text = value.as_str().map_err(|error| self.damaged(value, &error.to_string()))?;
        serde_json::from_str(text).map_err(|error| self.damaged(value, &error.to_string()))
    }

    pub fn maybe_structure<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Fault> {
        self.unless_null(Self::structure)
    }

    /// A value of the user's.
    pub fn json(&mut self) -> Result<Json, Fault> {
        let value = self.next()?;
        let text = value.as_str().map_err(|error| self.damaged(value, &error.to_string()))?;
        Json::stored(text).map_err(|error| self.damaged(value, &error.to_string()))
    }

    /// One that a list may leave where it is.
    pub fn maybe_unread(&mut self) -> Result<Json, Fault> {
        Ok(self.unless_null(Self::json)?.unwrap_or_else(Json::unread))
    }

    /// What a task or a run put out.
    pub fn output(&mut self) -> Result<Output, Fault> {
        let value = self.next()?;
        let text = value.as_str().map_err(|error| self.damaged(value, &error.to_string()))?;
        Output::from_text(text).map_err(|error| self.damaged(value, &error.to_string()))
    }

    pub fn maybe_output(&mut self) -> Result<Option<Output>, Fault> {
        self.unless_null(Self::output)
    }

    /// What is wrong with the row as a whole.
    pub fn contradiction(&self, what: &str) -> Fault {
        Fault::Damaged(format!("{}: {what}", self.name()))
    }

    fn next(&mut self) -> Result<ValueRef<'a>, Fault> {
        let value = self.row.get_ref(self.at)?;
        self.at += 1;
        Ok(value)
    }

    fn unless_null<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        if self.row.get_ref(self.at)? == ValueRef::Null {
            self.at += 1;
            return Ok(None);
        }
        read(self).map(Some)
    }

    fn damaged(&self, value: ValueRef<'_>, why: &str) -> Fault {
        let column = self.column(self.at - 1);
        let value = shown(value);
        Fault::Damaged(format!("{}: column {column} holds {value}: {why}", self.name()))
    }

    fn name(&self) -> String {
        let keys: Vec<String> = (0..self.keys)
            .map(|at| {
                let value = self.row.get_ref(at).map_or_else(|_| "?".to_owned(), shown);
                format!("{} {value}", self.column(at))
            })
            .collect();
        format!("{} ({})", self.table, keys.join(", "))
    }

    fn column(&self, at: usize) -> &str {
        self.row.as_ref().column_name(at).unwrap_or("?")
    }
}

/// How many rows a statement gives at most.
pub(super) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Long enough to recognise a value, short enough for a line.
const SHOWN_BYTES_MAX: usize = 64;

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => {
            let end = text.len().min(SHOWN_BYTES_MAX);
            format!("'{}'", String::from_utf8_lossy(&text[..end]))
        }
        ValueRef::Blob(bytes) => {
            use std::fmt::Write;
            let mut hex = String::from("x'");
            for byte in bytes.iter().take(SHOWN_BYTES_MAX / 2) {
                write!(hex, "{byte:02x}").expect("a string takes everything");
            }
            hex + "'"
        }
    }
}
