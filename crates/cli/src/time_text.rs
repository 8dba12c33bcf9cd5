//! Moments as people read them in a table.

use mainspring_core::time::Timestamp;

/// `2026-11-16 00:12:33`, UTC.
pub fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    text.get(..19).map_or_else(|| text.clone(), |seconds| seconds.replace('T', " "))
}

/// `00:12:33`, UTC.
pub fn clock(at: Timestamp) -> String {
    let text = moment(at);
    text.get(11..).unwrap_or(&text).to_owned()
}

/// From one moment to another, or to now while the other is still to come.
pub fn took(from: Option<Timestamp>, to: Option<Timestamp>) -> String {
    let Some(from) = from else { return String::new() };
    to.unwrap_or_else(mainspring_exec::now).since(from).to_string()
}
