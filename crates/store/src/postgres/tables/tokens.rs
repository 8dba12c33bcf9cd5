//! Who may ask.

use super::tasks::named;
use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use mainspring_core::ids::TokenId;
use mainspring_core::kernel::record::{Role, TokenKind, TokenRow};
use tokio_postgres::Row;

const INSERT: &str = "
    insert into tokens (id, name, hash, role, parent, created_at, expires_at)
    select * from unnest($1::uuid[], $2::text[], $3::bytea[], $4::text[], $5::uuid[],
                         $6::bigint[], $7::bigint[])
    on conflict (id) do nothing";
const DROP: &str = "
    delete from tokens where ctid = any (array(
        select found.place from unnest($1::uuid[]) as u(id),
            lateral (select ctid as place from tokens where id = u.id offset 0) found
        union all
        select found.place from unnest($1::uuid[]) as u(id),
            lateral (select ctid as place from tokens where parent = u.id offset 0) found))";
const ALL: &str = "
    select id, name, hash, role, parent, created_at, expires_at from tokens
    order by created_at, id";

pub(in crate::postgres) fn insert<'a>(rows: &'a [&'a TokenRow]) -> Step<'a> {
    let params = Columns::of(rows)
        .and(|row| uuid(row.id.as_bytes()))
        .text(|row| &row.name)
        .and(|row| row.hash.as_slice())
        .and(|row| row.role.word())
        .and(|row| match &row.kind {
            TokenKind::Bearer => None,
            TokenKind::Session(parent) => Some(uuid(parent.as_bytes())),
        })
        .and(|row| row.created_at.0)
        .and(|row| row.expires_at.map(|at| at.0))
        .params();
    Step { sql: INSERT, params }
}

/// Tokens, each with its sessions.
pub(in crate::postgres) fn drop_tokens(ids: &[TokenId]) -> Step<'_> {
    Step { sql: DROP, params: Columns::of(ids).and(|id| uuid(id.as_bytes())).params() }
}

pub(in crate::postgres) async fn all(session: &Session) -> Result<Vec<TokenRow>, Fault> {
    session.rows(&Step { sql: ALL, params: Vec::new() }).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<TokenRow, Fault> {
    let mut cells = Cells::of(row, "tokens", 1);
    Ok(TokenRow {
        id: TokenId::from_bytes(cells.id()?),
        name: cells.text()?.into(),
        hash: cells.hash()?,
        role: cells.word(|word| named(Role::ALL, Role::word, word))?,
        kind: match cells.maybe_id()? {
            None => TokenKind::Bearer,
            Some(parent) => TokenKind::Session(TokenId::from_bytes(parent)),
        },
        created_at: cells.time()?,
        expires_at: cells.maybe_time()?,
    })
}
