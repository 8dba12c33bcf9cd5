//! Who asks, and whether they may. Tokens are known by their hashes; the secret itself is shown
//! once, when it is made, and stored nowhere.

pub mod secret;
pub mod tokens;
pub mod sessions;
pub mod who;
pub mod origin;
