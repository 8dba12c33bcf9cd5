//! `/tokens`: who may ask. Secrets are shown once, when they are made.

use super::page::Page;
use crate::app::{App, now};
use crate::auth::secret;
use crate::auth::who::{Admin, RESERVED};
use crate::extract::{Body, Path};
use crate::idempotency::no_key;
use crate::length::{NAME_CHARS_MAX, fits};
use crate::problem::{Code, Problem};
use crate::whole::whole_or_none;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use mainspring_core::ids::TokenId;
use mainspring_core::kernel::record::{Admin as AdminChange, Role, TokenKind, TokenRow};
use mainspring_core::kernel::row::CHECKPOINT;
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::world::input::Input;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A token, without its secret.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TokenView {
    pub id: String,
    pub name: String,
    pub role: Role,
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl TokenView {
    fn of(row: &TokenRow) -> Self {
        Self {
            id: row.id.to_string(),
            name: row.name.to_string(),
            role: row.role,
            created_at: row.created_at,
            expires_at: row.expires_at,
        }
    }
}

/// A new token. The secret is shown here and never again.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct NewToken {
    #[serde(flatten)]
    pub token: TokenView,
    pub secret: String,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTokenBody {
    /// Stands in records for whoever uses it.
    #[schema(min_length = 1, max_length = 128, pattern = "^[^\\u0000]*$")]
    name: String,
    role: Role,
    /// Valid for so many seconds; for good if not said.
    #[serde(default, deserialize_with = "whole_or_none")]
    #[schema(minimum = 1, maximum = 4_294_967_295_u32, format = Int64)]
    expires_in_seconds: Option<u32>,
}

/// Lists tokens.
#[utoipa::path(get, path = "/tokens", operation_id = "listTokens", tag = "tokens",
    responses((status = 200, body = Page<TokenView>)))]
pub async fn list(State(app): State<App>, Admin(_): Admin) -> Json<Page<TokenView>> {
    let items = app.tokens.bearers().iter().map(TokenView::of).collect();
    Json(Page { items, next_cursor: None })
}

/// Makes a token. An `Idempotency-Key` is refused: the secret is shown once, so that nothing
/// could be answered the second time.
#[utoipa::path(post, path = "/tokens", operation_id = "createToken", tag = "tokens", request_body = NewTokenBody,
    responses((status = 201, body = NewToken)))]
pub async fn create(
    State(app): State<App>,
    Admin(who): Admin,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<NewToken>), Problem> {
    no_key(&headers)?;
    let body: NewTokenBody = body.json()?;
    if body.name.is_empty() || !fits(&body.name, NAME_CHARS_MAX) || body.name.contains('\0') {
        let detail = format!("name: from 1 to {NAME_CHARS_MAX} characters, none of them NUL");
        return Err(Problem::new(Code::BadBody, detail));
    }
    if RESERVED.contains(&body.name.as_str()) {
        let detail = format!("name: `{}` stands for what is done without a token", body.name);
        return Err(Problem::new(Code::NameTaken, detail));
    }
    if body.name.starts_with(CHECKPOINT) {
        let detail = format!("name: what begins with `{CHECKPOINT}` stands for a task");
        return Err(Problem::new(Code::NameTaken, detail));
    }
    if body.expires_in_seconds == Some(0) {
        return Err(Problem::new(Code::BadBody, "expires_in_seconds: at least 1"));
    }
    let held = app.turn_to_change_tokens().await?;
    let created_at = now();
    if app.tokens.is_taken(&body.name, created_at) {
        let detail = format!("'{}': choose another one, or revoke that token first", body.name);
        return Err(Problem::new(Code::NameTaken, detail));
    }
    let (secret, hash) = secret::make();
    let lasts = body.expires_in_seconds.map(|seconds| Span::from_secs(seconds.into()));
    let row = TokenRow {
        id: secret::id(created_at),
        name: body.name.into(),
        hash,
        role: body.role,
        kind: TokenKind::Bearer,
        created_at,
        expires_at: lasts.map(|lasts| created_at + lasts),
    };
    let token = TokenView::of(&row);
    let target = format!("token {} '{}' {}", row.id, row.name, row.role.word());
    let input = Input::Admin(AdminChange::NewToken(row));
    app.submit(who.record("token.create", target), input, held).await?;
    Ok((StatusCode::CREATED, Json(NewToken { token, secret })))
}

/// Revokes a token, and every session opened with it.
#[utoipa::path(delete, path = "/tokens/{id}", operation_id = "revokeToken", tag = "tokens", params(("id" = String, Path, format = Uuid)),
    responses((status = 204)))]
pub async fn revoke(
    State(app): State<App>,
    Admin(who): Admin,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let missing = || Problem::new(Code::TokenNotFound, "`GET /tokens` lists them");
    let id: TokenId = id.parse().map_err(|_| missing())?;
    let held = app.turn_to_change_tokens().await?;
    app.tokens.get(id).filter(|row| row.kind == TokenKind::Bearer).ok_or_else(missing)?;
    if app.config.is_exposed() && app.tokens.is_last_admin(id, now()) {
        let detail = "without it nobody on another machine could change anything here: make \
                      another one first";
        return Err(Problem::new(Code::LastAdmin, detail));
    }
    let record = who.record("token.revoke", format!("token {id}"));
    app.submit(record, Input::Admin(AdminChange::RevokeToken(id)), held).await?;
    Ok(StatusCode::NO_CONTENT)
}
