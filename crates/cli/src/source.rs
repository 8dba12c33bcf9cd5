//! Reading a workflow's text without being overwhelmed by it: never more than a definition may
//! have, whatever the file is.

use anyhow::{Context as _, Result, bail};
use mainspring_core::limits::DEFINITION_BYTES_MAX;
use mainspring_core::spec::{self, Diagnostic, Parsed};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A text and what it is called in messages.
#[derive(Debug)]
pub struct Source {
    pub name: String,
    pub bytes: Vec<u8>,
}

impl Source {
    /// Reads a file, or stdin for `-`.
    pub fn read(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            let bytes = bounded(std::io::stdin().lock()).context("stdin cannot be read")?;
            return Ok(Self { name: "<stdin>".to_owned(), bytes });
        }
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("{name} cannot be read"))?;
        let found = file.metadata().with_context(|| format!("{name} cannot be read"))?;
        if found.is_dir() {
            bail!("{name} is a directory: name a workflow file in it");
        }
        if found.is_file() && found.len() > DEFINITION_BYTES_MAX as u64 {
            bail!("{}", too_large(&name, &found.len().to_string()));
        }
        let bytes = bounded(file).with_context(|| format!("{name} cannot be read"))?;
        Ok(Self { name, bytes })
    }

    /// Checks everything, with these as the server's tiers.
    pub fn parse(&self, tiers: &BTreeSet<String>) -> Result<Parsed, Vec<Diagnostic>> {
        let context = spec::Context { server_tiers: spec::ServerTiers::Known(tiers) };
        spec::parse_bytes(&self.bytes, &context)
    }

    /// Checks everything but tiers: only a server knows which it has.
    pub fn parse_for_server(&self) -> Result<Parsed, Vec<Diagnostic>> {
        spec::parse_bytes(&self.bytes, &spec::Context::STORED)
    }

    /// As text, for showing: bytes that are none are replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// One byte more than the limit tells that it is too large.
fn bounded(from: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(DEFINITION_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > DEFINITION_BYTES_MAX {
        bail!("{}", too_large("the text", &format!("more than {DEFINITION_BYTES_MAX}")));
    }
    Ok(bytes)
}

fn too_large(name: &str, bytes: &str) -> String {
    format!("{name} has {bytes} bytes: a definition has at most {DEFINITION_BYTES_MAX} (4 MiB)")
}
