//! Those who mean harm, on the real socket: slow ones, loud ones, liars. Each is cut off or
//! refused, and the server goes on, with about as much memory as before.

use crate::door::{Door, Served};
use crate::http::{Answer, ask, connect, parse, request, rest, send};
use crate::rig::PATIENCE;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

/// More than any of this should ever cost, and far less than what is sent.
const MEMORY_MIB_MAX: u64 = 64;

/// The server still answers, sooner or later: under load it may take its time.
#[track_caller]
fn goes_on(url: &str) {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if send(url, &request("GET /healthz", &[], "")).is_some_and(|answer| answer.status == 200) {
            return;
        }
    }
    panic!("the server no longer answers");
}

#[test]
fn whoever_is_slow_is_cut_off() {
    let served = Served::started_with(&["--read-timeout", "500ms"]);
    let url = &served.url;
    for head in ["", "GET /healthz", "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx: "] {
        let mut stream = connect(url);
        stream.write_all(head.as_bytes()).expect("sent");
        let heard = rest(&mut stream);
        assert!(parse(&heard).is_none_or(|it| it.status == 408), "{head:?} was answered");
    }
    // The head has to arrive in time as well: under load it may not, and is sent again.
    let until = Instant::now() + PATIENCE;
    let answer = loop {
        let mut stream = connect(url);
        let line = "POST /workflows HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\nname";
        let _ = stream.write_all(line.as_bytes());
        if let Some(answer) = parse(&rest(&mut stream)) {
            break answer;
        }
        assert!(Instant::now() < until, "no answer");
    };
    assert_eq!((answer.status, answer.code().as_str()), (408, "slow_body"));
    goes_on(url);
}

#[test]
fn idle_connections_keep_nobody_out() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where it may not be raised there are fewer of them.
    let _ = setrlimit(Resource::Nofile, limit);
    let room = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let served = Served::started_with(&["--read-timeout", "2s"]);
    let idle: Vec<TcpStream> = (0..room.saturating_sub(200).min(3_000))
        .filter_map(|_| TcpStream::connect(served.url.strip_prefix("http://")?).ok())
        .collect();
    assert!(!idle.is_empty());
    goes_on(&served.url);
    for mut stream in idle {
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        assert!(rest(&mut stream).is_empty(), "it said nothing and was answered");
    }
    assert!(served.memory_mib() < MEMORY_MIB_MAX * 4);
}

