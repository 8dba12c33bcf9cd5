//! The limits that a configuration gives: `[tiers]` in the file, `--tier`, MAINSPRING_TIERS.

use crate::args::LimitArgs;
use crate::server::file::{self, File};
use anyhow::{Result, anyhow, bail};
use mainspring_core::kernel::limit::{Bound, LimitSetting, Source, TOTAL, check_name, is_tier};
use mainspring_core::limits::TOTAL_PERMITS_DEFAULT;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroU32;

pub const PROCESSES: &str = "executor:process";

/// Limits by name.
pub type Tiers = BTreeMap<String, Bound>;

/// `NAME=LIMIT`, or `NAME=LIMIT@RATE`.
pub fn given(text: &str) -> Result<(String, Bound), String> {
    let (name, bound) = text.split_once('=').ok_or("write NAME=LIMIT, like `gpu=2`")?;
    check_name(name)?;
    Ok((name.to_owned(), bound.parse()?))
}

/// What the file says.
pub fn in_file(file: &File) -> Result<Tiers> {
    for name in file.tiers.keys() {
        check_name(name).map_err(|why| anyhow!("[tiers] `{name}`: {why}"))?;
    }
    Ok(file.tiers.iter().map(|(name, tier)| (name.clone(), tier.0)).collect())
}

/// What holds where there is no server: the usual file, if it is there, and what was given. A
/// limit on processes that was given is meant, whatever the file calls it.
pub fn here(given: &LimitArgs, max_processes: Option<NonZeroU32>) -> Result<Tiers> {
    let (file, _) = file::read(None)?;
    let mut tiers = in_file(&file)?;
    if let (Some(max), Some(tier)) = (max_processes, tiers.get_mut(PROCESSES)) {
        tier.limit = max.get();
    }
    tiers.extend(given.tiers.iter().cloned());
    Ok(tiers)
}

/// How many processes at once, if anybody says so. Two names for one limit must agree.
pub fn processes(max: Option<NonZeroU32>, tiers: &Tiers) -> Result<Option<u32>> {
    let (max, tier) = (max.map(NonZeroU32::get), tiers.get(PROCESSES).map(|bound| bound.limit));
    if let (Some(max), Some(tier)) = (max, tier) {
        agree(max, tier)?;
    }
    Ok(max.or(tier))
}

/// What one place says by two names.
pub fn agree(max: u32, tier: u32) -> Result<()> {
    if max != tier {
        bail!(
            "max_processes is {max} and the tier {PROCESSES} is {tier}: they are one limit, so \
             give one of them"
        );
    }
    Ok(())
}

/// The limit on processes: what was wanted, as far as it is possible.
pub fn of_processes(tiers: &Tiers, wanted: Option<u32>, possible: u32) -> LimitSetting {
    LimitSetting {
        name: PROCESSES.into(),
        bound: Bound {
            limit: wanted.unwrap_or(possible).min(possible),
            rate: tiers.get(PROCESSES).and_then(|bound| bound.rate),
        },
        source: if wanted.is_some() { Source::Config } else { Source::Default },
    }
}

/// Names that tasks may use beside their workflow's own.
pub fn names(tiers: &Tiers) -> BTreeSet<String> {
    tiers.keys().filter(|name| is_tier(name)).cloned().collect()
}

/// What the engine is told.
pub fn settings(tiers: &Tiers, processes: LimitSetting) -> Vec<LimitSetting> {
    let total = TOTAL_PERMITS_DEFAULT.max(processes.bound.limit);
    let mut settings = vec![LimitSetting::default_of(TOTAL, total), processes];
    let others = tiers.iter().filter(|(name, _)| *name != PROCESSES);
    settings.extend(others.map(|(name, bound)| LimitSetting {
        name: name.as_str().into(),
        bound: *bound,
        source: Source::Config,
    }));
    settings
}

/// A limit in the file: a number, or `{ limit = 5, rate = "100/1m" }`.
#[derive(Clone, Copy, Debug)]
pub struct FileTier(pub Bound);

impl<'de> Deserialize<'de> for FileTier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TierVisitor).map(Self)
    }
}

struct TierVisitor;

impl<'de> Visitor<'de> for TierVisitor {
    type Value = Bound;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a limit like `5`, or `{ limit = 5, rate = \"100/1m\" }`")
    }

    fn visit_i64<E: Error>(self, limit: i64) -> Result<Bound, E> {
        limit.to_string().parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Bound, A::Error> {
        let (mut limit, mut rate) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "limit" => limit = Some(self::limit(map.next_value()?)?),
                "rate" => {
                    let text: String = map.next_value()?;
                    rate = Some(text.parse().map_err(A::Error::custom)?);
                }
                other => return Err(A::Error::unknown_field(other, &["limit", "rate"])),
            }
        }
        let limit = limit.ok_or_else(|| A::Error::missing_field("limit"))?;
        Ok(Bound { limit, rate })
    }
}

fn limit<E: Error>(number: i64) -> Result<u32, E> {
    let bound: Bound = number.to_string().parse().map_err(E::custom)?;
    Ok(bound.limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Tiers, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        in_file(&file).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn a_file_names_limits_with_and_without_rates() {
        let text = "[tiers]\ntotal = 5\nheavy = 1\n\"executor:process\" = 8\n\
                    api = { limit = 5, rate = \"100/1m\" }\n";
        let tiers = read(text).expect("good");
        let shown: Vec<String> = tiers.iter().map(|(name, it)| format!("{name}={it}")).collect();
        assert_eq!(shown, ["api=5@100/1m", "executor:process=8", "heavy=1", "total=5"]);
        assert_eq!(names(&tiers).into_iter().collect::<Vec<_>>(), ["api", "heavy"]);
    }

    #[test]
    fn a_file_that_names_none_that_can_be_is_refused() {
        for (text, says) in [
            ("a = -1", "from 0 to"),
            ("a = \"5\"", "expected a limit"),
            ("a = { rate = \"1/1s\" }", "missing field `limit`"),
            ("a = { limit = 1, rte = \"1/1s\" }", "unknown field `rte`"),
            ("a = { limit = 1, rate = \"often\" }", "like `100/1m`"),
            ("\"a/b\" = 1", "`a/b`"),
            ("\"executor:nobody\" = 1", "no executor 'nobody'"),
        ] {
            let error = read(&format!("[tiers]\n{text}\n")).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
