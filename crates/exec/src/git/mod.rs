//! Git: a worktree of its own for each attempt, and the built-in merge queue.
//!
//! ```text
//!  base ──► mainspring/<run>/<task> ── worktree <data>/worktrees/<attempt> ── the process works there
//!                   │                                                             │ success
//!                   ◄──────────── what it left uncommitted is committed ──────────┘
//!                   │
//!   target's tip ──►┴─ merge in a scratch worktree ─► verify there ─► compare-and-swap ─► landed
//! ```
//! The branch is what lasts; worktrees come and go with their attempts. A merge runs in a child
//! process of our own program, so that it is stopped, logged and timed like any other. Knows git
//! by its command line, and nothing of how attempts are started.

mod caller;
mod error;
mod lock;
mod repository;
mod worktrees;
mod workspace;
mod obstacles;
mod under_way;
mod behind;
mod checkout;
mod landed;
mod scratch;
mod merge;
mod order;

pub(crate) use caller::{Caller, Group};
pub(crate) use error::GitError;
pub(crate) use merge::{check_start, conclude};
pub(crate) use order::{Order, Verdict};
pub(crate) use workspace::{Begin, Workspace};
pub(crate) use worktrees::Worktrees;

pub use order::{CHILD_FAILED, carry_out};
