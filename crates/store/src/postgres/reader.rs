//! Threads that answer questions.
//!
//! ```text
//!  any thread ── question ──► one queue ──► 2 threads, 2 read-only connections each
//!      future ◄──────────────── answer ────────┘
//! ```
//! Asking never blocks. A connection is opened when it is first needed. A question whose
//! connection was lost is asked once more on a new one: it changes nothing.

use super::fault::{Fault, within};
use super::link::Link;
use super::place::Place;
use super::session::{Role, Session};
use crate::contract::{ReadError, Reading};
use crate::thread::Thread;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::{Mutex, mpsc, oneshot};

/// Two, so that reading the rows of one long answer does not hold up the short ones.
const THREADS: usize = 2;

/// Longer than the server's own limit, which is told with its cause.
const PATIENCE: Duration = Duration::from_secs(75);

/// Something to do with a connection that reads.
trait Question: Send {
    fn ask<'a>(self: Box<Self>, link: &'a mut Link) -> Pin<Box<dyn Future<Output = ()> + 'a>>;
}

struct Asked<Q, T> {
    question: Q,
    reply: oneshot::Sender<Result<T, ReadError>>,
}

impl<Q, T> Question for Asked<Q, T>
where
    Q: AsyncFn(&Session) -> Result<T, Fault> + Send + 'static,
    T: Send + 'static,
{
    fn ask<'a>(self: Box<Self>, link: &'a mut Link) -> Pin<Box<dyn Future<Output = ()> + 'a>> {
        Box::pin(async move {
            let mut answer = once(link, &self.question).await;
            if answer.as_ref().is_err_and(Fault::is_lost_connection) {
                link.hang_up();
                answer = once(link, &self.question).await;
            }
            // Nobody may be waiting any more.
            let _ = self.reply.send(answer.map_err(|fault| fault.into_read(link.place())));
        })
    }
}

/// Something to do on a thread of the store's own, without a connection.
struct Errand(Box<dyn FnOnce() + Send>);

impl Question for Errand {
    fn ask<'a>(self: Box<Self>, _: &'a mut Link) -> Pin<Box<dyn Future<Output = ()> + 'a>> {
        Box::pin(async move { (self.0)() })
    }
}

async fn once<T>(
    link: &mut Link,
    question: &impl AsyncFn(&Session) -> Result<T, Fault>,
) -> Result<T, Fault> {
    within(PATIENCE, question(link.session().await?)).await
}

type Queue = mpsc::UnboundedReceiver<Box<dyn Question>>;

pub(super) struct Readers {
    queue: Option<mpsc::UnboundedSender<Box<dyn Question>>>,
    threads: Vec<Thread>,
}

impl std::fmt::Debug for Readers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Readers").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Readers {
    pub fn start(place: &Arc<Place>) -> io::Result<Self> {
        let (queue, questions) = mpsc::unbounded_channel();
        let questions = Arc::new(Mutex::new(questions));
        let start_one = |_| {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let (place, questions) = (Arc::clone(place), Arc::clone(&questions));
            Thread::start("postgres-reader", move || {
                let work = || work(Link::new(Arc::clone(&place), Role::Reader), &questions);
                runtime.block_on(async { tokio::join!(work(), work()) });
            })
        };
        let threads = (0..THREADS).map(start_one).collect::<io::Result<Vec<Thread>>>()?;
        Ok(Self { queue: Some(queue), threads })
    }

    /// Asks; the answer comes whenever the future is waited for.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl AsyncFn(&Session) -> Result<T, Fault> + Send + 'static,
    ) -> Reading<'static, T> {
        let (reply, answer) = oneshot::channel();
        self.send(Box::new(Asked { question, reply }));
        Box::pin(async move { answer.await.unwrap_or_else(|_| Err(ended())) })
    }

    /// Carries something out on a thread of the store's own.
    pub fn run(&self, errand: impl FnOnce() + Send + 'static) {
        self.send(Box::new(Errand(Box::new(errand))));
    }

    fn send(&self, question: Box<dyn Question>) {
        let queue = self.queue.as_ref().expect("taken only by drop");
        // Without a thread the question is dropped, and whoever waits is told.
        let _ = queue.send(question);
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue = None;
        for thread in &mut self.threads {
            thread.join();
        }
    }
}

pub(super) fn ended() -> ReadError {
    let what = "the database was closed before it answered".to_owned();
    ReadError::Failed { what, source: None }
}

async fn work(mut link: Link, questions: &Mutex<Queue>) {
    loop {
        let next = questions.lock().await.recv().await;
        let Some(question) = next else { return };
        question.ask(&mut link).await;
    }
}
