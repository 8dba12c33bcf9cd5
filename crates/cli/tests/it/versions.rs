//! `workflows diff`, with a server and without.

use crate::door::{Served, Way};
use crate::rig::Bench;

const OLD: &str = "name: w\ntasks:\n  a: { noop: {} }\n  b: { noop: {} }\n";
const NEW: &str = "name: w\ntasks:\n  a: { run: \"true\" }\n  c: { noop: {} }\n";
const DIFF: &str = "--- w version 1\n+++ w version 2\n@@ -1,4 +1,4 @@\n name: w\n tasks:\n\
                    -  a: { noop: {} }\n-  b: { noop: {} }\n+  a: { run: \"true\" }\n+  c: { noop: {} }\n";

#[test]
fn versions_are_compared_without_a_server() {
    let bench = Bench::with(OLD);
    bench.run(&["run", "w.yaml"]).is(0);
    bench.run(&["workflows", "diff", "w"]).is(2).says("no version before the first");
    bench.write("w.yaml", NEW);
    bench.run(&["run", "w.yaml"]).is(0);
    let done = bench.run(&["workflows", "diff", "w"]);
    assert_eq!(done.is(0).stdout, DIFF);
    done.says("version 1 → 2, tasks: added c; removed b; changed a");
    bench.run(&["workflows", "diff", "w", "2"]).is(0).says("have the same text");
    bench.run(&["workflows", "diff", "w", "1", "9"]).is(2).says("no version 9");
    bench.run(&["workflows", "diff", "x"]).is(2).says("there is no workflow `x`");
    bench.run(&["workflows", "diff", "w", "x"]).is(2);
    bench.run(&["workflows"]).is(0).prints("w");
}

#[test]
fn versions_are_compared_by_a_server() {
    for way in Way::ALL {
        let served = Served::with(way, OLD);
        served.bench.write("w.yaml", NEW);
        served.run(&["apply", "w.yaml"]).is(0);
        assert_eq!(served.run(&["workflows", "diff", "w", "1", "2"]).is(0).stdout, DIFF);
        let json = served.run(&["workflows", "diff", "w", "-o", "json"]).is(0).json();
        assert_eq!(json["tasks"]["removed"], serde_json::json!(["b"]));
        served.run(&["workflows", "diff", "w", "0"]).is(2);
    }
}
