//! The files of one attempt, beside its log.

use mainspring_core::ids::AttemptId;
use mainspring_core::json::Json;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of a live attempt; they go when it ends, but for its artifacts.
pub(super) struct WorkFiles {
    folder: Arc<Path>,
    attempt: AttemptId,
    has_inputs: bool,
}

impl WorkFiles {
    pub fn new(folder: &Arc<Path>, attempt: AttemptId) -> Self {
        Self { folder: Arc::clone(folder), attempt, has_inputs: false }
    }

    fn path(&self, what: &str) -> PathBuf {
        self.folder.join(format!("{}.{what}.json", self.attempt))
    }

    /// Where the task may write its output.
    pub fn output(&self) -> PathBuf {
        self.path("output")
    }

    pub fn write_input(&mut self, input: &Json) -> io::Result<PathBuf> {
        self.write("input", input)
    }

    pub fn write_run_input(&mut self, input: &Json) -> io::Result<PathBuf> {
        self.write("run_input", input)
    }

    /// Names copies of what it leaves, by their numbers; these stay until it is settled.
    pub fn artifacts(&self) -> impl Fn(usize) -> PathBuf + Send + use<> {
        let (folder, attempt) = (Arc::clone(&self.folder), self.attempt);
        move |no| folder.join(format!("{attempt}.artifact.{no}"))
    }

    fn write(&mut self, what: &str, value: &Json) -> io::Result<PathBuf> {
        self.has_inputs = true;
        let path = self.path(what);
        std::fs::write(&path, value.as_str())?;
        Ok(path)
    }
}

impl Drop for WorkFiles {
    /// What cannot be removed now goes when the next life empties the folder.
    fn drop(&mut self) {
        let output = self.output();
        // Whatever the task made of it.
        if std::fs::remove_file(&output).is_err_and(|error| is_a_folder(&error, &output)) {
            let _ = std::fs::remove_dir_all(&output);
        }
        if self.has_inputs {
            let _ = std::fs::remove_file(self.path("input"));
            let _ = std::fs::remove_file(self.path("run_input"));
        }
    }
}

/// Linux says EISDIR, other systems EPERM.
fn is_a_folder(error: &io::Error, path: &Path) -> bool {
    error.kind() != io::ErrorKind::NotFound
        && std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}
