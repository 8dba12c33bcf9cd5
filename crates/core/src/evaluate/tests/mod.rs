//! What questions are answered with.

mod stage;

mod answers;
mod children;
mod launches;
