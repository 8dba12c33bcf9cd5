//! The picture on a terminal: finished tasks scroll by, what runs now stands below them.
//!
//! ```text
//! success    compile in 2.1s
//! failed     lint: exit: exited with code 1
//! running    test-a 3.2s                       ◄─ redrawn in place, at most 20
//! running    convert 812/1000, 3 failed 8.1s   ◄─ a fan-out is one line
//! 2 of 7 done, 2 running, 1 failed
//! ```

use super::standing::Standing;
use super::step::state;
use crate::{out, terminal};
use mainspring_core::time::Timestamp;

const LINES_MAX: usize = 20;

#[derive(Debug, Default)]
pub struct Live {
    /// Lines to be printed above at the next drawing.
    above: String,
    /// Lines of the picture that is on the screen.
    drawn: usize,
}

impl Live {
    pub fn above(&mut self, line: &str) {
        self.above.push_str(line);
        self.above.push('\n');
    }

    /// Replaces the picture.
    pub fn draw(&mut self, standing: &dyn Standing, now: Timestamp) {
        let (width, height) = terminal::stderr_size().unwrap_or((80, 24));
        let room = LINES_MAX.min(height.saturating_sub(3).max(1));
        let picture = picture(standing, now, (width, room));
        self.replace(&picture);
    }

    /// Takes the picture away for good.
    pub fn clear(&mut self) {
        self.replace(&[]);
    }

    fn replace(&mut self, picture: &[String]) {
        let mut text = String::new();
        if self.drawn > 0 {
            text.push_str(&format!("\u{1b}[{}A\r\u{1b}[J", self.drawn));
        }
        text.push_str(&std::mem::take(&mut self.above));
        for line in picture {
            text.push_str(line);
            text.push('\n');
        }
        self.drawn = picture.len();
        if !text.is_empty() {
            out::steer(&text);
        }
    }
}

fn picture(standing: &dyn Standing, now: Timestamp, (width, room): (usize, usize)) -> Vec<String> {
    let live = standing.live();
    let mut lines: Vec<String> = live
        .iter()
        .take(room)
        .map(|task| {
            let took = now.since(task.since);
            let rest = match task.fan {
                Some(fan) => format!("{} {took}", fan.text()),
                None => took.to_string(),
            };
            // State, blanks and the rest beside the name; one column is left free.
            let name_max = width.saturating_sub(14 + rest.chars().count()).max(1);
            let name: String = task.name.chars().take(name_max).collect();
            state("running", &format!("{name} {rest}"))
        })
        .collect();
    let tally = standing.tally();
    let mut line = format!("{} of {} done, {} running", tally.done, tally.total, live.len());
    if tally.failed > 0 {
        line.push_str(&format!(", {} failed", tally.failed));
    }
    lines.push(out::dim(&line.chars().take(width.saturating_sub(1)).collect::<String>()));
    lines
}
