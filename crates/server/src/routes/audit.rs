//! `/audit`: who changed what, when, from where.

use super::page::{Page, limit};
use crate::app::App;
use crate::auth::who::Admin;
use crate::cursor;
use crate::extract::Query;
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use mainspring_core::time::Timestamp;
use mainspring_store::Audited;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// One change that somebody asked for.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AuditView {
    pub number: u64,
    pub at: Timestamp,
    pub by: String,
    pub from: String,
    pub action: String,
    pub target: String,
}

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Items on a page, from 1 to 1,000; 50 if not said.
    #[param(minimum = 1, maximum = 1_000)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    #[param(pattern = "^[0-9a-fA-F]{16}$")]
    cursor: Option<String>,
}

/// Lists changes, newest first.
#[utoipa::path(get, path = "/audit", operation_id = "listAudit", tag = "audit", params(ListQuery),
    responses((status = 200, body = Page<AuditView>)))]
pub async fn list(
    State(app): State<App>,
    Admin(_): Admin,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<AuditView>>, Problem> {
    let limit = limit(query.limit)?;
    let below = query.cursor.as_deref().map(cursor::decode_number).transpose()?;
    let rows = app.store.audit(below, limit + 1).await?;
    let cursor = |it: &Audited| cursor::encode_number(it.number);
    Ok(Json(Page::of(rows, limit, cursor, |Audited { number, row }| AuditView {
        number,
        at: row.at,
        by: row.by.to_string(),
        from: row.from.to_string(),
        action: row.action.to_string(),
        target: row.target,
    })))
}
