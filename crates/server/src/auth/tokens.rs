//! The tokens in memory. There is one server for each store, and every change goes through it.

use mainspring_core::ids::TokenId;
use mainspring_core::kernel::record::{TokenKind, TokenRow};
use mainspring_core::time::Timestamp;
use std::sync::{Arc, PoisonError, RwLock};
use subtle::ConstantTimeEq as _;

#[derive(Debug, Default)]
pub struct Tokens(RwLock<Arc<Vec<TokenRow>>>);

impl Tokens {
    pub fn replace(&self, rows: Vec<TokenRow>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rows);
    }

    pub fn all(&self) -> Arc<Vec<TokenRow>> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A token is asked for as soon as there is one.
    pub fn are_asked_for(&self) -> bool {
        self.all().iter().any(|row| row.kind == TokenKind::Bearer)
    }

    /// The valid token with this hash. Every row is compared in full, so that the time it takes
    /// says nothing about any of them.
    pub fn find(&self, hash: &[u8; 32], now: Timestamp) -> Option<TokenRow> {
        let rows = self.all();
        let mut found = None;
        for row in rows.iter() {
            if bool::from(row.hash.ct_eq(hash)) && row.expires_at.is_none_or(|at| now < at) {
                found = Some(row.clone());
            }
        }
        found
    }

    pub fn get(&self, id: TokenId) -> Option<TokenRow> {
        self.all().iter().find(|row| row.id == id).cloned()
    }

    pub fn add(&self, row: TokenRow) {
        let mut rows = (*self.all()).clone();
        rows.push(row);
        self.replace(rows);
    }

    /// With the sessions that were opened with it.
    pub fn remove(&self, id: TokenId) {
        let mut rows = (*self.all()).clone();
        rows.retain(|row| row.id != id && row.kind != TokenKind::Session(id));
        self.replace(rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_core::kernel::record::Role;

    fn row(number: u8, kind: TokenKind, expires_at: Option<Timestamp>) -> TokenRow {
        TokenRow {
            id: TokenId::from_bytes([number; 16]),
            name: "t".into(),
            hash: [number; 32],
            role: Role::Viewer,
            kind,
            created_at: Timestamp(0),
            expires_at,
        }
    }

    #[test]
    fn an_expired_or_revoked_token_is_none() {
        let tokens = Tokens::default();
        assert!(!tokens.are_asked_for());
        tokens.add(row(1, TokenKind::Bearer, Some(Timestamp(10))));
        tokens.add(row(2, TokenKind::Session(TokenId::from_bytes([1; 16])), None));
        assert!(tokens.are_asked_for());
        assert!(tokens.find(&[1; 32], Timestamp(9)).is_some());
        assert!(tokens.find(&[1; 32], Timestamp(10)).is_none());
        assert!(tokens.find(&[3; 32], Timestamp(0)).is_none());
        assert!(tokens.find(&[2; 32], Timestamp(0)).is_some());
        tokens.remove(TokenId::from_bytes([1; 16]));
        assert!(tokens.find(&[2; 32], Timestamp(0)).is_none(), "a session goes with its token");
    }
}
