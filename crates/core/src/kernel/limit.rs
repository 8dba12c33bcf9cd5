//! What a limit says: how many at once, how many starts in a time, and who said so.

use crate::limits::{
    NAME_BYTES_MAX, QUEUE_PERMITS_DEFAULT, RATE_PER_MIN, RATE_STARTS_MAX, TIER_PERMITS_MAX,
};
use crate::spec::{duration, is_name};
use crate::time::Span;
use crate::work::ExecutorKind;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// At most so many starts in any time of this length: `100/1m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub starts: u32,
    pub per: Span,
}

impl fmt::Display for Rate {
    /// As it is read: without the blanks that people like in durations.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.starts, exact(self.per))
    }
}

/// In whole units, so that it reads back as what it was.
fn exact(span: Span) -> String {
    const UNITS: [(&str, u64); 5] =
        [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let mut left = span.as_ms();
    let mut text = String::new();
    for (unit, ms) in UNITS {
        if left >= ms {
            text.push_str(&format!("{}{unit}", left / ms));
            left %= ms;
        }
    }
    text
}

impl FromStr for Rate {
    type Err = String;

    /// Says how to mend it.
    fn from_str(text: &str) -> Result<Self, String> {
        const HINT: &str = "write starts and a time, like `100/1m`";
        let (starts, per) = text.split_once('/').ok_or(HINT)?;
        let starts = starts.trim();
        let is_number = starts.bytes().all(|byte| byte.is_ascii_digit());
        let starts: u32 = starts.parse().ok().filter(|_| is_number).ok_or(HINT)?;
        let per = duration(per).map_err(|_| HINT)?;
        if !(1..=RATE_STARTS_MAX).contains(&starts) {
            return Err(format!("from 1 to {RATE_STARTS_MAX} starts"));
        }
        if per < RATE_PER_MIN {
            return Err(format!("a time of at least {RATE_PER_MIN}"));
        }
        Ok(Self { starts, per: Span::from_ms(per.as_ms()) })
    }
}

/// How many at once, and how many in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub limit: u32,
    pub rate: Option<Rate>,
}

impl Bound {
    pub const fn of(limit: u32) -> Self {
        Self { limit, rate: None }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rate {
            None => write!(f, "{}", self.limit),
            Some(rate) => write!(f, "{}@{rate}", self.limit),
        }
    }
}

impl FromStr for Bound {
    type Err = String;

    /// `5`, or `5@100/1m`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (limit, rate) = match text.split_once('@') {
            None => (text, None),
            Some((limit, rate)) => (limit, Some(rate.parse()?)),
        };
        let limit = limit.trim().parse().ok().filter(|limit| *limit <= TIER_PERMITS_MAX);
        let limit = limit.ok_or_else(|| {
            format!("write a limit from 0 to {TIER_PERMITS_MAX}, like `5`, or with a rate, like `5@100/1m`")
        })?;
        Ok(Self { limit, rate })
    }
}

/// Who said what a limit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Default,
    Config,
    Api,
    /// This version of the workflow whose tier it is.
    Workflow(u32),
}

impl Source {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Config => "config",
            Self::Api => "api",
            Self::Workflow(_) => "workflow",
        }
    }
}

/// A limit by name, before anything runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitSetting {
    /// As shown: `gpu`, `total`, `executor:process`, `queue:main`.
    pub name: Arc<str>,
    pub bound: Bound,
    pub source: Source,
}

impl LimitSetting {
    pub fn default_of(name: &str, limit: u32) -> Self {
        Self { name: name.into(), bound: Bound::of(limit), source: Source::Default }
    }
}

/// A limit as somebody set it while the server ran; it outlives the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitRow {
    pub name: Arc<str>,
    pub bound: Bound,
}

/// The attempts at once over all executors.
pub const TOTAL: &str = "total";
/// What the names of finalizers' queues begin with.
const QUEUE: &str = "queue:";

/// The limit that lets finalizers through, by the name of their queue.
pub fn queue_name(queue: &str) -> String {
    format!("{QUEUE}{queue}")
}

/// What the names of limits on runs begin with.
const ACTIVE_RUNS: &str = "max_active_runs:";
const GROUP: &str = "concurrency_group:";

/// The limit on the runs of a workflow that are active at once.
pub fn active_name(workflow: &str) -> String {
    format!("{ACTIVE_RUNS}{workflow}")
}

/// The limit on the runs of a concurrency group, by its key.
pub fn group_name(key: &str) -> String {
    format!("{GROUP}{key}")
}

/// Whether it is said by versions of a workflow, and by nobody else.
pub fn is_of_workflow(name: &str) -> bool {
    name.contains('/') || name.starts_with(ACTIVE_RUNS) || name.starts_with(GROUP)
}

/// What a limit is while nobody says so. Nothing gets through a tier that nobody has.
pub fn default_bound(name: &str) -> Bound {
    Bound::of(if name.starts_with(QUEUE) { QUEUE_PERMITS_DEFAULT } else { 0 })
}

/// Whether a limit of the server's may be called so; says why not.
pub fn check_name(name: &str) -> Result<(), String> {
    if name == TOTAL || is_tier(name) {
        return Ok(());
    }
    if let Some(queue) = name.strip_prefix(QUEUE) {
        return match queue.len() <= NAME_BYTES_MAX && is_name(queue) {
            true => Ok(()),
            false => Err(format!("'{queue}' is not the name of a queue")),
        };
    }
    match name.strip_prefix("executor:") {
        Some(kind) if ExecutorKind::ALL.iter().any(|known| known.word() == kind) => Ok(()),
        Some(kind) => Err(format!("there is no executor '{kind}'")),
        None => Err("use letters, digits, `_`, `-` and `.`, and begin with a letter or digit; \
                     or `total`, `executor:process`, or `queue:` and a name"
            .to_owned()),
    }
}

/// Whether a task may name it.
pub fn is_tier(name: &str) -> bool {
    name != TOTAL && name.len() <= NAME_BYTES_MAX && is_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_read_back_as_they_are_written() {
        for text in ["100/1m", "1/1s", "5/1h30m", "7/250ms", "3/1d2h3m4s5ms"] {
            assert_eq!(text.parse::<Rate>().map(|rate| rate.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("2/1.5h".parse::<Rate>().map(|rate| rate.to_string()), Ok("2/1h30m".to_owned()));
    }

    #[test]
    fn rates_that_cannot_be_are_refused() {
        for text in ["", "100", "100/", "/1m", "0/1m", "-1/1m", "9999999/1m", "1/0s", "1/5", "a/1m"]
        {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_are_a_limit_and_perhaps_a_rate() {
        let rate = Some(Rate { starts: 100, per: Span::from_secs(60) });
        assert_eq!("5".parse(), Ok(Bound::of(5)));
        assert_eq!("0".parse(), Ok(Bound::of(0)));
        assert_eq!("5@100/1m".parse(), Ok(Bound { limit: 5, rate }));
        for text in ["", "x", "-1", "5@", "@100/1m", "99999999"] {
            assert!(text.parse::<Bound>().is_err(), "{text}");
        }
    }

    #[test]
    fn names_that_limits_may_have() {
        for name in ["gpu", "total", "executor:process", "queue:main", "a.b-c_1"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in
            ["", "etl/gpu", "executor:nobody", "a b", ".gpu", "executor:", "queue:", "queue:a b"]
        {
            assert!(check_name(name).is_err(), "{name}");
        }
        assert!(!is_tier("total"), "no task names it");
    }
}
