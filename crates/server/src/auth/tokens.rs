//! The tokens in memory. There is one server for each store, and every change goes through it.
//!
//! ```text
//!  turn ─► look, decide ─► commit ─► add, remove ─► turn given back     changes, one at a time
//!  request ─► find                                                      never waits for a turn
//! ```

use crate::app::now;
use crate::auth::sessions::SESSIONS_MAX;
use mainspring_core::ids::TokenId;
use mainspring_core::kernel::record::{Role, TokenKind, TokenRow};
use mainspring_core::time::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;
use subtle::ConstantTimeEq as _;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};

#[derive(Debug, Default)]
pub struct Tokens {
    rows: RwLock<Rows>,
    turn: Arc<Mutex<()>>,
    /// Told after every change.
    changed: watch::Sender<()>,
}

/// Whoever waits for a token's end looks at the clock at least this often.
const LAPSE_LOOK: Duration = Duration::from_secs(60);

/// How a hash begins. Secrets are random and their hashes no secret's beginning: how long it
/// takes to find one tells nothing that would help to guess it.
type Prefix = [u8; 8];

#[derive(Debug, Default)]
struct Rows {
    /// In the order they were made.
    by_id: BTreeMap<TokenId, TokenRow>,
    by_prefix: HashMap<Prefix, Vec<TokenId>>,
    bearers: usize,
}

fn prefix(hash: &[u8; 32]) -> Prefix {
    *hash.first_chunk().expect("a hash is longer than its prefix")
}

impl Rows {
    fn add(&mut self, row: TokenRow) {
        self.remove(row.id);
        self.bearers += usize::from(row.kind == TokenKind::Bearer);
        self.by_prefix.entry(prefix(&row.hash)).or_default().push(row.id);
        self.by_id.insert(row.id, row);
    }

    fn remove(&mut self, id: TokenId) {
        let Some(row) = self.by_id.remove(&id) else { return };
        self.bearers -= usize::from(row.kind == TokenKind::Bearer);
        let prefix = prefix(&row.hash);
        if let Some(ids) = self.by_prefix.get_mut(&prefix) {
            ids.retain(|known| *known != id);
            if ids.is_empty() {
                self.by_prefix.remove(&prefix);
            }
        }
    }
}

fn is_valid(row: &TokenRow, now: Timestamp) -> bool {
    row.expires_at.is_none_or(|at| now < at)
}

impl Tokens {
    fn read(&self) -> RwLockReadGuard<'_, Rows> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Rows> {
        self.rows.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The turn to change tokens: what its holder sees here stays so until it is given back.
    pub async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// What is stored now.
    pub fn replace(&self, stored: Vec<TokenRow>) {
        let mut rows = Rows::default();
        stored.into_iter().for_each(|row| rows.add(row));
        *self.write() = rows;
        self.changed.send_replace(());
    }

    /// All but sessions, in the order they were made.
    pub fn bearers(&self) -> Vec<TokenRow> {
        let rows = self.read();
        rows.by_id.values().filter(|row| row.kind == TokenKind::Bearer).cloned().collect()
    }

    /// Whether there is a token, be it expired.
    pub fn are_there(&self) -> bool {
        self.read().bearers > 0
    }

    /// The valid token with this hash. Those that begin alike are compared in full, so that the
    /// time it takes says nothing about the rest of any of them.
    pub fn find(&self, hash: &[u8; 32], now: Timestamp) -> Option<TokenRow> {
        let rows = self.read();
        let mut found = None;
        for id in rows.by_prefix.get(&prefix(hash)).into_iter().flatten() {
            let Some(row) = rows.by_id.get(id) else { continue };
            if bool::from(row.hash.ct_eq(hash)) && is_valid(row, now) {
                found = Some(row.clone());
            }
        }
        found
    }

    /// Sessions whose time is up.
    pub fn ended_sessions(&self, now: Timestamp) -> Vec<TokenId> {
        let rows = self.read();
        let over = rows.by_id.values().filter(|row| row.kind != TokenKind::Bearer);
        over.filter(|row| !is_valid(row, now)).map(|row| row.id).collect()
    }

    /// What has to go before another session is opened with a token: those whose time is up,
    /// and its oldest ones if there are too many.
    pub fn surplus_sessions(&self, of: TokenId, now: Timestamp) -> Vec<TokenId> {
        let mut gone = self.ended_sessions(now);
        let rows = self.read();
        let own = rows.by_id.values().filter(|row| row.kind == TokenKind::Session(of));
        let mut own: Vec<&TokenRow> = own.filter(|row| is_valid(row, now)).collect();
        own.sort_by_key(|row| (row.created_at, row.id));
        let surplus = (own.len() + 1).saturating_sub(SESSIONS_MAX);
        gone.extend(own.iter().take(surplus).map(|row| row.id));
        gone
    }

