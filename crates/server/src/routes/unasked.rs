//! A route that takes no query refuses one: what is misspelt or misplaced is never ignored.

use crate::problem::{Code, Problem};
use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::collections::HashSet;
use std::sync::Arc;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{OpenApi, RefOr};

/// The routes whose description has a query.
#[derive(Clone, Debug)]
pub struct Asked(Arc<HashSet<(Method, String)>>);

impl Asked {
    pub fn of(api: &OpenApi) -> Self {
        let methods = |(path, item): (&String, &utoipa::openapi::PathItem)| {
            let all = [
                (Method::GET, &item.get),
                (Method::HEAD, &item.get),
                (Method::POST, &item.post),
                (Method::DELETE, &item.delete),
            ];
            let takes = |(_, operation): &(Method, &Option<Operation>)| {
                operation.as_ref().is_some_and(takes_query)
            };
            all.into_iter().filter(takes).map(|(method, _)| (method, path.clone())).collect()
        };
        let known = api.paths.paths.iter().flat_map::<Vec<_>, _>(methods);
        Self(Arc::new(known.collect()))
    }
}

fn takes_query(operation: &Operation) -> bool {
    operation
        .parameters
        .iter()
        .flatten()
        .any(|parameter| matches!(parameter, RefOr::T(it) if it.parameter_in == ParameterIn::Query))
}

pub async fn refuse(
    State(Asked(asked)): State<Asked>,
    path: MatchedPath,
    request: Request,
    next: Next,
) -> Response {
    let is_asked = request.uri().query().is_none_or(str::is_empty)
        || asked.contains(&(request.method().clone(), path.as_str().to_owned()));
    match is_asked {
        true => next.run(request).await,
        false => Problem::new(Code::BadQuery, "this route takes no query").into_response(),
    }
}
