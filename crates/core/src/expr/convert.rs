//! Between JSON text and the values that the evaluator works with.

use super::meter::{self, Over};
use super::problem::quoted;
use crate::json::Json;
use crate::limits::{DOCUMENT_DEPTH_MAX, EXPR_VALUE_BYTES_MAX};
use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt,
};
use cel::common::value::Val;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

pub type Boxed = Box<dyn Val>;

/// Its maps are hash maps; whoever goes through one here sorts it first.
#[expect(clippy::disallowed_types, reason = "the evaluator's own type")]
type Fields = std::collections::HashMap<CelMapKey<'static>, Boxed>;

/// Reads valid JSON, as far as that is allowed. Whole numbers become `int` wherever they fit, since the evaluator does not
/// mix its number types, and those in expressions are `int`.
pub fn from_json(text: &str) -> Result<Boxed, Over> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let made = Make.deserialize(&mut reader);
    made.map_err(|_| meter::over().expect("the text is valid JSON"))
}

/// One more value, of this many bytes of text.
fn count<E: Error>(len: usize) -> Result<(), E> {
    meter::make(len).map_err(|_| E::custom("too much"))
}

struct Make;

impl<'j> DeserializeSeed<'j> for Make {
    type Value = Boxed;

    fn deserialize<D: Deserializer<'j>>(self, reader: D) -> Result<Boxed, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'j> Visitor<'j> for Make {
    type Value = Boxed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Boxed, E> {
        count(0)?;
        Ok(Box::new(CelNull))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Boxed, E> {
        count(0)?;
        Ok(Box::new(CelBool::from(value)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Boxed, E> {
        count(0)?;
        Ok(Box::new(CelInt::from(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Boxed, E> {
        count(0)?;
        Ok(match i64::try_from(value) {
            Ok(value) => Box::new(CelInt::from(value)),
            Err(_) => Box::new(CelUInt::from(value)),
        })
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Boxed, E> {
        count(0)?;
        Ok(Box::new(CelDouble::from(value)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Boxed, E> {
        count(text.len())?;
        Ok(Box::new(CelString::from(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'j>>(self, mut list: A) -> Result<Boxed, A::Error> {
        count(0)?;
        let mut elements: Vec<Boxed> = Vec::new();
        while let Some(element) = list.next_element_seed(Self)? {
            elements.push(element);
        }
        Ok(Box::new(CelList::from(elements)))
    }

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<Boxed, A::Error> {
        count(0)?;
        let mut fields = Fields::new();
        while let Some(name) = map.next_key::<String>()? {
            count(name.len())?;
            let name = CelMapKey::from(name);
            fields.insert(name, map.next_value_seed(Self)?);
        }
        Ok(Box::new(CelMap::from(fields)))
    }
}

/// Writes a value as JSON, or says why it is none.
pub fn to_json(value: &dyn Val) -> Result<Json, String> {
    let mut text = String::new();
    write(value, DOCUMENT_DEPTH_MAX, &mut text)?;
    fits(&text)?;
    Ok(Json::composed(text))
}

fn write(value: &dyn Val, levels: usize, text: &mut String) -> Result<(), String> {
    fits(text)?;
    if let Some(value) = value.downcast_ref::<CelString<'_>>() {
        write_text(value.inner(), text);
    } else if let Some(value) = value.downcast_ref::<CelInt>() {
        text.push_str(&value.inner().to_string());
    } else if let Some(value) = value.downcast_ref::<CelUInt>() {
        text.push_str(&value.inner().to_string());
    } else if let Some(value) = value.downcast_ref::<CelBool>() {
        text.push_str(if *value.inner() { "true" } else { "false" });
    } else if let Some(value) = value.downcast_ref::<CelDouble>() {
        write_number(*value.inner(), text)?;
    } else if value.downcast_ref::<CelNull>().is_some() {
        text.push_str("null");
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        write_list(list, below(levels)?, text)?;
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        write_map(map, below(levels)?, text)?;
    } else {
        return Err(format!("it comes to {}, and JSON has none", kind(value)));
    }
    Ok(())
}

fn fits(text: &str) -> Result<(), String> {
    match text.len() <= EXPR_VALUE_BYTES_MAX {
        true => Ok(()),
        false => Err(format!("it comes to more than {EXPR_VALUE_BYTES_MAX} bytes of JSON")),
    }
}

fn below(levels: usize) -> Result<usize, String> {
    levels.checked_sub(1).ok_or_else(|| format!("it is nested more than {DOCUMENT_DEPTH_MAX} deep"))
}

pub fn write_text(value: &str, text: &mut String) {
    text.push_str(&serde_json::Value::from(value).to_string());
}

fn write_number(value: f64, text: &mut String) -> Result<(), String> {
    let number = serde_json::Number::from_f64(value)
        .ok_or_else(|| format!("it comes to the number {value}, and JSON has none like it"))?;
    text.push_str(&number.to_string());
    Ok(())
}

fn write_list(list: &CelList<'_>, levels: usize, text: &mut String) -> Result<(), String> {
    text.push('[');
    for (position, element) in list.inner().iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        write(element.as_ref(), levels, text)?;
    }
    text.push(']');
    Ok(())
}

fn write_map(map: &CelMap<'_>, levels: usize, text: &mut String) -> Result<(), String> {
    text.push('{');
    for (position, (name, value)) in sorted(map)?.into_iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        write_text(name, text);
        text.push(':');
        write(value, levels, text)?;
    }
    text.push('}');
    Ok(())
}

/// The fields of a map by name: the order of a hash map is chance.
fn sorted<'m>(map: &'m CelMap<'_>) -> Result<Vec<(&'m str, &'m dyn Val)>, String> {
    let mut fields = Vec::with_capacity(map.inner().len());
    for (key, value) in map.inner() {
        let CelMapKey::String(name) = key else {
            let key = quoted(&shown(key.inner()));
            return Err(format!("the key {key} of a map is not text, and in JSON it must be"));
        };
        fields.push((name.inner(), value.as_ref()));
    }
    fields.sort_by_key(|(name, _)| *name);
    Ok(fields)
}

/// What people call the type of a value.
pub fn kind(value: &dyn Val) -> &'static str {
    named(value.get_type().name())
}

/// The same for the evaluator's name of a type.
pub fn named(name: &str) -> &'static str {
    match name {
        "int" | "uint" => "a whole number",
        "double" => "a number with a fraction",
        "string" => "text",
        "bool" => "true or false",
        "null_type" => "null",
        "list" => "a list",
        "map" => "a map",
        "bytes" => "bytes",
        "type" => "a type",
        _ => "a value of another kind",
    }
}

/// A value for a message.
pub fn shown(value: &dyn Val) -> String {
    to_json(value).map_or_else(|_| kind(value).to_owned(), |json| json.as_str().to_owned())
}
