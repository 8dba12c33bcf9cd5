//! Who may ask.

use super::begin::begin;
use crate::asking::{ask, commit};
use crate::rows::{token, token_id};
use mainspring_core::kernel::record::{Role, TokenKind, TokenRow};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::Store;

fn numbers(store: &dyn Store) -> Vec<u8> {
    ask(store.tokens()).iter().map(|row| row.id.as_bytes()[0]).collect()
}

pub fn tokens_are_read_as_they_were_written(store: &dyn Store) {
    let fence = begin(store);
    let mut rows: Vec<TokenRow> = Vec::new();
    for (number, role) in (1..).zip(Role::ALL) {
        let expires_at = Some(Timestamp(i64::from(number) * 100));
        rows.push(TokenRow { role: *role, expires_at, ..token(number, TokenKind::Bearer) });
    }
    rows.push(token(4, TokenKind::Session(token_id(1))));
    // Made in the same moment: the id decides.
    rows.push(TokenRow { created_at: Timestamp(4), ..token(5, TokenKind::Bearer) });
    let changes = rows.iter().rev().map(|row| Change::NewToken(row.clone())).collect();
    commit(store, fence, changes).unwrap();
    assert_eq!(ask(store.tokens()), rows);
}

pub fn a_token_goes_with_its_sessions(store: &dyn Store) {
    let fence = begin(store);
    let kinds = [
        TokenKind::Bearer,
        TokenKind::Bearer,
        TokenKind::Session(token_id(1)),
        TokenKind::Session(token_id(2)),
        TokenKind::Session(token_id(1)),
    ];
    let rows = (1..).zip(kinds).map(|(number, kind)| Change::NewToken(token(number, kind)));
    commit(store, fence, rows.collect()).unwrap();
    commit(store, fence, vec![Change::DropToken(token_id(9))]).unwrap();
    assert_eq!(numbers(store), [1, 2, 3, 4, 5]);
    commit(store, fence, vec![Change::DropToken(token_id(1))]).unwrap();
    assert_eq!(numbers(store), [2, 4]);
    let changes = vec![
        Change::DropToken(token_id(2)),
        Change::NewToken(token(6, TokenKind::Session(token_id(2)))),
    ];
    commit(store, fence, changes).unwrap();
    assert_eq!(numbers(store), [0_u8; 0], "a session of the same batch goes too");
}
