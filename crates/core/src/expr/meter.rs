//! What one evaluation may still do and make. The evaluator has no limits of its own, and there
//! is no clock here: work is counted in steps, so that the same expression over the same values
//! is always allowed or always refused.

use crate::limits::{EXPR_MADE_BYTES_MAX, EXPR_WORK_MAX};
use cel::ExecutionError;
use cel::common::types::{CelBytes, CelList, CelMap, CelMapKey, CelString};
use cel::common::value::Val;
use std::cell::Cell;

/// A step is about ten nanoseconds. An operator or a name that is looked at takes this many.
pub const LOOK: usize = 10;
/// One value that is made or copied: its allocation, and its end.
pub const COPY: usize = 10;
/// One value that is compared with another.
const COMPARE: usize = 3;
/// Bytes that are copied or compared in a step.
const BYTES_COPIED: usize = 64;
/// Bytes that are looked through in a step: for a text within, for the digits of a number.
const BYTES_SCANNED: usize = 8;
/// Bytes of JSON that are passed over in a step.
const BYTES_PASSED: usize = 4;
/// A value in a list: its box and what an allocation costs beside.
const NODE_BYTES: usize = 64;

thread_local! {
    /// A function of the evaluator has no other place to count in; it is set anew for each
    /// evaluation.
    static METER: Cell<Meter> = const { Cell::new(Meter { steps: 0, bytes: 0, over: None }) };
}

#[derive(Clone, Copy)]
struct Meter {
    steps: usize,
    bytes: usize,
    over: Option<Over>,
}

/// What there was too much of. It stays so until the next evaluation, since `||` and its like go
/// on after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    Work,
    Bytes,
}

impl Over {
    pub fn told(self) -> String {
        match self {
            Self::Work => format!(
                "it takes more than {EXPR_WORK_MAX} steps of work; let it go through fewer or \
                 smaller values, or let a task work it out"
            ),
            Self::Bytes => format!(
                "it makes more than {EXPR_MADE_BYTES_MAX} bytes of values; let a task make them"
            ),
        }
    }
}

impl From<Over> for ExecutionError {
    /// The words are put in at the end: in a loop this may come many times.
    fn from(_: Over) -> Self {
        Self::MissingArgumentOrTarget
    }
}

/// Before each evaluation.
pub fn begin() {
    METER.set(Meter { steps: EXPR_WORK_MAX, bytes: EXPR_MADE_BYTES_MAX, over: None });
}

/// What there was too much of since then.
pub fn over() -> Option<Over> {
    METER.get().over
}

/// Steps that are left.
pub fn left() -> usize {
    METER.get().steps
}

pub fn work(steps: usize) -> Result<(), Over> {
    count(|meter| {
        meter.steps = meter.steps.checked_sub(steps)?;
        Some(())
    })
}

/// JSON text is passed over on the way to a value.
pub fn pass(text: &str) -> Result<(), Over> {
    work(text.len() / BYTES_PASSED)
}

/// A text or bytes are looked through. Of lists and maps nothing looks at more than the size.
pub fn scan(value: &dyn Val) -> Result<(), Over> {
    let len = if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        text.inner().len()
    } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        bytes.inner().len()
    } else {
        0
    };
    work(1 + len / BYTES_SCANNED)
}

/// A value is compared, with all there is in it.
pub fn compare(value: &dyn Val) -> Result<(), Over> {
    count(|meter| walk(value, COMPARE, &mut meter.steps))
}

/// A value is copied, with all there is in it.
pub fn copy(value: &dyn Val) -> Result<(), Over> {
    count(|meter| walk(value, COPY, &mut meter.steps))
}

/// A value is made from text of this length, apart from what is in it.
pub fn make(len: usize) -> Result<(), Over> {
    work(COPY + len / BYTES_COPIED)
}

/// A value becomes part of another one: it is copied, and takes memory.
pub fn keep(value: &dyn Val) -> Result<(), Over> {
    copy(value)?;
    let kept = {
        let mut meter = METER.get();
        let kept = weigh(value, &mut meter.bytes);
        METER.set(meter);
        kept
    };
    kept.ok_or_else(|| end(Over::Bytes))
}

fn count(spend: impl FnOnce(&mut Meter) -> Option<()>) -> Result<(), Over> {
    let mut meter = METER.get();
    if let Some(over) = meter.over {
        return Err(over);
    }
    match spend(&mut meter) {
        Some(()) => {
            METER.set(meter);
            Ok(())
        }
        None => Err(end(Over::Work)),
    }
}

fn end(over: Over) -> Over {
    METER.set(Meter { steps: 0, bytes: 0, over: Some(over) });
    over
}

fn walk(value: &dyn Val, node: usize, steps: &mut usize) -> Option<()> {
    *steps = steps.checked_sub(node)?;
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        *steps = steps.checked_sub(text.inner().len() / BYTES_COPIED)?;
    } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        *steps = steps.checked_sub(bytes.inner().len() / BYTES_COPIED)?;
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        list.inner().iter().try_for_each(|element| walk(element.as_ref(), node, steps))?;
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        for (key, value) in map.inner() {
            // To find a key takes a few steps, whatever is done with it.
            *steps = steps.checked_sub(COPY + key_len(key) / BYTES_COPIED)?;
            walk(value.as_ref(), node, steps)?;
        }
    }
    Some(())
}

fn weigh(value: &dyn Val, left: &mut usize) -> Option<()> {
    *left = left.checked_sub(NODE_BYTES)?;
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        *left = left.checked_sub(text.inner().len())?;
    } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        *left = left.checked_sub(bytes.inner().len())?;
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        list.inner().iter().try_for_each(|element| weigh(element.as_ref(), left))?;
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        for (key, value) in map.inner() {
            *left = left.checked_sub(NODE_BYTES + key_len(key))?;
            weigh(value.as_ref(), left)?;
        }
    }
    Some(())
}

fn key_len(key: &CelMapKey<'_>) -> usize {
    match key {
        CelMapKey::String(name) => name.inner().len(),
        _ => 0,
    }
}
