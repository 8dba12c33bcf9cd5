//! Memory that was needed under load is given back when the load is gone.
//!
//! glibc keeps what was freed, in as many arenas as eight times the cores: a server that has
//! carried a hundred thousand runs would stay twice as large as one that has just started.
//! Other allocators are left to themselves.

use mainspring_server::Hub;
use std::sync::Arc;
use std::time::Duration;

/// Nothing was committed for so long: the load is gone.
const QUIET: Duration = Duration::from_secs(2);

/// Before any thread is started.
pub fn share_arenas() {
    #[cfg(target_env = "gnu")]
    // SAFETY: a setting of the allocator, changed while this is the only thread.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

/// Gives back after every spell of work, for as long as it is polled. While nothing happens it
/// is not woken.
pub async fn give_back(hub: Arc<Hub>) {
    let mut commits = hub.watch();
    while commits.changed().await.is_ok() {
        loop {
            commits.mark_unchanged();
            tokio::time::sleep(QUIET).await;
            match commits.has_changed() {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => return,
            }
        }
        trim();
    }
}

fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: any thread may ask for it at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}
