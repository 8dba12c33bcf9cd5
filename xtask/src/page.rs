//! The page's own checks: its scripts' types, and its tests in Chromium against the real server.
//! What they are checked with comes from the npm registry, in the versions of the lock file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::checkout::{cargo, target_folder};
use crate::fuzz::rounds::BUILD_WITH_TESTS;
use crate::tools::install_debian;

const LOCK: &str = "package-lock.json";
/// What the documents show, and the picture of it that the tests take.
const SHOWN: &[(&str, &str)] = &[
    ("home", "every-state-home-1440-light"),
    ("run", "run-1440-light"),
    ("states", "every-state-1440-dark"),
    ("why", "every-state-why-1440-light"),
    ("bulk", "bulk-1440-light"),
    ("timeline", "timeline-1440-light"),
    ("log", "log-1440-light"),
    ("phone", "run-375-dark"),
];

/// Makes sure that Node.js, npm and a browser are there.
pub fn install() -> Result<()> {
    for (program, package) in [("node", "nodejs"), ("npm", "npm"), ("chromium", "chromium")] {
        if answers(program) || (install_debian(package) && answers(program)) {
            continue;
        }
        bail!(
            "the page is tested with `{program}`, which is not here: on Debian \
             `sudo apt-get install {package}`, elsewhere so that it is on PATH"
        );
    }
    Ok(())
}

fn answers(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Types and tests.
pub fn step(root: &Path) -> Result<()> {
    let web = root.join("web");
    modules(&web)?;
    npm(&web, &["run", "--silent", "types"])?;
    tests(root, None)
}

/// Runs the tests, which take pictures on the way, and keeps those that the documents show.
pub fn pictures(root: &Path) -> Result<()> {
    install()?;
    modules(&root.join("web"))?;
    let taken = target_folder()?.join("page-pictures");
    tests(root, Some(&taken))?;
    let folder = root.join("docs/pictures");
    fs::create_dir_all(&folder).context("could not make docs/pictures")?;
    for (name, picture) in SHOWN {
        let from = taken.join(format!("{picture}.png"));
        fs::copy(&from, folder.join(format!("{name}.png")))
            .with_context(|| format!("the tests took no picture {}", from.display()))?;
    }
    Ok(())
}

/// Installs what the lock file names, unless it is there.
fn modules(web: &Path) -> Result<()> {
    let wanted = fs::read(web.join(LOCK)).context("could not read web/package-lock.json")?;
    // Written last: an installation that was cut off is made again.
    let stamp = web.join("node_modules/.installed-lock.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    npm(web, &["ci", "--ignore-scripts", "--no-audit", "--no-fund"])?;
    fs::write(&stamp, wanted).context("could not write into web/node_modules")
}

fn npm(web: &Path, args: &[&str]) -> Result<()> {
    let status = Command::new("npm").args(args).current_dir(web).status();
    match status.context("could not start npm")?.success() {
        true => Ok(()),
        false => bail!("`npm {}` failed in web (see above)", args.join(" ")),
    }
}

fn tests(root: &Path, pictures: Option<&Path>) -> Result<()> {
    let program = built(root)?;
    let mut command = Command::new("npm");
    command.args(["test", "--silent"]).current_dir(root.join("web"));
    command.env("MAINSPRING_BIN", program).env("CHROMIUM_BIN", browser()?);
    if let Some(folder) = pictures {
        command.env("MAINSPRING_PICTURES", folder);
    }
    match command.status().context("could not start npm")?.success() {
        true => Ok(()),
        false => bail!("the tests of the page failed (see above)"),
    }
}

/// The program as it is now, with the page in it.
fn built(root: &Path) -> Result<PathBuf> {
    let args = BUILD_WITH_TESTS;
    let status = cargo(root, args).status().context("could not start cargo")?;
    if !status.success() {
        bail!("`cargo {}` failed", args.join(" "));
    }
    Ok(target_folder()?.join("debug/mainspring"))
}

fn browser() -> Result<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&paths).map(|folder| folder.join("chromium"));
    found.find(|program| program.is_file()).context("`chromium` is not on PATH")
}
