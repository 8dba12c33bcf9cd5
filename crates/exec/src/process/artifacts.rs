//! Files between tasks: brought into a workdir before the start, taken from it after a success.
//! Attempts may share a workdir: what is taken is copied at once to where nobody else writes.

use super::command::{self, NotStarted};
use super::output::Unread;
use super::procfs;
use crate::beneath::{Folder, NotReached};
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::ids::AttemptId;
use mainspring_core::work::{ArtifactIn, ArtifactOut};
use rustix::io::Errno;
use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// One artifact. Larger data belongs where tasks can reach it by themselves.
pub const ARTIFACT_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Copied between two looks at whether to go on.
const COPY_BYTES: usize = 256 * 1024;
/// How a file is brought: to be read, or run, by whoever the next task is, and changed by its
/// owner. Of what it was elsewhere only that it can be run means the same here.
const PLAIN: u32 = 0o644;
const EXECUTABLE: u32 = 0o755;

/// Why an artifact is not where it should be.
#[derive(Debug)]
pub(super) enum NotCopied<E> {
    /// Nobody wants it any more.
    Abandoned,
    Because(E),
}

impl<E> From<E> for NotCopied<E> {
    fn from(error: E) -> Self {
        Self::Because(error)
    }
}

/// Puts files into the workdir of an attempt that is about to start. Tasks that hand files along
/// like to have folders of their own: one that is not there is made.
pub(super) fn bring(
    workdir: &str,
    artifacts: &[ArtifactIn],
    attempt: AttemptId,
    wanted: &dyn Fn() -> bool,
) -> Result<(), NotCopied<NotStarted>> {
    // Why it cannot be made is why it cannot be opened.
    let _ = std::fs::create_dir_all(workdir);
    let folder = Folder::open(Path::new(workdir))
        .map_err(|errno| refused_or(errno, |errno| command::workdir_error(workdir, errno)))?;
    for (no, artifact) in artifacts.iter().enumerate() {
        let ArtifactIn { path, source, executable } = artifact;
        let mut from = File::open(source).map_err(|error| not_opened(artifact, &error))?;
        let unplaced = |error: NotReached| not_placed(workdir, path, &error);
        let temporary = format!(".mainspring-{attempt}-{no}");
        let mut replacement = folder.replace(Path::new(path), &temporary).map_err(unplaced)?;
        let copied = copy(&mut from, &mut replacement.file, wanted);
        copied.map_err(|error| error.map(|error| unplaced(NotReached::Io(error))))?;
        let mode = if *executable { EXECUTABLE } else { PLAIN };
        let allowed = replacement.file.set_permissions(Permissions::from_mode(mode));
        allowed.map_err(|error| unplaced(NotReached::Io(error)))?;
        replacement.place().map_err(|errno| unplaced(errno.into()))?;
    }
    Ok(())
}

fn not_opened(artifact: &ArtifactIn, error: &io::Error) -> NotStarted {
    let ArtifactIn { path, source, .. } = artifact;
    let message = format!("artifact {path} cannot be read from {source}: {error}");
    match procfs::is_scarcity(error) {
        true => NotStarted::Refused(message),
        false => TaskError::new(ErrorClass::Internal, message).into(),
    }
}

fn not_placed(workdir: &str, path: &str, error: &NotReached) -> NotStarted {
    let message = format!("artifact {path} cannot be put into {workdir}: {}", why(error));
    let class = match error.errno() {
        Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => ErrorClass::Permission,
        None
        | Some(
            Errno::LOOP
            | Errno::NOTDIR
            | Errno::ISDIR
            | Errno::EXIST
            | Errno::NAMETOOLONG
            | Errno::INVAL
            | Errno::NOTEMPTY,
        ) => ErrorClass::Logic,
        // A full disk, a hung server: later it may go well.
        Some(_) => return NotStarted::Refused(message),
    };
    TaskError::new(class, message).into()
}

fn why(error: &NotReached) -> String {
    match error.errno() {
        Some(Errno::ISDIR | Errno::EXIST | Errno::NOTEMPTY) => "there is a folder".to_owned(),
        Some(Errno::NOTDIR) => "a part of it is not a folder".to_owned(),
        _ => error.to_string(),
    }
}

fn refused_or(errno: Errno, else_failed: impl FnOnce(Errno) -> TaskError) -> NotStarted {
    match procfs::is_scarcity(&errno.into()) {
        true => NotStarted::Refused(format!("no files to be had: {errno}")),
        false => else_failed(errno).into(),
    }
}

/// The copies of what a success left. They are removed with it, unless someone keeps them.
#[derive(Debug, Default)]
pub(super) struct Taken(Vec<ArtifactOut>);

impl Taken {
    pub fn keep(mut self) -> Vec<ArtifactOut> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// Removes copies; what cannot be removed goes when the next life empties their folder.
pub(super) fn remove(artifacts: &[ArtifactOut]) {
    for artifact in artifacts {
        let _ = std::fs::remove_file(&artifact.file);
    }
}

/// What a success has to leave, and where.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    pub workdir: String,
    pub paths: Vec<String>,
}

