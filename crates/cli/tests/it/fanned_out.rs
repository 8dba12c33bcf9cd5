//! Fan-outs on the command line: counts, instances by index, what they put out.

use crate::door::{Door, Served, Way};
use crate::rig::{Bench, task};
use serde_json::{Value, json};

/// Those with an odd index fail.
const ODD: &str = "\
name: w
tasks:
  a:
    parallel: 20
    run: 'echo I am $MAINSPRING_INDEX; echo $MAINSPRING_INDEX > $MAINSPRING_OUTPUT; [ $((MAINSPRING_INDEX % 2)) = 0 ]'
  b: { depends_on: [a], run: 'true' }
";

/// The second of two waits at a gate.
const GATE: &str = "\
name: w
tasks:
  a:
    parallel: 3
    concurrency: 2
    run: 'echo I am $MAINSPRING_INDEX; echo $MAINSPRING_INDEX > $MAINSPRING_OUTPUT; [ $MAINSPRING_INDEX != 1 ] || { echo up > up; cat gate; }'
outputs: { all: '${{ tasks.a.output }}' }
";

#[test]
fn progress_is_counts_and_a_few_names() {
    let bench = Bench::with(ODD);
    let done = bench.run(&["run", "w.yaml", "--max-processes", "1"]);
    done.is(1).says("started    a, 20 instances").says("failed     a[1]: exit: exited with code 1");
    done.says("… and 5 more instances of a").says("10 of 20 instances failed");
    assert_eq!(done.stderr.matches("failed     a[").count(), 5, "{}", done.stderr);
    assert!(!done.stderr.contains("success    a["), "{}", done.stderr);
    done.prints("failed a (exit): 10 of 20 instances failed");
    done.prints("failed a[1] (exit): exited with code 1").prints("out | I am 1");
    done.prints("… and 5 more instances of a failed: mainspring instances ");
    done.prints("--status failed").prints("--index 1").prints("1 blocked, 1 failed");

    let document = bench.show("last");
    let group = task(&document, "a");
    assert_eq!(group["instances"], json!({"total": 20, "success": 10, "failed": 10}));
    bench.run(&["show", "last"]).is(0).prints("INSTANCES").prints("20/20, 10 failed");
    let listed = bench.run(&["instances", "last", "a", "--status", "failed", "-o", "json"]);
    let indexes: Vec<Value> = listed.is(0).json()["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| item["index"].clone())
        .collect();
    assert_eq!(indexes, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
}

#[test]
fn a_document_has_counts_and_outputs() {
    let bench = Bench::with(GATE);
    bench.fifo("up");
    bench.fifo("gate");
    let running = bench.start(&["run", "w.yaml", "-o", "json"]);
    assert_eq!(bench.hear("up"), "up\n");
    bench.write("gate", "");
    let done = running.done();
    let document = done.is(0).says("success    a, 3 instances in ").json();
    assert_eq!(document["run"]["output"], json!({"all": [0, 1, 2]}));
    let group = task(&document, "a");
    assert_eq!(group["output"], json!([0, 1, 2]));
    assert_eq!(group["instances"], json!({"total": 3, "success": 3}));
    assert_eq!(bench.run(&["output", "last"]).is(0).stdout, "{\"all\":[0,1,2]}\n");
    assert_eq!(bench.run(&["output", "last", "a"]).is(0).stdout, "[0,1,2]\n");
    assert_eq!(bench.run(&["output", "last", "a", "--index", "2"]).is(0).stdout, "2\n");
}

/// Whoever looks without a server sees what a server shows.
#[test]
fn instances_are_looked_at_with_a_server_and_without() {
    for way in Way::ALL {
        let mut served = Served::with(way, ODD);
        let done = served.run(&["trigger", "w", "--follow"]);
        // That it has begun may be overtaken by how it ended: the stream tells of states.
        done.is(1).says("failed     a[");
        assert_eq!(done.stderr.matches("failed     a[").count(), 5, "{}", done.stderr);
        done.prints("failed a[1] (exit): exited with code 1").prints("out | I am 1");
        done.prints("… and 5 more instances of a failed");
        let look = |served: &Served| {
            let ask = |args: &[&str]| {
                let url = served.database.as_ref().map(mainspring_throwaway::Database::url);
                let base = url.iter().flat_map(|url| ["--database", url]);
                let args: Vec<&str> = args.iter().copied().chain(base).collect();
                served.run(&args).is(0).stdout.clone()
            };
            assert_eq!(ask(&["logs", "last", "a", "--index", "4"]), "I am 4\n");
            [
                ask(&["show", "last", "-o", "json"]),
                ask(&["show", "last", "a", "-o", "json"]),
                ask(&["show", "last", "a", "--index", "3", "-o", "json"]),
                ask(&["show", "last", "a", "--index", "3"]),
                ask(&["instances", "last", "a", "--limit", "7", "-o", "json"]),
                ask(&["instances", "last", "a", "--status", "failed"]),
                ask(&["output", "last", "a"]),
                ask(&["output", "last", "a", "--index", "4"]),
            ]
        };
        let there = look(&served);
        assert!(there[3].contains("task      a[3]\nstate     failed"), "{}", there[3]);
        assert_eq!(there[7], "4\n");
        let wrong = |served: &Served| {
            for (args, says) in [
                (&["show", "last", "a", "--index", "20"][..], "it has 20, numbered from 0"),
                (&["show", "last", "b", "--index", "0"], "is not a fan-out"),
                (&["logs", "last", "a"], "which instance"),
                (&["instances", "last", "b"], "is not a fan-out"),
                (&["output", "last", "a", "--index", "1"], "nothing"),
                (&["output", "last"], "nothing"),
                (&["instances", "last", "a", "--status", "nope"], "one of pending, ready"),
                (&["show", "last", "--index", "1"], "<TASK>"),
            ] {
                served.run(args).is(2).says(says);
            }
        };
        wrong(&served);
        if way.door == Door::Socket {
            served.kill();
            assert_eq!(look(&served), there, "{way:?}");
            if served.database.is_none() {
                wrong(&served);
            }
        }
    }
}

#[test]
fn one_instance_is_steered() {
    for way in Way::ALL {
        let served = Served::with(way, GATE);
        served.bench.fifo("up");
        served.bench.fifo("gate");
        let id = served.trigger(&[]);
        assert_eq!(served.bench.hear("up"), "up\n");
        let second = |order: &'static str| served.run(&[order, &id, "a", "--index", "1"]);
        let held = second("pause");
        held.is(0).prints("task a[1]: ");
        second("pause").is(1).says("held already");
        second("resume").is(0).prints("task a[1]: ");
        assert_eq!(served.bench.hear("up"), "up\n");
        let follow = served.start(&["logs", &id, "a", "--index", "1", "-f"]);
        served.run(&["retry", &id, "a", "b", "--index", "1"]).is(2).says("--index is for one task");
        let other = served.run(&["pause", &id, "a", "--index", "7"]);
        other.is(2).says("numbered from 0");
        second("cancel").is(0).prints("task a[1]: ");
        served.run(&["watch", &id]).is(130);
        assert!(follow.done().is(0).stdout.contains("I am 1\n"));
        second("retry").is(0).prints("task a[1]: ");
        assert_eq!(served.bench.hear("up"), "up\n");
        served.bench.write("gate", "");
        served.run(&["watch", &id]).is(0);
        second("retry").is(1);
    }
}
