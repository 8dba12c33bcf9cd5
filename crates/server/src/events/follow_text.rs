//! A log that is followed as plain text, for whoever reads no server-sent events.

use super::follow::{Follower, Told, Wanted};
use super::stream::lapse;
use crate::app::App;
use crate::auth::who::Who;
use crate::log_body::{Stamps, Text};
use crate::problem::Problem;
use crate::room::Seat;
use axum::body::{Body, Bytes};
use futures_util::stream;
use std::io;

/// The lines as they come. It ends as a whole body does only when that was all: whatever else ends
/// it cuts it off.
pub fn follow_text(app: App, who: Who, wanted: Wanted, stamps: Stamps) -> Result<Body, Problem> {
    let seat = app.room.for_stream(who.pass)?;
    let allowed = Box::pin(lapse(app.clone(), who));
    let following = Following {
        follower: Follower::new(app, wanted, None),
        text: Text::new(stamps),
        attempt: None,
        is_over: false,
        _seat: seat,
    };
    let chunks = stream::unfold((following, allowed), |(mut following, mut allowed)| async move {
        let chunk = tokio::select! {
            chunk = following.next() => chunk?,
            () = &mut allowed => following.cut_off("its token is no longer good"),
        };
        Some((chunk, (following, allowed)))
    });
    Ok(Body::from_stream(chunks))
}

struct Following {
    follower: Follower,
    text: Text,
    /// Whose line was the last one.
    attempt: Option<u32>,
    is_over: bool,
    _seat: Seat,
}

impl Following {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if self.is_over {
            return None;
        }
        let mut chunk = String::new();
        let mut told = self.follower.next().await;
        loop {
            match told {
                Some(Told::Line { line, place: (attempt, _) }) => {
                    if self.attempt.replace(attempt).is_some_and(|before| before != attempt) {
                        self.text.end(&mut chunk);
                    }
                    self.text.add(&line, &mut chunk);
                }
                Some(Told::End(_)) => {
                    self.is_over = true;
                    self.text.end(&mut chunk);
                    break;
                }
                Some(Told::Trouble(problem)) => return Some(self.cut_off(&problem.detail)),
                None => return Some(self.cut_off("the server shuts down")),
            }
            told = self.follower.waiting.pop_front();
            if told.is_none() {
                break;
            }
        }
        (!chunk.is_empty()).then(|| Ok(chunk.into()))
    }

    fn cut_off(&mut self, why: &str) -> io::Result<Bytes> {
        self.is_over = true;
        Err(io::Error::other(why.to_owned()))
    }
}
