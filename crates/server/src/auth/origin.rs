//! Other people's pages, open in the same browser, may not use this server behind its user's
//! back: not by posting to it, and not by a name that they have made point at it.

use crate::app::App;
use crate::problem::{Code, Problem};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use std::net::IpAddr;

pub fn check(parts: &Parts, app: &App) -> Result<(), Problem> {
    let host = host(parts);
    if !app.asks_for_tokens() && !answers_to(host, &app.config.hosts) {
        let detail = "while no token is asked for, only addresses, `localhost` and the names \
                      under `hosts` in the configuration are answered";
        return Err(Problem::new(Code::HostRefused, detail));
    }
    if matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    match is_foreign(&parts.headers, host) {
        false => Ok(()),
        true => {
            let detail = "changes are taken from this server's own page and from programs";
            Err(Problem::new(Code::CrossOrigin, detail))
        }
    }
}

fn host(parts: &Parts) -> &str {
    let header = parts.headers.get(header::HOST).and_then(|value| value.to_str().ok());
    header.or_else(|| parts.uri.authority().map(|it| it.as_str())).unwrap_or_default()
}

fn answers_to(host: &str, hosts: &[String]) -> bool {
    let bare = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = bare.trim_start_matches('[').trim_end_matches(']');
    // Programs that speak HTTP/1.0 send none; browsers always do.
    host.is_empty()
        || address.parse::<IpAddr>().is_ok()
        || bare.eq_ignore_ascii_case("localhost")
        || hosts.iter().any(|known| known.eq_ignore_ascii_case(bare))
}

/// Browsers say where a request comes from; programs say nothing.
fn is_foreign(headers: &HeaderMap, host: &str) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return !matches!(site, "same-origin" | "none");
    }
    match headers.get(header::ORIGIN).map(|value| value.to_str()) {
        None => false,
        Some(Err(_)) => true,
        Some(Ok(origin)) => {
            let own = origin.split_once("://").map(|(_, authority)| authority);
            own.is_none_or(|authority| !authority.eq_ignore_ascii_case(host))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(name: &'static str, value: &'static str) -> bool {
        let name = header::HeaderName::from_static(name);
        let headers = HeaderMap::from_iter([(name, header::HeaderValue::from_static(value))]);
        is_foreign(&headers, "127.0.0.1:8070")
    }

    #[test]
    fn only_the_own_page_and_programs_may_change_things() {
        assert!(!is_foreign(&HeaderMap::new(), "x"));
        assert!(!foreign("origin", "http://127.0.0.1:8070"));
        assert!(foreign("origin", "http://127.0.0.1:8071"));
        assert!(foreign("origin", "null"));
        assert!(foreign("origin", "https://evil.example"));
        assert!(!foreign("sec-fetch-site", "same-origin"));
        assert!(foreign("sec-fetch-site", "same-site"));
        assert!(foreign("sec-fetch-site", "cross-site"));
    }

    #[test]
    fn names_made_by_others_are_not_answered() {
        let hosts = vec!["build.internal".to_owned()];
        for own in ["127.0.0.1:8070", "[::1]:8070", "localhost", "LOCALHOST:1", "build.internal:1"]
        {
            assert!(answers_to(own, &hosts), "{own}");
        }
        for other in ["evil.example", "localhost.evil.example:8070", "127.0.0.1.evil.example"] {
            assert!(!answers_to(other, &hosts), "{other}");
        }
    }
}
