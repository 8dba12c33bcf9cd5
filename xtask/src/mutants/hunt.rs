//! Sends the simulator after each breakage.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::mutant::{self, Mutant};
use super::switch;
use super::tree::Tree;

/// Worlds that never end are given up, and no promise has noticed them: many times what all
/// the worlds of a survivor take.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// What became of a breakage.
enum Fate {
    Caught { promise: String, worlds: u64 },
    Hung,
    Survived,
}

/// Hunts the breakages whose names contain `named`, each in at most so many worlds.
pub fn run(root: &Path, seeds: u64, named: Option<&str>) -> Result<()> {
    let wanted = |mutant: &&Mutant| named.is_none_or(|part| mutant.name.contains(part));
    let wanted: Vec<&Mutant> = mutant::all().filter(wanted).collect();
    if wanted.is_empty() {
        bail!("no mutant has '{}' in its name", named.unwrap_or_default());
    }
    let sim = Tree::new(root)?.build()?;
    println!("{:<26} {:<18} {:>7}  {:>5}  breaks", "mutant", "caught by", "worlds", "time");
    let (mut most, mut survivors) = (0, Vec::new());
    for mutant in &wanted {
        let begun = Instant::now();
        let fate = play(&sim, mutant.name, seeds)?;
        print(mutant, &fate, begun.elapsed());
        match fate {
            Fate::Caught { worlds, .. } => most = worlds.max(most),
            Fate::Hung | Fate::Survived => survivors.push(mutant.name),
        }
    }
    if !survivors.is_empty() {
        bail!("not caught in {seeds} worlds: {}", survivors.join(", "));
    }
    // Each was caught by what it broke only if the same worlds keep every promise without it.
    if !matches!(play(&sim, "", most)?, Fate::Survived) {
        bail!("a promise is broken without any mutant: `cargo xtask sim --seeds {most}` says how");
    }
    println!("all {} were caught; without them {most} worlds keep every promise", wanted.len());
    Ok(())
}

fn print(mutant: &Mutant, fate: &Fate, took: Duration) {
    let (promise, worlds) = match fate {
        Fate::Caught { promise, worlds } => (promise.as_str(), worlds.to_string()),
        Fate::Hung => ("NEVER ENDS", "-".to_owned()),
        Fate::Survived => ("SURVIVED", "-".to_owned()),
    };
    let (name, took) = (mutant.name, took.as_secs());
    println!("{name:<26} {promise:<18} {worlds:>7}  {took:>4}s  {}", mutant.breaks);
}

/// Plays with this breakage on; no breakage has an empty name.
fn play(sim: &Path, mutant: &str, seeds: u64) -> Result<Fate> {
    let mut child = Command::new(sim)
        .args(["--seeds", &seeds.to_string(), "--brief"])
        .env(switch::VARIABLE, mutant)
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
    let worlds = word("worlds:").and_then(|worlds| worlds.parse().ok());
    match (code, word("promise:"), worlds) {
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
        assert_eq!((promise.as_str(), worlds), ("kept", 12));
        assert!(read(Some(1), "promise: kept\nworlds: many\n").is_err());
        assert!(read(Some(101), "").is_err());
    }
}
