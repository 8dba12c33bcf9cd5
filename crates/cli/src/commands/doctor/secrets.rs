//! The folder of secrets: for its owner and nobody else.

use super::Finding;
use crate::server::{Origin, Setting};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const CHECK: &str = "secrets";
/// Whatever these bits let somebody do, it is not the owner.
const OTHERS: u32 = 0o077;
/// Files named in a message.
const NAMED_MAX: usize = 5;

pub fn folder(setting: &Setting<PathBuf>) -> Option<Finding> {
    let (path, is_named) = (&setting.value, setting.origin != Origin::Default);
    look(path, is_named.then_some(Named)).unwrap_or_else(|error| {
        let to_do = "make it readable for whoever runs the server";
        Some(Finding::problem(CHECK, format!("{}: {error}", path.display()), to_do))
    })
}

/// Somebody said where it is: then it has to be there.
struct Named;

fn look(path: &Path, named: Option<Named>) -> io::Result<Option<Finding>> {
    let shown = path.display();
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(named.map(|Named| {
                let to_do = format!("make it (mkdir -m 700 {shown}), or name another");
                Finding::problem(CHECK, format!("{shown} is not there"), to_do)
            }));
        }
        found => found?,
    };
    if !found.is_dir() {
        let what = format!("{shown} is not a folder");
        return Ok(Some(Finding::problem(CHECK, what, "name a folder of files, one each")));
    }
    let (mut count, mut open) = (0, Vec::new());
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        count += 1;
        // Whoever may not enter the folder cannot read what is in it.
        if fs::metadata(entry.path())?.permissions().mode() & OTHERS != 0 {
            open.push(entry.path());
        }
    }
    let is_closed = found.permissions().mode() & OTHERS == 0;
    if is_closed || open.is_empty() {
        let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
        return Ok(Some(Finding::ok(CHECK, format!("{shown}, {files}"))));
    }
    let what = format!("others can read {}", listed(&open));
    Ok(Some(Finding::warning(CHECK, what, format!("chmod -R go-rwx {shown}"))))
}

fn listed(paths: &[PathBuf]) -> String {
    let named = paths.iter().take(NAMED_MAX).map(|path| path.display().to_string());
    let mut text = named.collect::<Vec<_>>().join(", ");
    if let more @ 1.. = paths.len().saturating_sub(NAMED_MAX) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
