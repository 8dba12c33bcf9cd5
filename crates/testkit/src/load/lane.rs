//! One connection of a crowd: the same request again and again.

use super::crowd::Triggered;
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(super) struct Lane {
    stream: TcpStream,
    request: Vec<u8>,
    received: Vec<u8>,
}

pub(super) struct Answer<'a> {
    pub status: u16,
    pub has_retry_after: bool,
    pub body: &'a [u8],
}

impl Lane {
    pub async fn connect(address: SocketAddr, triggered: &Triggered) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let Triggered { workflow, body, .. } = triggered;
        let request = format!(
            "POST /workflows/{workflow}/runs HTTP/1.1\r\nHost: localhost\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Ok(Self { stream, request: request.into_bytes(), received: Vec::with_capacity(4_096) })
    }

    /// Sends the request and reads one answer, which has a length.
    pub async fn ask(&mut self) -> io::Result<Answer<'_>> {
        self.stream.write_all(&self.request).await?;
        self.received.clear();
        loop {
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let Some(head) = head(&self.received)? else { continue };
            if self.received.len() >= head.bytes + head.length {
                let Head { status, has_retry_after, bytes, .. } = head;
                return Ok(Answer { status, has_retry_after, body: &self.received[bytes..] });
            }
        }
    }
}

struct Head {
    status: u16,
    has_retry_after: bool,
    /// Of the head itself.
    bytes: usize,
    /// Of the body.
    length: usize,
}

/// None until all of it is there.
fn head(received: &[u8]) -> io::Result<Option<Head>> {
    let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "not an answer with a length");
    let text = std::str::from_utf8(&received[..end]).map_err(|_| wrong())?;
    let field = |name: &str| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    };
    Ok(Some(Head {
        status: text.get(9..12).and_then(|code| code.parse().ok()).ok_or_else(wrong)?,
        has_retry_after: field("retry-after").is_some(),
        bytes: end + 4,
        length: field("content-length").and_then(|text| text.parse().ok()).ok_or_else(wrong)?,
    }))
}
