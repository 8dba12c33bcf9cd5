//! Requests and their answers, one after the other over one connection.

use super::ask::Ask;
use super::connect::{Line, connect};
use super::error::{ClientError, Problem};
use super::patience::Patience;
use super::target::Target;
use http_body_util::{BodyExt as _, Limited};
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::sync::Mutex;

/// For the rest of an answer that is read as a whole, and between two pieces of any other.
const REST_TIME_MAX: Duration = Duration::from_secs(60);
/// For a kept connection to be free: it is, unless an answer on it was given up.
const READY_TIME_MAX: Duration = Duration::from_millis(100);
/// Of an answer that is read as a whole.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;
/// How often a repeatable request is sent at most.
const SENT_MAX: u32 = 5;
/// Whatever a server asks for, a person at a terminal does not wait longer between two tries.
const PAUSE_MAX: Duration = Duration::from_secs(5);
const PAUSE_DEFAULT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Client {
    target: Target,
    token: Option<HeaderValue>,
    patience: Patience,
    /// Kept open between requests.
    line: Mutex<Option<Line>>,
}

impl Client {
    pub fn new(target: Target, token: Option<&str>) -> Result<Self, ClientError> {
        let header = |token: &str| {
            let wrong = |_| ClientError::Usage("the token has characters that none has".to_owned());
            let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(wrong)?;
            value.set_sensitive(true);
            Ok::<_, ClientError>(value)
        };
        let token = token.map(header).transpose()?;
        Ok(Self { target, token, patience: Patience::default(), line: Mutex::new(None) })
    }

    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The answer as a value.
    pub async fn answer<T: DeserializeOwned>(&self, ask: &Ask) -> Result<T, ClientError> {
        let bytes = self.bytes(ask).await?;
        serde_json::from_slice(&bytes).map_err(|error| self.foreign(&error.to_string()))
    }

    /// Nothing but that it was done is of interest.
    pub async fn done(&self, ask: &Ask) -> Result<(), ClientError> {
        self.bytes(ask).await.map(drop)
    }

    pub async fn bytes(&self, ask: &Ask) -> Result<Vec<u8>, ClientError> {
        let mut sent = 0;
        loop {
            sent += 1;
            let error = match self.once(ask).await {
                Ok(bytes) => return Ok(bytes),
                Err(error) => error,
            };
            match self.pause(ask, &error) {
                Some(pause) if sent < SENT_MAX => tokio::time::sleep(pause).await,
                _ => return Err(error.into()),
            }
        }
    }

    async fn once(&self, ask: &Ask) -> Result<Vec<u8>, Failed> {
        let response = self.send(ask).await?;
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect();
        match tokio::time::timeout(REST_TIME_MAX, body).await {
            Ok(Ok(body)) => Ok(body.to_bytes().to_vec()),
            Ok(Err(source)) => {
                Err(ClientError::Lost { place: self.target.to_string(), source }.into())
            }
            Err(_) => Err(self.silent(REST_TIME_MAX).into()),
        }
    }

    /// How long to wait before a request is sent again; None if it is not.
    fn pause(&self, ask: &Ask, failed: &Failed) -> Option<Duration> {
        let again = match &failed.error {
            // It was not even looked at.
            ClientError::Refused(problem) if problem.code == "busy" => true,
            ClientError::Refused(problem) => problem.status == 503 && ask.is_repeatable(),
            ClientError::Lost { .. } => ask.is_repeatable(),
            _ => false,
        };
        again.then(|| failed.retry_after.unwrap_or(PAUSE_DEFAULT).min(PAUSE_MAX))
    }

    /// The head of an answer that is no problem. The connection is used again for what follows.
    async fn send(&self, ask: &Ask) -> Result<Response<Incoming>, Failed> {
        let mut kept = self.line.lock().await;
        let (mut line, mut is_new) = match usable(kept.take()).await {
            Some(line) => (line, false),
            None => (connect(&self.target).await?, true),
        };
        let mut request = ask.request(&self.target, self.token.as_ref())?;
        let patience = self.patience.with(ask);
        let response = loop {
            let sending = line.try_send_request(request);
            match tokio::time::timeout(patience, sending).await {
                Ok(Ok(response)) => break response,
                Err(_) => return Err(self.silent(patience).into()),
                Ok(Err(mut error)) => match error.take_message() {
                    // The kept connection had ended, and nothing was sent.
                    Some(unsent) if !is_new => {
                        (line, is_new) = (connect(&self.target).await?, true);
                        request = unsent;
                    }
                    _ => return Err(self.lost(error.into_error()).into()),
                },
            }
        };
        *kept = Some(line);
        self.checked(response).await
    }

