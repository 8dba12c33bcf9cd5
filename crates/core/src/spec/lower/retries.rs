//! When a failed attempt is followed by another.

use super::super::code::Code;
use super::super::definition::{Retries, RetryClasses};
use super::super::format::RETRIES;
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::duration::{Zero, duration};
use super::expect;
use super::fields::Fields;
use crate::error::ErrorClass;
use crate::limits::{
    RETRIES_MAX, RETRY_DELAY_DEFAULT, RETRY_DELAY_MAX_DEFAULT, RETRY_FACTOR_DEFAULT,
};
use crate::time::Span;

pub fn none() -> Retries {
    Retries {
        max: 0,
        delay: RETRY_DELAY_DEFAULT,
        factor: RETRY_FACTOR_DEFAULT,
        max_delay: RETRY_DELAY_MAX_DEFAULT,
        jitter: false,
        classes: RetryClasses::All,
    }
}

pub fn retries(field: Field<'_>, report: &mut Report) -> Option<Retries> {
    if !field.value.is_map() && field.value.int().is_none() {
        let hint = "write how many, or `{max: 3, delay: 2s}`";
        expect::wrong(field, "a whole number or a map", Some(hint), report);
        return None;
    }
    if !field.value.is_map() {
        return Some(Retries { max: max(field, report)?, ..none() });
    }
    let fields = Fields::read(field, &RETRIES, report)?;
    let max = fields.required("max", "`retries`", report).and_then(|given| max(given, report));
    let delays = delays(&fields, report);
    let factor = fields.get("factor").map(|given| factor(given, report));
    let jitter = fields.get("jitter").map(|given| expect::boolean(given, report));
    let classes = classes(&fields, report);
    let (delay, max_delay) = delays?;
    Some(Retries {
        max: max?,
        delay,
        factor: factor.unwrap_or(Some(RETRY_FACTOR_DEFAULT))?,
        max_delay,
        jitter: jitter.unwrap_or(Some(false))?,
        classes: classes?,
    })
}

fn max(field: Field<'_>, report: &mut Report) -> Option<u32> {
    let max = expect::integer(field, 0..=i64::from(RETRIES_MAX), report)?;
    u32::try_from(max).ok()
}

fn factor(field: Field<'_>, report: &mut Report) -> Option<f64> {
    let Some(factor) = field.value.float() else {
        expect::wrong(field, "a number", None, report);
        return None;
    };
    if factor < 1.0 {
        let message = format!("`factor` must be at least 1, and is {factor}.");
        report
            .add(Code::OutOfRange, field.place(), message)
            .hint("`1` keeps the delay as it is, `2` doubles it each time");
        return None;
    }
    Some(factor)
}

/// The first delay and its cap. A first delay above the cap that nobody wrote raises the cap.
fn delays(fields: &Fields<'_>, report: &mut Report) -> Option<(Span, Span)> {
    let given = fields.get("max_delay");
    let delay = fields.get("delay").map(|field| duration(field, Zero::Allowed, report));
    let cap = given.map(|field| duration(field, Zero::Allowed, report));
    let delay = delay.unwrap_or(Some(RETRY_DELAY_DEFAULT))?;
    let Some((cap, given)) = cap.zip(given) else {
        return Some((delay, delay.max(RETRY_DELAY_MAX_DEFAULT)));
    };
    let cap = cap?;
    if cap < delay {
        let message = format!("`max_delay` ({cap}) is below `delay` ({delay}).");
        report
            .add(Code::RetryConflict, given.place(), message)
            .hint("no delay is longer than `max_delay`: raise it, or lower `delay`");
        return None;
    }
    Some((delay, cap))
}

fn classes(fields: &Fields<'_>, report: &mut Report) -> Option<RetryClasses> {
    match (fields.get("on"), fields.get("except")) {
        (None, None) => Some(RetryClasses::All),
        (Some(on), None) => Some(RetryClasses::Only(only(on, report)?)),
        (None, Some(except)) => match class_list(except, report)? {
            list if list.is_empty() => Some(RetryClasses::All),
            list => Some(RetryClasses::AllBut(list)),
        },
        (Some(on), Some(except)) => {
            report
                .add(
                    Code::RetryConflict,
                    except.name_place,
                    "`on` and `except` exclude each other.",
                )
                .hint("keep one of them")
                .related(on.name_place, "`on` is given here");
            None
        }
    }
}

fn only(field: Field<'_>, report: &mut Report) -> Option<Vec<ErrorClass>> {
    let list = class_list(field, report)?;
    if list.is_empty() {
        let message = "`on` is empty, so nothing would be retried.";
        report.add(Code::RetryConflict, field.place(), message).hint("write `max: 0`");
        return None;
    }
    Some(list)
}

fn class_list(field: Field<'_>, report: &mut Report) -> Option<Vec<ErrorClass>> {
    let single = field.value.text().map(|_| field.value);
    let items: Vec<_> = match single {
        Some(word) => vec![word],
        None => expect::list(field, "write `[exit, timeout]`", report)?.collect(),
    };
    let mut classes = Vec::new();
    let mut good = true;
    for item in items {
        match class(Field { value: item, ..field }, report) {
            Some(class) if !classes.contains(&class) => classes.push(class),
            Some(_) => {}
            None => good = false,
        }
    }
    good.then_some(classes)
}

fn class(field: Field<'_>, report: &mut Report) -> Option<ErrorClass> {
    let word = expect::text(field, report)?;
    let Some(class) = ErrorClass::from_word(word) else {
        let retried = ErrorClass::ALL.iter().filter(|class| class.may_retry());
        let words: Vec<&str> = retried.map(|class| class.word()).collect();
        let near = report.did_you_mean(word, words.iter().copied());
        report
            .add(
                Code::UnknownWord,
                field.place(),
                format!("There is no error class {}.", quoted(word)),
            )
            .hint(format!("the classes are {}", words.join(", ")))
            .maybe_hint(near);
        return None;
    };
    if !class.may_retry() {
        let message = format!("`{class}` is a person's decision and never retried.");
        report.add(Code::NeverRetried, field.place(), message).hint("leave it out");
        return None;
    }
    Some(class)
}
