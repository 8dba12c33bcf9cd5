//! Who asks, found out once for each request; each handler says which role it needs.

use crate::app::{App, now};
use crate::auth::{origin, secret};
use crate::idempotency::Claim;
use crate::problem::{Code, Problem};
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use mainspring_core::ids::TokenId;
use mainspring_core::kernel::bulk::BulkBy;
use mainspring_core::kernel::record::{Record, Role, TokenKind};
use std::sync::Arc;

/// The name of the cookie that a browser's session is in.
pub const COOKIE: &str = "mainspring_session";

/// Whoever owns the data folder, whoever asks where no token is asked for, and nobody at all.
pub const RESERVED: [&str; 3] = ["owner", "anonymous", "server"];

/// The other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: Arc<str>,
    /// Through a socket that only the owner of the data folder can open.
    pub is_owner: bool,
}

/// What was shown at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// The key to the house: whoever can open the socket.
    Owner,
    /// Nothing, as no token was asked for.
    Nothing,
    /// A token, or a session opened with one.
    Token(TokenId),
}

/// Who asks.
#[derive(Clone, Debug)]
pub struct Who {
    pub name: Arc<str>,
    pub role: Role,
    /// Of a session: the one it was opened with.
    pub token: Option<TokenId>,
    pub pass: Pass,
    pub from: Arc<str>,
}

impl Who {
    /// The name, and the token it is the name of: another token may have it later.
    pub fn principal(&self) -> Arc<str> {
        match self.token {
            None => Arc::clone(&self.name),
            Some(token) => format!("{} (token {token})", self.name).into(),
        }
    }

    pub fn record(&self, action: &'static str, target: String) -> Record {
        let (by, from) = (self.principal(), Arc::clone(&self.from));
        Record { by, from, action, target, key: None }
    }

    pub fn record_with(
        &self,
        action: &'static str,
        target: String,
        claim: Option<&Claim>,
    ) -> Record {
        let key = claim.map(|claim| claim.key.clone());
        Record { key, ..self.record(action, target) }
    }

    /// As it is kept with an order that takes its time.
    pub fn kept(&self) -> BulkBy {
        BulkBy { name: Arc::clone(&self.name), token: self.token, from: Arc::clone(&self.from) }
    }

    /// Who gave an order that is still at work. It was allowed then, and no door is passed again.
    pub fn former(by: &BulkBy) -> Self {
        Self {
            name: Arc::clone(&by.name),
            role: Role::Operator,
            token: by.token,
            pass: Pass::Nothing,
            from: Arc::clone(&by.from),
        }
    }

    fn of(parts: &Parts, app: &App) -> Result<Self, Problem> {
        let peer = parts.extensions.get::<ConnectInfo<Peer>>();
        let peer = peer.map(|ConnectInfo(peer)| peer.clone());
        let from = peer.as_ref().map_or_else(|| "unknown".into(), |it| Arc::clone(&it.address));
        if peer.is_some_and(|peer| peer.is_owner) {
            return Ok(Self {
                name: RESERVED[0].into(),
                role: Role::Admin,
                token: None,
                pass: Pass::Owner,
                from,
            });
        }
        origin::check(parts, app)?;
        if !app.asks_for_tokens() {
            return Ok(Self {
                name: RESERVED[1].into(),
                role: Role::Admin,
                token: None,
                pass: Pass::Nothing,
                from,
            });
        }
        let asked = "send `Authorization: Bearer TOKEN`; `mainspring tokens create` makes one";
        let secret = secret_of(&parts.headers);
        let secret = secret.ok_or_else(|| Problem::new(Code::Unauthorized, asked))?;
        let unknown = || Problem::new(Code::Unauthorized, "the token is not known or has expired");
        if !secret::is_plausible(secret) {
            return Err(unknown());
        }
        let row = app.tokens.find(&secret::hash(secret), now()).ok_or_else(unknown)?;
        let token = match row.kind {
            TokenKind::Bearer => row.id,
            TokenKind::Session(token) => token,
        };
        let (token, pass) = (Some(token), Pass::Token(row.id));
        Ok(Self { name: row.name, role: row.role, token, pass, from })
    }

    fn at_least(self, role: Role) -> Result<Self, Problem> {
        if self.role >= role {
            return Ok(self);
        }
        let detail = format!("it is {}, and {} is needed", self.role.word(), role.word());
        Err(Problem::new(Code::Forbidden, detail))
    }
}

/// The bearer token, or the session of a browser.
pub fn secret_of(headers: &HeaderMap) -> Option<&str> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let (scheme, secret) = value.to_str().ok()?.split_once(' ')?;
        return scheme.eq_ignore_ascii_case("bearer").then_some(secret.trim());
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|it| it.split_once('='));
    pairs.find(|(name, _)| name.trim() == COOKIE).map(|(_, secret)| secret.trim())
}

/// Nobody in particular, from an allowed place; only where a token is asked for in the body.
#[derive(Clone, Debug)]
pub struct Anyone(pub Arc<str>);

impl FromRequestParts<App> for Anyone {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        origin::check(parts, app)?;
        let peer = parts.extensions.get::<ConnectInfo<Peer>>();
        Ok(Self(peer.map_or_else(|| "unknown".into(), |it| Arc::clone(&it.0.address))))
    }
}

macro_rules! at_least {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(pub Who);

        impl FromRequestParts<App> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
                Who::of(parts, app)?.at_least(Role::$name).map(Self)
            }
        }
    )*};
}

at_least! {
    /// May look.
    Viewer,
    /// May also start, stop and steer runs.
    Operator,
    /// May also deploy, delete and hand out tokens.
    Admin,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, header::HeaderValue::from_static(value))])
    }

    #[test]
    fn a_secret_is_found_in_header_or_cookie() {
        let found = |name, value| secret_of(&headers(name, value)).map(str::to_owned);
        assert_eq!(found(header::AUTHORIZATION, "Bearer x").as_deref(), Some("x"));
        assert_eq!(found(header::AUTHORIZATION, "bearer x").as_deref(), Some("x"));
        assert_eq!(found(header::AUTHORIZATION, "Basic x"), None);
        let cookies = "a=b; mainspring_session=s; c=d";
        assert_eq!(found(header::COOKIE, cookies).as_deref(), Some("s"));
        assert_eq!(found(header::COOKIE, "xmainspring_session=s"), None);
    }
}
