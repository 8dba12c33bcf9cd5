//! A real server under load: the program as a process of its own, and clients that talk to it
//! over real sockets. They do no more than they must: what the load costs is taken from the
//! server's share of the machine.

mod client;
mod crowd;
mod lane;
mod server;

pub use client::{Answer, Client};
pub use crowd::{Accepted, Crowd, Triggered};
pub use server::{Place, Served, resident_mb};
