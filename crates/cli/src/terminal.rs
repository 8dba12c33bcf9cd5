//! What is at the other end of stdout and stderr.

use std::io::IsTerminal as _;

/// Columns, when stdout is a terminal.
pub fn stdout_width() -> Option<u16> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    Some(rustix::termios::tcgetwinsize(stdout).map_or(80, |size| size.ws_col).max(40))
}

/// Columns and lines, when stderr is a terminal that understands cursor movements.
pub fn stderr_size() -> Option<(usize, usize)> {
    let stderr = std::io::stderr();
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if !stderr.is_terminal() || dumb {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stderr).ok();
    let known = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
    Some(known.map_or((80, 24), |size| (usize::from(size.ws_col), usize::from(size.ws_row))))
}
