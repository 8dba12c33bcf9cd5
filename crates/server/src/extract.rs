//! What a handler is given. Whatever does not fit is a problem, never plain text.

pub use crate::query::Query;

use crate::app::App;
use crate::problem::{Code, Fault, Problem};
use crate::room::Share;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header;
use axum::http::request::Parts;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use mainspring_core::limits::DEFINITION_BYTES_MAX;
use serde::de::DeserializeOwned;

/// The parts of a path.
#[derive(Clone, Copy, Debug)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        let wrong = |error: axum::extract::rejection::PathRejection| {
            Problem::new(Code::BadRequest, error.body_text())
        };
        path.map(|path| Self(path.0)).map_err(wrong)
    }
}

/// A body as it came, within its limits of size and time, with its media type.
#[derive(Debug)]
pub struct Body {
    pub bytes: Bytes,
    /// Its part of what is held at once.
    _share: Share,
    /// In lower case, without parameters; empty when it was not said.
    pub media_type: String,
}

impl FromRequest<App> for Body {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        // Whoever says so beforehand need not send it.
        if request.body().size_hint().lower() > DEFINITION_BYTES_MAX as u64 {
            return Err(too_large());
        }
        let said = request.headers().get(header::CONTENT_TYPE);
        let said = said.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let mut share = app.room.for_body();
        let body = collect(request.into_body(), &mut share);
        let patience = app.config.read_time_max;
        let bytes = match tokio::time::timeout(patience, body).await {
            Ok(bytes) => bytes?,
            Err(_) => {
                let detail = format!("it took more than {} s", patience.as_secs_f64());
                return Err(Problem::new(Code::SlowBody, detail));
            }
        };
        Ok(Self { bytes, _share: share, media_type })
    }
}

fn too_large() -> Problem {
    Problem::new(Code::BodyTooLarge, format!("at most {DEFINITION_BYTES_MAX} bytes are taken"))
}

/// Room is taken as the body arrives.
async fn collect(mut body: axum::body::Body, share: &mut Share) -> Result<Bytes, Problem> {
    let cut = |_| Problem::new(Code::BadBody, "the connection ended before the body did");
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(cut)?.into_data() else { continue };
        if bytes.len() + data.len() > DEFINITION_BYTES_MAX {
            return Err(too_large());
        }
        share.grow(data.len())?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.into())
}

impl Body {
    /// The body as JSON; nothing at all stands for `{}`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        if self.bytes.is_empty() {
            return parse(b"{}");
        }
        if !matches!(self.media_type.as_str(), "application/json" | "") {
            let detail = format!("`{}`: send application/json", self.media_type);
            return Err(Problem::new(Code::MediaType, detail));
        }
        // A struct would also be read from a list of its fields.
        if self.bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(Problem::new(Code::BadBody, "a JSON object is needed"));
        }
        parse(&self.bytes)
    }

    pub fn text(&self) -> Result<&str, Problem> {
        std::str::from_utf8(&self.bytes)
            .map_err(|error| Problem::new(Code::BadBody, format!("it is not UTF-8: {error}")))
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|error| {
        let fault = Fault {
            code: None,
            message: error.to_string(),
            path: None,
            line: u32::try_from(error.line()).ok(),
            column: u32::try_from(error.column()).ok(),
            hint: None,
        };
        Problem::new(Code::BadBody, error.to_string()).with(vec![fault])
    })
}
