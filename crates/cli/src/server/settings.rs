//! Each setting with its origin: flags over environment over file over default.

use super::file::{self, File};
use crate::args::{DATA_DEFAULT, KeptArgs, LimitArgs, ServerArgs, variable_name};
use crate::data;
use crate::limits::{self, Tiers};
use anyhow::{Context as _, Result, anyhow, bail};
use clap::ArgMatches;
use clap::parser::ValueSource;
use mainspring_core::kernel::limit::{Bound, LimitSetting};
use mainspring_core::spec::duration;
use mainspring_core::time::Span;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

pub const LISTEN_DEFAULT: &str = "127.0.0.1:8070";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag,
    Environment,
    File(PathBuf),
    Default,
}

impl Origin {
    /// What comes from a place of higher rank wins.
    fn rank(&self) -> u8 {
        match self {
            Self::Flag => 3,
            Self::Environment => 2,
            Self::File(_) => 1,
            Self::Default => 0,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Environment => f.write_str("environment"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value and where it came from.
#[derive(Clone, Debug)]
pub struct Setting<T> {
    pub value: T,
    pub origin: Origin,
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// The file that was read.
    pub config: Option<PathBuf>,
    pub listen: Setting<Vec<SocketAddr>>,
    pub data: Setting<PathBuf>,
    pub database: Setting<Option<String>>,
    pub workdir: Setting<PathBuf>,
    pub max_processes: Setting<u32>,
    /// By name; the limit on processes is what `max_processes` says.
    pub tiers: BTreeMap<String, Setting<Bound>>,
    pub pass_env: Setting<Vec<String>>,
    pub secrets_dir: Setting<PathBuf>,
    pub insecure: Setting<bool>,
    pub hosts: Setting<Vec<String>>,
    pub tls_certificate: Setting<Option<PathBuf>>,
    pub tls_key: Setting<Option<PathBuf>>,
    pub retention: Setting<Span>,
    pub drain: Setting<Span>,
    pub read_timeout: Setting<Span>,
}

/// What was given, and where.
struct Given<'a> {
    matches: &'a ArgMatches,
    path: Option<PathBuf>,
}

impl Given<'_> {
    fn pick<T>(&self, id: &str, given: Option<T>, file: Option<T>, default: T) -> Setting<T> {
        let origin = match self.matches.value_source(id) {
            Some(ValueSource::CommandLine) => Some(Origin::Flag),
            Some(ValueSource::EnvVariable) => Some(Origin::Environment),
            _ => None,
        };
        match (given, origin, file, &self.path) {
            (Some(value), Some(origin), _, _) => Setting { value, origin },
            (_, _, Some(value), Some(path)) => {
                Setting { value, origin: Origin::File(path.clone()) }
            }
            _ => Setting { value: default, origin: Origin::Default },
        }
    }

    /// The data folder, and the URL of a database elsewhere.
    fn places(&self, args: &KeptArgs, file: &File) -> (Setting<PathBuf>, Setting<Option<String>>) {
        let (url, in_file) = (args.database.clone().map(Some), file.database.clone().map(Some));
        (
            self.pick("data", args.data.clone(), file.data.clone(), DATA_DEFAULT.into()),
            self.pick("database", url, in_file, None),
        )
    }

    /// Each name for itself: what is given wins over the file.
    fn tiers(&self, args: &LimitArgs, file: &File) -> Result<BTreeMap<String, Setting<Bound>>> {
        let given: Tiers = args.tiers.iter().cloned().collect();
        let in_file = limits::in_file(file)?;
        let names: BTreeSet<String> = given.keys().chain(in_file.keys()).cloned().collect();
        let setting = |name: String| {
            let (given, in_file) = (given.get(&name).copied(), in_file.get(&name).copied());
            let setting = self.pick("tiers", given, in_file, Bound::of(0));
            (name, setting)
        };
        Ok(names.into_iter().map(setting).collect())
    }

    /// By whichever of its two names it was said: what the stronger place says holds under both,
    /// and one place may not say two things.
    fn processes(
        &self,
        (args, file): (&ServerArgs, &File),
        tiers: &mut BTreeMap<String, Setting<Bound>>,
        default: u32,
    ) -> Result<Setting<u32>> {
        let given = args.max_processes.map(NonZeroU32::get);
        let in_file = file.max_processes.map(NonZeroU32::get);
        let picked = self.pick("max_processes", given, in_file, default);
        let Some(tier) = tiers.get_mut(limits::PROCESSES) else { return Ok(picked) };
        match picked.origin.rank().cmp(&tier.origin.rank()) {
            Ordering::Greater => {
                (tier.value.limit, tier.origin) = (picked.value, picked.origin.clone());
            }
            Ordering::Equal => limits::agree(picked.value, tier.value.limit)?,
            Ordering::Less => {}
        }
        Ok(Setting { value: tier.value.limit, origin: tier.origin.clone() })
    }

    fn pick_span(
        &self,
        id: &str,
        given: Option<&String>,
        file: Option<&String>,
        default: Span,
    ) -> Result<Setting<Span>> {
        let parse = |text: Option<&String>| {
            text.map(|text| duration(text).map_err(|why| anyhow!("{id} `{text}`: {why}")))
                .transpose()
        };
        Ok(self.pick(id, parse(given)?, parse(file)?, default))
    }
}

fn list<T: Clone>(given: &[T]) -> Option<Vec<T>> {
    (!given.is_empty()).then(|| given.to_vec())
}

/// The data folder and the database's URL that a server would be given.
pub fn kept(args: &KeptArgs, matches: &ArgMatches) -> Result<(PathBuf, Option<String>)> {
    let (file, path) = file::read(args.config.as_deref())?;
    let (data, database) = Given { matches, path }.places(args, &file);
    Ok((data.value, database.value))
}

impl Settings {
    pub fn gather(args: &ServerArgs, matches: &ArgMatches, processes: u32) -> Result<Self> {
        let (file, path) = file::read(args.kept.config.as_deref())?;
        let File { tls, .. } = file.clone();
        let given = Given { matches, path };
        let (data, database) = given.places(&args.kept, &file);
        let here = std::env::current_dir().context("the current directory is gone")?;
        let listen = LISTEN_DEFAULT.parse().expect("an address");
        let mut tiers = given.tiers(&args.limits, &file)?;
        let max_processes = given.processes((args, &file), &mut tiers, processes)?;
        let beside = data::secrets_dir(&data.value);
        let settings = Self {
            config: given.path.clone(),
            listen: given.pick("listen", list(&args.listen), file.listen, vec![listen]),
            data,
            database,
            workdir: given.pick("workdir", args.workdir.clone(), file.workdir, here),
            max_processes,
            tiers,
            pass_env: given.pick("pass_env", list(&args.pass_env), file.pass_env, Vec::new()),
            secrets_dir: given.pick(
                "secrets_dir",
                args.secrets_dir.clone(),
                file.secrets_dir,
                beside,
            ),
            insecure: given.pick("insecure", Some(args.insecure), file.insecure, false),
            hosts: given.pick("hosts", list(&args.hosts), file.hosts, Vec::new()),
            tls_certificate: given.pick(
                "tls_certificate",
                args.tls_certificate.clone().map(Some),
                tls.certificate.map(Some),
                None,
            ),
            tls_key: given.pick("tls_key", args.tls_key.clone().map(Some), tls.key.map(Some), None),
            retention: given.pick_span(
                "retention",
                args.retention.as_ref(),
                file.retention.as_ref(),
                Span::from_secs(30 * 86_400),
            )?,
            drain: given.pick_span(
                "drain",
                args.drain.as_ref(),
                file.drain.as_ref(),
                Span::from_secs(30),
            )?,
            read_timeout: given.pick_span(
                "read_timeout",
                args.read_timeout.as_ref(),
                file.read_timeout.as_ref(),
                Span::from_secs(30),
            )?,
        };
        settings.check()?;
        Ok(settings)
    }

    /// What the engine is told, where so many processes are possible.
    pub fn limits(&self, possible: u32) -> Vec<LimitSetting> {
        let tiers: Tiers = self.tiers.iter().map(|(name, it)| (name.clone(), it.value)).collect();
        let is_said = self.max_processes.origin != Origin::Default;
        let wanted = is_said.then_some(self.max_processes.value);
        limits::settings(&tiers, limits::of_processes(&tiers, wanted, possible))
    }

    fn check(&self) -> Result<()> {
        if self.tls_certificate.value.is_some() != self.tls_key.value.is_some() {
            bail!("TLS needs both a certificate and a key: --tls-certificate and --tls-key");
        }
        if self.read_timeout.value == Span::ZERO {
            bail!("read_timeout is 0: no request could ever arrive");
        }
        for name in &self.pass_env.value {
            variable_name(name).map_err(|why| anyhow!("pass_env `{name}`: {why}"))?;
        }
        if self.listen.value.is_empty() {
            bail!("listen is empty: name at least one address");
        }
        Ok(())
    }
}
