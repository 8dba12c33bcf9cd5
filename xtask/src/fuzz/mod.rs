//! The API under requests that a machine makes up from the OpenAPI file: the real server, over
//! its socket, by schemathesis.
//!
//! ```text
//!  one server ─┬─ anyone: there is no token yet, everything is allowed
//!              ├─ admin:  from now on a token is asked for, and this one is sent
//!              └─ nobody: the same without a token
//! ```

pub mod python;
pub mod target;
pub mod rounds;
