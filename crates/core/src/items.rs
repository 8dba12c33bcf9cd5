//! The elements of a JSON array, found once: each is then a slice of the text, and never parsed
//! again.

use crate::json::Json;
use serde_json::value::RawValue;

/// An array with the places of its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items {
    text: Json,
    places: Vec<(u32, u32)>,
}

impl Items {
    /// None when it is no array.
    pub fn of(text: Json) -> Option<Self> {
        let base = text.as_str().as_ptr().addr();
        let elements = serde_json::from_str::<Vec<&RawValue>>(text.as_str()).ok()?;
        let place = |element: &&RawValue| {
            let start = element.get().as_ptr().addr() - base;
            (offset(start), offset(start + element.get().len()))
        };
        let places = elements.iter().map(place).collect();
        Some(Self { text, places })
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The JSON text of one element.
    pub fn get(&self, index: usize) -> Option<&str> {
        let (start, end) = *self.places.get(index)?;
        Some(&self.text.as_str()[start as usize..end as usize])
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("outputs are at most 64 MiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_slices_of_the_text() {
        let text = Json::parse(r#"[1, "a,]", {"b": [2]} , null]"#).expect("valid");
        let items = Items::of(text).expect("an array");
        let all: Vec<&str> = (0..items.len()).filter_map(|at| items.get(at)).collect();
        assert_eq!(all, ["1", r#""a,]""#, r#"{"b": [2]}"#, "null"]);
        assert_eq!(items.get(4), None);
        assert!(Items::of(Json::parse("[]").expect("valid")).expect("an array").is_empty());
        assert_eq!(Items::of(Json::parse("{}").expect("valid")), None);
    }
}
