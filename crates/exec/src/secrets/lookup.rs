//! Where secrets are: a file of that name in one folder, else a variable of the server.

use super::value::Secret;
use crate::beneath::{Folder, NotReached};
use mainspring_core::limits::ENV_VALUE_BYTES_MAX;
use rustix::io::Errno;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

pub(crate) const VARIABLE_PREFIX: &str = "MAINSPRING_SECRET_";

/// Finds secrets by their names, each time anew: a changed one counts from the next start on.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    folder: Option<PathBuf>,
}

/// Why there is no such secret. Names it and the places; never a value.
#[derive(Debug, thiserror::Error)]
pub enum NoSecret {
    #[error(
        "secret {0:?} has a bad name: use letters, digits, `.`, `_` and `-`, and do not begin \
         with a dot"
    )]
    BadName(String),
    #[error(
        "secret {name:?} was not found: {folder}, and the server has no environment variable \
         {variable}. Put it in one of the two places"
    )]
    Missing { name: String, folder: String, variable: String },
    #[error("secret {name:?} cannot be used: {} {why}", path.display())]
    Unusable { name: String, path: PathBuf, why: String },
    #[error("secret {name:?} cannot be read: {} may not be opened (permission denied)", path.display())]
    Forbidden { name: String, path: PathBuf },
    /// Later it may go well.
    #[error("secret {name:?} cannot be read just now: {}: {source}", path.display())]
    Unreadable { name: String, path: PathBuf, source: io::Error },
}

impl Secrets {
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    pub fn resolve(&self, name: &str) -> Result<Secret, NoSecret> {
        if !is_name(name) {
            return Err(NoSecret::BadName(name.to_owned()));
        }
        if let Some(folder) = &self.folder {
            let found = read(folder, name).map_err(|why| explain(folder.join(name), name, why))?;
            if let Some(secret) = found {
                return Ok(secret);
            }
        }
        let variable = variable(name);
        match std::env::var_os(&variable) {
            Some(value) => Ok(Secret::new(value.into_vec())),
            None => Err(self.missing(name, variable)),
        }
    }

    fn missing(&self, name: &str, variable: String) -> NoSecret {
        let folder = match &self.folder {
            Some(folder) => format!("there is no file {}", folder.join(name).display()),
            None => "no folder for secrets (secrets_dir) is set".to_owned(),
        };
        NoSecret::Missing { name: name.to_owned(), folder, variable }
    }
}

fn is_name(name: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(good)
}

/// The variable a secret may be in.
fn variable(name: &str) -> String {
    format!("{VARIABLE_PREFIX}{}", name.to_ascii_uppercase().replace(['-', '.'], "_"))
}

enum Unread {
    NotReached(NotReached),
    TooLarge,
}

