//! The data folder: who it belongs to, and that only one process decides in it.

use mainspring_core::ids::SchedulerId;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long a process that was killed may take to let go of the folder.
const LAST_MOMENTS: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Its bit among the pending signals of /proc.
const SIGKILL: u64 = 1 << (9 - 1);

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("the data folder {} is in use by process {pid}", path.display())]
    Held { path: PathBuf, pid: String },
    #[error("the data folder {} can't be used: {what}", path.display())]
    Io {
        path: PathBuf,
        what: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("{} does not hold a scheduler id", path.display())]
    BadId { path: PathBuf },
}

/// A data folder held by this process until it is dropped.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    id: SchedulerId,
    /// Locked; the lock goes with the process, however it ends.
    _lock: File,
}

impl DataFolder {
    /// Creates the folder if there is none, and takes its lock.
    pub fn hold(path: &Path) -> Result<Self, FolderError> {
        let error = |what| {
            let path = path.to_owned();
            move |source| FolderError::Io { path, what, source }
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(error("it can't be created"))?;
        let path = fs::canonicalize(path).map_err(error("it can't be found"))?;
        let lock = lock(&path)?;
        let id = read_or_make_id(&path)?;
        sync(&path).map_err(error("it can't be synced to disk"))?;
        Ok(Self { path, id, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who decides here, in this life and in every other.
    pub fn id(&self) -> SchedulerId {
        self.id
    }

    /// Who decides in a folder, if anybody ever did. Takes no lock, makes nothing.
    pub fn id_of(folder: &Path) -> Result<Option<SchedulerId>, FolderError> {
        read_id(folder)
    }

    /// Gives a new folder, which nobody else knows of yet, an id of its own.
    pub fn identify(folder: &Path) -> Result<SchedulerId, FolderError> {
        read_or_make_id(folder)
    }

    /// Where the embedded database is.
    pub fn database(path: &Path) -> PathBuf {
        path.join("mainspring.db")
    }

    /// Where large things are kept beside it.
    pub fn blobs(path: &Path) -> PathBuf {
        path.join("blobs")
    }
}

fn lock(folder: &Path) -> Result<File, FolderError> {
    let path = folder.join("lock");
    let io = |source| FolderError::Io {
        path: folder.to_owned(),
        what: "its lock file can't be written",
        source,
    };
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(io)?;
    let until = Instant::now() + LAST_MOMENTS;
    while let Err(refused) = file.try_lock() {
        let TryLockError::WouldBlock = refused else { return Err(io(refused.into())) };
        let mut pid = String::new();
        file.rewind().and_then(|()| file.read_to_string(&mut pid)).map_err(io)?;
        let pid = pid.trim();
        if !is_leaving(pid) || Instant::now() > until {
            return Err(FolderError::Held { path: folder.to_owned(), pid: pid.to_owned() });
        }
        thread::sleep(LOOK_AGAIN);
    }
    file.set_len(0).map_err(io)?;
    file.rewind().map_err(io)?;
    writeln!(file, "{}", std::process::id()).map_err(io)?;
    Ok(file)
}

/// Whether the holder is on its way out: killed, and only the kernel has not let go of its files
/// yet, as while an fsync of it is under way. Whoever restarts right after a kill -9 meets that.
fn is_leaving(pid: &str) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return true };
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim_start_matches(':').trim())
    };
    let is_dead = field("State").is_some_and(|state| state.starts_with(['Z', 'X']));
    let has_no_memory = field("VmSize").is_none();
    let is_killed = ["SigPnd", "ShdPnd"].into_iter().any(|name| {
        let pending = field(name).and_then(|bits| u64::from_str_radix(bits, 16).ok());
        pending.is_some_and(|bits| bits & SIGKILL != 0)
    });
    is_dead || has_no_memory || is_killed
}

fn id_io(folder: &Path) -> impl Fn(io::Error) -> FolderError {
    let path = folder.to_owned();
    let what = "its id file can't be read or written";
    move |source| FolderError::Io { path: path.clone(), what, source }
}

fn read_id(folder: &Path) -> Result<Option<SchedulerId>, FolderError> {
    let path = folder.join("id");
    match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse().map(Some).map_err(|_| FolderError::BadId { path }),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(id_io(folder)(source)),
    }
}

fn read_or_make_id(folder: &Path) -> Result<SchedulerId, FolderError> {
    if let Some(id) = read_id(folder)? {
        return Ok(id);
    }
    let (id, io) = (new_id(), id_io(folder));
    // Renamed into place, so that no crash leaves half an id.
    let temporary = folder.join("id.new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)
        .map_err(&io)?;
    writeln!(file, "{id}").and_then(|()| file.sync_all()).map_err(&io)?;
    fs::rename(&temporary, folder.join("id")).map_err(&io)?;
    Ok(id)
}

fn new_id() -> SchedulerId {
    let mut bytes = [0; 18];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    let (time, chance) = bytes.split_at(8);
    let ms = u64::from_be_bytes(time.try_into().expect("eight bytes")) >> 16;
    SchedulerId::from_parts(ms, chance.try_into().expect("ten bytes"))
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_holder_and_keeps_its_id() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = parent.path().join("data");
        let first = DataFolder::hold(&path).expect("free");
        let id = first.id();
        let second = DataFolder::hold(&path).expect_err("held");
        let message = second.to_string();
        assert!(message.contains(&std::process::id().to_string()), "{message}");
        drop(first);
        assert_eq!(DataFolder::hold(&path).expect("free again").id(), id);
    }

    #[test]
    fn a_holder_that_is_killed_is_waited_for() {
        assert!(!is_leaving(&std::process::id().to_string()));
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().expect("started");
        let pid = child.id().to_string();
        assert!(!is_leaving(&pid));
        child.kill().expect("our child");
        assert!(is_leaving(&pid), "killed, and perhaps not gone yet");
        child.wait().expect("waited for");
        assert!(is_leaving(&pid), "gone");
    }

    #[test]
    fn rubbish_instead_of_an_id_is_said() {
        let parent = tempfile::tempdir().expect("a folder");
        fs::write(parent.path().join("id"), "rubbish").expect("written");
        assert!(matches!(DataFolder::hold(parent.path()), Err(FolderError::BadId { .. })));
    }
}
