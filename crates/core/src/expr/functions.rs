//! The functions that expressions may call, and two that are put into them to keep their cost
//! within bounds: the evaluator has no limits of its own.

use super::convert::{Boxed, shown};
use crate::limits::{EXPR_ELEMENTS_MAX, EXPR_MADE_BYTES_MAX};
use cel::common::types::{CelList, CelMap, CelMapKey, CelString, DYN_TYPE};
use cel::common::value::{CowVal, Val};
use cel::{Env, ExecutionError};
use std::cell::Cell;
use std::sync::{Arc, OnceLock};

/// Called as `size(x)`.
pub const GLOBAL: &[&str] =
    &["bool", "bytes", "double", "dyn", "int", "matches", "size", "string", "type", "uint"];
/// Called as `x.size()`.
pub const MEMBER: &[&str] = &["contains", "endsWith", "matches", "size", "startsWith"];
/// Expanded by the parser; named in hints.
pub const MACROS: &[&str] = &["all", "exists", "exists_one", "filter", "has", "map"];
/// Names of types, to compare with `type(x)`.
pub const TYPES: &[&str] =
    &["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];

/// Around what a comprehension goes through. No one can write these names.
pub const EACH: &str = "@each";
/// Around what ends up in a new value.
pub const MADE: &str = "@made";

/// Built once: building costs more than most evaluations.
pub fn env() -> &'static Arc<Env> {
    static ENV: OnceLock<Arc<Env>> = OnceLock::new();
    ENV.get_or_init(|| {
        let mut env = Env::stdlib().with_optional_support(false);
        for (name, function) in [(EACH, each as Function), (MADE, made)] {
            env.add_overload(name, name, vec![DYN_TYPE], function).expect("no one else has it");
        }
        Arc::new(env)
    })
}

type Function = for<'b, 'v> fn(Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError>;

fn only<'b, 'v>(mut args: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    args.pop().ok_or(ExecutionError::MissingArgumentOrTarget)
}

/// What is gone through: not too long, and a map by its keys in order, since that of a hash map
/// is chance.
fn each<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let value = only(args)?;
    if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        few(list.inner().len())?;
        return Ok(value);
    }
    let Some(map) = value.downcast_ref::<CelMap<'_>>() else { return Ok(value) };
    few(map.inner().len())?;
    let mut keys: Vec<(String, Boxed)> =
        map.inner().keys().map(|key| (plain(key), owned(key.inner()))).collect();
    keys.sort_by(|(one, _), (other, _)| one.cmp(other));
    let keys: Vec<Boxed> = keys.into_iter().map(|(_, key)| key).collect();
    Ok(CowVal::owned(CelList::from(keys)))
}

fn plain(key: &CelMapKey<'_>) -> String {
    match key {
        CelMapKey::String(name) => name.inner().to_owned(),
        other => shown(other.inner()),
    }
}

/// Keys hold nothing borrowed once their text is copied.
fn owned(key: &dyn Val) -> Boxed {
    super::convert::from_json(&shown(key))
}

fn few(len: usize) -> Result<(), ExecutionError> {
    if len <= EXPR_ELEMENTS_MAX {
        return Ok(());
    }
    let message =
        format!("it goes through {len} elements; at most {EXPR_ELEMENTS_MAX} are allowed");
    Err(ExecutionError::function_error(EACH, message))
}

thread_local! {
    /// What this evaluation may still make. A function of the evaluator has no other place to
    /// count in; it is set anew for each evaluation.
    static LEFT: Cell<usize> = const { Cell::new(0) };
}

/// Before each evaluation.
pub fn begin() {
    LEFT.set(EXPR_MADE_BYTES_MAX);
}

fn made<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let value = only(args)?;
    let mut left = LEFT.get();
    let fits = spend(&*value, &mut left);
    LEFT.set(left);
    match fits {
        Some(()) => Ok(value),
        None => {
            let message = format!("it makes more than {EXPR_MADE_BYTES_MAX} bytes of values");
            Err(ExecutionError::function_error(MADE, message))
        }
    }
}

/// A value in a list: its box and what an allocation costs beside.
const NODE_BYTES: usize = 64;

fn spend(value: &dyn Val, left: &mut usize) -> Option<()> {
    *left = left.checked_sub(NODE_BYTES)?;
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        *left = left.checked_sub(text.inner().len())?;
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        list.inner().iter().try_for_each(|element| spend(element.as_ref(), left))?;
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        map.inner().values().try_for_each(|value| spend(value.as_ref(), left))?;
        *left = left.checked_sub(NODE_BYTES * map.inner().len())?;
    }
    Some(())
}
