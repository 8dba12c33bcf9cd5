//! One request, as it is put together.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::{Method, Request};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use super::error::ClientError;
use super::target::Target;

/// Everything that has a meaning somewhere in a URL is escaped.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

#[derive(Clone, Debug)]
pub struct Ask {
    pub method: Method,
    path: String,
    query: String,
    body: Option<(&'static str, Bytes)>,
    key: Option<String>,
    accept: &'static str,
    last_event_id: Option<String>,
}

impl Ask {
    pub fn new(method: Method, path: &[&str]) -> Self {
        let path = path.iter().map(|part| format!("/{}", escaped(part))).collect();
        Self {
            method,
            path,
            query: String::new(),
            body: None,
            key: None,
            accept: "application/json",
            last_event_id: None,
        }
    }

    pub fn get(path: &[&str]) -> Self {
        Self::new(Method::GET, path)
    }

    pub fn post(path: &[&str]) -> Self {
        Self::new(Method::POST, path)
    }

    pub fn put(path: &[&str]) -> Self {
        Self::new(Method::PUT, path)
    }

    pub fn delete(path: &[&str]) -> Self {
        Self::new(Method::DELETE, path)
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        let joint = if self.query.is_empty() { '?' } else { '&' };
        self.query.push_str(&format!("{joint}{name}={}", escaped(value)));
        self
    }

    pub fn with_some(self, name: &str, value: Option<&impl ToString>) -> Self {
        match value {
            Some(value) => self.with(name, &value.to_string()),
            None => self,
        }
    }

    pub fn json(self, body: &impl Serialize) -> Result<Self, ClientError> {
        let wrong = |error| ClientError::Usage(format!("the request cannot be written: {error}"));
        let bytes = serde_json::to_vec(body).map_err(wrong)?;
        Ok(self.body("application/json", bytes))
    }

    pub fn body(mut self, media_type: &'static str, bytes: Vec<u8>) -> Self {
        self.body = Some((media_type, bytes.into()));
        self
    }

    /// The same request with the same key is carried out once, however often it is sent.
    pub fn key(mut self, key: String) -> Self {
        self.key = Some(key);
        self
    }

    pub fn text(mut self) -> Self {
        self.accept = "text/plain";
        self
    }

    pub fn events(mut self, last: Option<String>) -> Self {
        self.accept = "text/event-stream";
        self.last_event_id = last;
        self
    }

    /// Sending it twice is the same as sending it once.
    pub fn is_repeatable(&self) -> bool {
        matches!(self.method, Method::GET | Method::PUT) || self.key.is_some()
    }

    /// It changes nothing.
    pub fn is_read(&self) -> bool {
        self.method == Method::GET
    }

    pub fn body_bytes(&self) -> u64 {
        self.body.as_ref().map_or(0, |(_, bytes)| bytes.len() as u64)
    }

    pub fn request(
        &self,
        target: &Target,
        token: Option<&HeaderValue>,
    ) -> Result<Request<Full<Bytes>>, ClientError> {
        let uri = format!("{}{}{}", target.prefix(), self.path, self.query);
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(uri)
            .header(HOST, target.host())
            .header(ACCEPT, self.accept)
            .header(USER_AGENT, concat!("mainspring/", env!("CARGO_PKG_VERSION")));
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token);
        }
        if let Some(key) = &self.key {
            request = request.header("idempotency-key", key);
        }
        if let Some(last) = &self.last_event_id {
            request = request.header("last-event-id", last);
        }
        let (media_type, bytes) = self.body.clone().unzip();
        if let Some(media_type) = media_type {
            request = request.header(CONTENT_TYPE, media_type);
        }
        let wrong = |error| ClientError::Usage(format!("this cannot be asked: {error}"));
        request.body(Full::new(bytes.unwrap_or_default())).map_err(wrong)
    }
}

fn escaped(text: &str) -> String {
    match text {
        // As a part of a path these would be taken for steps.
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        text => utf8_percent_encode(text, ESCAPED).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_lead_elsewhere() {
        let ask = Ask::get(&["runs", "a/b?c", ".."]).with("label", "k=v&x").with("n", "1");
        let target = Target::parse("http://h/p").expect("good");
        let request = ask.request(&target, None).expect("good");
        assert_eq!(request.uri(), "/p/runs/a%2Fb%3Fc/%2E%2E?label=k%3Dv%26x&n=1");
    }
}
