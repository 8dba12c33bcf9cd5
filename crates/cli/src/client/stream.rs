//! A stream of events that is taken up again when it is cut off, where it was.

use super::ask::Ask;
use super::error::ClientError;
use super::http::Client;
use super::sse::{Event, Parser};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, channel};

/// A server that is there says something every 15 s.
const SILENCE_MAX: Duration = Duration::from_secs(45);
/// For so long a server that is gone is waited for: a restart, or a machine's.
const GONE_MAX: Duration = Duration::from_secs(300);
/// Events read before anybody takes them.
const HEARD_AHEAD: usize = 64;
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// What there is to know of a stream.
#[derive(Debug)]
pub enum Heard {
    Event(Event),
    /// The connection is gone, and why; it is tried again.
    Cut(String),
    /// There is a connection again.
    Again,
}

#[derive(Debug)]
pub struct Stream {
    client: Arc<Client>,
    ask: Ask,
    body: Option<Incoming>,
    parser: Parser,
    waiting: VecDeque<Event>,
    last_id: Option<String>,
    gone: Option<Gone>,
}

#[derive(Debug)]
struct Gone {
    since: Instant,
    pause: Duration,
}

impl Stream {
    /// Fails when the first connection does: what never answered is not waited for.
    pub async fn open(client: Arc<Client>, ask: Ask) -> Result<Self, ClientError> {
        let response = client.open(&ask.clone().events(None)).await?;
        Ok(Self {
            client,
            ask,
            body: Some(response.into_body()),
            parser: Parser::default(),
            waiting: VecDeque::new(),
            last_id: None,
            gone: None,
        })
    }

    /// Read on a task of its own, so that whoever listens may do something else meanwhile. Ends
    /// after an error.
    pub fn listen(mut self) -> Receiver<Result<Heard, ClientError>> {
        let (say, heard) = channel(HEARD_AHEAD);
        tokio::spawn(async move {
            loop {
                let next = self.next().await;
                let is_over = next.is_err();
                if say.send(next).await.is_err() || is_over {
                    return;
                }
            }
        });
        heard
    }

    /// Waits for what comes next. Fails when it is no use to wait any longer.
    async fn next(&mut self) -> Result<Heard, ClientError> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.last_id = event.id.clone().or_else(|| self.last_id.take());
                return Ok(Heard::Event(event));
            }
            let Some(body) = &mut self.body else {
                match self.again().await? {
                    true => return Ok(Heard::Again),
                    false => continue,
                }
            };
            let why = match tokio::time::timeout(SILENCE_MAX, body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    let piece = frame.into_data().unwrap_or_default();
                    let events = self.parser.take(&piece);
                    self.waiting
                        .extend(events.map_err(|why| self.client.foreign(&why.to_string()))?);
                    continue;
                }
                Ok(Some(Err(error))) => error.to_string(),
                Ok(None) => "the server ended it".to_owned(),
                Err(_) => format!("nothing was heard for {} s", SILENCE_MAX.as_secs()),
            };
            self.body = None;
            self.parser = Parser::default();
            self.gone = Some(Gone { since: Instant::now(), pause: PAUSE_FIRST });
            return Ok(Heard::Cut(why));
        }
    }

    /// One try to connect again, after a pause.
    async fn again(&mut self) -> Result<bool, ClientError> {
        let gone = self.gone.get_or_insert(Gone { since: Instant::now(), pause: PAUSE_FIRST });
        tokio::time::sleep(gone.pause).await;
        gone.pause = (gone.pause * 2).min(PAUSE_MAX);
        match self.client.open(&self.ask.clone().events(self.last_id.clone())).await {
            Ok(response) => {
                self.body = Some(response.into_body());
                self.gone = None;
                Ok(true)
            }
            Err(error) if error.is_passing() && gone.since.elapsed() < GONE_MAX => Ok(false),
            Err(error) => Err(error),
        }
    }
}
