//! A PostgreSQL database, copied by PostgreSQL's own program.

use anyhow::{Context as _, Result, bail};
use mainspring_store::Postgres;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// In the folder of the copy.
pub const FILE: &str = "mainspring.dump";

pub fn dump(url: &str, file: &Path) -> Result<()> {
    // Refuses what is not ours, before another program is asked.
    let schema = Postgres::schema(url)?;
    if schema.found == 0 {
        bail!("the database holds nothing of Mainspring's yet: there is nothing to copy");
    }
    let (url, password) = Postgres::without_password(url)?;
    let mut command = Command::new("pg_dump");
    command.args(["--format=custom", "--schema=mainspring", "--no-password"]);
    command.arg("--file").arg(file).arg("--dbname").arg(&url);
    // Others on this machine can see a command line, and not an environment.
    if let Some(password) = password {
        command.env("PGPASSWORD", password);
    }
    match command.output() {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
            bail!("pg_dump failed ({}): {said}", done.status)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "pg_dump is not installed here: install PostgreSQL's client programs (on Debian \
             `apt-get install postgresql-client`), or run where they are: pg_dump \
             --format=custom --schema=mainspring --file={FILE} --dbname=URL"
        ),
        Err(error) => Err(error).context("pg_dump cannot be started"),
    }
}
