//! What is kept of requests besides their consequences: who asked, and which answer a key was
//! given. And who may ask at all.

use crate::ids::{BulkId, RunId, TokenId};
use crate::kernel::bulk::{BulkEnd, BulkRow};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What to write when an input is accepted, in the same commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The token's name, or `anonymous` where none is asked for.
    pub by: Arc<str>,
    /// The peer's address.
    pub from: Arc<str>,
    /// `run.cancel`, `workflow.deploy`, …
    pub action: &'static str,
    /// What it was done to. A new run's id is filled in by whoever makes it.
    pub target: String,
    pub key: Option<IdempotencyKey>,
}

/// The same request, sent again under the same key, gets the same answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IdempotencyKey {
    pub principal: Arc<str>,
    pub route: Arc<str>,
    pub key: Arc<str>,
    /// SHA-256 of what was asked: another request under the same key is refused.
    pub body: [u8; 32],
}

/// A key that was used, append-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRow {
    pub key: IdempotencyKey,
    pub answer: KeyAnswer,
    pub created_at: Timestamp,
}

/// Enough to give the same answer again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyAnswer {
    Run(RunId),
    /// Of the workflow that the request, which is the same, names.
    Version {
        number: u32,
        is_new: bool,
    },
    Bulk(BulkId),
    Done,
}

/// One change that somebody asked for, append-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    pub at: Timestamp,
    pub by: Arc<str>,
    pub from: Arc<str>,
    pub action: Arc<str>,
    pub target: String,
}

/// Changes that need no decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admin {
    NewToken(TokenRow),
    /// The token, and every session that was opened with it.
    RevokeToken(TokenId),
    NewBulk(Box<BulkRow>),
    EndBulk(BulkId, BulkEnd),
}

/// Permission to ask. The secret itself is stored nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    pub id: TokenId,
    pub name: Arc<str>,
    /// SHA-256 of the secret: it is 256 random bits, so that nothing slower is needed.
    pub hash: [u8; 32],
    pub role: Role,
    pub kind: TokenKind,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
}

/// What a token's holder may do; each may do what those before it may, but for workers.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Viewer,
    Operator,
    Admin,
}

impl Role {
    pub const ALL: &[Self] = &[Self::Viewer, Self::Operator, Self::Admin];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// Sent with every request.
    Bearer,
    /// A browser's, opened with the token named.
    Session(TokenId),
}
