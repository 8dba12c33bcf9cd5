//! Sends the simulator after each breakage.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::mutant::{self, Mutant};
use super::tree::Tree;

/// A world that never ends is noticed by the clock.
const PATIENCE: Duration = Duration::from_secs(300);

/// What became of a breakage.
enum Fate {
    Caught { promise: String, worlds: String },
    Hung,
    Survived,
}

/// Hunts the breakages whose names contain `named`, each in at most so many worlds.
pub fn run(root: &Path, seeds: u64, named: Option<&str>) -> Result<()> {
    let tree = Tree::new(root)?;
    let sound = tree.build(None)?;
    if !matches!(play(&sound, seeds.min(500))?, Fate::Survived) {
        bail!("a promise is broken without any mutant: `cargo xtask sim` says which");
    }
    println!("{:<26} {:<18} {:>7}  {:>5}  breaks", "mutant", "caught by", "worlds", "time");
    let wanted = mutant::all().filter(|mutant| named.is_none_or(|n| mutant.name.contains(n)));
    let (mut hunted, mut survivors) = (0, Vec::new());
    for mutant in wanted {
        hunted += 1;
        let begun = Instant::now();
        let fate = play(&tree.build(Some(mutant))?, seeds)?;
        print(mutant, &fate, begun.elapsed());
        if matches!(fate, Fate::Survived) {
            survivors.push(mutant.name);
        }
    }
    match survivors.as_slice() {
        [] => {
            println!("all {hunted} mutants were caught");
            Ok(())
        }
        survivors => bail!("not caught in {seeds} worlds: {}", survivors.join(", ")),
    }
}

fn print(mutant: &Mutant, fate: &Fate, took: Duration) {
    let (promise, worlds) = match fate {
        Fate::Caught { promise, worlds } => (promise.as_str(), worlds.as_str()),
        Fate::Hung => ("(never ends)", "-"),
        Fate::Survived => ("SURVIVED", "-"),
    };
    let (name, took) = (mutant.name, took.as_secs());
    println!("{name:<26} {promise:<18} {worlds:>7}  {took:>4}s  {}", mutant.breaks);
}

fn play(sim: &Path, seeds: u64) -> Result<Fate> {
    let mut child = Command::new(sim)
        .args(["--seeds", &seeds.to_string(), "--brief"])
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start {}", sim.display()))?;
    let mut out = child.stdout.take().context("its output is piped")?;
    let (send, said) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let read = out.read_to_string(&mut text);
        // Nobody listens any more once it was given up.
        let _ = send.send(read.map(|_| text));
    });
    let Ok(text) = said.recv_timeout(PATIENCE) else {
        child.kill().context("could not stop the simulator")?;
        child.wait().context("could not wait for the simulator")?;
        return Ok(Fate::Hung);
    };
    let status = child.wait().context("could not wait for the simulator")?;
    // It has sent what it had to send.
    let _ = reader.join();
    read(status.code(), &text.context("could not read what the simulator says")?)
}

fn read(code: Option<i32>, text: &str) -> Result<Fate> {
    let word = |label: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(label));
        line.map(|rest| rest.trim().to_owned())
    };
    match (code, word("promise:"), word("worlds:")) {
        (Some(0), ..) => Ok(Fate::Survived),
        (Some(1), Some(promise), Some(worlds)) => Ok(Fate::Caught { promise, worlds }),
        _ => bail!("the simulator ended with {code:?} and said: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_simulator_says_is_understood() {
        assert!(matches!(read(Some(0), "played"), Ok(Fate::Survived)));
        let fate = read(Some(1), "seed 3\npromise: kept\nworlds: 12\n").expect("understood");
        let Fate::Caught { promise, worlds } = fate else { panic!("caught") };
        assert_eq!((promise.as_str(), worlds.as_str()), ("kept", "12"));
        assert!(read(Some(101), "").is_err());
    }
}
