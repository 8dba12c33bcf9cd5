mod stage;

mod answers;
mod launches;
