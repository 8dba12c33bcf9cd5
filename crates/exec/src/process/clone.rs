//! Starts a program in a new process: the only unsafe code of this room.
//!
//! ```text
//!  spawn thread                          child (shares our memory, runs on its own stack)
//!  clone(VM, VFORK, PIDFD) ────────────► own group, die with the server, stdio, directory,
//!      │ suspended by the kernel         signals, open-file limit
//!      │                                 execve ─► memory is its own again
//!      ◄──────────────────────────────────┘   └─ failed: step and errno into `Order`, exit
//! ```
//! Sharing memory instead of copying page tables keeps the price of a spawn the same however
//! large the server grows, and gives the errno back without a pipe. The child may only do system
//! calls: no allocation, no lock, no panic.

use super::open_files;
use libc::{c_char, c_int, c_void};
use rustix::io::Errno;
use rustix::process::Pid;
use std::ffi::CString;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// What to run and how.
pub(super) struct Image<'a> {
    /// Tried in turn until one can be executed.
    pub candidates: &'a [CString],
    pub argv: &'a [CString],
    pub envp: &'a [CString],
    pub workdir: &'a CString,
    /// None of them is 0, 1 or 2.
    pub stdio: [BorrowedFd<'a>; 3],
}

/// What failed on the way to a running program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CloneError {
    /// There is no new process.
    Clone(Errno),
    Chdir(Errno),
    Exec(Errno),
    /// Anything else the child does to itself before it executes the program.
    Setup(Errno),
}

/// The stack a child runs on until it executes its program: one for each spawn thread, because
/// the thread is suspended for as long as the child uses it.
pub(super) struct Stack(Vec<u128>);

impl Stack {
    pub fn new() -> Self {
        const BYTES: usize = 64 * 1024;
        Self(vec![0; BYTES / size_of::<u128>()])
    }
}

const STEP_SETUP: i32 = 1;
const STEP_CHDIR: i32 = 2;
const STEP_EXEC: i32 = 3;

/// All the child needs, prepared before it exists.
struct Order {
    candidates: *const *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
    workdir: *const c_char,
    stdio: [c_int; 3],
    server: libc::pid_t,
    open_files: Option<libc::rlimit>,
    failed_step: AtomicI32,
    failed_errno: AtomicI32,
}

/// Blocks every signal for the calling thread, for good. A handler must not run in a child that
/// shares our memory; children get an empty mask.
pub(super) fn block_signals() {
    // SAFETY: both calls only write to `all`, which outlives them.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, ptr::null_mut());
    }
}

/// The kernel's number of the calling thread.
pub(super) fn thread_number() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// Starts a program as the leader of a process group of its own; it is killed when the calling
/// thread ends, so that thread has to live as long as the server, with all signals blocked.
pub(super) fn clone_exec(
    stack: &mut Stack,
    image: &Image<'_>,
) -> Result<(Pid, OwnedFd), CloneError> {
    let candidates = pointers(image.candidates);
    let argv = pointers(image.argv);
    let envp = pointers(image.envp);
    let order = Order {
        candidates: candidates.as_ptr(),
        argv: argv.as_ptr(),
        envp: envp.as_ptr(),
        workdir: image.workdir.as_ptr(),
        stdio: image.stdio.map(|fd| fd.as_raw_fd()),
        server: rustix::process::getpid().as_raw_nonzero().get(),
        open_files: open_files::for_children(),
        failed_step: AtomicI32::new(0),
        failed_errno: AtomicI32::new(0),
    };
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    let mut pidfd: c_int = -1;
    let top = stack.0.as_mut_ptr_range().end;
    // SAFETY: the stack is 16-byte aligned (u128), grows down from `top` and belongs to this
    // thread, which VFORK suspends until the child has executed or exited; `order` and all it
    // points to live on this suspended thread's stack and heap until then. PIDFD writes one int
    // to its argument. All signals are blocked, so no handler runs in the child.
    let pid = unsafe {
        let order = ptr::from_ref(&order).cast_mut().cast::<c_void>();
        libc::clone(child, top.cast(), flags, order, ptr::from_mut(&mut pidfd))
    };
    let Some(pid) = Pid::from_raw(pid.max(0)) else {
        return Err(CloneError::Clone(last_errno()));
    };
    // SAFETY: clone succeeded, so the kernel has opened this descriptor for us, close-on-exec.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    let step = order.failed_step.load(Ordering::Relaxed);
    if step == 0 {
        return Ok((pid, pidfd));
    }
    let errno = Errno::from_raw_os_error(order.failed_errno.load(Ordering::Relaxed));
    let error = match step {
        STEP_CHDIR => CloneError::Chdir(errno),
        STEP_EXEC => CloneError::Exec(errno),
        _ => CloneError::Setup(errno),
    };
    reap(pid);
    Err(error)
}

