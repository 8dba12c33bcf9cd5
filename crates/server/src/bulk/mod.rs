//! One action on many runs, chosen by a filter: at work in the background, a few runs at a time, and
//! as told by whoever asks for its progress. It is stored with the runs that it means before anybody
//! hears of it, and every order on a run has a key that is made of its id: a server that is started
//! anew goes over all of them once more, and what was done is found under its key.
//!
//! ```text
//!  filter ─► runs, read page by page ─► commit ─► 202 with an id
//!                                         │
//!         a start: what has no end ───────┴─► 4 at a time ─► order ─► done | refused | failed
//!                                                              │                   │
//!                        the store is away: later ◄────────────┘       progress ◄──┤
//!                                                                 commit of its end ◄┘
//! ```

pub mod filter;
pub mod item;
pub mod job;
pub mod view;
pub mod begin;
pub mod told;

pub use begin::Bulks;
