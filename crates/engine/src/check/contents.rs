//! What a run has in the blob store beside its logs: large outputs, and files between tasks. All
//! of it is read and held against its name, which is its hash.

use crate::artifacts;
use crate::outputs::Checked;
use flate2::read::GzDecoder;
use mainspring_core::check::{Promise, Violation};
use mainspring_core::ids::{AttemptId, RunId, TaskNo, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{AttemptEnd, TaskRow};
use mainspring_core::output::{BlobRef, Output};
use mainspring_core::spec::definition::Definition;
use mainspring_store::{BlobName, Blobs, WholeRun};
use std::collections::BTreeMap;
use std::io;

/// What rows say is there.
pub(super) struct Contents {
    run: RunId,
    /// Large outputs, with whose they are.
    outputs: BTreeMap<BlobRef, String>,
    files: Vec<Files>,
}

/// What attempts left for other tasks.
struct Files {
    /// For people.
    whose: String,
    left: Left,
}

enum Left {
    /// This attempt left files, and a list of them.
    By(AttemptId),
    /// Taken over from another run, whose version may have left none.
    CopiedFrom(AttemptId),
    /// Likewise, by the instances of a group, which have no rows here.
    CopiedGroup(TaskNo),
}

/// What was found, and how many contents were read for it.
#[derive(Default)]
pub(super) struct Read {
    pub contents: u64,
    pub violations: Vec<Violation>,
}

impl Contents {
    /// Without a definition nobody knows which tasks leave files.
    pub fn of(whole: &WholeRun, definition: Option<&Definition>) -> Self {
        let mut found =
            Self { run: whole.run.head.id, outputs: BTreeMap::new(), files: Vec::new() };
        let name = |task: TaskRef| named(definition, task);
        let of_run = whole.run.progress.output.as_ref();
        found.add(of_run, || "the output of the run".to_owned());
        for row in &whole.run.tasks {
            found.add(row.output.as_ref(), || format!("the output of {}", name(row.task)));
            let leaves = |definition: &Definition| leaves_files(definition, row.task.no);
            if definition.is_some_and(leaves) {
                let left = left(row);
                let whose = || name(row.task);
                found.files.extend(left.map(|left| Files { whose: whose(), left }));
            }
        }
        for past in &whole.attempts {
            let whose =
                || format!("the output of attempt {} of {}", past.attempt.number, name(past.task));
            found.add(past.output.as_ref(), whose);
        }
        found
    }

    fn add(&mut self, output: Option<&Output>, whose: impl FnOnce() -> String) {
        if let Some(Output::Blob(blob)) = output {
            self.outputs.entry(*blob).or_insert_with(whose);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty() && self.files.is_empty()
    }

    /// Waits for a disk or a database.
    pub fn read(&self, blobs: &dyn Blobs) -> Read {
        let mut read = Read::default();
        for (blob, whose) in &self.outputs {
            read.contents += 1;
            if let Err(why) = verify(blobs, self.run, *blob) {
                let what = format!("{whose}, {} bytes: {why}", blob.bytes);
                read.violations.push(Violation::new(Promise::Outputs, what));
            }
        }
        for Files { whose, left } in &self.files {
            if let Err(why) = self.files_of(blobs, left, &mut read) {
                let what = format!("the artifacts of {whose}: {why}");
                read.violations.push(Violation::new(Promise::Artifacts, what));
            }
        }
        read
    }

    fn files_of(&self, blobs: &dyn Blobs, left: &Left, read: &mut Read) -> Result<(), String> {
        let listed = |attempt| artifacts::listed(blobs, self.run, attempt);
        match left {
            Left::By(attempt) => match listed(*attempt)? {
                Some(files) => self.each(blobs, &files, read),
                None => Err("the list of them is not in the blob store".to_owned()),
            },
            Left::CopiedFrom(attempt) => {
                self.each(blobs, &listed(*attempt)?.unwrap_or_default(), read)
            }
            Left::CopiedGroup(no) => {
                for attempt in artifacts::listed_makers(blobs, self.run, *no)? {
                    self.files_of(blobs, &Left::By(attempt), read)?;
                }
                Ok(())
            }
        }
    }

    fn each(
        &self,
        blobs: &dyn Blobs,
        files: &[(String, BlobRef)],
        read: &mut Read,
    ) -> Result<(), String> {
        let mut wrong = Vec::new();
        for (path, blob) in files {
            read.contents += 1;
            if let Err(why) = verify(blobs, self.run, *blob) {
                wrong.push(format!("{path}, {} bytes: {why}", blob.bytes));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    }
}

/// What a task has left, if others may read it.
fn left(row: &TaskRow) -> Option<Left> {
    if row.fact != Fact::Success {
        return None;
    }
    if row.group.as_ref().is_some_and(|group| group.copied) {
        return Some(Left::CopiedGroup(row.task.no));
    }
    let attempt = row.attempt.as_ref()?;
    match attempt.end.as_ref()? {
        AttemptEnd::Success | AttemptEnd::Cached => Some(Left::By(attempt.id)),
        AttemptEnd::Copied => Some(Left::CopiedFrom(attempt.id)),
        _ => None,
    }
}

fn leaves_files(definition: &Definition, no: TaskNo) -> bool {
    definition.tasks.get(no.position()).is_some_and(|task| task.leaves_files())
}

fn named(definition: Option<&Definition>, task: TaskRef) -> String {
    let found = definition.and_then(|definition| definition.tasks.get(task.no.position()));
    let name = match found {
        Some(found) => format!("task '{}'", found.name),
        None => format!("task number {}", task.no.0),
    };
    match task.index {
        None => name,
        Some(index) => format!("instance {index} of {name}"),
    }
}

/// Reads a content to its end; why it is not what was put.
fn verify(blobs: &dyn Blobs, run: RunId, blob: BlobRef) -> Result<(), String> {
    let name = BlobName::Content(run, blob.hash);
    let opened = blobs.open(name).map_err(|error| error.to_string())?;
    let reader = opened.ok_or_else(|| format!("blob {name} is not there"))?;
    let mut content = Checked::new(GzDecoder::new(reader), blob);
    match io::copy(&mut content, &mut io::sink()) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("blob {name} is damaged, or cannot be read: {error}")),
    }
}
