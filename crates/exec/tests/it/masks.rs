//! What a process says of its secrets: nothing of it is kept.

use crate::rig::{Rig, With, Written, failure, fifo, hear, shell, until};
use mainspring_core::spec::definition::OutputFrom;
use mainspring_core::work::{Launch, Life, Outcome, Reattached};
use std::path::Path;

const SECRET: &str = "hunter22-hunter22";

fn with_secret(rig: &Rig, line: &str) -> Launch {
    rig.keep_secret("token", SECRET);
    shell(line).secret("TOKEN", "token")
}

/// Every file below a folder, as bytes.
fn everything_below(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        bytes.extend(if path.is_dir() {
            everything_below(&path)
        } else {
            std::fs::read(path).unwrap()
        });
    }
    bytes
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn both_streams_are_masked_and_other_bytes_are_not_touched() {
    let rig = Rig::new();
    let line = "printf 'a\\377\\000%s\\r\\n%.8s' $TOKEN $TOKEN; printf '<%s>' $TOKEN >&2";
    let written = rig.written(with_secret(&rig, line));
    assert_eq!(written.stdout, b"a\xff\x00***\r\nhunter22");
    assert_eq!(written.stderr, b"<***>");
}

#[test]
fn a_secret_in_pieces_with_the_other_stream_between_them() {
    let rig = Rig::new();
    let (go, said) = (fifo(&rig, "go"), fifo(&rig, "said"));
    // Each piece is read before the next is written: the log of the other stream shows it.
    let line = "printf 'line\\nx hunter2'; echo one >&2; echo > $SAID; cat $GO; \
                printf '2-hunt'; echo two >&2; echo > $SAID; cat $GO; printf 'er22 y'";
    let ticket = rig.started(with_secret(&rig, line).env("GO", &go).env("SAID", &said));
    for marker in ["one\n", "two\n"] {
        hear(&said);
        until("its stderr", || {
            let log = rig.live_log(ticket.attempt).unwrap_or_default();
            let written = Written::of(&log);
            written.stderr.ends_with(marker.as_bytes()) && written.stdout == b"line\n"
        });
        assert!(!holds(&everything_below(&rig.path("logs")), "hunt"));
        std::fs::write(&go, "").unwrap();
    }
    let ended = rig.end_of(ticket);
    let written = Written::of(&rig.log(ticket, ended.log.as_ref()));
    assert_eq!(written.stdout, b"line\nx *** y");
    assert_eq!(written.stderr, b"one\ntwo\n");
}

#[test]
fn each_line_of_a_secret_is_one() {
    let rig = Rig::new();
    rig.keep_secret("key", "-- BEGIN --\nfirst line\nabc\nlast line\n");
    let line = "echo \"$KEY\"; echo \"$KEY\" | sed 's/^/> /'; echo line";
    let text = rig.written(shell(line).secret("KEY", "key")).text();
    assert_eq!(text, "***\n> ***\n> ***\n> abc\n> ***\nline\n");
}

#[test]
fn short_values_are_not_masked() {
    let rig = Rig::new();
    rig.keep_secret("pin", "123");
    assert_eq!(rig.written(shell("echo $PIN").secret("PIN", "pin")).text(), "123\n");
}

/// Ten MiB without a newline: longer than any piece of a line that is kept together.
#[test]
fn a_long_line_full_of_secrets() {
    let rig = Rig::new();
    let line = "yes $TOKEN+ | tr -d '\\n' | head -c 10485760";
    let launch = with_secret(&rig, line);
    let ticket = launch.ticket;
    let ended = rig.run(launch.with(|work| work.log_bytes_max = 64 << 20));
    let log = rig.log(ticket, ended.log.as_ref());
    let found = Written::of(&log).stdout;
    let (times, rest) = (10_485_760 / (SECRET.len() + 1), 10_485_760 % (SECRET.len() + 1));
    let expected = format!("{}{}", "***+".repeat(times), &SECRET[..rest]);
    assert!(found == expected.as_bytes());
}

#[test]
fn a_log_over_its_limit_shows_no_part_of_one() {
    let rig = Rig::new();
    // 257 bytes for each secret and its dots, 3,891 times: pieces of a line and of the log end anywhere in it.
    let dots = ".".repeat(257 - SECRET.len());
    let launch = with_secret(&rig, &format!("yes $TOKEN{dots} | tr -d '\\n' | head -c 999987"));
    let ticket = launch.ticket;
    let ended = rig.run(launch.with(|work| work.log_bytes_max = 10_000));
    let log = rig.log(ticket, ended.log.as_ref());
    let written = Written::of(&log);
    assert_eq!(written.notes.len(), 1, "{:?}", written.notes);
    assert!(holds(&log, "***"));
    assert!(!holds(&log, "hunt") && !holds(&log, "er22"));
}

