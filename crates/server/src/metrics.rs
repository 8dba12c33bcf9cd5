//! Figures in Prometheus' text form. Names and labels are few and fixed: nothing that callers
//! choose ever becomes a label.

use crate::events::hub::Hub;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper ends of the buckets of request times, in seconds.
const BUCKETS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

#[derive(Debug, Default)]
pub struct Metrics {
    /// Answers by the first digit of their status: 1xx to 5xx.
    answers: [AtomicU64; 5],
    buckets: [AtomicU64; BUCKETS.len()],
    micros: AtomicU64,
}

impl Metrics {
    pub fn answered(&self, status: u16, took: Duration) {
        let class = usize::from((status / 100).clamp(1, 5)) - 1;
        self.answers[class].fetch_add(1, Ordering::Relaxed);
        let seconds = took.as_secs_f64();
        if let Some(bucket) = BUCKETS.iter().position(|end| seconds <= *end) {
            self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub fn text(&self, hub: &Hub) -> String {
        let mut text = String::new();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counts = &hub.counts;
        head(&mut text, "mainspring_runs_ended_total", "counter", "Runs that became final.");
        for (status, counter) in [
            ("success", &counts.runs_success),
            ("failed", &counts.runs_failed),
            ("cancelled", &counts.runs_cancelled),
        ] {
            let value = read(counter);
            let _ = writeln!(text, "mainspring_runs_ended_total{{status=\"{status}\"}} {value}");
        }
        head(&mut text, "mainspring_commits_total", "counter", "Commits that changed a run.");
        let _ = writeln!(text, "mainspring_commits_total {}", read(&counts.commits));
        let help = "Times the store failed and everything was loaded again.";
        head(&mut text, "mainspring_store_failures_total", "counter", help);
        let _ = writeln!(text, "mainspring_store_failures_total {}", read(&counts.store_failures));
        self.requests(&mut text);
        text
    }

    fn requests(&self, text: &mut String) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let name = "mainspring_http_requests_total";
        head(text, name, "counter", "Answers by class of status.");
        for (class, counter) in self.answers.iter().enumerate() {
            let _ = writeln!(text, "{name}{{class=\"{}xx\"}} {}", class + 1, read(counter));
        }
        let name = "mainspring_http_request_seconds";
        head(text, name, "histogram", "Time from request to the head of the answer.");
        let mut sum = 0;
        for (end, counter) in BUCKETS.iter().zip(&self.buckets) {
            sum += read(counter);
            let _ = writeln!(text, "{name}_bucket{{le=\"{end}\"}} {sum}");
        }
        let all: u64 = self.answers.iter().map(read).sum();
        let all = all.max(sum);
        let _ = writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {all}");
        let _ = writeln!(
            text,
            "{name}_sum {}",
            Duration::from_micros(read(&self.micros)).as_secs_f64()
        );
        let _ = writeln!(text, "{name}_count {all}");
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up() {
        let metrics = Metrics::default();
        metrics.answered(200, Duration::from_millis(2));
        metrics.answered(503, Duration::from_secs(60));
        let text = metrics.text(&Hub::default());
        assert!(
            text.contains("mainspring_http_request_seconds_bucket{le=\"0.001\"} 0\n"),
            "{text}"
        );
        assert!(text.contains("mainspring_http_request_seconds_bucket{le=\"0.0025\"} 1\n"));
        assert!(text.contains("mainspring_http_request_seconds_bucket{le=\"+Inf\"} 2\n"));
        assert!(text.contains("mainspring_http_requests_total{class=\"5xx\"} 1\n"));
    }
}
