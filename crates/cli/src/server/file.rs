//! `mainspring.toml`. Unknown fields are refused: a misspelt one must not be ignored.

use crate::limits::FileTier;
use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// Where it is unless somebody says otherwise.
pub const DEFAULT: &str = "mainspring.toml";

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub listen: Option<Vec<SocketAddr>>,
    pub data: Option<PathBuf>,
    pub database: Option<String>,
    pub workdir: Option<PathBuf>,
    pub max_processes: Option<NonZeroU32>,
    pub pass_env: Option<Vec<String>>,
    pub secrets_dir: Option<PathBuf>,
    pub insecure: Option<bool>,
    pub hosts: Option<Vec<String>>,
    pub retention: Option<String>,
    pub drain: Option<String>,
    pub read_timeout: Option<String>,
    #[serde(default)]
    pub tiers: BTreeMap<String, FileTier>,
    #[serde(default)]
    pub tls: Tls,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
}

/// The file that was named, or the usual one if it is there.
pub fn read(named: Option<&Path>) -> Result<(File, Option<PathBuf>)> {
    let path = named.unwrap_or(Path::new(DEFAULT));
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound && named.is_none() => {
            return Ok((File::default(), None));
        }
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be read", path.display()));
        }
    };
    match toml::from_str(&text) {
        Ok(file) => Ok((file, Some(path.to_owned()))),
        Err(error) => {
            let said = error.to_string();
            let has_url = said.contains("://");
            // It quotes the line, and there may be a password in it.
            let said = if has_url { without_quotes(&said) } else { said };
            bail!("{} is wrong:\n{said}", path.display())
        }
    }
}

/// What the parser says, without the lines of the file that it shows: they stand behind a bar.
pub fn without_quotes(said: &str) -> String {
    let is_gutter = |c: char| c.is_ascii_digit() || c == ' ';
    let is_own = |line: &&str| !line.trim_start_matches(is_gutter).starts_with('|');
    said.lines().filter(is_own).collect::<Vec<_>>().join("\n")
}
