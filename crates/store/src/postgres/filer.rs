//! Puts blobs away and removes them, on connections of its own: the batches that everybody waits
//! for never wait for a blob.
//!
//! ```text
//!  put():  256 KiB ── channel of one ──► filer thread, 2 connections
//!          256 KiB                          begin, name, chunk, chunk, …, commit
//!          the end                          │ in the middle of it nothing can be seen
//!      ◄───────────────────────────── ok ───┘
//! ```
//! Neither side holds more than a few chunks. A put that fails closes its connection, and with it
//! goes whatever was written.

use super::fault::{Fault, within};
use super::link::Link;
use super::place::Place;
use super::session::{Role, Session, Step, WRITE};
use super::tables::blobs;
use crate::blobs::{BlobError, BlobName};
use crate::contract::ReadError;
use crate::thread::Thread;
use mainspring_core::ids::RunId;
use mainspring_core::time::Timestamp;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_postgres::Row;

/// Longer than the server's own limits, which are told with their cause.
const PATIENCE: Duration = Duration::from_secs(60);

/// A part of a blob on its way. Should its sender go without having said that this was all,
/// nothing is kept.
pub(super) enum Piece {
    Chunk(Vec<u8>),
    End,
}

pub(super) enum Job {
    Put { name: BlobName, pieces: mpsc::Receiver<Piece> },
    Remove { name: BlobName, put_before: Timestamp },
    RemoveContents { run: RunId, limit: usize },
}

/// How many blobs it was about.
type Count = usize;
type Asked = (Job, oneshot::Sender<Result<Count, BlobError>>);

#[derive(Debug)]
pub(super) struct Filer {
    queue: Option<mpsc::UnboundedSender<Asked>>,
    thread: Thread,
}

impl Filer {
    pub fn start(place: &Arc<Place>) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (queue, jobs) = mpsc::unbounded_channel();
        let place = Arc::clone(place);
        let thread = Thread::start("postgres-blobs", move || {
            let jobs = Mutex::new(jobs);
            let work = || work(Link::new(Arc::clone(&place), Role::Filer), &jobs);
            runtime.block_on(async { tokio::join!(work(), work()) });
        })?;
        Ok(Self { queue: Some(queue), thread })
    }

    /// The answer comes whenever it is waited for.
    pub fn ask(&self, job: Job) -> impl Future<Output = Result<Count, BlobError>> + use<> {
        let (reply, answer) = oneshot::channel();
        let queue = self.queue.as_ref().expect("taken only by drop");
        // Without a thread the job is dropped, and whoever waits is told.
        let _ = queue.send((job, reply));
        async move { answer.await.unwrap_or_else(|_| Err(super::reader::ended().into())) }
    }
}

impl Drop for Filer {
    /// What was handed over is still put away.
    fn drop(&mut self) {
        self.queue = None;
        self.thread.join();
    }
}

impl From<ReadError> for BlobError {
    fn from(error: ReadError) -> Self {
        let what = error.to_string();
        let ReadError::Failed { source, .. } = error else { return Self { what, source: None } };
        Self { what, source }
    }
}

async fn work(mut link: Link, jobs: &Mutex<mpsc::UnboundedReceiver<Asked>>) {
    loop {
        let next = jobs.lock().await.recv().await;
        let Some((job, reply)) = next else { return };
        let done = carry_out(&mut link, job).await;
        if done.is_err() {
            link.hang_up();
        }
        // Nobody may be waiting any more.
        let _ = reply.send(done.map_err(|fault| fault.into_read(link.place()).into()));
    }
}

async fn carry_out(link: &mut Link, job: Job) -> Result<Count, Fault> {
    let session = link.session().await?;
    match job {
        Job::Put { name, mut pieces } => put(session, name, &mut pieces).await.map(|()| 1),
        Job::Remove { name, put_before } => {
            write(session, &blobs::remove(name, put_before)).await.map(|_| 1)
        }
        Job::RemoveContents { run, limit } => {
            let answers = write(session, &[blobs::remove_contents(run, limit)]).await?;
            blobs::read_count(answers.first().map_or(&[][..], Vec::as_slice))
        }
    }
}

async fn write(session: &Session, steps: &[Step<'_>]) -> Result<Vec<Vec<Row>>, Fault> {
    let written = async {
        let result = session.transaction(WRITE, steps).await;
        result.map_err(|broken| broken.error.into())
    };
    within(PATIENCE, written).await
}

async fn put(
    session: &Session,
    name: BlobName,
    pieces: &mut mpsc::Receiver<Piece>,
) -> Result<(), Fault> {
    let client = session.client();
    let begin = async { Ok(client.batch_execute(blobs::begin(name.durability())).await?) };
    within(PATIENCE, begin).await?;
    for step in blobs::claim(name) {
        within(PATIENCE, session.rows(&step)).await?;
    }
    let mut chunks = 0;
    loop {
        match pieces.recv().await {
            Some(Piece::Chunk(bytes)) => {
                let step = blobs::insert_chunk(name, chunks, bytes);
                within(PATIENCE, session.rows(&step)).await?;
                chunks += 1;
            }
            Some(Piece::End) => break,
            None => return Err(Fault::CutShort),
        }
    }
    let end = async {
        session.rows(&blobs::complete(name, chunks)).await?;
        Ok(client.batch_execute("commit").await?)
    };
    within(PATIENCE, end).await
}