/// Sends chunks until the server has had enough; how many bytes it let through.
fn endless(url: &str) -> (usize, Option<Answer>) {
    let mut stream = connect(url);
    let head = "POST /workflows HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("sent");
    stream.set_nonblocking(true).expect("set");
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let (mut sent, mut heard, mut some) = (0, Vec::new(), [0; 8192]);
    let until = Instant::now() + PATIENCE;
    while sent < 256 * 1024 * 1024 && Instant::now() < until {
        match stream.read(&mut some) {
            Ok(0) => return (sent, parse(&heard)),
            Ok(count) => heard.extend_from_slice(&some[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return (sent, parse(&heard)),
        }
        if parse(&heard).is_some() {
            return (sent, parse(&heard));
        }
        // Where in a chunk the next bytes are does not matter for what is in it.
        if let Ok(count) = stream.write(&chunk.as_bytes()[sent % chunk.len()..]) {
            sent += count;
        }
    }
    panic!("{sent} bytes were taken");
}

#[test]
fn too_much_of_anything_is_refused() {
    let served = Served::new(Door::Address);
    let url = &served.url;
    let before = served.memory_mib();
    let flood: Vec<String> = (0..1_000).map(|no| format!("x-{no}: y")).collect();
    let flood: Vec<&str> = flood.iter().map(String::as_str).collect();
    let huge = format!("x: {}", "y".repeat(1024 * 1024));
    for _ in 0..20 {
        for headers in [&flood[..], &[huge.as_str()]] {
            let answer = send(url, &request("GET /runs", headers, ""));
            assert!(answer.is_none_or(|it| matches!(it.status, 400 | 431)), "it was taken");
        }
        let line = format!("GET /{}", "a/".repeat(20_000));
        let answer = send(url, &request(&line, &[], ""));
        assert!(answer.is_none_or(|it| matches!(it.status, 404 | 414 | 431)), "it was found");
        let (sent, answer) = endless(url);
        assert!(sent < 64 * 1024 * 1024, "{sent} bytes were taken");
        assert!(answer.is_none_or(|it| it.code() == "body_too_large"), "it was taken");
    }
    let said = "POST /workflows HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99999999999\r\n\r\n";
    let mut stream = connect(url);
    stream.write_all(said.as_bytes()).expect("sent");
    let heard = parse(&rest(&mut stream)).expect("an answer before the body");
    assert_eq!(heard.code(), "body_too_large");
    goes_on(url);
    let after = served.memory_mib();
    assert!(after < before + MEMORY_MIB_MAX, "{before} MiB became {after} MiB");
}

#[test]
fn rubbish_is_refused_and_leads_nowhere() {
    let served = Served::new(Door::Address);
    let url = &served.url;
    let rubbish: &[&[u8]] = &[
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
        b"\0\0\0\0\r\n\r\n",
        b"GET /\0 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
        b"GET /runs HTTP/9.9\r\nhost: 127.0.0.1\r\n\r\n",
        b"GET /runs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /runs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n",
        b"POST /workflows HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ];
    for bytes in rubbish {
        let mut stream = connect(url);
        stream.write_all(bytes).expect("sent");
        stream.shutdown(Shutdown::Write).expect("half closed");
        let answer = parse(&rest(&mut stream));
        let refused = answer.as_ref().is_none_or(|it| (400..=505).contains(&it.status));
        assert!(refused, "{:?}: {answer:?}", String::from_utf8_lossy(bytes));
    }
    for path in ["/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/..%2fruns", "/workflows/%00"] {
        let answer = ask(url, &format!("GET {path}"), &[], "");
        assert!(matches!(answer.status, 400 | 404), "{path}: {answer:?}");
        answer.code();
    }
    goes_on(url);
}

#[test]
fn a_request_counts_whatever_follows_it() {
    let served = Served::new(Door::Address);
    let mut stream = connect(&served.url);
    let pipelined = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nrubbish \x01\r\n\r\n";
    stream.write_all(pipelined).expect("sent");
    let heard = String::from_utf8_lossy(&rest(&mut stream)).into_owned();
    assert!(heard.starts_with("HTTP/1.1 200 OK\r\n"), "{heard}");
    assert!(heard.contains("HTTP/1.1 400 Bad Request\r\n"), "{heard}");
}

#[test]
fn nobody_gets_in_by_pretending() {
    let served = Served::new(Door::Address);
    let url = &served.url;
    let foreign = ask(url, "POST /tokens", &["origin: https://evil.example"], "{}");
    assert_eq!((foreign.status, foreign.code().as_str()), (403, "cross_origin"));
    let named = send(url, b"GET /runs HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n");
    assert_eq!(named.expect("an answer").code(), "host_refused");
    let made = |expires| {
        let args = ["tokens", "create", expires, "--role", "admin", "--expires", expires];
        let done = served.bench.run(&args);
        done.is(0).stdout.trim().to_owned()
    };
    let (good, short) = (made("1d"), made("1s"));
    let bearer = |secret: &str| {
        let header = format!("authorization: Bearer {secret}");
        ask(url, "GET /runs", &[&header], "").status
    };
    assert_eq!(bearer(&good), 200);
    let until = Instant::now() + PATIENCE;
    while bearer(&short) != 401 {
        assert!(Instant::now() < until, "it never expires");
    }
    let forged = format!("mst_{}", "0".repeat(64));
    assert_eq!(bearer(&forged), 401);
    for cookie in [forged.as_str(), &good[..20], "", "a=b; c", "\"", &"x".repeat(5_000)] {
        let header = format!("cookie: mainspring_session={cookie}");
        assert_eq!(ask(url, "GET /runs", &[&header], "").status, 401, "{cookie}");
    }
    assert_eq!(bearer(&good), 200);
}