impl Outgoing {
    /// Copies them to the files that `target` names by their numbers.
    pub fn take(
        &self,
        target: impl Fn(usize) -> PathBuf,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Taken, NotCopied<Unread>> {
        let mut taken = Taken::default();
        let workdir = &self.workdir;
        let folder = Folder::open(Path::new(workdir)).map_err(|errno| {
            unread(&errno.into(), format!("artifacts cannot be taken from {workdir}: {errno}"))
        })?;
        for (no, path) in self.paths.iter().enumerate() {
            let from = folder.file(Path::new(path)).map_err(|error| self.not_taken(path, error))?;
            let found = from.metadata().map_err(|error| unkept(path, &error))?;
            let (bytes, executable) = (found.len(), found.permissions().mode() & 0o111 != 0);
            if bytes > ARTIFACT_BYTES_MAX {
                Err(too_large(path, &bytes.to_string()))?;
            }
            let file = target(no);
            taken.0.push(ArtifactOut {
                path: path.clone(),
                file: text(&file)?,
                bytes: 0,
                executable,
            });
            let mut to = File::create(&file).map_err(|error| unkept(path, &error))?;
            // It may still grow.
            let copied = copy(&mut from.take(ARTIFACT_BYTES_MAX + 1), &mut to, wanted);
            let bytes = copied.map_err(|error| error.map(|error| unkept(path, &error)))?;
            if bytes > ARTIFACT_BYTES_MAX {
                Err(too_large(path, "growing"))?;
            }
            taken.0[no].bytes = bytes;
        }
        Ok(taken)
    }

    fn not_taken(&self, path: &str, error: NotReached) -> Unread {
        let workdir = &self.workdir;
        let cannot = format!("artifact {path} in {workdir} cannot be taken: {error}");
        let error = match error {
            NotReached::Io(error) => error,
            NotReached::AFolder => {
                return logic(format!(
                    "artifact {path} in {workdir} is a folder: an artifact is one file. List the \
                     files, or pack the folder into one (`tar -cf {path}.tar {path}`)"
                ));
            }
            NotReached::Outside | NotReached::NotAFile => return logic(cannot),
        };
        match Errno::from_io_error(&error) {
            Some(Errno::NOENT) if path.contains(['*', '?', '[']) => logic(format!(
                "artifact {path} was not found in {workdir}: `artifacts.out` names files, it is no \
                 pattern. List the files, or pack them into one (tar)"
            )),
            Some(Errno::NOENT) => logic(format!(
                "artifact {path} was not found in {workdir}: `artifacts.out` names a file that \
                 the task has to leave there"
            )),
            Some(Errno::ACCESS | Errno::PERM) => Unread::Bad(TaskError::new(
                ErrorClass::Permission,
                format!("artifact {path} in {workdir} may not be read (permission denied)"),
            )),
            _ => unread(&error, cannot),
        }
    }
}

fn too_large(path: &str, bytes: &str) -> Unread {
    logic(format!(
        "artifact {path} is {bytes} bytes; at most {ARTIFACT_BYTES_MAX} are kept. Put larger files \
         where other tasks can reach them"
    ))
}

/// The copy could not be made: no fault of the task.
fn unkept(path: &str, error: &io::Error) -> Unread {
    let message = format!("artifact {path} cannot be kept: {error}");
    match Errno::from_io_error(error) {
        Some(Errno::NOSPC | Errno::DQUOT) => {
            Unread::Full(format!("{message}. Make room on the disk of the data folder"))
        }
        _ if procfs::is_scarcity(error) => Unread::Scarce(message),
        _ => Unread::Bad(TaskError::new(ErrorClass::Internal, message)),
    }
}

fn unread(error: &io::Error, message: String) -> Unread {
    match procfs::is_scarcity(error) {
        true => Unread::Scarce(message),
        false => logic(message),
    }
}

fn logic(message: String) -> Unread {
    Unread::Bad(TaskError::new(ErrorClass::Logic, message))
}

fn text(path: &Path) -> Result<String, Unread> {
    let not_utf_8 = io::Error::other("its path is not UTF-8");
    path.to_str().map(str::to_owned).ok_or_else(|| unkept(&path.to_string_lossy(), &not_utf_8))
}

impl<E> NotCopied<E> {
    fn map<F>(self, f: impl FnOnce(E) -> F) -> NotCopied<F> {
        match self {
            Self::Abandoned => NotCopied::Abandoned,
            Self::Because(error) => NotCopied::Because(f(error)),
        }
    }
}

/// Returns how many bytes there were.
fn copy(
    from: &mut impl Read,
    to: &mut impl Write,
    wanted: &dyn Fn() -> bool,
) -> Result<u64, NotCopied<io::Error>> {
    let mut buffer = vec![0; COPY_BYTES];
    let mut bytes = 0;
    loop {
        if !wanted() {
            return Err(NotCopied::Abandoned);
        }
        match from.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(read) => {
                to.write_all(&buffer[..read])?;
                bytes += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_no_fault_of_the_task() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("report"), "work that was done").expect("written");
        let workdir = folder.path().display().to_string();
        let outgoing = Outgoing { workdir, paths: vec!["report".to_owned()] };
        let full = folder.path().join("copy");
        std::os::unix::fs::symlink("/dev/full", &full).expect("made");
        let taken = outgoing.take(|_| full.clone(), &|| true);
        assert!(matches!(taken, Err(NotCopied::Because(Unread::Full(_)))), "{taken:?}");
    }
}
