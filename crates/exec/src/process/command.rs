//! What to execute for a task, and what it means when that fails.

use super::clone::CloneError;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::limits::ENV_VALUE_BYTES_MAX;
use mainspring_core::work::Program;
use rustix::io::Errno;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Why an attempt did not start.
#[derive(Debug)]
pub(super) enum NotStarted {
    /// The task's own fault: trying again the same way cannot help.
    Failed(TaskError),
    /// The machine's: later it may go well.
    Refused(String),
    /// Something that a person has to see to is in its way.
    Hindered(String),
}

impl From<TaskError> for NotStarted {
    fn from(error: TaskError) -> Self {
        Self::Failed(error)
    }
}

/// Program, arguments and directory as the kernel takes them.
pub(super) struct Command {
    /// Paths to try, in order.
    pub candidates: Vec<CString>,
    pub argv: Vec<CString>,
    pub workdir: CString,
}

impl Command {
    pub fn new(program: &Program, workdir: &str, path: &OsStr) -> Result<Self, TaskError> {
        let argv: Vec<CString> = match program {
            Program::Shell(line) => vec![c"/bin/sh".into(), c"-c".into(), text("run", line)?],
            Program::Argv(argv) => {
                argv.iter().enumerate().map(argument).collect::<Result<_, _>>()?
            }
        };
        let name = argv.first().ok_or_else(|| logic("the command is empty"))?;
        let candidates = match name.as_bytes() {
            b"" => return Err(logic("the command's name is empty")),
            // Relative ones are found from the working directory: it is entered first.
            bytes if bytes.contains(&b'/') => vec![name.clone()],
            bytes => look_up(bytes, path),
        };
        Ok(Self { candidates, argv, workdir: text("workdir", workdir)? })
    }

    fn name(&self) -> String {
        self.argv[0].to_string_lossy().into_owned()
    }

    /// What a failed start says about the task or the machine.
    pub fn explain(&self, error: CloneError) -> NotStarted {
        let (class, message) = match error {
            CloneError::Clone(errno) | CloneError::Setup(errno) => {
                return NotStarted::Refused(format!("no process to be had: {errno}"));
            }
            CloneError::Chdir(Errno::AGAIN | Errno::NOMEM)
            | CloneError::Exec(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE) => {
                return NotStarted::Refused("no memory or process to be had".to_owned());
            }
            CloneError::Chdir(errno) => {
                return workdir_error(&self.workdir.to_string_lossy(), errno).into();
            }
            CloneError::Exec(errno) => self.explain_exec(errno),
        };
        NotStarted::Failed(TaskError::new(class, message))
    }

    fn explain_exec(&self, errno: Errno) -> (ErrorClass, String) {
        let name = self.name();
        match errno {
            Errno::NOENT => match self.without_interpreter() {
                None => (ErrorClass::Logic, format!("command not found: {name}")),
                Some(path) => {
                    let what = "the interpreter named in its first line does not exist";
                    (ErrorClass::Logic, format!("{path} cannot be executed: {what}"))
                }
            },
            Errno::ACCESS => {
                (ErrorClass::Permission, format!("{name} may not be executed (permission denied)"))
            }
            Errno::NOEXEC => {
                let what = "it is no program for this machine and has no #! line";
                (ErrorClass::Logic, format!("{name} cannot be executed: {what}"))
            }
            Errno::TOOBIG => {
                let what = "its arguments and environment are too long for the kernel";
                (ErrorClass::Logic, format!("{name} cannot be executed: {what}"))
            }
            // Somebody is writing the program right now.
            Errno::TXTBSY => (ErrorClass::Transient, format!("{name} is being written")),
            errno => (ErrorClass::Logic, format!("{name} cannot be executed: {errno}")),
        }
    }

    /// The kernel says 'not found' of a script, too, whose interpreter is missing.
    fn without_interpreter(&self) -> Option<String> {
        let workdir = Path::new(OsStr::from_bytes(self.workdir.as_bytes()));
        let found = self
            .candidates
            .iter()
            .find(|candidate| workdir.join(OsStr::from_bytes(candidate.as_bytes())).is_file())?;
        Some(found.to_string_lossy().into_owned())
    }
}

/// Why a workdir is none.
pub(super) fn workdir_error(workdir: &str, errno: Errno) -> TaskError {
    let (class, why) = match errno {
        Errno::NOENT => (ErrorClass::Logic, "does not exist".to_owned()),
        Errno::NOTDIR => (ErrorClass::Logic, "is not a directory".to_owned()),
        Errno::ACCESS => (ErrorClass::Permission, "may not be entered".to_owned()),
        errno => (ErrorClass::Logic, format!("cannot be entered: {errno}")),
    };
    TaskError::new(class, format!("workdir {workdir} {why}"))
}

/// One path for each directory of PATH; an empty entry means the working directory.
fn look_up(name: &[u8], path: &OsStr) -> Vec<CString> {
    path.as_bytes()
        .split(|byte| *byte == b':')
        .map(|folder| if folder.is_empty() { b"." } else { folder })
        .filter_map(|folder| CString::new([folder, b"/", name].concat()).ok())
        .collect()
}

fn argument((no, value): (usize, &String)) -> Result<CString, TaskError> {
    let field = format!("command[{no}]");
    if value.len() > ENV_VALUE_BYTES_MAX {
        let length = value.len();
        let why = format!("{field} is {length} bytes; at most {ENV_VALUE_BYTES_MAX} are passed on");
        return Err(logic(&why));
    }
    text(&field, value)
}

fn text(field: &str, value: &str) -> Result<CString, TaskError> {
    CString::new(value).map_err(|_| logic(&format!("{field} holds a NUL byte")))
}

fn logic(message: &str) -> TaskError {
    TaskError::new(ErrorClass::Logic, message)
}