    /// An answer that goes on: on a connection of its own, which ends with it.
    pub async fn open(&self, ask: &Ask) -> Result<Response<Incoming>, ClientError> {
        let mut line = connect(&self.target).await?;
        let request = ask.request(&self.target, self.token.as_ref())?;
        let patience = self.patience.with(ask);
        match tokio::time::timeout(patience, line.send_request(request)).await {
            Ok(Ok(response)) => Ok(self.checked(response).await?),
            Ok(Err(source)) => Err(self.lost(source)),
            Err(_) => Err(self.silent(patience)),
        }
    }

    async fn checked(&self, response: Response<Incoming>) -> Result<Response<Incoming>, Failed> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let is_problem =
            text(CONTENT_TYPE).is_some_and(|it| it.starts_with("application/problem+json"));
        let retry_after = text(RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
        let retry_after = retry_after.map(Duration::from_secs);
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect();
        let body = tokio::time::timeout(REST_TIME_MAX, body).await;
        let body = body.ok().and_then(Result::ok).map(|body| body.to_bytes());
        let problem = body.filter(|_| is_problem).and_then(|it| serde_json::from_slice(&it).ok());
        let error = match problem {
            Some(problem) => ClientError::Refused(Box::new(problem)),
            // A proxy in front of the server, most likely.
            None if status.as_u16() == 503 => ClientError::Refused(Box::new(Problem {
                title: format!("{} cannot work now", self.target),
                status: 503,
                code: "unavailable".to_owned(),
                detail: String::new(),
                errors: Vec::new(),
            })),
            None => self.foreign(&format!("it answers {status}")),
        };
        Err(Failed { error, retry_after })
    }

    /// The next piece of an answer that is read as it comes, but for those that wait for news.
    pub async fn piece(&self, body: &mut Incoming) -> Result<Option<Bytes>, ClientError> {
        match tokio::time::timeout(REST_TIME_MAX, body.frame()).await {
            Ok(None) => Ok(None),
            Ok(Some(Ok(frame))) => Ok(Some(frame.into_data().unwrap_or_default())),
            Ok(Some(Err(source))) => Err(self.lost(source)),
            Err(_) => Err(self.silent(REST_TIME_MAX)),
        }
    }

    fn lost(&self, source: hyper::Error) -> ClientError {
        ClientError::Lost { place: self.target.to_string(), source: source.into() }
    }

    fn silent(&self, after: Duration) -> ClientError {
        ClientError::Silent { place: self.target.to_string(), after }
    }

    pub fn foreign(&self, what: &str) -> ClientError {
        ClientError::Foreign { place: self.target.to_string(), what: what.to_owned() }
    }
}

/// A connection that was kept, if it takes another request.
async fn usable(line: Option<Line>) -> Option<Line> {
    let mut line = line?;
    let is_ready = tokio::time::timeout(READY_TIME_MAX, line.ready()).await;
    is_ready.is_ok_and(|ready| ready.is_ok()).then_some(line)
}

/// An error, and how long the server asks to wait.
#[derive(Debug)]
struct Failed {
    error: ClientError,
    retry_after: Option<Duration>,
}

impl From<ClientError> for Failed {
    fn from(error: ClientError) -> Self {
        Self { error, retry_after: None }
    }
}

impl From<Failed> for ClientError {
    fn from(failed: Failed) -> Self {
        failed.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;
    use tokio::net::TcpListener;

    /// Of a server that takes connections and says nothing, as one that was stopped does.
    fn of_a_stopped_server(listener: &TcpListener) -> Client {
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let mut client = Client::new(Target::parse(&url).expect("good"), None).expect("made");
        client.patience = Patience::of_all(Duration::from_millis(50));
        client
    }

    #[tokio::test]
    async fn a_server_that_says_nothing_is_not_waited_for_without_end() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let client = of_a_stopped_server(&listener);
        let ask = Ask::get(&["runs"]);
        let cancel = Ask::post(&["runs", "x", "cancel"]);
        let asked = async {
            [
                client.bytes(&ask).await.map(drop),
                client.bytes(&cancel).await.map(drop),
                client.open(&ask.clone().events(None)).await.map(drop),
            ]
        };
        let answers = tokio::time::timeout(Duration::from_secs(10), asked).await;
        for answer in answers.expect("none of them waits for long") {
            let error = answer.expect_err("nobody answers");
            assert_eq!(error.exit(), Exit::Unreachable);
            let said = error.to_string();
            assert!(said.contains(&client.target().to_string()), "{said}");
            assert!(said.contains("did not answer within") && said.contains("ask again"), "{said}");
        }
    }
}
