//! `/audit`: who changed what, when, from where.

use super::page::{Page, PageQuery};
use crate::app::App;
use crate::auth::who::Admin;
use crate::cursor;
use crate::extract::Query;
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use mainspring_core::time::Timestamp;
use mainspring_store::Audited;
use serde::Serialize;
use utoipa::ToSchema;

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

/// Lists changes, newest first.
#[utoipa::path(get, path = "/audit", operation_id = "listAudit", tag = "audit", params(PageQuery),
    responses((status = 200, body = Page<AuditView>)))]
pub async fn list(
    State(app): State<App>,
    Admin(_): Admin,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<AuditView>>, Problem> {
    let limit = query.limit()?;
    let rows = app.store.audit(query.last()?, limit + 1).await?;
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
