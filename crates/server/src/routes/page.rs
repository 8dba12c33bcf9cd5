//! Lists, a page at a time.

use crate::cursor;
use crate::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

const LIMIT_DEFAULT: usize = 50;
const LIMIT_MAX: usize = 1_000;

/// Some items of a list, and where it goes on.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// For the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Which page of a list that goes on behind a number.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Items on a page, from 1 to 1,000; 50 if not said.
    #[param(minimum = 1, maximum = 1_000)]
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    #[param(pattern = "^[0-9a-fA-F]{16}$")]
    pub cursor: Option<String>,
}

impl PageQuery {
    pub fn limit(&self) -> Result<usize, Problem> {
        limit(self.limit)
    }

    /// Where the page before ended.
    pub fn last(&self) -> Result<Option<u64>, Problem> {
        self.cursor.as_deref().map(cursor::decode_number).transpose()
    }
}

/// How many items a page has.
pub fn limit(asked: Option<usize>) -> Result<usize, Problem> {
    match asked {
        None => Ok(LIMIT_DEFAULT),
        Some(limit) if (1..=LIMIT_MAX).contains(&limit) => Ok(limit),
        Some(_) => Err(Problem::new(Code::BadQuery, format!("limit: from 1 to {LIMIT_MAX}"))),
    }
}

impl<T> Page<T> {
    /// From one item more than asked for, if there are that many.
    pub fn of<R>(
        mut rows: Vec<R>,
        limit: usize,
        cursor: impl Fn(&R) -> String,
        show: impl FnMut(R) -> T,
    ) -> Self {
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next_cursor = rows.last().filter(|_| more).map(cursor);
        Self { items: rows.into_iter().map(show).collect(), next_cursor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_goes_on_has_a_cursor() {
        let page = |rows: &[u8]| Page::of(rows.to_vec(), 2, ToString::to_string, |row| row);
        assert_eq!(page(&[1, 2, 3]).next_cursor.as_deref(), Some("2"));
        assert_eq!(page(&[1, 2, 3]).items, [1, 2]);
        assert_eq!(page(&[1, 2]).next_cursor, None);
    }

    #[test]
    fn limits_are_bounded() {
        assert_eq!(limit(None), Ok(LIMIT_DEFAULT));
        assert!(limit(Some(0)).is_err() && limit(Some(LIMIT_MAX + 1)).is_err());
    }
}