/// None when there is no such file.
fn read(folder: &Path, name: &str) -> Result<Option<Secret>, Unread> {
    let file = Folder::open(folder).map_err(NotReached::from);
    let file = match file.and_then(|folder| folder.file(Path::new(name))) {
        Ok(file) => file,
        Err(error) if error.errno() == Some(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(Unread::NotReached(error)),
    };
    // Room for the newline, and for one more that says it is too large.
    let mut bytes = Vec::new();
    file.take(ENV_VALUE_BYTES_MAX as u64 + 2)
        .read_to_end(&mut bytes)
        .map_err(|error| Unread::NotReached(NotReached::Io(error)))?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    if bytes.len() > ENV_VALUE_BYTES_MAX {
        Err(Unread::TooLarge)
    } else {
        Ok(Some(Secret::new(bytes)))
    }
}

fn explain(path: PathBuf, name: &str, why: Unread) -> NoSecret {
    let name = name.to_owned();
    let why = match why {
        Unread::TooLarge => format!("is over {ENV_VALUE_BYTES_MAX} bytes"),
        Unread::NotReached(NotReached::NotAFile | NotReached::AFolder) => {
            "is not a plain file".to_owned()
        }
        Unread::NotReached(NotReached::Outside) => {
            "is a link that leads out of its folder".to_owned()
        }
        Unread::NotReached(NotReached::Io(source)) => match Errno::from_io_error(&source) {
            Some(Errno::ACCESS | Errno::PERM) => return NoSecret::Forbidden { name, path },
            Some(Errno::LOOP) => "is a link to itself".to_owned(),
            Some(Errno::NOTDIR) => "is in no folder".to_owned(),
            Some(Errno::NAMETOOLONG) => "has a name that is too long".to_owned(),
            _ => return NoSecret::Unreadable { name, path, source },
        },
    };
    NoSecret::Unusable { name, path, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Secrets) {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let secrets = Secrets::new(Some(folder.path().to_owned()));
        (folder, secrets)
    }

    #[test]
    fn a_file_is_taken_without_one_newline() {
        let largest = vec![b'x'; ENV_VALUE_BYTES_MAX];
        let (_folder, secrets) = stage(&[
            ("plain", b"s3cret"),
            ("line", b"s3cret\n"),
            ("lines", b"a\nb\n\n"),
            ("dos", b"s3cret\r\n"),
            ("empty", b""),
            ("A.b_c-9", b"\xff\x00"),
            ("largest", &[&largest[..], b"\n"].concat()),
        ]);
        for (name, value) in [
            ("plain", &b"s3cret"[..]),
            ("line", b"s3cret"),
            ("lines", b"a\nb\n"),
            ("dos", b"s3cret\r"),
            ("empty", b""),
            ("A.b_c-9", b"\xff\x00"),
            ("largest", &largest),
        ] {
            assert_eq!(secrets.resolve(name).unwrap().reveal(), value, "{name}");
        }
    }

    #[test]
    fn names_that_could_lead_elsewhere_are_refused() {
        let (folder, secrets) = stage(&[(".hidden", b"x")]);
        std::fs::create_dir(folder.path().join("below")).unwrap();
        std::fs::write(folder.path().join("below/x"), "x").unwrap();
        for name in ["", ".", "..", ".hidden", "../x", "below/x", "/etc/passwd", "a b", "ä", "a\0"]
        {
            let found = secrets.resolve(name);
            assert!(matches!(found, Err(NoSecret::BadName(_))), "{name:?}: {found:?}");
        }
    }

    #[test]
    fn what_is_no_file_of_the_folder_is_refused() {
        let (folder, secrets) = stage(&[("large", &vec![b'x'; ENV_VALUE_BYTES_MAX + 1])]);
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("folder")).unwrap();
        std::fs::create_dir(path("..data")).unwrap();
        std::fs::write(path("..data/inside"), "s3cret").unwrap();
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, path(name)).unwrap();
        };
        link("/etc/passwd", "far");
        link("../../../../../../etc/passwd", "up");
        link("self", "self");
        // As Kubernetes lays them out.
        link("..data/inside", "inside");
        rustix::fs::mkfifoat(rustix::fs::CWD, path("fifo"), rustix::fs::Mode::RWXU).unwrap();
        for (name, says) in [
            ("large", "is over 65536 bytes"),
            ("folder", "is not a plain file"),
            ("fifo", "is not a plain file"),
            ("far", "is a link that leads out of its folder"),
            ("up", "is a link that leads out of its folder"),
            ("self", "is a link to itself"),
        ] {
            let error = secrets.resolve(name).unwrap_err();
            assert!(matches!(error, NoSecret::Unusable { .. }), "{name}: {error:?}");
            let expected =
                format!("secret {name:?} cannot be used: {} {says}", path(name).display());
            assert_eq!(error.to_string(), expected);
        }
        assert_eq!(secrets.resolve("inside").unwrap().reveal(), b"s3cret");
    }

    #[test]
    fn a_missing_one_says_where_it_was_looked_for() {
        let nowhere = Secrets::new(None).resolve("api.key-2").unwrap_err();
        assert_eq!(
            nowhere.to_string(),
            "secret \"api.key-2\" was not found: no folder for secrets (secrets_dir) is set, and \
             the server has no environment variable MAINSPRING_SECRET_API_KEY_2. Put it in one of \
             the two places"
        );
        for secrets in [stage(&[]).1, Secrets::new(Some("/no/where".into()))] {
            let error = secrets.resolve("x").unwrap_err().to_string();
            let path = secrets.folder.unwrap().join("x");
            assert!(error.contains(&format!("no file {}", path.display())), "{error}");
            assert!(error.contains("MAINSPRING_SECRET_X"), "{error}");
        }
    }
}
