//! A connection that is opened again after it was lost.
//!
//! ```text
//!            ┌────────── lost ──────────┐
//!   up ──────┘                          ▼
//!    ▲                                down ──┐ tried again by itself after 0.1 s, 0.2 s, … 5 s,
//!    └───── connected, lock taken ──────┘ ◄──┘ and at once by whoever needs it, unless the last
//!                                              try was only just now
//! ```

use super::fault::{self, Fault, within};
use super::lock;
use super::place::Place;
use super::session::{Backend, Role, Session};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Whoever asks within this time after a failed try is told the same: behind a host that does
/// not answer, every try takes seconds, and those who queue meanwhile shall not each wait anew.
const SAME_ANSWER: Duration = Duration::from_millis(100);
/// For a connection with all that belongs to it, from name to lock.
const PATIENCE: Duration = Duration::from_secs(20);
/// Of backends that were ours. An older one has long gone.
const OURS_MAX: usize = 8;
const DELAY_MIN: Duration = Duration::from_millis(100);
const DELAY_MAX: Duration = Duration::from_secs(5);

pub(super) struct Link {
    place: Arc<Place>,
    role: Role,
    session: Option<Session>,
    /// A connection on its way. Whoever waits for it may leave, it stays: the server has to deal
    /// with each one that was begun, and would drown in those that were given up.
    making: Option<Making>,
    /// Connections made so far.
    made: u64,
    ours: Ours,
    down: Down,
}

type Making = Pin<Box<dyn Future<Output = Result<Session, Fault>>>>;

/// Who was behind the last connections, newest first: a lock that one of these still holds is held
/// by a connection of ours that is dead, or was given up while it was being made.
type Ours = Rc<RefCell<VecDeque<Backend>>>;

struct Down {
    tried: Option<Instant>,
    delay: Duration,
    why: Why,
}

/// What a fault was, to be told again.
enum Why {
    Unreachable(String),
    Taken(String),
}

impl Why {
    fn of(fault: &Fault, place: &Place) -> Self {
        match fault {
            Fault::Taken(what) => Self::Taken(what.clone()),
            Fault::Sql(error) => Self::Unreachable(fault::sentence(error, place)),
            Fault::Silent => Self::Unreachable(fault::silent(place)),
            other => Self::Unreachable(format!("{place} cannot be used: {other:?}")),
        }
    }

    fn fault(&self) -> Fault {
        match self {
            Self::Unreachable(what) => Fault::Unreachable(what.clone()),
            Self::Taken(what) => Fault::Taken(what.clone()),
        }
    }
}

impl Link {
    /// Connects when it is first needed.
    pub fn new(place: Arc<Place>, role: Role) -> Self {
        let why = Why::Unreachable(String::new());
        let down = Down { tried: None, delay: DELAY_MIN, why };
        Self { place, role, session: None, making: None, made: 0, ours: Ours::default(), down }
    }

    /// Changes with every new connection.
    pub fn made(&self) -> u64 {
        self.made
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    pub async fn session(&mut self) -> Result<&Session, Fault> {
        self.notice();
        if self.session.is_none() {
            if self.down.tried.is_some_and(|tried| tried.elapsed() < SAME_ANSWER) {
                return Err(self.down.why.fault());
            }
            self.connect().await?;
        }
        Ok(self.session.as_ref().expect("connected just now"))
    }

    /// Lets go of a connection that is of no use any more.
    pub fn hang_up(&mut self) {
        self.session = None;
    }

    /// Whether the connection was lost since somebody looked last.
    pub fn notice(&mut self) {
        if self.session.as_ref().is_some_and(Session::is_lost) {
            self.hang_up();
        }
    }

    /// Waits for the connection to be lost, and makes it again, for as long as it is polled.
    /// It may be left at any moment.
    pub async fn keep_up(&mut self) -> Infallible {
        loop {
            match (&mut self.session, self.down.tried) {
                (Some(session), _) => session.lost().await,
                (None, Some(tried)) => sleep_until(tried + self.down.delay).await,
                (None, None) => {}
            }
            self.notice();
            if self.session.is_none() {
                // Told to whoever asks next.
                let _ = self.connect().await;
            }
        }
    }

    async fn connect(&mut self) -> Result<(), Fault> {
        let making = self.making.get_or_insert_with(|| {
            let (place, ours) = (Arc::clone(&self.place), Rc::clone(&self.ours));
            Box::pin(within(PATIENCE, connected(place, self.role, ours)))
        });
        let connected = making.await;
        self.making = None;
        match connected {
            Ok(session) => {
                self.session = Some(session);
                self.made += 1;
                self.down.tried = None;
                self.down.delay = DELAY_MIN;
                Ok(())
            }
            Err(fault) => {
                let delay = if self.down.tried.is_none() { DELAY_MIN } else { self.down.delay * 2 };
                let why = Why::of(&fault, &self.place);
                self.down = Down { tried: Some(Instant::now()), delay: delay.min(DELAY_MAX), why };
                Err(fault)
            }
        }
    }
}

async fn connected(place: Arc<Place>, role: Role, ours: Ours) -> Result<Session, Fault> {
    let session = Session::connect(&place, role).await?;
    if role == Role::Writer {
        let before: Vec<Backend> = ours.borrow().iter().cloned().collect();
        // Noted before it can hold the lock: whoever makes the next one must know it.
        {
            let mut ours = ours.borrow_mut();
            ours.truncate(OURS_MAX - 1);
            ours.push_front(session.backend().clone());
        }
        lock::take(&session, &before).await?;
    }
    Ok(session)
}
