//! Where a server is.

use super::error::ClientError;
use hyper::Uri;
use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `prefix` is what a proxy has in front of every path: empty, or `/like/this`.
    Address {
        scheme: Scheme,
        host: String,
        port: u16,
        prefix: String,
    },
    Socket(PathBuf),
}

impl Target {
    /// `http://host:port`, `https://host/behind/a/proxy`, `unix:/path/of/the/socket`.
    pub fn parse(url: &str) -> Result<Self, ClientError> {
        let wrong = |why: &str| {
            let like = "write it like http://127.0.0.1:8070 or https://flows.example.org";
            ClientError::Usage(format!("--server {url:?}: {why}; {like}"))
        };
        if let Some(path) = url.strip_prefix("unix:") {
            return Ok(Self::Socket(PathBuf::from(path)));
        }
        let uri: Uri = url.parse().map_err(|_| wrong("it is not a URL"))?;
        let scheme = match uri.scheme_str() {
            Some("http") => Scheme::Http,
            Some("https") => Scheme::Https,
            _ => return Err(wrong("it begins with neither http:// nor https://")),
        };
        if uri.query().is_some() {
            return Err(wrong("it may not have a query"));
        }
        if uri.authority().is_some_and(|it| it.as_str().contains('@')) {
            return Err(wrong("it may not have a user: give a token with --token-file"));
        }
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| wrong("no host"))?;
        let port = uri.port_u16().unwrap_or(match scheme {
            Scheme::Http => 80,
            Scheme::Https => 443,
        });
        let prefix = uri.path().trim_end_matches('/').to_owned();
        Ok(Self::Address { scheme, host: host.to_owned(), port, prefix })
    }

    pub fn prefix(&self) -> &str {
        match self {
            Self::Address { prefix, .. } => prefix,
            Self::Socket(_) => "",
        }
    }

    /// What is sent as `Host`.
    pub fn host(&self) -> String {
        match self {
            Self::Address { scheme: Scheme::Http, host, port: 80, .. }
            | Self::Address { scheme: Scheme::Https, host, port: 443, .. } => host.clone(),
            Self::Address { host, port, .. } => format!("{host}:{port}"),
            Self::Socket(_) => "localhost".to_owned(),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { scheme, prefix, .. } => {
                let scheme = match scheme {
                    Scheme::Http => "http",
                    Scheme::Https => "https",
                };
                write!(f, "{scheme}://{}{prefix}", self.host())
            }
            Self::Socket(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_by_url() {
        let shown = |url| Target::parse(url).map(|it| it.to_string()).map_err(|it| it.to_string());
        for url in ["http://127.0.0.1:8070", "https://a.example/b", "http://[::1]:1"] {
            assert_eq!(shown(url).as_deref(), Ok(url));
        }
        assert_eq!(shown("http://a:80/").as_deref(), Ok("http://a"));
        assert_eq!(shown("unix:/a/api.sock").as_deref(), Ok("/a/api.sock"));
        for (url, why) in [
            ("localhost:8070", "neither"),
            ("ftp://a", "neither"),
            ("http://a?b", "query"),
            ("http://u:p@a", "--token-file"),
            ("", "not a URL"),
            ("http://", "not a URL"),
        ] {
            let said = shown(url).expect_err(url);
            assert!(said.contains(why), "{said}");
        }
    }
}
