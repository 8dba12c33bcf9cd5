//! `Idempotency-Key`: the same request, sent again, gets the same answer and does nothing.
//!
//! A key is claimed here while its request is under way, and stored in the commit that carries
//! the request out. There is one server for each store, so that nobody else can claim it.

use crate::app::App;
use crate::auth::who::Who;
use crate::problem::{Code, Problem};
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use mainspring_core::kernel::record::{IdempotencyKey, KeyAnswer};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

const HEADER: &str = "idempotency-key";
const KEY_BYTES_MAX: usize = 255;

/// The header as the OpenAPI file describes it, and as it came. An argument of its handlers, so
/// that no way through one of them passes over its form.
#[derive(Clone, Debug)]
pub struct IdempotencyKeyHeader(Option<Arc<str>>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKeyHeader {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::read(&parts.headers)
    }
}

impl IdempotencyKeyHeader {
    pub fn read(headers: &HeaderMap) -> Result<Self, Problem> {
        let mut values = headers.get_all(HEADER).iter();
        let Some(value) = values.next() else { return Ok(Self(None)) };
        // A header may also hold tabs, which are too easily lost on the way to be part of a name.
        let is_key = |text: &&str| {
            (1..=KEY_BYTES_MAX).contains(&text.len()) && !text.contains(|it: char| it.is_control())
        };
        let text = value.to_str().ok().filter(is_key);
        match (text, values.next()) {
            (Some(text), None) => Ok(Self(Some(text.into()))),
            _ => {
                let detail =
                    format!("Idempotency-Key: once, 1 to {KEY_BYTES_MAX} ASCII characters");
                Err(Problem::new(Code::BadRequest, detail))
            }
        }
    }
}

impl IntoParams for IdempotencyKeyHeader {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let says = "The same request with the same key gets the same answer, and is done once.";
        let text = ObjectBuilder::new()
            .schema_type(Type::String)
            .min_length(Some(1))
            .max_length(Some(KEY_BYTES_MAX))
            .pattern(Some("^[ -~]*$"));
        let header = ParameterBuilder::new()
            .name("Idempotency-Key")
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(says))
            .schema(Some(text));
        vec![header.build()]
    }
}

type Claimed = (Arc<str>, Arc<str>, Arc<str>);

/// Keys whose requests are under way.
#[derive(Debug, Default)]
pub struct Claims(Arc<Mutex<BTreeSet<Claimed>>>);

/// A key that is ours until this is dropped: by whoever knows what became of the request.
#[derive(Debug)]
pub struct Claim {
    pub key: IdempotencyKey,
    claims: Arc<Mutex<BTreeSet<Claimed>>>,
}

impl Claim {
    /// Of a key that nobody else can name.
    pub fn of(app: &App, key: IdempotencyKey) -> Self {
        Self { key, claims: Arc::clone(&app.claims.0) }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        claims.remove(&name(&self.key));
    }
}

fn name(key: &IdempotencyKey) -> Claimed {
    (Arc::clone(&key.principal), Arc::clone(&key.route), Arc::clone(&key.key))
}

/// What a request with or without a key is to do.
#[derive(Debug)]
pub enum Turn {
    /// Carry it out, and store the key with it if there is one.
    New(Option<Claim>),
    /// Answer as before.
    Again(KeyAnswer),
}

/// Looks for the request's key. `route` and `body` are what makes it the same request.
pub async fn claim(
    app: &App,
    who: &Who,
    IdempotencyKeyHeader(key): &IdempotencyKeyHeader,
    (route, body): (&str, &[u8]),
) -> Result<Turn, Problem> {
    let Some(key) = key.clone() else { return Ok(Turn::New(None)) };
    let key = IdempotencyKey {
        principal: who.principal(),
        route: route.into(),
        key,
        body: Sha256::digest(body).into(),
    };
    let claims = Arc::clone(&app.claims.0);
    if !claims.lock().unwrap_or_else(PoisonError::into_inner).insert(name(&key)) {
        let detail = "wait for its answer, or use another key for another request";
        return Err(Problem::new(Code::KeyInFlight, detail));
    }
    let claim = Claim { key, claims };
    match app.store.key(&claim.key).await? {
        None => Ok(Turn::New(Some(claim))),
        Some(row) if row.key.body == claim.key.body => Ok(Turn::Again(row.answer)),
        Some(_) => {
            let detail = "each request that is to be carried out needs a key of its own";
            Err(Problem::new(Code::KeyReused, detail))
        }
    }
}

/// For what cannot be answered twice.
pub fn no_key(headers: &HeaderMap) -> Result<(), Problem> {
    if headers.contains_key(HEADER) {
        let detail = "Idempotency-Key: not taken here, as the answer is given only once";
        return Err(Problem::new(Code::BadRequest, detail));
    }
    Ok(())
}
