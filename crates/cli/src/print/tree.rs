//! JSON with its fields in the order they came, and its numbers as they were written: what a
//! server says is passed on as it was said.

use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fmt;

/// Below this, JSON is passed on as it is: it is never looked into so deep.
const DEPTH_MAX: usize = 64;

#[derive(Clone, Debug)]
pub enum Tree {
    Leaf(Box<RawValue>),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl Tree {
    pub fn of(value: &impl Serialize) -> serde_json::Result<Self> {
        grown(serde_json::value::to_raw_value(value)?, 0)
    }

    /// A part of it as a value.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(&serde_json::to_string(self)?)
    }

    /// A field more, if it is a map.
    pub fn add(&mut self, name: &str, value: Self) {
        if let Self::Map(fields) = self {
            fields.push((name.to_owned(), value));
        }
    }

    /// A field less: its value, if it was there.
    pub fn take(&mut self, name: &str) -> Option<Self> {
        let Self::Map(fields) = self else { return None };
        let at = fields.iter().position(|(known, _)| known == name)?;
        Some(fields.remove(at).1)
    }
}

fn grown(raw: Box<RawValue>, depth: usize) -> serde_json::Result<Tree> {
    let text = raw.get();
    if depth >= DEPTH_MAX {
        return Ok(Tree::Leaf(raw));
    }
    if text.starts_with('[') {
        let items: Vec<Box<RawValue>> = serde_json::from_str(text)?;
        let items = items.into_iter().map(|item| grown(item, depth + 1));
        return Ok(Tree::List(items.collect::<Result<_, _>>()?));
    }
    if text.starts_with('{') {
        let Fields(fields) = serde_json::from_str(text)?;
        let fields = fields.into_iter().map(|(name, it)| Ok((name, grown(it, depth + 1)?)));
        return Ok(Tree::Map(fields.collect::<serde_json::Result<_>>()?));
    }
    Ok(Tree::Leaf(raw))
}

struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reads;
        impl<'de> Visitor<'de> for Reads {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Reads)
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        grown(raw, 0).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Leaf(raw) => raw.serialize(serializer),
            Self::List(items) => items.serialize(serializer),
            Self::Map(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_numbers_stay() {
        let text =
            r#"{"b":1.50,"a":[1e400,123456789012345678901234567890,{"z":null,"y":"\u00e9"}]}"#;
        let tree: Tree = serde_json::from_str(text).expect("JSON");
        assert_eq!(serde_json::to_string(&tree).expect("JSON"), text);
    }

    #[test]
    fn depth_is_no_danger() {
        let text = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        if let Ok(tree) = serde_json::from_str::<Tree>(&text) {
            assert_eq!(serde_json::to_string(&tree).expect("JSON"), text);
        }
    }
}
