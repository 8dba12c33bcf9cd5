//! Sessions that are over are dropped, and a token has a bounded number of them.

use crate::app::{App, now};
use crate::change::Held;
use crate::config::Scope;
use crate::problem::Problem;
use futures_util::future::try_join_all;
use mainspring_core::ids::TokenId;
use mainspring_core::kernel::record::{Admin, Record};
use mainspring_core::world::input::Input;
use std::time::Duration;

/// Of one token at once: more browsers than a person has.
pub const SESSIONS_MAX: usize = 100;
/// Between two looks. Nothing is written when nothing is over.
const LOOK: Duration = Duration::from_secs(3_600);

impl App {
    /// Drops sessions, together: most share a commit.
    pub async fn end_sessions(&self, ids: Vec<TokenId>) -> Result<(), Problem> {
        let ends = ids.into_iter().map(|id| {
            let record = Record {
                by: "server".into(),
                from: "server".into(),
                action: "session.end",
                target: format!("session {id}"),
                key: None,
            };
            self.submit(record, Input::Admin(Admin::RevokeToken(id)), Held::default())
        });
        try_join_all(ends).await.map(drop)
    }
}

/// Looks now and then, for as long as it is polled.
pub async fn keep(app: App) {
    if app.config.scope != Scope::Everything {
        return;
    }
    loop {
        tokio::time::sleep(LOOK).await;
        // What could not be done now is done next time.
        if let Ok(turn) = app.turn_to_change_tokens().await {
            let _ = app.end_sessions(app.tokens.ended_sessions(now())).await;
            drop(turn);
        }
    }
}
