//! `bench [WORKLOAD…] [--json FILE] [--rounds N]`: measures and prints. Built in release with
//! the feature `bench`, beside the program itself built likewise; `cargo xtask bench` does both.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use mainspring_testkit::bench::{Ground, Line, Sizes, Workload, json, table};
use std::path::PathBuf;
use std::process::ExitCode;

struct Wanted {
    workloads: Vec<Workload>,
    json: Option<PathBuf>,
    sizes: Sizes,
}

fn main() -> ExitCode {
    let wanted = match read_arguments() {
        Ok(wanted) => wanted,
        Err(what) => {
            let words: Vec<&str> = Workload::ALL.iter().map(|known| known.word()).collect();
            eprintln!("{what}\nusage: bench [{} all] [--json FILE] [--rounds N]", words.join(" "));
            return ExitCode::from(2);
        }
    };
    match measure(&wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn read_arguments() -> Result<Wanted, String> {
    let mut wanted = Wanted { workloads: Vec::new(), json: None, sizes: Sizes::full() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
        match word.as_str() {
            "--json" => wanted.json = Some(value()?.into()),
            "--rounds" => {
                let rounds = value()?.parse().map_err(|_| "--rounds wants a number".to_owned())?;
                wanted.sizes.rounds = std::cmp::max(rounds, 1);
            }
            "all" => wanted.workloads = Workload::ALL.to_vec(),
            word => wanted
                .workloads
                .push(Workload::from_word(word).ok_or_else(|| format!("unknown workload {word}"))?),
        }
    }
    if wanted.workloads.is_empty() {
        wanted.workloads = Workload::ALL.to_vec();
    }
    Ok(wanted)
}

fn measure(wanted: &Wanted) -> std::io::Result<()> {
    // Beside the program: a folder for temporary files is often one that never reaches a disk.
    let program = std::env::current_exe()?;
    let folder = program.parent().ok_or_else(|| std::io::Error::other("no folder"))?;
    let ground = Ground { folder, program: &folder.join("mainspring") };
    let mut lines: Vec<Line> = Vec::new();
    for workload in &wanted.workloads {
        eprintln!("{} …", workload.word());
        lines.extend(workload.measure(ground, &wanted.sizes));
    }
    print!("{}", table(&lines));
    if let Some(path) = &wanted.json {
        std::fs::write(path, format!("{:#}\n", json(&lines)))?;
    }
    Ok(())
}
