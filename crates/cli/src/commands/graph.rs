//! `mainspring graph`: a workflow as a picture.

use crate::args::{GraphArgs, Picture};
use crate::exit::Exit;
use crate::source::Source;
use crate::{draw, out};
use anyhow::Result;
use mainspring_core::graph::{Graph, dot, mermaid, svg};

pub fn graph(args: &GraphArgs) -> Result<Exit> {
    let source = Source::read(&args.file)?;
    let parsed = match source.parse_for_server() {
        Ok(parsed) => parsed,
        Err(found) => {
            out::say(&draw::diagnostics(&source.name, &source.text(), &found));
            return Ok(Exit::Usage);
        }
    };
    let graph = Graph::of(&parsed.definition);
    let picture = match args.format {
        Picture::Mermaid => mermaid::mermaid(&graph),
        Picture::Dot => dot::dot(&graph),
        Picture::Svg => svg::svg(&graph),
    };
    out::raw(picture.as_bytes());
    Ok(Exit::Success)
}
