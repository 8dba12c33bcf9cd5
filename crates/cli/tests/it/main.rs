//! The real program: what it prints, what it leaves behind, how it ends. Each test has a folder
//! of its own. Nothing sleeps: tests wait for lines of output, and tasks say where they are
//! through fifos.

// Seeds, and which way a test took: shown when it fails.
#![allow(clippy::print_stdout)]

mod rig;
mod door;
mod waits;
mod always;
mod explains;
mod landed;
mod wire;
mod http;
mod examples;
mod failures;
mod refusals;
mod bless;
mod wrong;
mod codes;
mod pictures;
mod schema;
mod hostile;
mod inputs;
mod shapes;
mod reading;
mod large_logs;
mod leaving;
mod ending;
mod resuming;
mod loaded;
mod crowded;
mod idle;
mod losses;
mod kills;
mod git;
mod merges;
mod disk;
mod large;
mod benchmark;
mod chance;
mod children;
mod oracle;
mod graphs;
mod crashes;
mod suspends;
mod descriptors;
mod moments;
mod damage;
mod remote;
mod anew;
mod limited;
mod fan_kills;
mod bulk_kills;
mod fanned_out;
mod secrets;
mod routes;
mod rough;
mod cuts;
mod unwilling;
mod beginnings;
mod doctors;
mod manual;
mod kept;
mod promises;
mod asked;
mod versions;
mod upkeep;
