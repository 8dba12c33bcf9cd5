//! Orders on many runs, as far as they are kept.

use crate::rig::Rig;
use mainspring_core::ids::{BulkId, RunId};
use mainspring_core::json::Json;
use mainspring_core::kernel::bulk::{BulkBy, BulkEnd, BulkRow, BulkRuns, BulkState};
use mainspring_core::kernel::record::{Admin, IdempotencyKey, KeyAnswer, Record};
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::world::input::{Input, Reply};
use mainspring_engine::retention::Retention;
use mainspring_store::Store as _;

const WEEK: Span = Span::from_secs(7 * 86_400);

fn order(created_at: Timestamp) -> BulkRow {
    BulkRow {
        id: BulkId::from_bytes([3; 16]),
        by: BulkBy { name: "ann".into(), token: None, from: "127.0.0.1".into() },
        asked: Json::empty_object(),
        until: created_at,
        matched: 1,
        created_at,
        state: BulkState::AtWork(BulkRuns {
            runs: [RunId::from_bytes([4; 16])].into(),
            below: [].into(),
        }),
    }
}

/// Keys tell what it has done: while it is at work they stay, however old they are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_goes_a_week_after_its_end_and_keeps_keys_until_then() {
    let rig = Rig::new().await;
    let (store, row) = (&*rig.store, order(Timestamp(1)));
    let key = IdempotencyKey {
        principal: "ann".into(),
        route: "runs bulk".into(),
        key: "k".into(),
        body: [1; 32],
    };
    let record = Record {
        by: "ann".into(),
        from: "127.0.0.1".into(),
        action: "run.bulk",
        target: "bulk".to_owned(),
        key: Some(key.clone()),
    };
    let input = Input::Admin(Admin::NewBulk(Box::new(row.clone())));
    let reply = rig.engine.submit(Input::Recorded(Box::new(record), Box::new(input))).await;
    assert!(matches!(reply, Ok(Reply::Ordered { bulk }) if bulk == row.id), "{reply:?}");
    let used = store.key(&key).await.expect("readable").expect("stored");
    assert_eq!(used.answer, KeyAnswer::Bulk(row.id));

    let retention = Retention { runs: Span::from_secs(365 * 86_400), logs: rig.store.logs() };
    let ends = used.created_at + WEEK + WEEK;
    retention.forget(&rig.engine, store, ends).await.expect("looked");
    assert_eq!(store.bulk(row.id).await.expect("readable"), Some(row.clone()));
    assert!(store.key(&key).await.expect("readable").is_some(), "it is at work");
    let end = BulkEnd { at: ends, result: Json::empty_object() };
    rig.engine.submit(Input::Admin(Admin::EndBulk(row.id, end))).await.expect("ended");
    retention.forget(&rig.engine, store, ends + WEEK).await.expect("looked");
    assert!(store.bulk(row.id).await.expect("readable").is_some(), "for a week");
    assert!(store.key(&key).await.expect("readable").is_none());
    retention.forget(&rig.engine, store, ends + WEEK + Span(1)).await.expect("looked");
    assert!(store.bulk(row.id).await.expect("readable").is_none());
    rig.engine.shut_down();
}
