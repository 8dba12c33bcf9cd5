//! Reads the columns of a row one after another, and says precisely what is wrong with one.

use super::fault::Fault;
use super::text;
use mainspring_core::json::Json;
use mainspring_core::output::Output;
use mainspring_core::time::Timestamp;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

/// A row of `table`, whose first `keys` selected columns tell it apart from the others.
pub(super) struct Cells<'a> {
    row: &'a Row,
    table: &'static str,
    keys: usize,
    at: usize,
}

impl<'a> Cells<'a> {
    pub fn of(row: &'a Row, table: &'static str, keys: usize) -> Self {
        Self { row, table, keys, at: 0 }
    }

    pub fn take<T: FromSql<'a>>(&mut self) -> Result<T, Fault> {
        self.at += 1;
        let value = self.row.try_get(self.at - 1);
        value.map_err(|error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            self.damaged("something else", &cause.unwrap_or_else(|| error.to_string()))
        })
    }

    /// Goes on with the column of this name.
    pub fn skip_to(&mut self, name: &str) {
        let found = self.row.columns().iter().position(|column| column.name() == name);
        self.at = found.unwrap_or(self.row.len());
    }

    /// A number that is never negative.
    pub fn number<T: TryFrom<i64>>(&mut self) -> Result<T, Fault> {
        let value: i64 = self.take()?;
        T::try_from(value).map_err(|_| self.damaged(value, "out of range"))
    }

    pub fn maybe_number<T: TryFrom<i64>>(&mut self) -> Result<Option<T>, Fault> {
        let Some(value) = self.take::<Option<i64>>()? else { return Ok(None) };
        T::try_from(value).map(Some).map_err(|_| self.damaged(value, "out of range"))
    }

    pub fn id(&mut self) -> Result<[u8; 16], Fault> {
        self.take::<Uuid>().map(Uuid::into_bytes)
    }

    pub fn maybe_id(&mut self) -> Result<Option<[u8; 16]>, Fault> {
        Ok(self.take::<Option<Uuid>>()?.map(Uuid::into_bytes))
    }

    /// A digest.
    pub fn hash(&mut self) -> Result<[u8; 32], Fault> {
        let bytes: &[u8] = self.take()?;
        let size = format!("{} bytes", bytes.len());
        bytes.try_into().map_err(|_| self.damaged(size, "a SHA-256 has 32"))
    }

    /// A string that may hold anything.
    pub fn text(&mut self) -> Result<String, Fault> {
        let value: &str = self.take()?;
        self.decoded(value)
    }

    pub fn maybe_text(&mut self) -> Result<Option<String>, Fault> {
        let Some(value) = self.take::<Option<&str>>()? else { return Ok(None) };
        self.decoded(value).map(Some)
    }

    fn decoded(&self, value: &str) -> Result<String, Fault> {
        let decoded = text::decode(value);
        let decoded = decoded.ok_or_else(|| self.damaged(shown(value), "not written by us"))?;
        Ok(decoded.into_owned())
    }

    pub fn time(&mut self) -> Result<Timestamp, Fault> {
        self.take().map(Timestamp)
    }

    pub fn maybe_time(&mut self) -> Result<Option<Timestamp>, Fault> {
        Ok(self.take::<Option<i64>>()?.map(Timestamp))
    }

    pub fn word<T>(&mut self, from_word: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
        let value: &str = self.take()?;
        self.known(value, from_word)
    }

    pub fn maybe_word<T>(
        &mut self,
        from_word: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let Some(value) = self.take::<Option<&str>>()? else { return Ok(None) };
        self.known(value, from_word).map(Some)
    }

    fn known<T>(&self, value: &str, from_word: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
        from_word(value).ok_or_else(|| self.damaged(shown(value), "not a word this program knows"))
    }

    /// A small structure that is kept as JSON.
    pub fn structure<T: DeserializeOwned>(&mut self) -> Result<T, Fault> {
        let value: &str = self.take()?;
        serde_json::from_str(value).map_err(|error| self.damaged(shown(value), &error.to_string()))
    }

    pub fn maybe_structure<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Fault> {
        let Some(value) = self.take::<Option<&str>>()? else { return Ok(None) };
        let parsed = serde_json::from_str(value);
        parsed.map(Some).map_err(|error| self.damaged(shown(value), &error.to_string()))
    }

    /// A value of the user's.
    pub fn json(&mut self) -> Result<Json, Fault> {
        let value: &str = self.take()?;
        Json::stored(value).map_err(|error| self.damaged(shown(value), &error.to_string()))
    }

    /// One that a list may leave where it is.
    pub fn maybe_unread(&mut self) -> Result<Json, Fault> {
        let Some(value) = self.take::<Option<&str>>()? else { return Ok(Json::unread()) };
        Json::stored(value).map_err(|error| self.damaged(shown(value), &error.to_string()))
    }

    /// What a task or a run put out.
    pub fn output(&mut self) -> Result<Output, Fault> {
        let value: &str = self.take()?;
        Output::from_text(value).map_err(|error| self.damaged(shown(value), &error.to_string()))
    }

    pub fn maybe_output(&mut self) -> Result<Option<Output>, Fault> {
        let Some(value) = self.take::<Option<&str>>()? else { return Ok(None) };
        let output = Output::from_text(value);
        output.map(Some).map_err(|error| self.damaged(shown(value), &error.to_string()))
    }

    /// What is wrong with the row as a whole.
    pub fn contradiction(&self, what: &str) -> Fault {
        Fault::Damaged(format!("{}: {what}", self.name()))
    }

    fn damaged(&self, value: impl Display, why: &str) -> Fault {
        let column = self.column(self.at - 1);
        Fault::Damaged(format!("{}: column {column} holds {value}: {why}", self.name()))
    }

    fn name(&self) -> String {
        let keys: Vec<String> =
            (0..self.keys).map(|at| format!("{} {}", self.column(at), self.key(at))).collect();
        format!("{} ({})", self.table, keys.join(", "))
    }

    fn key(&self, at: usize) -> String {
        let number = self.row.try_get::<_, i64>(at).map(|number| number.to_string());
        let id = || self.row.try_get::<_, Uuid>(at).map(|id| id.to_string());
        let text = || self.row.try_get::<_, &str>(at).map(shown);
        number.or_else(|_| id()).or_else(|_| text()).unwrap_or_else(|_| "?".to_owned())
    }

    fn column(&self, at: usize) -> &str {
        self.row.columns().get(at).map_or("?", |column| column.name())
    }
}

/// Long enough to recognise a value, short enough for a line.
const SHOWN_CHARS_MAX: usize = 64;

fn shown(value: &str) -> String {
    format!("'{}'", value.chars().take(SHOWN_CHARS_MAX).collect::<String>())
}
