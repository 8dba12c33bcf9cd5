//! A line for every change and for every failure, with the request's id. Reads are counted in the
//! metrics and not told of; queries, bodies and headers may hold secrets and are never told.

use crate::problem::Problem;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;
use std::time::Duration;
use tracing::{error, info, warn};

const PATH_CHARS_MAX: usize = 200;

/// What is told of a request, once it is answered.
#[derive(Debug)]
pub struct Told {
    method: Method,
    path: String,
}

impl Told {
    pub fn of(request: &Request) -> Self {
        let path = request.uri().path().chars().take(PATH_CHARS_MAX).collect();
        Self { method: request.method().clone(), path }
    }

    pub fn answered(&self, id: &HeaderValue, response: &Response, took: Duration) {
        let Self { method, path } = self;
        let status = response.status();
        let is_failure = status.is_server_error();
        let is_change = status.is_success() && method != Method::GET && method != Method::HEAD;
        if !is_failure && !is_change {
            return;
        }
        let request = id.to_str().unwrap_or_default();
        let (number, millis) = (status.as_u16(), took.as_secs_f64() * 1_000.0);
        let problem = response.extensions().get::<Problem>();
        let code = problem.map_or("", |problem| problem.code);
        let why = problem.map_or("", |problem| problem.detail.as_str());
        match status {
            StatusCode::SERVICE_UNAVAILABLE => {
                warn!(request, %method, path, status = number, code, why, millis, "not done");
            }
            _ if is_failure => {
                error!(request, %method, path, status = number, code, why, millis, "failed");
            }
            _ => info!(request, %method, path, status = number, millis, "changed"),
        }
    }
}
