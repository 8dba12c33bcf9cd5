//! Puts the page into the program: every file of `web` that a browser loads, as it is and
//! compressed, and one hash over all of them that is part of their addresses.

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

const START: &str = "index.html";
/// Loaded when a graph is drawn, by a thread of its own.
const LATER: &[&str] = &["src/layout-worker.js", "src/fold.js", "vendor/dagre.js"];

fn main() -> io::Result<()> {
    // Asked when it runs: a target folder may be shared by several checkouts.
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where"));
    let web = here.join("../../web");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where to"));
    let mut files = vec!["icon.svg".to_owned(), "style.css".to_owned()];
    for folder in ["src", "src/parts", "src/views", "vendor"] {
        println!("cargo::rerun-if-changed={}", web.join(folder).display());
        files.extend(scripts(&web, folder)?);
    }
    for file in files.iter().map(String::as_str).chain([START]) {
        println!("cargo::rerun-if-changed={}", web.join(file).display());
    }
    let hash = hash(&web, &files)?;
    fs::create_dir_all(out.join("page"))?;
    let mut table = format!("const HASH: &str = {hash:?};\n\nstatic FILES: &[File] = &[\n");
    for file in &files {
        entry(&mut table, &out, file, &fs::read(web.join(file))?)?;
    }
    table.push_str("];\n\nstatic START: File = ");
    entry(&mut table, &out, START, start(&web, &files, &hash)?.as_bytes())?;
    // The last comma.
    table.truncate(table.trim_end().len() - 1);
    table.push_str(";\n");
    fs::write(out.join("page.rs"), table)
}

fn scripts(web: &Path, folder: &str) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(web.join(folder))? {
        let name = entry?.file_name().into_string().expect("file names of ours are UTF-8");
        if name.ends_with(".js") {
            found.push(format!("{folder}/{name}"));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Of all files and their names: an address never shows two things.
fn hash(web: &Path, files: &[String]) -> io::Result<String> {
    let mut hash = Sha256::new();
    for file in files {
        let bytes = fs::read(web.join(file))?;
        hash.update(format!("{file} {}\n", bytes.len()));
        hash.update(bytes);
    }
    let mut text = String::new();
    for byte in &hash.finalize()[..8] {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// The page itself names its modules at once, so that they are not found one after the other.
fn start(web: &Path, files: &[String], hash: &str) -> io::Result<String> {
    let text = fs::read_to_string(web.join(START))?;
    let modules =
        files.iter().filter(|file| file.ends_with(".js") && !LATER.contains(&file.as_str()));
    let links: String = modules
        .map(|file| format!("    <link rel=\"modulepreload\" href=\"{{{{assets}}}}/{file}\">\n"))
        .collect();
    let text = text.replace("  </head>", &format!("{links}  </head>"));
    Ok(text.replace("{{assets}}", &format!("/ui/a/{hash}")))
}

fn entry(table: &mut String, out: &Path, file: &str, bytes: &[u8]) -> io::Result<()> {
    let flat = file.replace('/', "-");
    let (plain, zipped) = (out.join("page").join(&flat), out.join("page").join(flat + ".gz"));
    fs::write(&plain, bytes)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    fs::write(&zipped, encoder.finish()?)?;
    let _ = writeln!(
        table,
        "    File {{ path: {file:?}, kind: {:?}, plain: include_bytes!({plain:?}), gzip: include_bytes!({zipped:?}) }},",
        kind(file),
    );
    Ok(())
}

fn kind(file: &str) -> &'static str {
    match file.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    }
}
