//! The socket in a data folder, by which commands find whoever is at work there.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// Its name in the folder.
pub const NAME: &str = "api.sock";

/// Bytes of `sockaddr_un` for a path, its last one aside.
const PATH_BYTES_MAX: usize = 107;

/// A path as a socket's address takes it. One that is too long is walked by way of its folder.
#[derive(Debug)]
pub struct Address {
    path: PathBuf,
    /// Open for as long as the path leads through it.
    _folder: Option<File>,
}

impl Address {
    pub fn of(path: &Path) -> io::Result<Self> {
        if path.as_os_str().len() <= PATH_BYTES_MAX {
            return Ok(Self { path: path.to_owned(), _folder: None });
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = File::open(folder)?;
        let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
        Ok(Self { path: short, _folder: Some(folder) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}
