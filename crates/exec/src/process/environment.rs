//! The environment of a task: a clean one, nothing of the server's that was not asked for.

use mainspring_core::error::{ErrorClass, TaskError};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

pub(super) const DATA_ID: &str = "MAINSPRING_DATA_ID";
pub(super) const ATTEMPT_ID: &str = "MAINSPRING_ATTEMPT_ID";

/// What a server without PATH gives its tasks: where Linux distributions keep programs.
const PATH_DEFAULT: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Variables every task gets from the server, read once.
#[derive(Clone, Debug)]
pub(super) struct Inherited(BTreeMap<OsString, OsString>);

impl Inherited {
    pub fn read(pass_env: &[String]) -> Self {
        let names = ["PATH", "HOME", "LANG"].into_iter().chain(pass_env.iter().map(String::as_str));
        let mut found: BTreeMap<OsString, OsString> =
            names.filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect();
        found.entry("PATH".into()).or_insert_with(|| PATH_DEFAULT.into());
        Self(found)
    }

    /// All variables of one task; later ones win: the server's, the task's, Mainspring's own.
    pub fn with<'a>(
        &'a self,
        task: &'a [(String, String)],
        own: &'a [(&'static str, String)],
    ) -> Environment<'a> {
        let inherited = self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let task = task.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        let own = own.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        Environment(inherited.chain(task).chain(own).collect())
    }
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
