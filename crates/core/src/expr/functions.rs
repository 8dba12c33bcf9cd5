//! The functions that expressions may call, and those that are put into them to keep their cost
//! within bounds: the evaluator has no limits of its own.

use super::convert::{Boxed, shown};
use super::operators::OPERATORS;
use super::pattern::{self, Unmatched};
use super::{convert, meter};
use crate::limits::EXPR_ELEMENTS_MAX;
use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelString, DYN_TYPE,
};
use cel::common::value::CowVal;
use cel::{Env, ExecutionError};
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

/// Around what a comprehension goes through, with how much is done for each element. No one can
/// write these names.
pub const EACH: &str = "@each";
/// Around what ends up in a new value.
pub const MADE: &str = "@made";
/// Around what a function is given.
pub const SCAN: &str = "@scan";
/// Around what an element is looked up by.
pub const KEY: &str = "@key";
/// In the place of `matches`.
pub const MATCHES: &str = "@matches";

/// Built once: building costs more than most evaluations.
pub fn env() -> &'static Arc<Env> {
    static ENV: OnceLock<Arc<Env>> = OnceLock::new();
    ENV.get_or_init(|| {
        let mut env = Env::stdlib().with_optional_support(false);
        let mut add = |name: &str, count: usize, function: Function| {
            let types = std::iter::repeat_with(|| DYN_TYPE).take(count).collect();
            env.add_overload(name, name, types, function).expect("no one else has it");
        };
        add(EACH, 2, each);
        add(MADE, 1, made);
        add(SCAN, 1, scan);
        add(KEY, 1, key);
        add(MATCHES, 2, matches);
        for (_, name, function) in OPERATORS {
            add(name, 2, *function);
        }
        Arc::new(env)
    })
}

pub type Function = for<'b, 'v> fn(Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError>;

/// Before each evaluation.
pub fn begin() {
    meter::begin();
    pattern::forget();
}

/// After it: why it is refused, whatever it came to.
pub fn end() -> Option<String> {
    pattern::forget();
    meter::over().map(meter::Over::told)
}

fn last<'b, 'v>(args: &mut Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    args.pop().ok_or(ExecutionError::MissingArgumentOrTarget)
}

/// What is gone through: not too long, and a map by its keys in order, since that of a hash map
/// is chance. Each element is copied, and the body evaluated for it.
fn each<'b, 'v>(mut args: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let body = last(&mut args)?.downcast_ref::<CelInt>().map_or(0, |nodes| *nodes.inner());
    let value = last(&mut args)?;
    let body = usize::try_from(body).unwrap_or(usize::MAX).saturating_mul(meter::LOOK);
    if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        few(list.inner().len())?;
        meter::work(list.inner().len().saturating_mul(body))?;
        meter::copy(list)?;
        return Ok(value);
    }
    let Some(map) = value.downcast_ref::<CelMap<'_>>() else { return Ok(value) };
    few(map.inner().len())?;
    meter::work(map.inner().len().saturating_mul(body))?;
    meter::copy(map)?;
    let mut keys: Vec<(String, Boxed)> = Vec::with_capacity(map.inner().len());
    for key in map.inner().keys() {
        keys.push((plain(key), owned(key)?));
    }
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
fn owned(key: &CelMapKey<'_>) -> Result<Boxed, ExecutionError> {
    Ok(convert::from_json(&shown(key.inner()))?)
}

fn few(len: usize) -> Result<(), ExecutionError> {
    if len <= EXPR_ELEMENTS_MAX {
        return Ok(());
    }
    let message =
        format!("it goes through {len} elements; at most {EXPR_ELEMENTS_MAX} are allowed");
    Err(ExecutionError::function_error(EACH, message))
}

fn made<'b, 'v>(mut args: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let value = last(&mut args)?;
    meter::keep(&*value)?;
    Ok(value)
}

fn scan<'b, 'v>(mut args: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let value = last(&mut args)?;
    meter::scan(&*value)?;
    Ok(value)
}

/// There is nothing at a fraction. The evaluator would copy the whole list into its error.
fn key<'b, 'v>(mut args: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let value = last(&mut args)?;
    meter::copy(&*value)?;
    match value.downcast_ref::<CelDouble>() {
        Some(number) if number.inner().fract() != 0.0 => {
            let message = format!("there is no element `{}`", number.inner());
            Err(ExecutionError::function_error(KEY, message))
        }
        _ => Ok(value),
    }
}

fn matches<'b, 'v>(mut args: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let source = last(&mut args)?;
    let text = last(&mut args)?;
    let texts = (text.downcast_ref::<CelString<'_>>(), source.downcast_ref::<CelString<'_>>());
    let (Some(text), Some(source)) = texts else {
        let types = [&text, &source].map(|arg| arg.get_type().name().to_owned());
        return Err(ExecutionError::no_such_member_overload("matches", types.into()));
    };
    match pattern::matches(text.inner(), source.inner()) {
        Ok(matches) => Ok(CowVal::owned(CelBool::from(matches))),
        Err(Unmatched::Over(over)) => Err(over.into()),
        Err(Unmatched::Wrong(why)) => {
            Err(ExecutionError::function_error("matches", why.trim_end_matches('.')))
        }
    }
}