#[test]
fn what_a_crash_leaves_is_masked_too() {
    let rig = Rig::new();
    let ticket = rig.started(with_secret(&rig, "echo \"<$TOKEN>\"; exec sleep 1000"));
    until("the live log", || {
        rig.live_log(ticket.attempt).is_some_and(|log| Written::of(&log).stdout == b"<***>\n")
    });
    let reborn = rig.reborn();
    let Reattached::Unknown { log } = reborn.reattached(ticket, Life::Former) else {
        panic!("a former life's attempt is unknown")
    };
    assert_eq!(Written::of(&reborn.log(ticket, log.as_ref())).text(), "<***>\n");
}

#[test]
fn a_quoted_output_is_masked_before_it_is_cut() {
    let rig = Rig::new();
    rig.keep_secret("quoted", "hunter\"22\nline two");
    // A secret that would begin within the quote and end behind it, and many that make it shorter.
    let across = "printf '%0195d%s' 0 $TOKEN";
    let many = "yes \"$TOKEN\" | tr -d '\\n' | head -c 3000";
    for line in ["echo \"{$TOKEN\"", "printf '{%s' \"$QUOTED\"", across, many] {
        for target in ["", " > $MAINSPRING_OUTPUT"] {
            let launch = with_secret(&rig, &format!("{{ {line}; }}{target}"));
            let launch = launch.secret("QUOTED", "quoted");
            let error = failure(rig.run(launch.with(|work| work.output = OutputFrom::Stdout)));
            assert!(error.message.contains("***"), "{}", error.message);
            for part in ["hunt", "er22", "line two"] {
                assert!(!error.message.contains(part), "{}", error.message);
            }
        }
    }
}

/// Outputs are stored, secrets are not.
#[test]
fn an_output_holds_no_secret() {
    let rig = Rig::new();
    let run =
        |line: &str| rig.run(with_secret(&rig, line).with(|work| work.output = OutputFrom::Stdout));
    let shown = |line: &str| match run(line).outcome {
        Outcome::Success(Some(output)) => output.to_text().into_owned(),
        other => panic!("not a success: {other:?}"),
    };
    let line = r#"printf '{"t": "<%s>", "%s": 1}' "$TOKEN" "$TOKEN""#;
    assert_eq!(shown(line), r#"{"t": "<***>", "***": 1}"#);
    assert_eq!(shown(&format!("{line} > $MAINSPRING_OUTPUT")), r#"{"t": "<***>", "***": 1}"#);
    assert_eq!(shown(r#"echo '{"t":  "none"}'"#).trim_end(), r#"{"t":  "none"}"#);
    rig.keep_secret("pin", "123456");
    let number = shell("echo '[123456]' > $MAINSPRING_OUTPUT").secret("PIN", "pin");
    let error = failure(rig.run(number));
    assert!(error.message.contains("outside of text"), "{}", error.message);
}

/// Python, Go, .NET and PHP each write the same text as JSON in their own way; whoever reads it has
/// the secret again.
#[test]
fn an_output_holds_no_secret_however_json_writes_it() {
    let rig = Rig::new();
    rig.keep_secret("odd", "pässwört/<42>+😀");
    let written = [
        r#"{"t": "p\u00e4ssw\u00f6rt/<42>+\ud83d\ude00", "n": 1.10000000000000000001}"#,
        r#"{"t": "p\u00E4ssw\u00F6rt\/\u003c42\u003E\u002B\uD83D\uDE00", "n": 1.10000000000000000001}"#,
        r#"{"t": "\u0070ässwört/<42>+😀", "n": 1.10000000000000000001}"#,
    ];
    for text in written {
        let line = format!("printf '%s' '{text}'; printf '%s' '{text}' > $MAINSPRING_OUTPUT");
        for line in [line.clone(), format!("{line}; rm $MAINSPRING_OUTPUT")] {
            let launch = shell(&line).secret("ODD", "odd");
            let ticket = launch.ticket;
            let ended = rig.run(launch.with(|work| work.output = OutputFrom::Stdout));
            let log = rig.log(ticket, ended.log.as_ref());
            let expected = r#"{"t": "***", "n": 1.10000000000000000001}"#;
            assert_eq!(Written::of(&log).text(), expected);
            match ended.outcome {
                Outcome::Success(Some(output)) => assert_eq!(output.to_text(), expected),
                other => panic!("not a success: {other:?}"),
            }
        }
    }
}

#[test]
fn what_is_said_of_a_bad_output_holds_no_secret_however_json_writes_it() {
    let rig = Rig::new();
    rig.keep_secret("odd", "pässwört-42");
    let line = r#"printf '%s' '{"t": "p\u00e4ssw\u00F6rt-42"' > $MAINSPRING_OUTPUT"#;
    let error = failure(rig.run(shell(line).secret("ODD", "odd")));
    assert!(error.message.contains("***"), "{}", error.message);
    assert!(!error.message.contains("u00e4"), "{}", error.message);
}

#[test]
fn nothing_is_left_on_disk() {
    let rig = Rig::new();
    let line = "echo $TOKEN; echo $TOKEN >&2; echo \"{$TOKEN\" > $MAINSPRING_OUTPUT";
    rig.run(with_secret(&rig, line));
    for folder in ["logs", "work"] {
        assert!(!holds(&everything_below(&rig.path(folder)), "hunter22"), "{folder}");
    }
}
