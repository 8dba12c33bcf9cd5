//! Memory that was needed under load is given back when the load is gone.
//!
//! glibc keeps what was freed, in as many arenas as eight times the cores: a server that has
//! carried a hundred thousand runs would stay twice as large as one that has just started.
//! Other allocators are left to themselves.

use mainspring_server::Hub;
use std::fs;
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

/// Gives back after the start and after every spell of work, for as long as it is polled. While
/// nothing happens it is not woken.
pub async fn give_back(hub: Arc<Hub>) {
    let mut commits = hub.watch();
    loop {
        loop {
            commits.mark_unchanged();
            tokio::time::sleep(QUIET).await;
            match commits.has_changed() {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => return,
            }
        }
        hub.forget();
        trim();
        if commits.changed().await.is_err() {
            return;
        }
    }
}

fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: any thread may ask for it at any time.
    unsafe {
        libc::malloc_trim(0);
    }
    // What cannot be read here is no more than a chance missed.
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let program = fs::read_link("/proc/self/exe").unwrap_or_default();
    for (from, to) in code(&maps, &program.to_string_lossy()) {
        // SAFETY: code is mapped from its file and never written, so the kernel drops nothing
        // but its own note of which pages are at hand: whoever needs one again finds it in the
        // file's cache.
        unsafe { libc::madvise(from as *mut libc::c_void, to - from, libc::MADV_DONTNEED) };
    }
}

/// Where the program's own code is, as the kernel tells it: most of it is needed once, at the
/// start, or never.
fn code(maps: &str, program: &str) -> Vec<(usize, usize)> {
    let lines = maps.lines().filter(|line| line.ends_with(program) && !program.is_empty());
    let places = lines.filter_map(|line| {
        let (place, rest) = line.split_once(' ')?;
        let (from, to) = place.split_once('-')?;
        let number = |digits| usize::from_str_radix(digits, 16).ok();
        rest.starts_with("r-xp").then_some((number(from)?, number(to)?))
    });
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_programs_own_code_is_meant() {
        let maps = "\
1000-2000 r--p 00000000 fe:00 1    /bin/mainspring
2000-5000 r-xp 00001000 fe:00 1    /bin/mainspring
5000-6000 rw-p 00004000 fe:00 1    /bin/mainspring
7000-8000 r-xp 00000000 fe:00 2    /lib/libc.so.6
9000-a000 r-xp 00000000 00:00 0    [vdso]
";
        assert_eq!(code(maps, "/bin/mainspring"), [(0x2000, 0x5000)]);
        assert_eq!(code(maps, ""), []);
    }

    #[test]
    fn a_program_goes_on_after_it() {
        let before: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
        trim();
        assert_eq!(before.concat().len(), 2_890);
    }
}