/// A pidfd that the runtime tells the end of; within a runtime.
pub(super) fn watch(pidfd: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is owned, so it stays open and the same for as long as it is watched.
    let watched = unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) };
    watched.map_err(Into::into)
}

/// The child that failed has exited or is about to: this does not wait for long.
fn reap(pid: Pid) {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    while let Err(Errno::INTR) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED) {}
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::AGAIN)
}

/// Runs in the child, until its program does.
extern "C" fn child(order: *mut c_void) -> c_int {
    // SAFETY: `clone_exec` passes an Order that outlives this child's use of our memory.
    let order = unsafe { &*order.cast::<Order>() };
    let step = prepare(order);
    // SAFETY: errno is that of the suspended thread, which shares its thread-local memory with us;
    // then this process ends without running anything of the server's.
    unsafe {
        order.failed_errno.store(*libc::__errno_location(), Ordering::Relaxed);
        order.failed_step.store(step, Ordering::Relaxed);
        libc::_exit(127)
    }
}

/// Returns the step that failed; does not return when the program runs.
fn prepare(order: &Order) -> i32 {
    // SAFETY: system calls on plain numbers and on memory that `order` keeps alive.
    unsafe {
        if libc::setpgid(0, 0) != 0 || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
            return STEP_SETUP;
        }
        if libc::getppid() != order.server {
            // It died before the signal was set: nobody is there to read a failure.
            libc::_exit(127);
        }
        for (target, source) in (0..).zip(order.stdio) {
            if libc::dup2(source, target) < 0 {
                return STEP_SETUP;
            }
        }
        // Files opened without close-on-exec elsewhere in the server are none of the child's
        // business. A kernel before 5.11 does not know this; then ours are closed all the same.
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
        if let Some(limit) = &order.open_files {
            libc::setrlimit(libc::RLIMIT_NOFILE, limit);
        }
        reset_signals();
        if libc::chdir(order.workdir) != 0 {
            return STEP_CHDIR;
        }
        execute(order)
    }
}

/// Signals the server handles or ignores are the child's to use again; then the mask is opened.
///
/// # Safety
/// Only in the child: the dispositions are its own copy.
unsafe fn reset_signals() {
    // SAFETY: reads and writes only the locals below, which have room for the kernel's structure
    // (handler, flags, restorer, mask). Not through the C library: it keeps two signals to itself,
    // and a server may have been started with those ignored.
    unsafe {
        const MASK_BYTES: usize = 8;
        let default = [0_u64; 4];
        let mut found = default;
        for signal in 1..=64 {
            libc::syscall(libc::SYS_rt_sigaction, signal, 0, found.as_mut_ptr(), MASK_BYTES);
            // The first word is the handler; 0 is the default one.
            if found[0] != 0 {
                libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), 0, MASK_BYTES);
            }
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
    }
}

/// Tries one path after the other, as a shell would; a file that may not be executed is worth
/// telling only if no other can be.
///
/// # Safety
/// Only in the child, with an Order that is alive.
unsafe fn execute(order: &Order) -> i32 {
    // SAFETY: the arrays end with a null pointer, and their strings are alive.
    unsafe {
        let mut refused = false;
        let mut candidate = order.candidates;
        while !(*candidate).is_null() {
            libc::execve(*candidate, order.argv, order.envp);
            match *libc::__errno_location() {
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => refused = true,
                _ => return STEP_EXEC,
            }
            candidate = candidate.add(1);
        }
        *libc::__errno_location() = if refused { libc::EACCES } else { libc::ENOENT };
        STEP_EXEC
    }
}
