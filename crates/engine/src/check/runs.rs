//! Runs, one by one, with all that belongs to them; and rows that belong to none.

use super::contents::Contents;
use super::findings::Findings;
use super::whole::Home;
use crate::definitions;
use crate::logs::{LogError, LogText};
use mainspring_core::check::{self, Promise, Rows, Violation};
use mainspring_core::ids::{AttemptId, RunKey};
use mainspring_core::kernel::row::LogSize;
use mainspring_core::spec;
use mainspring_core::spec::definition::Definition;
use mainspring_store::{Inventory, KeyRange, ReadError, WholeRun};
use std::collections::BTreeMap;
use std::sync::Arc;

const PAGE: usize = 500;
/// Definitions in memory at once.
const DEFINITIONS_MAX: usize = 1_000;

/// Versions with their texts.
type Definitions = BTreeMap<(Arc<str>, u32), Option<(Arc<str>, Arc<Definition>)>>;

struct Check<'a> {
    store: &'a dyn Inventory,
    home: &'a Home,
    definitions: Definitions,
    to: &'a mut Findings,
}

pub(super) async fn check(
    store: &dyn Inventory,
    home: &Home,
    to: &mut Findings,
) -> Result<(), ReadError> {
    let mut check = Check { store, home, definitions: Definitions::new(), to };
    let mut above = RunKey(i64::MIN);
    loop {
        let page = store.run_keys(above, PAGE).await;
        let Some(page) = check.to.readable(None, page)? else { return Ok(()) };
        // What follows the last run belongs to none.
        let last = page.last().filter(|_| page.len() == PAGE).map(|(key, _)| *key);
        let up_to = last.unwrap_or(RunKey(i64::MAX));
        check.strays(KeyRange { above, up_to }).await?;
        for (key, id) in page {
            let shown = id.map_or_else(|| format!("with key {}", key.0), |id| id.to_string());
            check.run(key, &shown).await?;
        }
        match last {
            Some(last) => above = last,
            None => return Ok(()),
        }
    }
}

