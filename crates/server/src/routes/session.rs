//! `/session`: a browser trades a token for a cookie that scripts cannot read.

use crate::app::{App, now};
use crate::auth::secret;
use crate::auth::who::{COOKIE, Viewer, secret_of};
use crate::extract::Body;
use crate::idempotency::no_key;
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use mainspring_core::kernel::record::{Admin as AdminChange, Record, Role, TokenKind, TokenRow};
use mainspring_core::time::Span;
use mainspring_core::world::input::Input;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const LASTS: Span = Span::from_secs(12 * 3_600);

/// Who is asking.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Session {
    pub name: String,
    pub role: Role,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginBody {
    token: String,
}

/// Says who is asking.
#[utoipa::path(get, path = "/session", operation_id = "getSession", tag = "session",
    responses((status = 200, body = Session)))]
pub async fn get(Viewer(who): Viewer) -> Json<Session> {
    Json(Session { name: who.name.to_string(), role: who.role })
}

type Answer<T> = ([(HeaderName, HeaderValue); 1], T);

/// Opens a session for a browser. An `Idempotency-Key` is refused: the cookie is given once, so
/// that nothing could be answered the second time.
#[utoipa::path(post, path = "/session", operation_id = "openSession", tag = "session", request_body = LoginBody,
    responses((status = 200, body = Session)))]
pub async fn login(
    State(app): State<App>,
    origin: crate::auth::who::Anyone,
    headers: HeaderMap,
    body: Body,
) -> Result<Answer<Json<Session>>, Problem> {
    no_key(&headers)?;
    let body: LoginBody = body.json()?;
    let unknown = || Problem::new(Code::Unauthorized, "the token is not known or has expired");
    let held = app.turn_to_change_tokens().await?;
    let opened_with = app.tokens.find(&secret::hash(&body.token), now());
    let token = opened_with.filter(|row| row.kind == TokenKind::Bearer).ok_or_else(unknown)?;
    let (secret, hash) = secret::make();
    let created_at = now();
    app.end_sessions(app.tokens.surplus_sessions(token.id, created_at)).await?;
    let ends = created_at + LASTS;
    let row = TokenRow {
        id: secret::id(created_at),
        hash,
        kind: TokenKind::Session(token.id),
        created_at,
        expires_at: Some(token.expires_at.map_or(ends, |at| at.min(ends))),
        name: token.name,
        role: token.role,
    };
    let record = Record {
        by: format!("{} (token {})", row.name, token.id).into(),
        from: origin.0,
        action: "session.open",
        target: format!("token {}", token.id),
        key: None,
    };
    let shown = Session { name: row.name.to_string(), role: row.role };
    app.submit(record, Input::Admin(AdminChange::NewToken(row)), held).await?;
    Ok(([(header::SET_COOKIE, cookie(&secret, LASTS, &app))], Json(shown)))
}

/// Ends a browser's session.
#[utoipa::path(delete, path = "/session", operation_id = "closeSession", tag = "session",
    responses((status = 204)))]
pub async fn logout(
    State(app): State<App>,
    Viewer(who): Viewer,
    headers: HeaderMap,
) -> Result<Answer<StatusCode>, Problem> {
    let row = secret_of(&headers).and_then(|it| app.tokens.find(&secret::hash(it), now()));
    let session = row.filter(|row| matches!(row.kind, TokenKind::Session(_)));
    if let Some(row) = session {
        let record = who.record("session.close", format!("session {}", row.id));
        let held = app.turn_to_change_tokens().await?;
        app.submit(record, Input::Admin(AdminChange::RevokeToken(row.id)), held).await?;
    }
    Ok(([(header::SET_COOKIE, cookie("", Span::ZERO, &app))], StatusCode::NO_CONTENT))
}

fn cookie(secret: &str, lasts: Span, app: &App) -> HeaderValue {
    let secure = if app.config.tls.is_some() { "; Secure" } else { "" };
    let seconds = lasts.to_std().as_secs();
    let text =
        format!("{COOKIE}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::from_str(&text).expect("hexadecimal digits and our own words")
}
