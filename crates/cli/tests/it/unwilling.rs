//! Servers that are not there, not ready, not ours, or refuse.

use crate::door::{Door, Served};
use crate::rig::{Bench, finish};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Answers each request with the next of these answers, the last one for ever.
fn scripted(answers: Vec<String>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (say, asked) = channel();
    std::thread::spawn(move || {
        for (next, stream) in listener.incoming().map_while(Result::ok).enumerate() {
            if answer(stream, &answers[next.min(answers.len() - 1)], &say).is_none() {
                return;
            }
        }
    });
    (url, asked)
}

fn answer(stream: impl Read + Write, answer: &str, say: &Sender<String>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return Some(());
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a number"))];
    reader.read_exact(&mut body).ok()?;
    say.send(head + &String::from_utf8_lossy(&body)).ok()?;
    reader.get_mut().write_all(answer.as_bytes()).ok()
}

fn http(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nretry-after: 0\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
}

fn ok(body: &str) -> String {
    http("200 OK", "application/json", body)
}

fn unavailable(code: &str) -> String {
    let body = format!(r#"{{"title":"It cannot","status":503,"code":"{code}","detail":"now"}}"#);
    http("503 Service Unavailable", "application/problem+json", &body)
}

/// Answers at the socket of a data folder, the same to everybody.
fn at_socket(bench: &Bench, said: String) {
    let path = bench.path(".mainspring/api.sock");
    // One that was killed leaves it behind.
    drop(std::fs::remove_file(&path));
    let listener = UnixListener::bind(path).expect("bound");
    let (say, asked) = channel();
    std::thread::spawn(move || {
        let streams = listener.incoming().map_while(Result::ok);
        streams.map_while(|stream| answer(stream, &said, &say)).for_each(drop);
        drop(asked);
    });
}

#[test]
fn whoever_is_at_work_and_cannot_explain_is_not_taken_for_nobody() {
    let bench = Bench::with("name: w\ntasks:\n  a: { wait: { signal: go } }\n");
    let mut run = bench.start(&["run", "w.yaml"]);
    run.until("waiting    a for the signal 'go'");
    run.signal(Signal::KILL);
    assert!(run.done().was_killed());
    let unattended = "nobody is at work here";
    bench.run(&["explain", "last"]).is(0).prints(unattended);
    let lock = File::open(bench.path(".mainspring/lock")).expect("it is there");
    lock.lock().expect("nobody has it");
    bench.run(&["explain", "last"]).is(3).says("is at work in the data folder .mainspring");
    at_socket(&bench, unavailable("store_unavailable"));
    bench.run(&["explain", "last"]).is(3).says("It cannot: now");
    drop(lock);
    bench.run(&["explain", "last"]).is(0).prints(unattended);
}

#[test]
fn nobody_there_is_exit_code_3() {
    let bench = Bench::new();
    let free = TcpListener::bind("127.0.0.1:0").expect("bound").local_addr().expect("an address");
    let url = format!("http://{free}");
    for command in [&["runs"][..], &["trigger", "w"], &["watch", "last"], &["tokens", "list"]] {
        let args: Vec<&str> = [command, &["--server", &url]].concat();
        bench.run(&args).is(3).says("no server answers at http://127.0.0.1:");
    }
    bench.run(&["runs", "--server", "localhost:1"]).is(2).says("http://");
    bench.run(&["cancel", "last"]).is(3).says("nobody is at work in the data folder .mainspring");
    assert!(!bench.path(".mainspring").exists());
}

#[test]
fn a_server_that_cannot_now_is_asked_again() {
    let bench = Bench::new();
    let (url, asked) = scripted(vec![unavailable("store_unavailable"), ok(r#"{"items":[]}"#)]);
    bench.run(&["runs", "--server", &url]).is(0);
    assert_eq!(asked.try_iter().count(), 2);
    let (url, asked) = scripted(vec![unavailable("store_unavailable")]);
    bench.run(&["runs", "--server", &url]).is(3).says("It cannot: now");
    assert_eq!(asked.try_iter().count(), 5);
}

#[test]
fn what_may_have_been_done_is_not_asked_for_twice() {
    let bench = Bench::new();
    let (url, asked) = scripted(vec![unavailable("unknown_outcome")]);
    bench.run(&["delete", "w", "--server", &url]).is(3);
    assert_eq!(asked.try_iter().count(), 1);
    let (url, asked) = scripted(vec![unavailable("busy")]);
    bench.run(&["delete", "w", "--server", &url]).is(3);
    assert_eq!(asked.try_iter().count(), 5);
}

#[test]
fn an_order_is_repeated_with_its_key() {
    let bench = Bench::new();
    let id = "0198c1d2-0000-7000-8000-000000000000";
    let orders: [&[&str]; 4] = [
        &["cancel", id],
        &["retry", id, "a", "--index", "0"],
        &["pause", id, "a"],
        &["approve", id, "a"],
    ];
    for order in orders {
        let (url, asked) = scripted(vec![unavailable("unknown_outcome")]);
        bench.run(&[order, &["--server", &url]].concat()).is(3);
        let asked: Vec<String> = asked.try_iter().collect();
        let keys = asked
            .iter()
            .map(|request| request.lines().find(|line| line.starts_with("idempotency-key: ")));
        let keys: BTreeSet<Option<&str>> = keys.collect();
        assert!(asked.len() > 1 && keys.len() == 1 && !keys.contains(&None), "{asked:?}");
    }
}

#[test]
fn a_trigger_is_repeated_with_its_key() {
    let bench = Bench::new();
    let workflow = r#"{"name":"w","version":1,"tasks":1,"updated_at":"2026-01-01T00:00:00Z"}"#;
    let run = r#"{"id":"0198c1d2-0000-7000-8000-000000000000","workflow":"w","version":1,
        "status":"pending","input":{},"triggered_by":"x","created_at":"2026-01-01T00:00:00Z",
        "tasks":{"total":1},"new_field":1.50}"#;
    // The second answer is lost on the way, the third is not.
    let answers = vec![ok(workflow), unavailable("unknown_outcome"), String::new(), ok(run)];
    let (url, asked) = scripted(answers);
    let done = bench.run(&["trigger", "w", "--server", &url, "--token", "t0", "-o", "json"]);
    done.is(0).prints("\"new_field\": 1.50");
    let asked: Vec<String> = asked.try_iter().collect();
    let key = |request: &String| {
        let line = request.lines().find(|line| line.starts_with("idempotency-key: "));
        line.map(str::to_owned)
    };
    assert_eq!(asked.len(), 4, "{asked:?}");
    assert!(key(&asked[1]).is_some() && key(&asked[1]) == key(&asked[3]), "{asked:?}");
    assert!(asked.iter().all(|request| request.contains("authorization: Bearer t0\r\n")));
}

#[test]
fn what_is_no_server_of_ours_is_said_so() {
    let bench = Bench::new();
    for answer in [http("200 OK", "text/html", "<html>"), http("404 Not Found", "text/html", "x")] {
        let (url, _asked) = scripted(vec![answer]);
        bench.run(&["runs", "--server", &url]).is(1).says("is not a Mainspring server");
    }
    let (url, _asked) = scripted(vec!["rubbish\r\n\r\n".to_owned()]);
    let done = bench.run(&["runs", "--server", &url]);
    assert!(matches!(done.status.code(), Some(1 | 3)), "{done:?}");
}

#[test]
fn a_bad_definition_is_drawn_and_nothing_is_sent() {
    let served = Served::new(Door::Address);
    served.bench.write("good.yaml", "name: good\ntasks: { a: { noop: {} } }\n");
    served.bench.write("bad.yaml", "name: bad\ntasks: { a: { nop: {} } }\n");
    let done = served.run(&["apply", "good.yaml", "bad.yaml"]);
    done.is(2).says("--> bad.yaml:2:").says("^");
    served.run(&["workflows"]).is(0).says("no workflows");
    served.run(&["apply", "missing.yaml"]).is(2).says("missing.yaml cannot be read");
}

/// Nothing is asked, of nobody.
#[test]
fn what_is_counted_from_one_cannot_be_none() {
    let bench = Bench::new();
    for command in [
        &["runs", "--limit", "0"][..],
        &["workflows", "--limit", "0"],
        &["audit", "--limit", "0"],
        &["logs", "last", "a", "--attempt", "0"],
        &["trigger", "w", "--version", "0"],
        &["workflows", "diff", "w", "0"],
    ] {
        bench.run(command).is(2).says("at least 1");
    }
    bench.run(&["runs", "--limit", "some"]).is(2).says("invalid digit");
}

#[test]
fn wrong_input_is_said_before_anything_runs() {
    let schema = "input: { type: object, properties: { n: { type: integer } } }";
    let served = Served::with(
        Door::Address,
        &format!("name: w\n{schema}\ntasks: {{ a: {{ noop: {{}} }} }}\n"),
    );
    served.run(&["trigger", "w", "--input", "n=x"]).is(2).says("input n:");
    served.run(&["trigger", "w", "--input", "n=x", "--version", "1"]).is(2).says("input n:");
    served.run(&["trigger", "w", "--version", "7"]).is(2).says("no such workflow or version");
    served.run(&["trigger", "nosuch"]).is(2).says("no such workflow");
    served.run(&["runs"]).is(0).says("no runs");
}

#[test]
fn tokens_open_and_close_the_door() {
    let served = Served::new(Door::Address);
    let own = |args: &[&str]| served.bench.run(args);
    own(&["tokens", "list"]).is(0).says("no tokens");
    let made = own(&["tokens", "create", "me", "--role", "viewer", "--expires", "30d"]);
    let secret = made.is(0).stdout.trim().to_owned();
    made.says("viewer, until");
    served.bench.write("token", format!("{secret}\n"));
    served.run(&["runs"]).is(1).says("A token is needed").says("--token-file");
    served.run(&["runs", "--token", "wrong"]).is(1).says("not known or has expired");
    served.run(&["runs", "--token-file", "token"]).is(0);
    served.run(&["runs", "--token-file", "missing"]).is(2).says("--token-file missing");
    served.bench.write("w.yaml", "name: w\ntasks: { a: { noop: {} } }\n");
    served.run(&["apply", "w.yaml", "--token", &secret]).is(1).says("admin is needed");
    let listed = own(&["tokens", "list", "-o", "json"]).json();
    let id = listed["items"][0]["id"].as_str().expect("an id");
    assert!(!listed.to_string().contains(&secret));
    own(&["tokens", "revoke", id, "-o", "json"]).is(0).prints("\"revoked\": true");
    served.run(&["runs", "--token", &secret]).is(0);
    own(&["tokens", "revoke", id]).is(2);
    own(&["tokens", "create", "me", "--role", "king"]).is(2);
}

/// A secret is shown once. A token of which nobody has it would be valid for ever.
#[test]
fn a_token_whose_secret_cannot_be_shown_is_no_token() {
    let served = Served::new(Door::Socket);
    let create = "tokens create me --role viewer";
    let done = served.bench.shell(&format!("exec $M {create} > /dev/full"));
    done.is(1).says("No space left on device").says("was revoked again");
    let done = served.bench.shell(&format!("exec $M {create} -o json > /dev/full"));
    done.is(1).says("was revoked again");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut unread = served.bench.command(&["tokens", "create", "me", "--role", "viewer"]);
    let unread = unread.stdout(writer).stderr(std::process::Stdio::piped()).output().expect("run");
    assert_eq!(unread.status.code(), Some(1), "{unread:?}");
    served.bench.shell(&format!("exec $M {create} >&-")).is(2).says("stdout is closed");
    served.run(&["tokens", "list"]).is(0).says("no tokens");
    served.bench.run(&["tokens", "create", "me", "--role", "viewer"]).is(0);
}

/// As `openssl req -x509` makes them.
#[test]
fn a_certificate_that_is_an_issuers_own_is_said_to_be() {
    let key = rcgen::KeyPair::generate().expect("made");
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]);
    let mut params = params.expect("a name");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).expect("made");
    let served = Served::secured_by(&certificate.pem(), &key.serialize_pem());
    let mut command = served.bench.command(&served.args(&["runs"]));
    command.env("SSL_CERT_FILE", served.bench.path("cert.pem"));
    finish(command).is(3).says("basicConstraints=CA:FALSE");
}

#[test]
fn only_a_trusted_server_is_told_the_token() {
    let served = Served::secured();
    let args = served.args(&["runs", "--token", "secret"]);
    let mut command = served.bench.command(&args);
    command.env("SSL_CERT_FILE", served.bench.path("cert.pem"));
    finish(command).is(0).says("no runs");
    // Nobody has signed it but itself.
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("made");
    served.bench.write("other.pem", other.cert.pem());
    let mut command = served.bench.command(&args);
    command.env("SSL_CERT_FILE", served.bench.path("other.pem"));
    let done = finish(command);
    done.is(3).says("invalid peer certificate").says("SSL_CERT_FILE");
    assert!(!done.stderr.contains("is it running"), "{}", done.stderr);
    // For another name than the one that was asked for.
    let by_number = served.url.replace("localhost", "127.0.0.1");
    let mut command = served.bench.command(&["runs", "--server", &by_number]);
    command.env("SSL_CERT_FILE", served.bench.path("cert.pem"));
    finish(command).is(3).says("not valid for name");
}