impl Check<'_> {
    async fn strays(&mut self, range: KeyRange) -> Result<(), ReadError> {
        let strays = self.store.strays(range).await;
        for stray in self.to.readable(None, strays)?.unwrap_or_default() {
            let (table, key) = (stray.table, stray.run.0);
            let what = format!("{table} has rows of a run with key {key}, which is not there");
            self.to.add(None, Violation::new(Promise::Strays, what));
        }
        Ok(())
    }

    async fn run(&mut self, key: RunKey, shown: &str) -> Result<(), ReadError> {
        let whole = self.store.whole_run(key).await;
        // None: forgotten meanwhile.
        let Some(Some(whole)) = self.to.readable(Some(shown), whole)? else { return Ok(()) };
        self.count(&whole);
        self.owner(&whole, shown);
        let definition = self.whole_definition(&whole, shown).await?;
        if let Some(definition) = &definition {
            let WholeRun { run, attempts, logs, approvals } = &whole;
            let (head, progress, tasks) = (&run.head, &run.progress, &*run.tasks);
            let rows = Rows { head, progress, tasks, attempts, logs, approvals };
            for violation in check::check(definition, rows) {
                self.to.add(Some(shown), violation);
            }
            for violation in super::kin::check(self.store, &whole.run).await? {
                self.to.add(Some(shown), violation);
            }
        }
        self.contents(Contents::of(&whole, definition.as_deref()), key, shown).await?;
        self.log_files(&whole, shown).await
    }

    fn count(&mut self, whole: &WholeRun) {
        let length = |count: usize| count as u64;
        let looked = &mut self.to.looked;
        let current = whole.run.tasks.iter().filter(|row| row.attempt.is_some()).count();
        looked.runs += 1;
        looked.unfinished_runs += u64::from(!whole.run.progress.status.is_final());
        looked.tasks += length(whole.run.tasks.len());
        looked.attempts += length(whole.attempts.len() + current);
        looked.logs += length(whole.logs.len());
    }

    /// Whoever works in a folder carries on the unfinished runs of its database, if they are
    /// its own.
    fn owner(&mut self, whole: &WholeRun, shown: &str) {
        let progress = &whole.run.progress;
        if !self.home.is_embedded || progress.status.is_final() {
            return;
        }
        if self.home.id != Some(progress.owner) {
            let here = self.home.id.map_or("nobody".to_owned(), |id| id.to_string());
            let what = format!("scheduler {} owns it, and here works {here}", progress.owner);
            self.to.add(Some(shown), Violation::new(Promise::Owner, what));
        }
    }

    /// With everything that was added to the run.
    async fn whole_definition(
        &mut self,
        whole: &WholeRun,
        shown: &str,
    ) -> Result<Option<Arc<Definition>>, ReadError> {
        let Some((text, version)) = self.version(whole, shown).await? else { return Ok(None) };
        let run = (&whole.run.head, &whole.run.progress);
        match definitions::of_run(self.store, run, (&text, &version)).await {
            Ok(definition) => Ok(Some(definition)),
            Err(ReadError::Damaged(what)) => {
                self.to.add(Some(shown), Violation::new(Promise::Versions, what));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn version(
        &mut self,
        whole: &WholeRun,
        shown: &str,
    ) -> Result<Option<(Arc<str>, Arc<Definition>)>, ReadError> {
        let (workflow, number) = (&whole.run.head.workflow, whole.run.head.version);
        let key = (Arc::clone(workflow), number);
        if let Some(known) = self.definitions.get(&key) {
            return Ok(known.clone());
        }
        let version = self.store.version(workflow, Some(number)).await;
        let version = self.to.readable(Some(shown), version)?;
        if let Some(None) = version {
            let what =
                format!("it is pinned to version {number} of '{workflow}', which is not there");
            self.to.add(Some(shown), Violation::new(Promise::Versions, what));
        }
        // One that cannot be read is told with its workflow.
        let parse = |text: &str| spec::parse(text, &spec::Context::STORED).ok();
        let parsed = version.flatten().and_then(|row| Some((parse(&row.text)?, row.text)));
        let definition = parsed.map(|(parsed, text)| (text, Arc::new(parsed.definition)));
        if self.definitions.len() >= DEFINITIONS_MAX {
            self.definitions.clear();
        }
        self.definitions.insert(key, definition.clone());
        Ok(definition)
    }

    async fn contents(
        &mut self,
        contents: Contents,
        key: RunKey,
        shown: &str,
    ) -> Result<(), ReadError> {
        if contents.is_empty() {
            return Ok(());
        }
        let blobs = Arc::clone(&self.home.logs.blobs);
        let read = tokio::task::spawn_blocking(move || contents.read(&*blobs));
        let read = read.await.expect("reading neither panics nor is cut off");
        self.to.looked.contents += read.contents;
        // They go after their run.
        if !read.violations.is_empty() && self.is_gone(key).await? {
            return Ok(());
        }
        read.violations.into_iter().for_each(|found| self.to.add(Some(shown), found));
        Ok(())
    }

    async fn log_files(&mut self, whole: &WholeRun, shown: &str) -> Result<(), ReadError> {
        // Files are beside whoever ran it; blobs are where everybody finds them.
        let has_files = self.home.is_embedded || self.home.id == Some(whole.run.progress.owner);
        let key = whole.run.head.key;
        for (attempt, size) in &whole.logs {
            let bytes = match size {
                LogSize::Blob { bytes } => bytes,
                LogSize::File { bytes } if has_files => bytes,
                LogSize::File { .. } | LogSize::Inline { .. } => continue,
            };
            self.to.looked.log_files += 1;
            let Some(why) = self.unreadable(key, *attempt, *bytes).await? else { continue };
            let what = format!("the log of attempt {attempt}, {bytes} bytes: {why}");
            self.to.add(Some(shown), Violation::new(Promise::LogFiles, what));
        }
        Ok(())
    }

    /// Why a log cannot be read to its end; None when it can, or went with its run meanwhile.
    async fn unreadable(
        &self,
        run: RunKey,
        attempt: AttemptId,
        bytes: u64,
    ) -> Result<Option<String>, ReadError> {
        match self.log_bytes(run, attempt).await {
            Ok(found) if found >= bytes => Ok(None),
            Err(LogError::Store(error)) => Err(error),
            _ if self.is_gone(run).await? => Ok(None),
            Ok(found) => Ok(Some(format!("only {found} bytes are there"))),
            Err(why) => Ok(Some(why.to_string())),
        }
    }

    async fn log_bytes(&self, run: RunKey, attempt: AttemptId) -> Result<u64, LogError> {
        let log = LogText::open(self.store, &self.home.logs, (run, attempt)).await?;
        let read = tokio::task::spawn_blocking(move || log.map_or(Ok(0), LogText::measure));
        Ok(read.await.expect("reading neither panics nor is cut off")?)
    }

    async fn is_gone(&self, run: RunKey) -> Result<bool, ReadError> {
        let next = self.store.run_keys(RunKey(run.0 - 1), 1).await?;
        Ok(next.first().is_none_or(|(key, _)| *key != run))
    }
}
