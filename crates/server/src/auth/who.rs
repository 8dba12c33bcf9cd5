//! Who asks, found out once for each request; each handler says which role it needs.

use crate::app::{App, now};
use crate::auth::{origin, secret};
use crate::idempotency::Claim;
use crate::problem::{Code, Problem};
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use mainspring_core::ids::TokenId;
use mainspring_core::kernel::record::{Record, Role};
use std::sync::Arc;

/// The name of the cookie that a browser's session is in.
pub const COOKIE: &str = "mainspring_session";

/// The other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: Arc<str>,
    /// Through a socket that only the owner of the data folder can open.
    pub is_owner: bool,
}

/// Who asks.
#[derive(Clone, Debug)]
pub struct Who {
    pub name: Arc<str>,
    pub role: Role,
    pub token: Option<TokenId>,
    pub from: Arc<str>,
}

impl Who {
    pub fn record(&self, action: &'static str, target: String) -> Record {
        let (by, from) = (Arc::clone(&self.name), Arc::clone(&self.from));
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

    fn of(parts: &Parts, app: &App) -> Result<Self, Problem> {
        let peer = parts.extensions.get::<ConnectInfo<Peer>>();
        let peer = peer.map(|ConnectInfo(peer)| peer.clone());
        let from = peer.as_ref().map_or_else(|| "unknown".into(), |it| Arc::clone(&it.address));
        if peer.is_some_and(|peer| peer.is_owner) {
            return Ok(Self { name: "owner".into(), role: Role::Admin, token: None, from });
        }
        origin::check(parts, app)?;
        if !app.tokens.are_there() {
            return Ok(Self { name: "anonymous".into(), role: Role::Admin, token: None, from });
        }
        let asked = "send `Authorization: Bearer TOKEN`; `mainspring tokens create` makes one";
        let secret = secret_of(&parts.headers);
        let secret = secret.ok_or_else(|| Problem::new(Code::Unauthorized, asked))?;
        let unknown = || Problem::new(Code::Unauthorized, "the token is not known or has expired");
        if !secret::is_plausible(secret) {
            return Err(unknown());
        }
        let row = app.tokens.find(&secret::hash(secret), now()).ok_or_else(unknown)?;
        Ok(Self { name: row.name, role: row.role, token: Some(row.id), from })
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
