//! The value at the end of a path, found in JSON text without reading what is beside it.

use super::path::Step;
use super::problem::quoted;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Why there is no value at the end of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Steps that could be taken.
    pub taken: usize,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A map without this field; some of those it has.
    NoField { has: Vec<String> },
    /// A list with only so many elements.
    NoElement { len: usize },
    /// Neither map nor list, or the wrong one of them: what it is instead.
    NotThat { found: String },
}

/// Follows the steps. The text is valid JSON.
pub fn seek<'j>(text: &'j str, steps: &[Step]) -> Result<&'j str, Missing> {
    let mut found = text;
    for (taken, step) in steps.iter().enumerate() {
        found = one(found, step).map_err(|why| Missing { taken, why })?;
    }
    Ok(found)
}

fn one<'j>(text: &'j str, step: &Step) -> Result<&'j str, Why> {
    let mut reader = serde_json::Deserializer::from_str(text);
    match (step, text.trim_ascii_start().as_bytes().first()) {
        (Step::Field(name), Some(b'{')) => {
            let found = Field(name).deserialize(&mut reader).expect("valid JSON");
            found.map(RawValue::get).ok_or_else(|| Why::NoField { has: names(text) })
        }
        (Step::At(index), Some(b'[')) => {
            let found = Element(*index).deserialize(&mut reader).expect("valid JSON");
            found.map(RawValue::get).map_err(|len| Why::NoElement { len })
        }
        _ => Err(Why::NotThat { found: what(text) }),
    }
}

/// What a value is, with its beginning.
pub fn what(text: &str) -> String {
    let text = text.trim_ascii();
    let kind = match text.as_bytes().first() {
        Some(b'{') => "the map",
        Some(b'[') => "the list",
        Some(b'"') => "the text",
        Some(b't' | b'f') => return text.to_owned(),
        Some(b'n') | None => return "null".to_owned(),
        Some(_) => "the number",
    };
    format!("{kind} {}", quoted(text))
}

/// How many elements a list has, fields a map, or letters a text. Nothing else has a size.
pub fn size(text: &str) -> Option<i64> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let size = match text.trim_ascii_start().as_bytes().first() {
        Some(b'[') => Element(usize::MAX).deserialize(&mut reader).ok()?.err()?,
        Some(b'{') => BTreeMap::<Cow<'_, str>, IgnoredAny>::deserialize(&mut reader).ok()?.len(),
        Some(b'"') => Cow::<'_, str>::deserialize(&mut reader).ok()?.chars().count(),
        _ => return None,
    };
    i64::try_from(size).ok()
}

/// Names that are listed; more would not be read.
const NAMES_MAX: usize = 8;

fn names(text: &str) -> Vec<String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    Names.deserialize(&mut reader).expect("valid JSON")
}

impl Why {
    /// As a sentence about whatever was stepped into.
    pub fn told(&self, into: &str, step: &Step) -> String {
        let into = quoted(into);
        match (self, step) {
            (Self::NoField { has }, _) if has.is_empty() => {
                format!("{into} is an empty map, without the field {}", quoted(&step.bare()))
            }
            (Self::NoField { has }, _) => {
                let dots = if has.len() > NAMES_MAX { ", …" } else { "" };
                let shown: Vec<String> = has.iter().take(NAMES_MAX).map(|it| quoted(it)).collect();
                let shown = shown.join(", ");
                format!("{into} has no field {}; it has {shown}{dots}", quoted(&step.bare()))
            }
            (Self::NoElement { len }, _) => format!("{into} has {len} elements, none at {step}"),
            (Self::NotThat { found }, Step::Field(name)) => {
                format!("{into} has no field {}: it is {found}", quoted(name))
            }
            (Self::NotThat { found }, Step::At(_)) => {
                format!("{into} has no elements: it is {found}")
            }
        }
    }
}

/// One field of a map. Of several with the same name the last is taken, as everywhere.
struct Field<'s>(&'s str);

