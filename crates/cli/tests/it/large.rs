//! Large runs.

use crate::rig::Bench;
use std::fmt::Write as _;

#[test]
fn ten_thousand_noops() {
    let bench = Bench::new();
    let mut text = String::from("name: large\ntasks:\n");
    for no in 0..10_000_usize {
        let upstream = no.checked_sub(100).map(|up| format!("depends_on: [t{up}], "));
        let _ = writeln!(text, "  t{no}: {{ {}noop: {{}} }}", upstream.unwrap_or_default());
    }
    bench.write("w.yaml", text);
    let done = bench.run(&["run", "w.yaml", "-o", "json"]);
    assert_eq!(done.is(0).json()["run"]["tasks"]["success"], 10_000);
    bench.run(&["show", "last"]).is(0).prints("10000 success");
}
