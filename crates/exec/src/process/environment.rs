//! The environment of a task: a clean one, nothing of the server's that was not asked for.

use super::command::NotStarted;
use crate::secrets::{NoSecret, Secret, Secrets, VARIABLE_PREFIX};
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::limits::ENV_VALUE_BYTES_MAX;
use mainspring_core::work::{EnvPart, EnvValue};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

pub(super) const DATA_ID: &str = "MAINSPRING_DATA_ID";
pub(super) const ATTEMPT_ID: &str = "MAINSPRING_ATTEMPT_ID";

/// What a server without PATH gives its tasks: where Linux distributions keep programs.
const PATH_DEFAULT: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What tasks may get from the server.
#[derive(Clone, Debug)]
pub(super) struct Provisions {
    pub inherited: Inherited,
    pub secrets: Secrets,
}

/// Variables every task gets from the server, read once.
#[derive(Clone, Debug)]
pub(super) struct Inherited(BTreeMap<OsString, OsString>);

impl Inherited {
    /// Secrets are never among them: a task gets those it names, under the names it gives them.
    pub fn read(pass_env: &[String]) -> Self {
        let passed = pass_env.iter().map(String::as_str);
        let passed = passed.filter(|name| !name.starts_with(VARIABLE_PREFIX));
        let names = ["PATH", "HOME", "LANG"].into_iter().chain(passed);
        let mut found: BTreeMap<OsString, OsString> =
            names.filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect();
        found.entry("PATH".into()).or_insert_with(|| PATH_DEFAULT.into());
        Self(found)
    }

    /// They alone.
    pub fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.0.iter().map(|(name, value)| (name.clone(), value.clone()))
    }

    /// All variables of one task; later ones win: the server's, the task's, Mainspring's own.
    pub fn with<'a>(
        &'a self,
        task: &'a [(&'a str, OsString)],
        own: &'a [(&'static str, String)],
    ) -> Environment<'a> {
        let inherited = self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let task = task.iter().map(|(name, value)| (OsStr::new(name), value.as_os_str()));
        let own = own.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        Environment(inherited.chain(task).chain(own).collect())
    }
}

/// A task's own variables as it gets them.
pub(super) struct Filled<'a> {
    pub variables: Vec<(&'a str, OsString)>,
    /// By name: those that were put into them.
    pub secrets: BTreeMap<&'a str, Secret>,
}

/// Puts secrets in their places.
pub(super) fn fill<'a>(
    env: &'a [(String, EnvValue)],
    secrets: &Secrets,
) -> Result<Filled<'a>, NotStarted> {
    let mut filled = Filled { variables: Vec::with_capacity(env.len()), secrets: BTreeMap::new() };
    for (name, value) in env {
        let value = match value {
            EnvValue::Text(text) => text.clone().into_bytes(),
            EnvValue::Parts(parts) => filled.join(name, parts, secrets)?,
        };
        let bad = |why: String| TaskError::new(ErrorClass::Logic, format!("env.{name} {why}"));
        if value.len() > ENV_VALUE_BYTES_MAX {
            let length = value.len();
            Err(bad(format!("is {length} bytes; at most {ENV_VALUE_BYTES_MAX} are passed on")))?;
        }
        if value.contains(&0) {
            Err(bad("holds a NUL byte, which no environment variable can".to_owned()))?;
        }
        filled.variables.push((name, OsString::from_vec(value)));
    }
    Ok(filled)
}

impl<'a> Filled<'a> {
    fn join(
        &mut self,
        variable: &str,
        parts: &'a [EnvPart],
        secrets: &Secrets,
    ) -> Result<Vec<u8>, NotStarted> {
        let mut value = Vec::new();
        for part in parts {
            match part {
                EnvPart::Text(text) => value.extend_from_slice(text.as_bytes()),
                EnvPart::Secret(name) => {
                    if !self.secrets.contains_key(name.as_str()) {
                        let found = secrets.resolve(name);
                        let found = found.map_err(|error| not_started(variable, &error))?;
                        self.secrets.insert(name, found);
                    }
                    value.extend_from_slice(self.secrets[name.as_str()].reveal());
                }
            }
        }
        Ok(value)
    }
}

fn not_started(variable: &str, error: &NoSecret) -> NotStarted {
    let message = format!("env.{variable}: {error}");
    let class = match error {
        NoSecret::BadName(_) | NoSecret::Missing { .. } | NoSecret::Unusable { .. } => {
            ErrorClass::Logic
        }
        NoSecret::Forbidden { .. } => ErrorClass::Permission,
        NoSecret::Unreadable { .. } => return NotStarted::Refused(message),
    };
    NotStarted::Failed(TaskError::new(class, message))
}

pub(super) struct Environment<'a>(BTreeMap<&'a OsStr, &'a OsStr>);

impl Environment<'_> {
    /// Where the task's commands are looked up: its own PATH, not the server's.
    pub fn path(&self) -> &OsStr {
        self.0.get(OsStr::new("PATH")).copied().unwrap_or_default()
    }

    /// As the kernel takes it.
    pub fn strings(&self) -> Result<Vec<CString>, TaskError> {
        self.0.iter().map(|(name, value)| variable(name, value)).collect()
    }
}

fn variable(name: &OsStr, value: &OsStr) -> Result<CString, TaskError> {
    let (raw_name, raw_value) = (name.as_bytes(), value.as_bytes());
    let bad = |why| {
        let message = format!("environment variable {name:?} {why}");
        TaskError::new(ErrorClass::Logic, message)
    };
    if raw_name.is_empty() || raw_name.contains(&b'=') {
        return Err(bad("has a name that is empty or holds '='"));
    }
    CString::new([raw_name, b"=", raw_value].concat()).map_err(|_| bad("holds a NUL byte"))
}