impl<'j> DeserializeSeed<'j> for Field<'_> {
    type Value = Option<&'j RawValue>;

    fn deserialize<D: Deserializer<'j>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'j> Visitor<'j> for Field<'_> {
    type Value = Option<&'j RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_it) = map.next_key_seed(Is(self.0))? {
            if is_it {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Whether a key is this one; nothing is allocated for the others.
struct Is<'s>(&'s str);

impl<'j> DeserializeSeed<'j> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'j>>(self, reader: D) -> Result<bool, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

/// One element of a list, or how many there are.
struct Element(usize);

impl<'j> DeserializeSeed<'j> for Element {
    type Value = Result<&'j RawValue, usize>;

    fn deserialize<D: Deserializer<'j>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'j> Visitor<'j> for Element {
    type Value = Result<&'j RawValue, usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'j>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        for before in 0..self.0 {
            if list.next_element::<IgnoredAny>()?.is_none() {
                return Ok(Err(before));
            }
        }
        let Some(found) = list.next_element()? else { return Ok(Err(self.0)) };
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Ok(found))
    }
}

struct Names;

impl<'j> DeserializeSeed<'j> for Names {
    type Value = Vec<String>;

    fn deserialize<D: Deserializer<'j>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'j> Visitor<'j> for Names {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if names.len() <= NAMES_MAX {
                names.push(name);
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, path: &str) -> String {
        let chain = crate::expr::path::whole(&format!("x{path}")).expect("a path");
        let steps: Vec<Step> = chain.steps.into_iter().map(|(step, _)| step).collect();
        match seek(text, &steps) {
            Ok(found) => found.to_owned(),
            Err(Missing { taken, why }) => {
                let into: String = steps[..taken].iter().map(Step::to_string).collect();
                format!("! {}", why.told(&format!("x{into}"), &steps[taken]))
            }
        }
    }

    #[test]
    fn values_are_found_as_they_are_written() {
        let text = r#" {"a": {"b": [1, 2.50, {"c": "é\n"}]}, "a b": null, "d": 1, "d": 2} "#;
        for (path, expected) in [
            ("", text),
            (".a.b[1]", "2.50"),
            (".a.b[2].c", r#""é\n""#),
            (".a.b", r#"[1, 2.50, {"c": "é\n"}]"#),
            ("['a b']", "null"),
            (".d", "2"),
        ] {
            assert_eq!(found(text, path), expected, "{path}");
        }
        assert_eq!(found(r#"{"\u0061": 1}"#, ".a"), "1", "an escaped key is the same key");
    }

    #[test]
    fn sizes_are_those_of_what_is_written() {
        for (text, expected) in [
            (" [] ", Some(0)),
            (r#"[1, [2, 3], {"a": 4}]"#, Some(3)),
            (r#"{"a": 1, "b": [2], "\u0061": 3}"#, Some(2)),
            (r#""é\n\ud83d\ude00""#, Some(3)),
            ("null", None),
            ("12", None),
            ("true", None),
        ] {
            assert_eq!(size(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_told_with_what_is_there() {
        for (text, path, expected) in [
            ("{}", ".a", "! `x` is an empty map, without the field `a`"),
            (r#"{"b":1,"c":{}}"#, ".a", "! `x` has no field `a`; it has `b`, `c`"),
            (r#"{"b":null}"#, ".b.c", "! `x.b` has no field `c`: it is null"),
            (r#"{"b":"text"}"#, ".b.c", "! `x.b` has no field `c`: it is the text `\"text\"`"),
            (
                &format!(r#"{{"{}":1}}"#, "k".repeat(60_000)),
                ".a",
                &format!("! `x` has no field `a`; it has `{}…`", "k".repeat(80)),
            ),
            ("[1]", "[1]", "! `x` has 1 elements, none at [1]"),
            ("[[]]", "[0][7]", "! `x[0]` has 0 elements, none at [7]"),
            ("[1]", ".a", "! `x` has no field `a`: it is the list `[1]`"),
            ("true", "[0]", "! `x` has no elements: it is true"),
            ("12", "[0]", "! `x` has no elements: it is the number `12`"),
        ] {
            assert_eq!(found(text, path), expected, "{text} {path}");
        }
    }
}
