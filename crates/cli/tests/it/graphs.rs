//! Random workflows of tasks that tell the oracle what they do.

use crate::chance::Chance;
use crate::oracle::{BEGIN, END, Oracle, losses, tasks};
use crate::rig::task;
use serde_json::Value;
use std::fmt::Write as _;

/// How a task behaves in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    /// Takes a moment, so that faults find it running.
    Slow,
    /// Fails at first and is tried again.
    Flaky,
    Fails,
    /// Never ends by itself.
    Hangs,
    /// Must not run twice: slow, and a loss is final.
    Once,
    /// Leaves something behind that has a session of its own.
    Leaves,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Merged,
    Started,
    /// On_failure: run.
    Finished,
}

struct Node {
    kind: Kind,
    when: When,
    upstream: Vec<usize>,
}

pub struct Graph {
    nodes: Vec<Node>,
}

const KINDS: [Kind; 12] = [
    Kind::Plain,
    Kind::Plain,
    Kind::Plain,
    Kind::Slow,
    Kind::Slow,
    Kind::Slow,
    Kind::Flaky,
    Kind::Flaky,
    Kind::Once,
    Kind::Leaves,
    Kind::Fails,
    Kind::Hangs,
];

impl Graph {
    pub fn new(chance: &mut Chance, tasks: usize) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        for no in 0..tasks {
            let mut upstream = Vec::new();
            for _ in 0..chance.below(3).min(no as u64) {
                // Near ones: long chains besides wide ones.
                let back = 1 + usize::try_from(chance.below(8.min(no as u64))).expect("small");
                upstream.push(no - back);
            }
            upstream.sort_unstable();
            upstream.dedup();
            let when = match chance.below(6) {
                0 => When::Started,
                1 => When::Finished,
                _ => When::Merged,
            };
            let kind = KINDS[usize::try_from(chance.below(KINDS.len() as u64)).expect("small")];
            nodes.push(Node { kind, when, upstream });
        }
        Self { nodes }
    }

    pub fn text(&self) -> String {
        let mut text = String::from("name: graph\ntasks:\n");
        for (no, node) in self.nodes.iter().enumerate() {
            let _ = writeln!(text, "  t{no}:");
            let edges: Vec<String> = node.upstream.iter().map(|up| node.edge(*up)).collect();
            let _ = writeln!(text, "    depends_on: [{}]", edges.join(", "));
            if node.when == When::Finished {
                text.push_str("    on_failure: run\n");
            }
            text.push_str(node.kind.fields());
            let _ = writeln!(text, "    run: '{BEGIN}; {}; {END}'", node.kind.work());
        }
        text
    }

    /// The final record follows from the graph, and what happened agrees with it.
    #[track_caller]
    pub fn check(&self, document: &Value, oracle: &Oracle, kills: usize) {
        oracle.agrees_with(document);
        for row in tasks(document) {
            assert!(losses(row) <= kills, "more losses than kills: {row}");
        }
        for (no, node) in self.nodes.iter().enumerate() {
            let name = format!("t{no}");
            let row = task(document, &name);
            let status = row["status"].as_str().expect("a word");
            let upstream: Vec<String> = node.upstream.iter().map(|up| format!("t{up}")).collect();
            // Lost for good, or stopped by its timeout before it could say that it began.
            let is_silent = |name: &String| {
                let row = task(document, name);
                let class = &row["error"]["class"];
                let is_stopped = class == "timeout" && oracle.of(name).is_empty();
                row["status"] == "failed" && (class == "worker_lost" || is_stopped)
            };
            let is_success = |name: &String| task(document, name)["status"] == "success";
            let may_run = match node.when {
                When::Merged => upstream.iter().all(is_success),
                // Whether it had started, nobody here knows.
                When::Started if upstream.iter().any(is_silent) => status != "blocked",
                When::Started => upstream.iter().all(|name| !oracle.of(name).is_empty()),
                When::Finished => true,
            };
            assert_eq!(status == "blocked", !may_run, "{row}");
            if !may_run {
                assert!(oracle.of(&name).is_empty(), "blocked, and ran: {row}");
                continue;
            }
            if node.when == When::Merged {
                upstream.iter().for_each(|up| oracle.began_after_the_end_of(&name, up));
            }
            let lost = losses(row);
            match node.kind {
                Kind::Fails | Kind::Hangs => assert_eq!(status, "failed", "{row}"),
                Kind::Once => {
                    assert!(oracle.of(&name).len() <= 1, "ran twice: {row}");
                    assert_eq!(status, if lost == 0 { "success" } else { "failed" }, "{row}");
                }
                _ => assert_eq!(status, "success", "{row}"),
            }
        }
    }
}

impl Node {
    fn edge(&self, upstream: usize) -> String {
        match self.when {
            When::Started => format!("{{ task: t{upstream}, when: started }}"),
            When::Merged | When::Finished => format!("t{upstream}"),
        }
    }
}

impl Kind {
    fn fields(self) -> &'static str {
        match self {
            Self::Flaky => "    retries: { max: 2, delay: 20ms }\n",
            Self::Hangs => "    timeout: 150ms\n    kill_grace: 50ms\n",
            Self::Once => "    on_lost: fail\n",
            Self::Plain | Self::Slow | Self::Fails | Self::Leaves => "",
        }
    }

    fn work(self) -> &'static str {
        match self {
            Self::Plain => "true",
            Self::Slow | Self::Once => "sleep 0.1",
            Self::Flaky => "[ $MAINSPRING_ATTEMPT -ge 2 ] || exit 1",
            Self::Fails => "exit 1",
            Self::Hangs => "trap : TERM; sleep 1000; sleep 1000",
            Self::Leaves => "(setsid sleep 1000 < /dev/null > /dev/null 2>&1 &)",
        }
    }
}
