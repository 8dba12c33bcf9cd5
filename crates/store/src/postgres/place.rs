//! From a URL to where the database is and how to speak to it.
//!
//! No part of a URL is repeated in an error: whatever is wrong with it, a password may be in
//! that part.

use super::tls::{self, Trust};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// A host that does not answer within this time counts as unreachable, unless the URL says
/// otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A peer that confirms nothing for this long is gone, although nobody closed the connection.
const SILENCE_MAX: Duration = Duration::from_secs(15);

const EXAMPLE: &str = "it looks like postgres://user:password@host:5432/database, with %40 for @ \
                       and %2F for / in user and password";

/// What is wrong with a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UrlError {
    #[error("it does not begin with postgres:// or postgresql://; {EXAMPLE}")]
    Scheme,
    #[error("a part of it cannot be understood; {EXAMPLE}")]
    Syntax,
    #[error("it names no host; {EXAMPLE}")]
    NoHost,
    #[error(
        "sslmode must be one of disable, prefer, require (encrypted, whoever answers) or \
         verify-full (encrypted, and the server's certificate is checked)"
    )]
    SslMode,
    #[error("sslrootcert is only for sslmode=verify-full")]
    RootsUnused,
    #[error("{0}")]
    Roots(String),
}

pub(super) struct Place {
    config: Config,
    tls: MakeRustlsConnect,
    shown: String,
}

impl Place {
    pub fn parse(url: &str) -> Result<Self, UrlError> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(UrlError::Scheme);
        }
        let Parts { url, ssl_mode, roots } = Parts::of(url)?;
        let mut config: Config = url.parse().map_err(|_| UrlError::Syntax)?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(UrlError::NoHost);
        }
        let (mode, trust) = match (ssl_mode.as_deref(), roots) {
            (Some("verify-full"), roots) => (SslMode::Require, Trust::Checked(roots)),
            (_, Some(_)) => return Err(UrlError::RootsUnused),
            (Some("disable"), None) => (SslMode::Disable, Trust::Anyone),
            (None | Some("prefer"), None) => (SslMode::Prefer, Trust::Anyone),
            (Some("require"), None) => (SslMode::Require, Trust::Anyone),
            (Some(_), None) => return Err(UrlError::SslMode),
        };
        let tls = tls::connector(trust).map_err(UrlError::Roots)?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE_MAX);
            config.keepalives_idle(SILENCE_MAX / 3);
            config.keepalives_interval(SILENCE_MAX / 3);
            config.keepalives_retries(2);
        }
        config.ssl_mode(mode);
        let shown = shown(&config);
        Ok(Self { config, tls, shown })
    }

    pub fn config(&self) -> Config {
        self.config.clone()
    }

    /// The URL that this was parsed from, and what was taken out of it.
    pub fn without_password(&self, url: &str) -> (String, Option<String>) {
        let Some(password) = self.config.get_password() else { return (url.to_owned(), None) };
        let password = String::from_utf8_lossy(password).into_owned();
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let (user, at) = rest.split_once('@').unwrap_or_default();
        let user = user.split(':').next().unwrap_or_default();
        (format!("{scheme}://{user}@{at}"), Some(password))
    }

    pub fn tls(&self) -> MakeRustlsConnect {
        self.tls.clone()
    }
}

/// Where it is, without who asks and how they prove it.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({})", self.shown)
    }
}

fn shown(config: &Config) -> String {
    let name = config.get_dbname().or(config.get_user()).unwrap_or("of this user's name");
    let port = |at: usize| config.get_ports().get(at).or(config.get_ports().first()).copied();
    let hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .enumerate()
        .map(|(at, host)| match host {
            Host::Tcp(host) => format!("{host}:{}", port(at).unwrap_or(5432)),
            Host::Unix(folder) => folder.display().to_string(),
        })
        .collect();
    format!("the PostgreSQL database {name} at {}", hosts.join(", "))
}

