//! How far a request on many runs is, told as it goes on: server-sent events.

use super::view::BulkView;
use crate::app::App;
use crate::auth::who::Who;
use crate::events::pace::PAUSE;
use crate::events::reader::ends;
use crate::events::stream::{json, lapse, response};
use crate::problem::Problem;
use axum::response::Response;
use axum::response::sse::Event;
use futures_util::stream::{self, StreamExt as _};
use tokio::sync::watch;

/// Tells `progress` at once and whenever there is more, until it is over.
pub fn follow(
    app: App,
    who: Who,
    progress: watch::Receiver<BulkView>,
) -> Result<Response, Problem> {
    let seat = app.room.for_stream(who.pass)?;
    let looker = Looker { progress, draining: app.draining.subscribe(), told: Told::Nothing };
    let events = stream::unfold(looker, |mut looker| async move {
        let event = looker.next().await?;
        Some((Ok(event), looker))
    });
    Ok(response(seat, events.take_until(lapse(app, who))))
}

struct Looker {
    progress: watch::Receiver<BulkView>,
    draining: watch::Receiver<bool>,
    told: Told,
}

#[derive(Clone, Copy)]
enum Told {
    Nothing,
    Something,
    End,
}

impl Looker {
    async fn next(&mut self) -> Option<Event> {
        match self.told {
            Told::Nothing => {}
            Told::Something => {
                tokio::time::sleep(PAUSE).await;
                tokio::select! {
                    changed = self.progress.changed() => changed.ok()?,
                    () = ends(&mut self.draining) => return None,
                }
            }
            Told::End => return None,
        }
        let view = self.progress.borrow_and_update().clone();
        self.told = if view.finished_at.is_some() { Told::End } else { Told::Something };
        Some(json("progress", &view))
    }
}
