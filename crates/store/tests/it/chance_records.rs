//! What is not about any one run, by chance: workflows, keys, records, tokens.

use crate::chance::{Chance, Runs};
use crate::rows::{bulk, bulk_end, bulk_id, cache_key, idempotency_key, run_id, token_id, version};
use mainspring_core::ids::TokenId;
use mainspring_core::kernel::bulk::{BulkEnd, BulkRow, BulkState};
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::kernel::ledger::{Ledger, LedgerRow};
use mainspring_core::kernel::limit::{Bound, LimitRow, Rate};
use mainspring_core::kernel::record::{
    AuditRow, IdempotencyKey, KeyAnswer, KeyRow, Role, TokenKind, TokenRow,
};
use mainspring_core::kernel::row::WorkflowRow;
use mainspring_core::time::Span;
use mainspring_core::world::batch::Change;

impl Chance {
    pub fn record(&mut self, runs: &Runs) -> Change {
        match self.below(20) {
            0 => Change::NewVersion(version(self.workflow(), self.small(), &self.text())),
            1 => Change::PutWorkflow(self.workflow_row()),
            2 | 3 => Change::NewKey(self.key_row(runs)),
            4 => Change::DropKeys(self.moment()),
            5 => Change::Marks { next_run: self.below(30), next_stamp: self.below(2_000) },
            6 => Change::NewAudit(self.audit_row()),
            7 => Change::DropToken(self.token_id()),
            8 | 9 => Change::PutCache(self.cache_row(runs)),
            10 => Change::DropCache(self.moment()),
            11 | 12 => Change::PutLimit(self.limit_row()),
            13 => Change::PutLedger(self.ledger_row()),
            16 | 17 => Change::NewBulk(self.bulk_row()),
            18 => Change::EndBulk(bulk_id(self.digit()), self.bulk_end()),
            19 => Change::DropBulks(self.moment()),
            _ => Change::NewToken(self.token_row()),
        }
    }

    fn workflow_row(&mut self) -> WorkflowRow {
        WorkflowRow {
            name: self.workflow().into(),
            latest: self.small(),
            created_at: self.time(),
            updated_at: self.time(),
            deleted_at: self.maybe(Self::time),
        }
    }

    /// One of few, so that keys meet again.
    pub fn key(&mut self) -> IdempotencyKey {
        IdempotencyKey {
            principal: self.of(&["ann", "bob"]).into(),
            body: [u8::try_from(self.below(3)).unwrap(); 32],
            ..idempotency_key(self.of(&["a", "b", "c"]))
        }
    }

    /// A key never names a run that is yet to come.
    fn key_row(&mut self, runs: &Runs) -> KeyRow {
        let answer = match self.below(5) {
            1 => KeyAnswer::Bulk(bulk_id(self.digit())),
            0 => KeyAnswer::Version { number: self.small(), is_new: self.one_in(2) },
            3 | 4 if runs.last > 0 => KeyAnswer::Run(run_id(1 + self.below(runs.last))),
            _ => KeyAnswer::Done,
        };
        KeyRow { key: self.key(), answer, created_at: self.moment() }
    }

    /// One of few, so that keys meet again.
    pub fn cache_key(&mut self) -> CacheKey {
        CacheKey {
            workflow: self.workflow().into(),
            ..cache_key(self.of(&["a", "b"]), u8::try_from(self.below(2)).unwrap())
        }
    }

    fn cache_row(&mut self, runs: &Runs) -> CacheRow {
        CacheRow {
            key: self.cache_key(),
            run: run_id(self.below(runs.last + 1)),
            output: self.maybe(Self::output),
            expires_at: self.moment(),
        }
    }

    fn limit_row(&mut self) -> LimitRow {
        let rate = |chance: &mut Self| Rate {
            starts: chance.small(),
            per: Span::from_ms(chance.below(100_000)),
        };
        let bound = Bound { limit: self.small(), rate: self.maybe(rate) };
        LimitRow { name: self.of(&["gpu", "total", "Gpu"]).into(), bound }
    }

    fn ledger_row(&mut self) -> LedgerRow {
        let rate = Rate { starts: 9, per: Span::from_ms(1) };
        let mut ledger = Ledger::default();
        (0..self.below(5)).for_each(|_| ledger.note(self.time(), rate));
        LedgerRow { name: self.of(&["gpu", "build/gpu"]).into(), ledger }
    }

    /// One of few, so that orders meet again.
    fn digit(&mut self) -> u8 {
        u8::try_from(self.below(6)).unwrap()
    }

    fn bulk_row(&mut self) -> BulkRow {
        let state = match self.one_in(4) {
            true => BulkState::Over(self.bulk_end()),
            false => bulk(1).state,
        };
        let (until, matched, created_at) = (self.time(), self.below(9), self.moment());
        BulkRow { until, matched, created_at, state, ..bulk(self.digit()) }
    }

    fn bulk_end(&mut self) -> BulkEnd {
        BulkEnd { at: self.moment(), ..bulk_end(0, &self.text()) }
    }

    fn audit_row(&mut self) -> AuditRow {
        AuditRow {
            at: self.time(),
            by: self.text().into(),
            from: self.text().into(),
            action: self.text().into(),
            target: self.text(),
        }
    }

    fn token_id(&mut self) -> TokenId {
        token_id(u8::try_from(self.below(8)).unwrap())
    }

    fn token_row(&mut self) -> TokenRow {
        TokenRow {
            id: self.token_id(),
            name: self.text().into(),
            hash: [u8::try_from(self.below(200)).unwrap(); 32],
            role: self.of(Role::ALL),
            kind: match self.one_in(2) {
                true => TokenKind::Bearer,
                false => TokenKind::Session(self.token_id()),
            },
            created_at: self.moment(),
            expires_at: self.maybe(Self::time),
        }
    }
}
