//! `mainspring explain-code`: what an error code means, and how to mend it.

use crate::args::ExplainCodeArgs;
use crate::exit::Exit;
use crate::{out, pages};
use anyhow::{Result, bail};
use mainspring_core::spec::Code;

pub fn explain_code(args: &ExplainCodeArgs) -> Result<Exit> {
    let Some(word) = &args.code else {
        out::result(&list());
        return Ok(Exit::Success);
    };
    let wanted = word.to_ascii_uppercase();
    let Some(code) = Code::ALL.iter().copied().find(|code| code.word() == wanted) else {
        bail!("{}", unknown(word));
    };
    out::result(pages::page(code));
    Ok(Exit::Success)
}

fn list() -> String {
    let line = |code: &Code| format!("{}  {}\n", out::bold(code.word()), code.title());
    Code::ALL.iter().map(line).collect()
}

fn unknown(word: &str) -> String {
    let wanted = word.to_ascii_uppercase();
    let ends_alike = |code: &&Code| code.word().ends_with(&wanted);
    let near = Code::ALL.iter().find(ends_alike).filter(|_| !wanted.is_empty()).or_else(|| {
        let by_distance = |code: &&Code| strsim::osa_distance(&wanted, code.word());
        Code::ALL.iter().min_by_key(by_distance).filter(|code| by_distance(code) <= 1)
    });
    let hint = near.map(|code| format!("did you mean {code}? ")).unwrap_or_default();
    format!(
        "there is no code `{}`: {hint}`mainspring explain-code` lists them all",
        out::tame(word)
    )
}