    /// Whether nobody could change anything any more without this one.
    pub fn is_last_admin(&self, id: TokenId, now: Timestamp) -> bool {
        let rows = self.read();
        let is_admin = |row: &&TokenRow| {
            row.kind == TokenKind::Bearer && row.role == Role::Admin && is_valid(row, now)
        };
        let mut admins = rows.by_id.values().filter(is_admin).map(|row| row.id);
        admins.next() == Some(id) && admins.next().is_none()
    }

    /// Whether a valid token has this name.
    pub fn is_taken(&self, name: &str, now: Timestamp) -> bool {
        let rows = self.read();
        let mut bearers = rows.by_id.values().filter(|row| row.kind == TokenKind::Bearer);
        bearers.any(|row| &*row.name == name && is_valid(row, now))
    }

    pub fn get(&self, id: TokenId) -> Option<TokenRow> {
        self.read().by_id.get(&id).cloned()
    }

    /// Waits until a token is revoked or has expired.
    pub async fn lapse(&self, id: TokenId) {
        let mut changed = self.changed.subscribe();
        while let Some(row) = self.get(id) {
            let left = row.expires_at.map(|at| at.since(now()).to_std());
            if left == Some(Duration::ZERO) {
                return;
            }
            // A clock that is set later is noticed at the next look.
            let look = left.unwrap_or(LAPSE_LOOK).min(LAPSE_LOOK);
            tokio::select! {
                changed = changed.changed() => if changed.is_err() { return },
                () = tokio::time::sleep(look) => {}
            }
        }
    }

    /// Waits until something holds of the tokens, looking after each change.
    pub async fn until(&self, holds: impl Fn() -> bool) {
        let mut changed = self.changed.subscribe();
        while !holds() {
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    pub fn add(&self, row: TokenRow) {
        self.write().add(row);
        self.changed.send_replace(());
    }

    /// With the sessions that were opened with it.
    pub fn remove(&self, id: TokenId) {
        let mut rows = self.write();
        let sessions = rows.by_id.values().filter(|row| row.kind == TokenKind::Session(id));
        let sessions: Vec<TokenId> = sessions.map(|row| row.id).collect();
        sessions.into_iter().chain([id]).for_each(|id| rows.remove(id));
        drop(rows);
        self.changed.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(!tokens.are_there());
        tokens.add(row(1, TokenKind::Bearer, Some(Timestamp(10))));
        tokens.add(row(2, TokenKind::Session(TokenId::from_bytes([1; 16])), None));
        assert!(tokens.are_there());
        assert!(tokens.find(&[1; 32], Timestamp(9)).is_some());
        assert!(tokens.find(&[1; 32], Timestamp(10)).is_none());
        assert!(tokens.find(&[3; 32], Timestamp(0)).is_none());
        assert!(tokens.find(&[2; 32], Timestamp(0)).is_some());
        tokens.remove(TokenId::from_bytes([1; 16]));
        assert!(tokens.find(&[2; 32], Timestamp(0)).is_none(), "a session goes with its token");
        assert!(!tokens.are_there());
    }

    #[test]
    fn hashes_that_begin_alike_are_told_apart() {
        let tokens = Tokens::default();
        let mut other = row(2, TokenKind::Bearer, None);
        other.hash = [1; 32];
        other.hash[31] = 0;
        let hash = other.hash;
        tokens.add(row(1, TokenKind::Bearer, None));
        tokens.add(other);
        let found =
            |hash: &[u8; 32]| tokens.find(hash, Timestamp(0)).map(|row| row.id.as_bytes()[0]);
        assert_eq!((found(&[1; 32]), found(&hash)), (Some(1), Some(2)));
        tokens.remove(TokenId::from_bytes([1; 16]));
        assert_eq!((found(&[1; 32]), found(&hash)), (None, Some(2)));
    }

    /// Each thread makes tokens and revokes them: none of them loses another's, or brings back
    /// what another took.
    #[test]
    fn changes_made_at_once_are_all_kept() {
        const EACH: u8 = 60;
        let tokens = Tokens::default();
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let tokens = &tokens;
                scope.spawn(move || {
                    for number in (thread * EACH..).take(EACH.into()) {
                        tokens.add(row(number, TokenKind::Bearer, None));
                        if number % 2 == 0 {
                            tokens.remove(TokenId::from_bytes([number; 16]));
                        }
                    }
                });
            }
        });
        let left: Vec<u8> = tokens.bearers().iter().map(|row| row.hash[0]).collect();
        let odd: Vec<u8> = (0..4 * EACH).filter(|number| number % 2 == 1).collect();
        assert_eq!(left, odd);
    }
}
