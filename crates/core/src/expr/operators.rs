//! The operators of expressions. They do what the evaluator's own do, and count what they read:
//! one comparison may be of two values with millions of others in them.

use super::functions::Function;
use super::meter;
use cel::common::ast::operators as native;
use cel::common::types::CelBool;
use cel::common::value::{CowVal, Val};
use cel::{ExecutionError, Value};
use std::cmp::Ordering;

/// The evaluator's operators, and what stands in for them under a name that nobody can write.
pub const OPERATORS: &[(&str, &str, Function)] = &[
    (native::EQUALS, "@_==_", equal),
    (native::NOT_EQUALS, "@_!=_", unequal),
    (native::LESS, "@_<_", less),
    (native::LESS_EQUALS, "@_<=_", less_or_equal),
    (native::GREATER, "@_>_", greater),
    (native::GREATER_EQUALS, "@_>=_", greater_or_equal),
    (native::IN, "@_in_", within),
    (native::ADD, ADD, add),
    (native::SUBSTRACT, "@_-_", subtract),
    (native::MULTIPLY, "@_*_", multiply),
    (native::DIVIDE, "@_/_", divide),
    (native::MODULO, "@_%_", modulo),
];

pub const ADD: &str = "@_+_";

type Args<'b, 'v> = Vec<CowVal<'b, 'v>>;
type Result<'b, 'v> = std::result::Result<CowVal<'b, 'v>, ExecutionError>;

fn both<'b, 'v>(args: Args<'b, 'v>) -> std::result::Result<[CowVal<'b, 'v>; 2], ExecutionError> {
    args.try_into().map_err(|_| ExecutionError::MissingArgumentOrTarget)
}

fn truth<'b, 'v>(truth: bool) -> CowVal<'b, 'v> {
    CowVal::owned(CelBool::from(truth))
}

fn is_equal(args: Args<'_, '_>) -> std::result::Result<bool, ExecutionError> {
    let [one, other] = both(args)?;
    meter::compare(&*one)?;
    meter::compare(&*other)?;
    Ok(one.equals(&*other))
}

fn equal<'b, 'v>(args: Args<'b, 'v>) -> Result<'b, 'v> {
    is_equal(args).map(truth)
}

fn unequal<'b, 'v>(args: Args<'b, 'v>) -> Result<'b, 'v> {
    is_equal(args).map(|equal| truth(!equal))
}

/// Where they cannot be compared, both are copied into the error.
fn order(operator: &str, args: Args<'_, '_>) -> std::result::Result<Ordering, ExecutionError> {
    let [one, other] = both(args)?;
    meter::copy(&*one)?;
    meter::copy(&*other)?;
    let comparer = one.as_comparer().ok_or_else(|| no_such(operator, &*one, &*other))?;
    comparer.compare(&*other).map_err(|_| no_such(operator, &*one, &*other))
}

fn less<'b, 'v>(args: Args<'b, 'v>) -> Result<'b, 'v> {
    order(native::LESS, args).map(|order| truth(order.is_lt()))
}

fn less_or_equal<'b, 'v>(args: Args<'b, 'v>) -> Result<'b, 'v> {
    order(native::LESS_EQUALS, args).map(|order| truth(order.is_le()))
}

fn greater<'b, 'v>(args: Args<'b, 'v>) -> Result<'b, 'v> {
    order(native::GREATER, args).map(|order| truth(order.is_gt()))
}

fn greater_or_equal<'b, 'v>(args: Args<'b, 'v>) -> Result<'b, 'v> {
    order(native::GREATER_EQUALS, args).map(|order| truth(order.is_ge()))
}

/// A list is gone through, in a map the key is looked up.
fn within<'b, 'v>(args: Args<'b, 'v>) -> Result<'b, 'v> {
    let [one, all] = both(args)?;
    meter::copy(&*one)?;
    if let Some(list) = all.downcast_ref::<cel::common::types::CelList<'_>>() {
        meter::compare(list)?;
    }
    let container = all.as_container().ok_or_else(|| no_such(native::IN, &*one, &*all))?;
    container.contains(&*one).map(truth).map_err(|_| no_such(native::IN, &*one, &*all))
}

fn no_such(operator: &str, one: &dyn Val, other: &dyn Val) -> ExecutionError {
    let types = [one, other].map(|value| value.get_type().name().to_owned());
    ExecutionError::no_such_overload(operator, types.into())
}

/// What a sum holds is copied, and what cannot be worked out is copied into the error.
macro_rules! arithmetic {
    ($name:ident, $of:ident, $does:ident, $called:literal) => {
        fn $name<'b, 'v>(args: Args<'b, 'v>) -> Result<'b, 'v> {
            let [one, other] = both(args)?;
            meter::copy(&*one)?;
            meter::copy(&*other)?;
            let of = one.$of().ok_or_else(|| unsupported($called, &*one, &*other))?;
            Ok(CowVal::Owned(of.$does(&*other)?.into_owned()))
        }
    };
}

arithmetic!(add, as_adder, add, "add");
arithmetic!(subtract, as_subtractor, sub, "sub");
arithmetic!(multiply, as_multiplier, mul, "mul");
arithmetic!(divide, as_divider, div, "div");
arithmetic!(modulo, as_modder, modulo, "rem");

fn unsupported(operator: &'static str, one: &dyn Val, other: &dyn Val) -> ExecutionError {
    let shown = |value: &dyn Val| Value::try_from(value).unwrap_or(Value::Null);
    ExecutionError::UnsupportedBinaryOperator(operator, shown(one), shown(other))
}
