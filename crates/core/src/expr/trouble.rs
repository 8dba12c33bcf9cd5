//! Why an expression came to nothing, in words for people.

use super::compiled::shown_value;
use super::convert::named;
use super::problem::quoted;
use cel::{ExecutionError, OverloadError, Value};

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The expression, or what it was given, is wrong: it will be the next time as well.
    #[error("{0}")]
    Wrong(String),
    #[error(transparent)]
    Unread(#[from] Unread),
}

impl Trouble {
    /// The same, told with where it is.
    pub fn at(self, path: &str) -> Self {
        match self {
            Self::Wrong(why) => Self::Wrong(format!("`{path}`: {why}")),
            unread => unread,
        }
    }
}

/// Why an output could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// It is gone for good.
    #[error("{0}")]
    Lost(String),
    /// It may be there later.
    #[error("{0}")]
    Later(String),
}

const MIX: &str =
    "; whole numbers and fractions do not mix: write `double(…)` around the whole one";

pub fn in_words(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(name) => format!("there is no field {}", quoted(name)),
        ExecutionError::UndeclaredReference(name) => format!("there is no {}", quoted(name)),
        ExecutionError::NoSuchOverload(overload) => overload_in_words(overload),
        ExecutionError::UnsupportedBinaryOperator(operator, one, other) => {
            let is_whole = |value: &Value| matches!(value, Value::Int(_) | Value::UInt(_));
            let is_fraction = |value: &Value| matches!(value, Value::Float(_));
            let mixed = is_whole(one) && is_fraction(other) || is_fraction(one) && is_whole(other);
            let hint = if mixed { MIX } else { "" };
            format!(
                "it cannot {} {} and {}{hint}",
                verb(operator),
                shown_value(one),
                shown_value(other)
            )
        }
        ExecutionError::ValuesNotComparable(one, other) => {
            format!("{} and {} cannot be compared", shown_value(one), shown_value(other))
        }
        ExecutionError::DivisionByZero(value) | ExecutionError::RemainderByZero(value) => {
            format!("{} is divided by zero", shown_value(value))
        }
        ExecutionError::Overflow("negate", one, _) => {
            format!("{} cannot be negated: the result is too large", shown_value(one))
        }
        ExecutionError::Overflow(operator, one, other) => {
            let verb = verb(operator);
            let (one, other) = (shown_value(one), shown_value(other));
            format!("it cannot {verb} {one} and {other}: the result is too large")
        }
        ExecutionError::IndexOutOfBounds(index) => {
            format!("there is no element {}", shown_value(index))
        }
        ExecutionError::UnexpectedType { got, want } => {
            format!("{} stands where {} is needed", named(got), needed(want))
        }
        ExecutionError::FunctionError { function, message } if function.starts_with('@') => {
            message.clone()
        }
        ExecutionError::FunctionError { function, message } => format!("`{function}`: {message}"),
        ExecutionError::DuplicateKey(key) => {
            format!("the key {} is given twice", shown_value(key))
        }
        ExecutionError::UnsupportedKeyType(key) => {
            format!("{} cannot be the key of a map", shown_value(key))
        }
        other => other.to_string(),
    }
}

fn needed(want: &str) -> &str {
    match want {
        "iterable" => "a list or a map",
        "bool" => "true or false",
        other => other,
    }
}

fn verb(operator: &str) -> &'static str {
    match operator {
        "add" => "add",
        "sub" => "subtract",
        "mul" => "multiply",
        "div" => "divide",
        _ => "take the remainder of",
    }
}

fn overload_in_words(overload: &OverloadError) -> String {
    let types: Vec<&str> = overload.argument_types().iter().map(|name| named(name)).collect();
    let first = types.first().copied().unwrap_or("nothing");
    let rest = types.get(1..).unwrap_or_default().join(", ");
    let name = overload.function();
    match name {
        "_._" | "_[_]" => format!("{first} has no fields or elements by {rest}"),
        "_&&_" | "_||_" | "!_" | "_?_:_" => {
            let other = types.iter().find(|kind| **kind != "true or false").unwrap_or(&first);
            format!("{other} stands where true or false is needed")
        }
        "-_" => format!("{first} cannot be negated"),
        "@in" => format!("`in` looks into lists and maps, not into {rest}"),
        "_<_" | "_<=_" | "_>_" | "_>=_" => format!("{first} and {rest} cannot be compared"),
        _ if overload.is_member_function() => {
            format!("`{name}` cannot be called on {first} with ({rest})")
        }
        _ => format!("`{name}` does not take ({})", types.join(", ")),
    }
}
