//! Who may ask.

use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use mainspring_core::ids::TokenId;
use mainspring_core::kernel::record::{Role, TokenKind, TokenRow};
use rusqlite::{Connection, Row, params};

pub(super) const INSERT: &str = "
    insert into tokens (id, name, hash, role, parent, created_at, expires_at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    on conflict (id) do nothing";
pub(super) const DROP: &str = "delete from tokens where id = ?1 or parent = ?1";
pub(super) const ALL: &str = "
    select id, name, hash, role, parent, created_at, expires_at from tokens
    order by created_at, id";

pub(in crate::sqlite) fn insert(conn: &Connection, rows: &[&TokenRow]) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(INSERT)?;
    for TokenRow { id, name, hash, role, kind, created_at, expires_at } in rows {
        let parent = match kind {
            TokenKind::Bearer => None,
            TokenKind::Session(parent) => Some(parent.as_bytes()),
        };
        statement.execute(params![
            id.as_bytes(),
            &**name,
            hash,
            role.word(),
            parent,
            created_at.0,
            expires_at.map(|at| at.0),
        ])?;
    }
    Ok(())
}

/// Tokens, each with its sessions.
pub(in crate::sqlite) fn drop_tokens(conn: &Connection, ids: &[TokenId]) -> Result<(), Fault> {
    for id in ids {
        conn.prepare_cached(DROP)?.execute([id.as_bytes()])?;
    }
    Ok(())
}

pub(in crate::sqlite) fn all(conn: &Connection) -> Result<Vec<TokenRow>, Fault> {
    let mut statement = conn.prepare_cached(ALL)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<TokenRow, Fault> {
    let mut cells = Cells::of(row, "tokens", 1);
    Ok(TokenRow {
        id: TokenId::from_bytes(cells.take()?),
        name: cells.take::<String>()?.into(),
        hash: cells.take()?,
        role: cells.word(role_from_word)?,
        kind: match cells.take::<Option<[u8; 16]>>()? {
            None => TokenKind::Bearer,
            Some(parent) => TokenKind::Session(TokenId::from_bytes(parent)),
        },
        created_at: cells.time()?,
        expires_at: cells.maybe_time()?,
    })
}

fn role_from_word(word: &str) -> Option<Role> {
    Role::ALL.iter().copied().find(|role| role.word() == word)
}
