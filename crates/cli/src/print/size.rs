//! Sizes for people.

const MIB: u64 = 1024 * 1024;

pub fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes < MIB => format!("{} KiB", bytes.div_ceil(1024)),
        bytes if bytes < 10 * 1024 * MIB => format!("{} MiB", bytes / MIB),
        bytes => format!("{} GiB", bytes / (1024 * MIB)),
    }
}
