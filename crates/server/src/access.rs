//! Around every request: an id, the time it took, a line in the log, and headers that every answer
//! has.

use crate::app::App;
use crate::cursor::encode;
use crate::narrate::Told;
use crate::problem::{Code, Problem};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::atomic::Ordering;
use std::time::Instant;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_BYTES_MAX: usize = 64;

pub async fn around(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let (id, told) = (request_id(&request), Told::of(&request));
    let mut response = if lacks_host(&request) {
        let detail = "a request of HTTP/1.1 names the server that it is for: send a `Host` header";
        Problem::new(Code::BadRequest, detail).into_response()
    } else if app.is_ready.load(Ordering::Relaxed) || is_probe(&request) {
        next.run(request).await
    } else {
        Problem::new(Code::Stopping, "try another server, or this one in a moment").into_response()
    };
    let took = began.elapsed();
    app.metrics.answered(response.status().as_u16(), took);
    told.answered(&id, &response, took);
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// Without it nobody can tell for whom the request was made. HTTP/1.0 knows none, and HTTP/2 has
/// it in the address.
fn lacks_host(request: &Request) -> bool {
    request.version() == Version::HTTP_11
        && request.uri().authority().is_none()
        && !request.headers().contains_key(header::HOST)
}

fn is_probe(request: &Request) -> bool {
    matches!(request.uri().path(), "/healthz" | "/readyz" | "/metrics")
}

/// The caller's, if it is one that can be repeated without harm.
fn request_id(request: &Request) -> HeaderValue {
    let given = request.headers().get(REQUEST_ID).filter(|value| {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
        let bytes = value.as_bytes();
        (1..=REQUEST_ID_BYTES_MAX).contains(&bytes.len()) && bytes.iter().all(is_plain)
    });
    given.cloned().unwrap_or_else(|| {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
        HeaderValue::from_str(&encode(&bytes)).expect("hexadecimal digits")
    })
}
