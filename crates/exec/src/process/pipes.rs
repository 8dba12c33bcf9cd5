//! What a child reads and where it writes. Nothing here is a buffer: a live attempt that is silent
//! costs two descriptors, and all attempts of a thread are read through one.

use crate::log::format::Stream;
use rustix::fs::{MemfdFlags, SeekFrom, memfd_create, seek};
use rustix::io::{Errno, fcntl_dupfd_cloexec, ioctl_fionbio};
use rustix::pipe::{PipeFlags, pipe_with};
use std::cell::RefCell;
use std::os::fd::{AsRawFd, OwnedFd};
use std::task::{Context, Poll};
use tokio::net::unix::pipe::Receiver;

/// A pipe's usual capacity: one read empties it.
const READ_BYTES: usize = 64 * 1024;
/// Reads in a row before others get their turn. One would do; the second sees most ends at once.
const READS_IN_A_ROW: usize = 2;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Our ends of a child's stdout and stderr.
pub(super) struct Pipes {
    stdout: OwnedFd,
    stderr: OwnedFd,
}

/// Opens both pipes; the second value is the child's ends.
pub(super) fn open() -> Result<(Pipes, [OwnedFd; 2]), Errno> {
    let (stdout, child_stdout) = pipe()?;
    let (stderr, child_stderr) = pipe()?;
    Ok((Pipes { stdout, stderr }, [child_stdout, child_stderr]))
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (ours, childs) = pipe_with(PipeFlags::CLOEXEC)?;
    ioctl_fionbio(&ours, true)?;
    Ok((ours, above_stdio(childs)?))
}

/// A file in memory that holds `text`, to be read from its start: a child's stdin that needs
/// nobody to write it and cannot block.
pub(crate) fn filled(text: &str) -> Result<OwnedFd, Errno> {
    let file = memfd_create("mainspring-input", MemfdFlags::CLOEXEC)?;
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = &rest[written..];
    }
    seek(&file, SeekFrom::Start(0))?;
    above_stdio(file)
}

/// A server started with closed stdio gets 0, 1 and 2 from the kernel; the child needs those.
fn above_stdio(fd: OwnedFd) -> Result<OwnedFd, Errno> {
    if fd.as_raw_fd() > 2 { Ok(fd) } else { fcntl_dupfd_cloexec(&fd, 3) }
}

/// Both pipes, read asynchronously; each is closed at its end.
pub(super) struct Reading {
    stdout: Option<Receiver>,
    stderr: Option<Receiver>,
}

impl Reading {
    /// Within a runtime.
    pub fn new(pipes: Pipes) -> std::io::Result<Self> {
        let stdout = Some(Receiver::from_owned_fd_unchecked(pipes.stdout)?);
        let stderr = Some(Receiver::from_owned_fd_unchecked(pipes.stderr)?);
        Ok(Self { stdout, stderr })
    }

    pub fn is_done(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    /// Waits until there is something to read, or an end to be seen; for ever once both ended.
    pub async fn readable(&self) {
        std::future::poll_fn(|context| {
            // Both are polled, so that either wakes us.
            let stdout = is_readable(self.stdout.as_ref(), context);
            let stderr = is_readable(self.stderr.as_ref(), context);
            if stdout || stderr { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Hands over what is there, a bounded part of it.
    pub fn read(&mut self, mut take: impl FnMut(Stream, &[u8])) {
        BUFFER.with_borrow_mut(|buffer| {
            buffer.resize(READ_BYTES, 0);
            let sources = [(&mut self.stdout, Stream::Stdout), (&mut self.stderr, Stream::Stderr)];
            for (pipe, stream) in sources {
                for _ in 0..READS_IN_A_ROW {
                    let Some(source) = pipe else { break };
                    match source.try_read(buffer) {
                        Ok(0) => *pipe = None,
                        Ok(read) => take(stream, &buffer[..read]),
                        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                        Err(_) => *pipe = None,
                    }
                }
            }
        });
    }
}

fn is_readable(pipe: Option<&Receiver>, context: &mut Context<'_>) -> bool {
    pipe.is_some_and(|pipe| pipe.poll_read_ready(context).is_ready())
}
