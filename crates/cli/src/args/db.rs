//! Commands on a database.

use super::Format;
use clap::{Args, Subcommand};
use std::path::PathBuf;

const CHECK_HELP: &str = "\
Reads only and takes no lock: it may run while a server works there.

Exit codes:
  0    all promises hold
  1    some do not: each is named, with what to do
  2    bad usage, or there is no database
  3    the database cannot be read";

const BACKUP_HELP: &str = "\
DEST becomes a data folder of its own, with the database as it was at one moment, and the logs. A
server may work in the folder meanwhile. The copy has an id of its own, so that it can be tried
while the original works; what was not finished goes on there as soon as a server is started on
it. To bring it back, put the whole folder in the place of the old one. Secrets that are kept in
the data folder are not copied.

From PostgreSQL, DEST holds a dump made by pg_dump, beside the logs.

Examples:
  mainspring db backup /backups/monday
  mainspring db check --data /backups/monday
  mainspring server --data /backups/monday";

#[derive(Debug, Args)]
pub struct DbArgs {
    #[command(subcommand)]
    pub command: DbCommand,
}

/// Found as a server finds it: flags, then the environment, then the configuration file.
#[derive(Clone, Debug, Args)]
pub struct KeptArgs {
    /// Where the database and the logs are kept [default: .mainspring]
    #[arg(long, value_name = "DIR", env = "MAINSPRING_DATA")]
    pub data: Option<PathBuf>,
    /// A PostgreSQL database instead of the file in the data folder
    #[arg(long, value_name = "URL", env = "MAINSPRING_DATABASE", hide_env_values = true)]
    pub database: Option<String>,
    /// The configuration file [default: mainspring.toml, if there is one]
    #[arg(long, value_name = "FILE", env = "MAINSPRING_CONFIG")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum DbCommand {
    /// Bring the database's schema up to date; a server does so when it starts
    Migrate {
        /// Only say what would be done
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        kept: KeptArgs,
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
    },
    /// Check that the database is whole and that everything promised of it holds
    #[command(after_help = CHECK_HELP)]
    Check {
        #[command(flatten)]
        kept: KeptArgs,
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
    },
    /// Copy database and logs, also while a server works there
    #[command(after_help = BACKUP_HELP)]
    Backup {
        /// A folder that is not there yet, or empty
        dest: PathBuf,
        #[command(flatten)]
        kept: KeptArgs,
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
    },
    /// Give back the room of what is gone
    Vacuum {
        #[command(flatten)]
        kept: KeptArgs,
        #[arg(short, long, value_enum, default_value_t = Format::Table)]
        output: Format,
    },
}
