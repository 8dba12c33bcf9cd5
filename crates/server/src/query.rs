//! The fields of a query: every one known, and only lists given more than once.

use crate::problem::{Code, Problem};
use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        read(&parts.uri).map(Self).map_err(|detail| Problem::new(Code::BadQuery, detail))
    }
}

fn read<T: DeserializeOwned>(uri: &Uri) -> Result<T, String> {
    let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri);
    let mut fields: BTreeMap<String, Field> = BTreeMap::new();
    for (name, value) in pairs.map_err(|error| error.body_text())?.0 {
        let field = fields.entry(name.clone()).or_insert_with(|| Field { name, given: Vec::new() });
        field.given.push(value);
    }
    T::deserialize(MapDeserializer::new(fields.into_iter())).map_err(|error| error.to_string())
}

/// What was given for one name, in that order.
struct Field {
    name: String,
    given: Vec<String>,
}

impl Field {
    fn wrong(&self, why: impl std::fmt::Display) -> Error {
        Error::custom(format!("{}: {why}", self.name))
    }

    fn one(&self) -> Result<&str, Error> {
        match self.given.as_slice() {
            [one] => Ok(one),
            many => Err(self.wrong(format!("given {} times", many.len()))),
        }
    }
}

impl IntoDeserializer<'_> for Field {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $kind:ty;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let given = self.one()?;
            let Ok(value) = given.parse::<$kind>() else {
                let shown: String = given.chars().take(40).collect();
                let most = <$kind>::MAX;
                return Err(self.wrong(format!("'{shown}' is no whole number from 0 to {most}")));
            };
            visitor.$visit(value)
        }
    )*};
}

impl<'de> Deserializer<'de> for Field {
    type Error = Error;

    parsed! {
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
    }

    /// Stands for yes by being there: `?force` is `?force=true`.
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.one()? {
            "" | "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(self.wrong(format!("'{other}' is neither true nor false"))),
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.one()?).map_err(|error: Error| self.wrong(error))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(SeqDeserializer::new(self.given.into_iter()))
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Default, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Asked {
        word: Option<String>,
        many: Vec<String>,
        number: Option<usize>,
        force: Option<bool>,
    }

    fn asked(query: &str) -> Result<Asked, String> {
        read(&format!("/x?{query}").parse().expect("a URI"))
    }

    #[test]
    fn lists_may_be_given_again_and_keep_their_commas() {
        let many = |many: &[&str]| many.iter().map(|&it| it.to_owned()).collect();
        let wanted = Asked { many: many(&["a,b", "c"]), number: Some(3), ..Asked::default() };
        assert_eq!(asked("many=a%2Cb&number=3&many=c"), Ok(wanted));
        assert_eq!(asked(""), Ok(Asked::default()));
    }

    #[test]
    fn a_flag_is_set_by_being_there() {
        for (query, force) in
            [("force", Some(true)), ("force=true", Some(true)), ("force=false", Some(false))]
        {
            assert_eq!(asked(query), Ok(Asked { force, ..Asked::default() }), "{query}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |query: &str| asked(query).expect_err(query);
        assert_eq!(wrong("word=a&word=b"), "word: given 2 times");
        assert_eq!(wrong("force=yes"), "force: 'yes' is neither true nor false");
        let none = "is no whole number from 0 to 18446744073709551615";
        for given in ["x", "-1", "", "1.5"] {
            assert_eq!(wrong(&format!("number={given}")), format!("number: '{given}' {none}"));
        }
        assert!(wrong("nope=1").contains("unknown field `nope`"));
    }
}
