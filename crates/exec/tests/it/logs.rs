//! What processes write, and what is kept of it.

use crate::rig::{Rig, With, Written, argv, fifo, hear, shell, ticket, until};
use mainspring_core::kernel::row::Log;
use mainspring_core::limits::LOG_INLINE_BYTES_MAX;
use mainspring_core::work::{Life, Outcome, Reattached};
use mainspring_exec::Executor;
use mainspring_exec::log::{Stream, lines};
use std::path::PathBuf;

fn log_path(rig: &Rig, ticket: mainspring_core::ids::Ticket) -> PathBuf {
    rig.path("logs").join(format!("{}.log", ticket.attempt))
}

#[test]
fn lines_carry_stream_and_time() {
    let rig = Rig::new();
    let before = mainspring_exec::now();
    let launch = shell("echo one; echo two >&2; printf three");
    let ticket = launch.ticket;
    let ended = rig.run(launch);
    let log = rig.log(ticket, ended.log.as_ref());
    let mut found: Vec<_> = lines(&log).collect();
    assert!(found.iter().all(|line| before <= line.at && line.at <= mainspring_exec::now()));
    found.sort_by_key(|line| line.stream != Stream::Stdout);
    let texts: Vec<_> = found.iter().map(|line| (line.text, line.stream, line.complete)).collect();
    assert_eq!(
        texts,
        [
            (&b"one"[..], Stream::Stdout, true),
            (b"three", Stream::Stdout, false),
            (b"two", Stream::Stderr, true),
        ]
    );
}

#[test]
fn bytes_are_kept_as_they_came() {
    let rig = Rig::new();
    let written = rig.written(shell("printf 'a\\377\\000b\\r\\n\\n\\303' >&2"));
    assert_eq!(written.stderr, b"a\xff\x00b\r\n\n\xc3");
}

#[test]
fn lines_of_any_length_come_back_whole() {
    let rig = Rig::new();
    let mut text = Vec::new();
    for length in [0, 1, 65_535, 65_536, 65_537, 131_072, 131_073, 500_000] {
        text.extend(std::iter::repeat_n(b'x', length));
        text.push(b'\n');
    }
    text.extend(std::iter::repeat_n(b'y', 70_000));
    std::fs::write(rig.path("text"), &text).unwrap();
    let launch = shell("cat $TEXT").env("TEXT", rig.path("text"));
    let ticket = launch.ticket;
    let ended = rig.run(launch);
    let log = rig.log(ticket, ended.log.as_ref());
    assert!(Written::of(&log).stdout == text);
    assert!(lines(&log).all(|line| line.text.len() <= 64 * 1024));
    let whole = lines(&log).filter(|line| line.complete).count();
    assert_eq!(whole, 8);
}

#[test]
fn there_is_no_file_before_the_first_byte() {
    let rig = Rig::new();
    let (go, said) = (fifo(&rig, "go"), fifo(&rig, "said"));
    let line = "cat $GO; echo hello; echo > $SAID; cat $GO";
    let ticket = rig.started(shell(line).env("GO", &go).env("SAID", &said));
    assert_eq!(rig.files_in("logs"), [""; 0]);
    assert_eq!(rig.live_log(ticket.attempt), None);
    std::fs::write(&go, "").unwrap();
    hear(&said);
    // It has been written; whether it has been read yet is up to the runtime.
    until("the live log", || {
        rig.live_log(ticket.attempt).is_some_and(|log| Written::of(&log).stdout == b"hello\n")
    });
    std::fs::write(&go, "").unwrap();
    assert_eq!(rig.end_of(ticket).outcome, Outcome::Success(None));
}

#[test]
fn a_small_log_is_handed_over_inline_and_its_file_goes_with_the_settlement() {
    let rig = Rig::new();
    let ticket = rig.started(shell("echo hello"));
    let ended = rig.end_of(ticket);
    let Some(Log::Inline(log)) = &ended.log else { panic!("{ended:?}") };
    assert_eq!(Written::of(log).text(), "hello\n");
    assert!(log_path(&rig, ticket).exists(), "a crash now must not lose it");
    rig.executor.settle(ticket);
    assert_eq!(rig.files_in("logs"), [""; 0]);
}

#[test]
fn a_larger_log_stays_in_its_file() {
    let rig = Rig::new();
    let ticket = rig.started(shell("seq 1000"));
    let ended = rig.end_of(ticket);
    let Some(Log::File { bytes }) = ended.log else { panic!("{ended:?}") };
    assert!(bytes > LOG_INLINE_BYTES_MAX as u64);
    rig.executor.settle(ticket);
    assert_eq!(std::fs::metadata(log_path(&rig, ticket)).unwrap().len(), bytes);
}

const LIMIT: u64 = 1024 * 1024;

