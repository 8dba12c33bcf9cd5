//! `db check`: everything is read, and compared with what is promised.

use super::kept::{Database, Kept};
use crate::args::Format;
use crate::exit::Exit;
use crate::print::document;
use crate::{data, out};
use anyhow::Result;
use mainspring_engine::check::{Finding, Findings, Home, Looked, check as check_all};
use mainspring_engine::folder::DataFolder;
use mainspring_engine::logs::LogPlaces;
use mainspring_store::{FolderBlobs, Inventory, Postgres, Sqlite};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Serialize)]
struct Document {
    clean: bool,
    looked_at: BTreeMap<&'static str, u64>,
    violations: Vec<Broken>,
    /// Not listed.
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
}

#[derive(Serialize)]
struct Broken {
    promise: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    what: String,
    to_do: &'static str,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub fn check(kept: &Kept, output: Format) -> Result<Exit> {
    let folder = kept.folder.clone();
    let (store, home): (Arc<dyn Inventory>, Home) = match &kept.database {
        Database::Sqlite(path) => {
            let blobs = Arc::new(FolderBlobs::open_read_only(&DataFolder::blobs(&folder)));
            let home = Home::embedded(LogPlaces { folder, blobs });
            (Arc::new(Sqlite::open_read_only(path)?), home)
        }
        Database::Postgres { url } => {
            let both = Arc::new(Postgres::open_read_only(url)?);
            let blobs = Arc::clone(&both) as _;
            (both, Home::shared(LogPlaces { folder, blobs }))
        }
    };
    let findings = data::block_on(async { Ok(check_all(&*store, &home).await?) })?;
    let clean = findings.is_clean();
    let whole = written(findings);
    document(output, &whole, || Ok(drawn(&whole)))?;
    Ok(if clean { Exit::Success } else { Exit::Failed })
}

fn written(findings: Findings) -> Document {
    let clean = findings.is_clean();
    let Findings { looked, found, more } = findings;
    let broken = |Finding { run, violation }: Finding| Broken {
        promise: violation.promise.word(),
        to_do: violation.promise.remedy(),
        run,
        what: violation.what,
    };
    Document {
        clean,
        looked_at: looked_at(looked),
        violations: found.into_iter().map(broken).collect(),
        more,
    }
}

fn looked_at(looked: Looked) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([
        ("runs", looked.runs),
        ("unfinished_runs", looked.unfinished_runs),
        ("tasks", looked.tasks),
        ("attempts", looked.attempts),
        ("logs", looked.logs),
        ("log_files", looked.log_files),
        ("contents", looked.contents),
        ("workflows", looked.workflows),
        ("versions", looked.versions),
        ("keys", looked.keys),
        ("tokens", looked.tokens),
        ("audit", looked.audit),
    ])
}

fn drawn(whole: &Document) -> String {
    let count = |what: &str| whole.looked_at.get(what).copied().unwrap_or(0);
    let mut text = format!(
        "looked at {} runs ({} unfinished), {} task rows, {} attempts, {} logs ({} in files)\n",
        count("runs"),
        count("unfinished_runs"),
        count("tasks"),
        count("attempts"),
        count("logs"),
        count("log_files"),
    );
    text.push_str(&format!(
        "          {} large outputs and artifacts, {} workflows, {} versions, {} keys, {} tokens, \
         {} entries of the audit log\n",
        count("contents"),
        count("workflows"),
        count("versions"),
        count("keys"),
        count("tokens"),
        count("audit"),
    ));
    for broken in &whole.violations {
        let run = broken.run.as_ref().map(|run| format!("run {run}: ")).unwrap_or_default();
        let promise = out::red(&format!("{:9}", broken.promise));
        text.push_str(&format!("{promise} {}{}\n", out::tame(&run), out::tame(&broken.what)));
        text.push_str(&format!("{:9} to do: {}\n", "", broken.to_do));
    }
    match whole.violations.len() as u64 + whole.more {
        0 => text.push_str(&format!("{}: every promise holds\n", out::green("clean"))),
        1 => text.push_str("1 violation\n"),
        all if whole.more > 0 => {
            text.push_str(&format!("{all} violations, of which {} are not listed\n", whole.more));
        }
        all => text.push_str(&format!("{all} violations\n")),
    }
    text
}
