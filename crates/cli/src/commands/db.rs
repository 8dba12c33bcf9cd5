//! `mainspring db`: the database itself, without a server.

mod backup;
mod check;
mod dump;
mod files;
mod kept;
mod migrate;
mod vacuum;

use crate::args::{DbCommand, KeptArgs};
use crate::exit::Exit;
use anyhow::Result;
use clap::ArgMatches;
use kept::Kept;

/// `given` is what was given to the command below `db`.
pub fn db(command: &DbCommand, given: &ArgMatches) -> Result<Exit> {
    let kept = |args: &KeptArgs| Kept::find(args, given);
    match command {
        DbCommand::Migrate { dry_run: true, kept: args, output } => {
            migrate::look(&kept(args)?, *output)
        }
        DbCommand::Migrate { dry_run: false, kept: args, output } => {
            migrate::migrate(&kept(args)?, *output)
        }
        DbCommand::Check { kept: args, output } => check::check(&kept(args)?, *output),
        DbCommand::Backup { dest, kept: args, output } => {
            backup::backup(&kept(args)?, dest, *output)
        }
        DbCommand::Vacuum { kept: args, output } => vacuum::vacuum(&kept(args)?, *output),
    }
}