/// A URL without the parameters that are ours to understand.
struct Parts {
    url: String,
    ssl_mode: Option<String>,
    roots: Option<PathBuf>,
}

impl Parts {
    fn of(url: &str) -> Result<Self, UrlError> {
        // A password may hold a question mark.
        let credentials = url.find('@').unwrap_or(0);
        let Some(mark) = url[credentials..].find('?').map(|at| credentials + at) else {
            return Ok(Self { url: url.to_owned(), ssl_mode: None, roots: None });
        };
        let (base, query) = (&url[..mark], &url[mark + 1..]);
        let (mut ssl_mode, mut roots, mut rest) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => ssl_mode = Some(value.to_owned()),
                Some(("sslrootcert", value)) => {
                    roots = Some(percent_decoded(value).ok_or(UrlError::Syntax)?.into());
                }
                _ => rest.push(pair),
            }
        }
        Ok(Self { url: format!("{base}?{}", rest.join("&")), ssl_mode, roots })
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                bytes.push(u8::try_from(digit(high)? * 16 + digit(low)?).ok()?);
                after
            }
            (b'%', _) => return None,
            (byte, after) => {
                bytes.push(*byte);
                after
            }
        };
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> UrlError {
        Place::parse(url).unwrap_err()
    }

    #[test]
    fn a_place_is_shown_without_user_and_password() {
        let place = Place::parse("postgres://ann:hush@db.example:6000/flows?sslmode=require");
        let place = place.unwrap();
        assert_eq!(place.to_string(), "the PostgreSQL database flows at db.example:6000");
        assert!(!format!("{place:?}").contains("hush"));
        let place = Place::parse("postgresql://ann@/flows?host=%2Frun%2Fpg").unwrap();
        assert_eq!(place.to_string(), "the PostgreSQL database flows at /run/pg");
    }

    #[test]
    fn every_mistake_is_told_and_no_part_of_the_url_repeated() {
        use UrlError::{NoHost, RootsUnused, Scheme, SslMode, Syntax};
        let cases = [
            ("mysql://ann:hush@h/d", Scheme),
            ("ann:hush@h/d", Scheme),
            ("postgres://ann:hush@h:x/d", Syntax),
            ("postgres://ann:hush@h/d?hush=1", Syntax),
            ("postgres://ann:hush@h/d?hush", Syntax),
            ("postgres:///d", NoHost),
            ("postgres://ann:hush@h/d?sslmode=hush", SslMode),
            ("postgres://ann:hush@h/d?sslmode=verify-ca", SslMode),
            ("postgres://ann:hush@h/d?sslmode=require&sslrootcert=hush", RootsUnused),
            ("postgres://ann:hush@h/d?sslmode=verify-full&sslrootcert=%2", Syntax),
        ];
        for (url, expected) in cases {
            let error = refused(url);
            assert_eq!(error, expected, "{url}");
            assert!(!error.to_string().contains("hush"), "{error}");
        }
        let missing = refused("postgres://h/d?sslmode=verify-full&sslrootcert=%2Fnot%20there");
        assert!(missing.to_string().contains("/not there"), "{missing}");
    }

    #[test]
    fn modes_say_what_is_asked_of_the_server() {
        for (mode, expected) in [
            ("", SslMode::Prefer),
            ("?sslmode=disable", SslMode::Disable),
            ("?sslmode=prefer", SslMode::Prefer),
            ("?sslmode=require", SslMode::Require),
        ] {
            let place = Place::parse(&format!("postgres://h/d{mode}")).unwrap();
            assert_eq!(place.config().get_ssl_mode(), expected, "{mode}");
        }
    }

    #[test]
    fn a_question_mark_in_a_password_is_no_parameter() {
        let place = Place::parse("postgres://ann:a?sslmode=b@h/d").unwrap();
        assert_eq!(place.config().get_password(), Some(&b"a?sslmode=b"[..]));
    }
}
