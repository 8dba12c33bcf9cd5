//! One connection, kept, and one request after the other. As much of HTTP as our own server speaks
//! to a client that never asks for compression.

use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A server that says nothing for so long is stuck.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Client {
    stream: BufReader<TcpStream>,
    token: Option<String>,
    line: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub retry_after: Option<u64>,
    pub body: Vec<u8>,
}

impl Answer {
    /// The body, which is JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

impl Client {
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream), token: None, line: Vec::new() })
    }

    pub fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    pub fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.ask(&format!("GET {path} HTTP/1.1\r\n"), b"")
    }

    pub fn post(&mut self, path: &str, body: &[u8]) -> io::Result<Answer> {
        let kind = "Content-Type: application/json\r\n";
        let head = format!("POST {path} HTTP/1.1\r\n{kind}Content-Length: {}\r\n", body.len());
        self.ask(&head, body)
    }

    fn ask(&mut self, head: &str, body: &[u8]) -> io::Result<Answer> {
        let mut request = format!("{head}Host: localhost\r\n").into_bytes();
        if let Some(token) = &self.token {
            request.extend_from_slice(format!("Authorization: Bearer {token}\r\n").as_bytes());
        }
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(body);
        self.stream.get_mut().write_all(&request)?;
        self.read_answer()
    }

    fn read_answer(&mut self) -> io::Result<Answer> {
        let status = self.read_line()?.get(9..12).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| wrong("no status"))?;
        let (mut length, mut retry_after) = (None, None);
        loop {
            let line = self.read_line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok(),
                "retry-after" => retry_after = value.trim().parse().ok(),
                _ => {}
            }
        }
        let body = match length {
            Some(length) => self.read_bytes(length)?,
            None => self.read_chunks()?,
        };
        Ok(Answer { status, retry_after, body })
    }

    fn read_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let length = usize::from_str_radix(&self.read_line()?, 16);
            let length = length.map_err(|_| wrong("neither a length nor chunks"))?;
            body.extend(self.read_bytes(length)?);
            self.read_line()?;
            if length == 0 {
                return Ok(body);
            }
        }
    }

    fn read_bytes(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// A line without its end; empty at the end of the headers.
    fn read_line(&mut self) -> io::Result<String> {
        self.line.clear();
        if self.stream.read_until(b'\n', &mut self.line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(String::from_utf8_lossy(&self.line).trim_end().to_owned())
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
