//! A task's log on a server, as it is written.

use crate::client::wire::LogLine;
use crate::client::{Ask, Client, Heard, Stream};
use crate::out;
use anyhow::{Result, bail};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
struct Trouble {
    title: String,
    #[serde(default)]
    detail: String,
}

/// What stands in front of each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    None,
    TimeAndStream,
}

/// Until the task is settled, or nobody reads any more.
pub async fn follow(client: &Arc<Client>, ask: Ask, stamps: Stamps) -> Result<()> {
    let mut heard = Stream::open(Arc::clone(client), ask).await?.listen();
    let mut writer = Writer { stamps, open: None, attempt: None };
    while let Some(next) = heard.recv().await {
        match next? {
            Heard::Cut(why) => {
                let head = out::yellow("connection lost");
                out::say(&format!("{head}, trying again: {}\n", out::tame(&why)));
            }
            Heard::Again => out::say(&format!("{} again\n", out::green("connected"))),
            Heard::Event(event) => match event.name.as_str() {
                "line" => writer.write(&serde_json::from_str(&event.data)?),
                "end" => break,
                "error" => {
                    let trouble: Trouble = serde_json::from_str(&event.data)?;
                    bail!("{}: {}", out::tame(&trouble.title), out::tame(&trouble.detail));
                }
                _ => {}
            },
        }
        if out::is_unread() {
            return Ok(());
        }
    }
    writer.end();
    Ok(())
}

struct Writer {
    stamps: Stamps,
    /// The stream whose last line has not ended yet.
    open: Option<String>,
    attempt: Option<u32>,
}

impl Writer {
    fn write(&mut self, line: &LogLine) {
        if self.attempt.is_some_and(|attempt| attempt != line.attempt) {
            self.end();
            out::say(&format!("attempt {}\n", line.attempt));
        }
        self.attempt = Some(line.attempt);
        let mut text = String::new();
        if self.open.as_ref().is_some_and(|stream| *stream != line.stream) {
            text.push('\n');
            self.open = None;
        }
        if self.open.is_none() && self.stamps == Stamps::TimeAndStream {
            text.push_str(&format!("{} {} ", line.at, line.stream));
        }
        text.push_str(&line.text);
        self.open = line.unended.then(|| line.stream.clone());
        if !line.unended {
            text.push('\n');
        }
        out::raw(text.as_bytes());
    }

    fn end(&mut self) {
        if self.open.take().is_some() {
            out::raw(b"\n");
        }
    }
}
