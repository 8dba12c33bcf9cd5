//! `/openapi.json` and a readable page of it at `/docs`.

use super::problems::{SESSION, TOKEN};
use crate::auth::who::COOKIE;
use crate::problem::Problem;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use std::fmt::Write as _;
use std::sync::Arc;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

#[derive(OpenApi, Debug)]
#[openapi(info(
    title = "Mainspring",
    description = "A durable workflow engine. Errors are problem+json with a stable `code`.",
    license(name = "Apache-2.0", identifier = "Apache-2.0"),
), components(schemas(Problem)), modifiers(&Guards))]
pub struct Doc;

/// How callers say who they are.
struct Guards;

impl Modify for Guards {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let components = api.components.get_or_insert_default();
        let says = "Asked for as soon as there is a token; `mainspring tokens create` makes one.";
        let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(says));
        components.add_security_scheme(TOKEN, SecurityScheme::Http(token.build()));
        let says = "What `POST /session` gives a browser for a token.";
        let cookie = ApiKey::Cookie(ApiKeyValue::with_description(COOKIE, says));
        components.add_security_scheme(SESSION, SecurityScheme::ApiKey(cookie));
    }
}

/// The file and the page, made once.
#[derive(Clone, Debug)]
pub struct Made {
    json: Arc<str>,
    page: Arc<str>,
}

impl Made {
    pub fn of(api: &utoipa::openapi::OpenApi) -> Self {
        let json = api.to_json().expect("an OpenAPI file is JSON");
        Self { json: json.into(), page: page(api).into() }
    }

    pub fn json(&self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.json.to_string()).into_response()
    }

    pub fn page(&self) -> Response {
        Html(self.page.to_string()).into_response()
    }
}

fn page(api: &utoipa::openapi::OpenApi) -> String {
    let mut text = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Mainspring API</title>\
         <h1>Mainspring API</h1><p>As a file: <a href=\"/openapi.json\">openapi.json</a></p>\
         <table><tr><th>method<th>path<th>does</tr>",
    );
    for (path, item) in &api.paths.paths {
        let methods: [(&str, &Option<Operation>); 4] = [
            ("GET", &item.get),
            ("POST", &item.post),
            ("PUT", &item.put),
            ("DELETE", &item.delete),
        ];
        for (method, operation) in methods {
            let Some(operation) = operation else { continue };
            let does = operation.summary.as_deref().unwrap_or_default();
            let _ = write!(
                text,
                "<tr><td>{method}<td><code>{}</code><td>{}</tr>",
                escaped(path),
                escaped(does)
            );
        }
    }
    text + "</table></html>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