fn check_cut(log: &[u8], last: u64) {
    assert!(log.len() as u64 <= LIMIT + 200, "{} bytes", log.len());
    assert!(log.len() as u64 > LIMIT * 2 / 3, "{} bytes", log.len());
    let found: Vec<_> = lines(log).collect();
    let note = found.iter().position(|line| line.stream == Stream::Note).unwrap();
    let number = |at: usize| -> u64 {
        std::str::from_utf8(found[at].text).unwrap().trim_start_matches('0').parse().unwrap()
    };
    assert_eq!((number(0), number(note - 1)), (1, note as u64), "the head is whole");
    let kept_tail = (found.len() - note - 1) as u64;
    assert_eq!(number(found.len() - 1), last, "the end is there");
    assert_eq!(number(note + 1), last - kept_tail + 1, "the tail is whole");
    let cut = number(note + 1) - number(note - 1) - 1;
    let said = format!("{} bytes in {cut} lines were cut", cut * 51);
    let text = String::from_utf8_lossy(found[note].text);
    assert!(text.starts_with(&said), "{text} instead of {said}");
}

#[test]
fn fifty_megabytes_keep_head_and_tail() {
    let rig = Rig::new();
    let launch = shell("seq -f %050.0f 1000000").with(|work| work.log_bytes_max = LIMIT);
    let ticket = launch.ticket;
    let ended = rig.run(launch);
    check_cut(&rig.log(ticket, ended.log.as_ref()), 1_000_000);
    assert_eq!(rig.files_in("logs").len(), 1, "segments are gone");
}

#[test]
fn a_live_log_over_its_limit_is_read_the_same_and_bounded_on_disk() {
    let rig = Rig::new();
    let go = fifo(&rig, "go");
    let launch = shell("seq -f %050.0f 100000; cat $GO").env("GO", &go);
    let ticket = rig.started(launch.with(|work| work.log_bytes_max = LIMIT));
    let has_end = |log: &[u8]| lines(log).last().is_some_and(|line| line.text.ends_with(b"100000"));
    until("its last line", || rig.live_log(ticket.attempt).is_some_and(|log| has_end(&log)));
    check_cut(&rig.live_log(ticket.attempt).unwrap(), 100_000);
    let on_disk: u64 = std::fs::read_dir(rig.path("logs"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert!(on_disk <= LIMIT + 200, "{on_disk}");
    // What a crash would leave now: the next life puts it together.
    let reborn = rig.reborn();
    let Reattached::Unknown { log } = reborn.reattached(ticket, Life::Former) else {
        panic!("a former life's attempt is unknown")
    };
    check_cut(&reborn.log(ticket, log.as_ref()), 100_000);
    assert_eq!(reborn.files_in("logs").len(), 1);
}

#[test]
fn a_log_just_below_its_limit_is_whole() {
    let rig = Rig::new();
    // 81 bytes for each record; the parts may each waste one.
    let lines = (LIMIT - 3 * 81 - 100) / 81;
    let launch = shell(&format!("seq -f %050.0f {lines}"));
    let written = rig.written(launch.with(|work| work.log_bytes_max = LIMIT));
    assert_eq!(written.text().lines().count() as u64, lines);
}

#[test]
fn a_tiny_limit_is_kept_too() {
    let rig = Rig::new();
    let launch =
        shell("head -c 1000000 /dev/zero; seq 1000").with(|work| work.log_bytes_max = 2048);
    let ticket = launch.ticket;
    let ended = rig.run(launch);
    let log = rig.log(ticket, ended.log.as_ref());
    assert!(log.len() < 4096, "{}", log.len());
    assert!(Written::of(&log).stdout.ends_with(b"\n999\n1000\n"));
}

#[test]
fn a_log_that_cannot_be_written_does_not_hold_up_the_task() {
    let rig = Rig::new();
    let launch = shell("seq 100000; echo done > $MARK").env("MARK", rig.path("mark"));
    let ticket = launch.ticket;
    std::os::unix::fs::symlink("/dev/full", log_path(&rig, ticket)).unwrap();
    let ended = rig.run(launch);
    assert_eq!(ended.outcome, Outcome::Success(None));
    assert!(rig.path("mark").exists());
    let notes = Written::of(&rig.log(ticket, ended.log.as_ref())).notes;
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("588895 bytes in 100000 lines could not be kept"), "{notes:?}");
}

#[test]
fn a_log_folder_that_vanished_costs_the_log_only() {
    let rig = Rig::new();
    std::fs::remove_dir(rig.path("logs")).unwrap();
    let ended = rig.run(argv(&["echo", "lost"]));
    assert_eq!(ended.outcome, Outcome::Success(None));
    let notes = Written::of(&rig.log(ticket(), ended.log.as_ref())).notes;
    assert!(notes[0].starts_with("5 bytes in 1 lines could not be kept"), "{notes:?}");
}
