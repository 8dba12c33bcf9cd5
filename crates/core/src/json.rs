//! JSON values as shared text: parsed where they come in, passed around without a copy.

use crate::limits::{DOCUMENT_DEPTH_MAX, STORED_DEPTH_MAX};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use std::sync::Arc;

/// Why a text was not taken as JSON.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    #[error("not valid JSON: {0}")]
    Syntax(#[from] serde_json::Error),
    #[error("nested more than {0} deep")]
    TooDeep(usize),
}

/// Valid JSON text. Cloning shares it.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Arc<str>);

impl Json {
    /// Takes text after checking that it is one JSON value that can be read again.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        Self::within(text, DOCUMENT_DEPTH_MAX)
    }

    /// Takes text that was stored. That it may be deeper than what comes in is on purpose: nothing
    /// that was accepted once may be refused when it is read.
    pub fn stored(text: &str) -> Result<Self, JsonError> {
        Self::within(text, STORED_DEPTH_MAX)
    }

    fn within(text: &str, depth_max: usize) -> Result<Self, JsonError> {
        let raw: &RawValue = serde_json::from_str(text)?;
        if depth(raw.get()) > depth_max {
            return Err(JsonError::TooDeep(depth_max));
        }
        // Raw text is only looked over: half a surrogate pair or 1e999 would pass.
        serde_json::from_str::<Readable>(raw.get())?;
        Ok(Self(raw.get().into()))
    }

    /// Text made of values that were checked, a level or two deeper than they are.
    pub(crate) fn composed(text: String) -> Self {
        Self(text.into())
    }

    pub fn from_value(value: &serde_json::Value) -> Self {
        Self(value.to_string().into())
    }

    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    pub fn empty_list() -> Self {
        Self("[]".into())
    }

    pub fn null() -> Self {
        Self("null".into())
    }

    /// Stands for a value that was left where it is. No value has a text like this.
    pub fn unread() -> Self {
        Self("".into())
    }

    pub fn is_unread(&self) -> bool {
        self.0.is_empty()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(&self.0).expect("Json holds valid JSON")
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}

/// Reads everything and keeps nothing.
struct Readable;

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Readable {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        while fields.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

/// How deep the brackets of valid JSON nest.
pub(crate) fn depth(text: &str) -> usize {
    let (mut now, mut deepest) = (0_usize, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                now += 1;
                deepest = deepest.max(now);
            }
            b']' | b'}' => now -= 1,
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    deepest
}

fn skip_string(bytes: &mut std::str::Bytes<'_>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'"' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_nest() {
        assert_eq!(depth(r#"{"a[[[\"[": [1, [2]]}"#), 3);
    }

    #[test]
    fn what_was_stored_is_read_again_however_it_was_put_together() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(Json::parse(&nested(DOCUMENT_DEPTH_MAX)).is_ok());
        Json::stored(&nested(STORED_DEPTH_MAX)).expect("stored").to_value();
        assert!(matches!(Json::stored(&nested(121)), Err(JsonError::TooDeep(STORED_DEPTH_MAX))));
    }

    #[test]
    fn what_could_not_be_read_again_is_refused() {
        let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
        assert!(matches!(Json::parse(&deep), Err(JsonError::TooDeep(_))));
        assert!(matches!(Json::parse("{"), Err(JsonError::Syntax(_))));
        for text in [r#""\ud800""#, r#"{"a": 1e999}"#, r#"{"\udc00": 1}"#, "[-1e999]"] {
            assert!(matches!(Json::parse(text), Err(JsonError::Syntax(_))), "{text}");
        }
        for text in [r#""\ud83d\ude00""#, "1e308", "[null, true, -3, 18446744073709551615]"] {
            Json::parse(text).expect("valid").to_value();
        }
        assert_eq!(Json::parse(" [1, 2] ").expect("valid").as_str(), "[1, 2]");
    }
}
