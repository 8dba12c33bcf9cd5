//! Requests as bytes on a socket: what no well-behaved client would send can be sent too.

use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// An answer, read to the end of its connection.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// The head as it came.
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The code of a problem.
    #[track_caller]
    pub fn code(&self) -> String {
        assert!(self.head.contains("content-type: application/problem+json"), "{self:?}");
        self.json()["code"].as_str().expect("a code").to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// A connection to the server at this URL.
pub fn connect(url: &str) -> TcpStream {
    let address = url.strip_prefix("http://").expect("an address");
    let stream = TcpStream::connect(address).expect("connected");
    stream.set_read_timeout(Some(crate::rig::PATIENCE)).expect("a timeout");
    stream
}

/// Everything until the other side ends it. A reset is an end too.
pub fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let (mut all, mut some) = (Vec::new(), [0; 8192]);
    loop {
        match stream.read(&mut some) {
            Ok(0) => return all,
            Ok(count) => all.extend_from_slice(&some[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return all,
            Err(error) => panic!("nothing after {:?}: {error}", String::from_utf8_lossy(&all)),
        }
    }
}

/// The first answer in these bytes; none if they are no answer.
pub fn parse(bytes: &[u8]) -> Option<Answer> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    Some(Answer { status, head: head.to_owned(), body: body.to_owned() })
}

/// Sends bytes as they are, and reads the answer.
pub fn send(url: &str, bytes: &[u8]) -> Option<Answer> {
    let mut stream = connect(url);
    // The server may have heard enough before everything is sent.
    let _ = stream.write_all(bytes);
    parse(&rest(&mut stream))
}

/// A whole request with these lines of a head.
pub fn request(line: &str, headers: &[&str], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let length = body.len();
    format!(
        "{line} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n{headers}\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

pub fn ask(url: &str, line: &str, headers: &[&str], body: &str) -> Answer {
    send(url, &request(line, headers, body)).expect("an answer")
}
