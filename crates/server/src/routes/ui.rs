//! `/ui/`: the page. Its files are in the program; their addresses carry a hash of their content,
//! so that a browser keeps them for good and never mixes two versions.

use axum::Router;
use axum::extract::{Path, Request};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;

/// One file, as it is and compressed.
struct File {
    path: &'static str,
    kind: &'static str,
    plain: &'static [u8],
    gzip: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Only what comes from this server, no script in the page, none made from text; shown in nobody
/// else's page.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types mainspring",
);
const FOR_GOOD: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const ASK_FIRST: HeaderValue = HeaderValue::from_static("no-cache");

/// Whoever may ask nothing else may still see the page: it asks for a token.
pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/", get(|| async { Redirect::to("/ui/") }))
        .route("/ui", get(|| async { Redirect::to("/ui/") }))
        .route("/ui/", get(start))
        // Addresses within the page are the page's own business.
        .route("/ui/{*place}", get(start))
        .route("/ui/a/{hash}/{*path}", get(asset))
}

async fn start(request: Request) -> Response {
    let tag = format!("\"{HASH}\"");
    let known = request.headers().get(header::IF_NONE_MATCH);
    let mut response = match known {
        Some(known) if known.as_bytes() == tag.as_bytes() => {
            StatusCode::NOT_MODIFIED.into_response()
        }
        _ => send(&START, request.headers()),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, ASK_FIRST);
    headers.insert(header::ETAG, HeaderValue::from_str(&tag).expect("digits in quotes"));
    response
}

async fn asset(Path((hash, path)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let Some(file) = FILES.iter().find(|file| file.path == path) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut response = send(file, &headers);
    // A page that was loaded before the program was replaced gets what there is, this once.
    let lasts = if hash == HASH { FOR_GOOD } else { HeaderValue::from_static("no-store") };
    response.headers_mut().insert(header::CACHE_CONTROL, lasts);
    response
}

fn send(file: &'static File, asked: &HeaderMap) -> Response {
    let takes = asked.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let is_zipped = takes.is_some_and(|takes| {
        let mut ways = takes.split(',').map(|way| way.trim().to_ascii_lowercase());
        ways.any(|way| way == "gzip" || (way.starts_with("gzip;") && !way.ends_with("q=0")))
    });
    let mut response = if is_zipped { file.gzip } else { file.plain }.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.kind));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    if is_zipped {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}
