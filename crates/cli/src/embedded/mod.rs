//! Runs one workflow in this process.
//!
//! ```text
//!  Ground: folder held, leftovers killed, database open
//!     └─► Life: executor, engine ──► accept (deploy, trigger) ──► follow ──► summary
//!                      ├── observer ── news ───────────────────────┘ ▲
//!                      │       └── hub ──► door ──► other commands     │
//!                      └── door: orders              Ctrl-C, ticks ────┘
//! ```

mod ground;
mod life;
mod settings;
mod accept;
mod follow;
mod kin;
mod door;
mod summary;

pub use accept::{Checked, Fresh, NotAccepted, accept};
pub use door::Door;
pub use follow::{Ending, Follow};
pub use ground::{Ground, hold, root};
pub use life::Life;
pub use settings::{OpenFiles, Settings, processes_default, share_open_files};
pub use summary::{Finished, print};
