//! A server that dies under whoever listens to it, and comes back.

use crate::door::{Door, Served, Way};
use crate::wire::Wire;
use rustix::process::Signal;

const W: &str = "\
name: w
tasks:
  a: { run: 'echo one; echo up > up; cat gate; echo two' }
";

fn gated(way: impl Into<Way>) -> Served {
    let served = Served::with(way, W);
    served.bench.fifo("up");
    served.bench.fifo("gate");
    served
}

#[test]
fn watch_goes_on_when_the_server_is_back() {
    for way in Way::ALL {
        let mut served = gated(way);
        let id = served.trigger(&[]);
        assert_eq!(served.bench.hear("up"), "up\n");
        let mut watch = served.start(&["watch", &id]);
        watch.until("started    a");
        served.kill();
        watch.until("connection lost");
        served.begin_again();
        watch.until("connected");
        assert_eq!(served.bench.hear("up"), "up\n");
        // States in between may be skipped, so that it has to stay in this one until it is told.
        watch.until("started    a, attempt 2");
        served.bench.write("gate", "");
        watch.done().is(0).prints("success w in");
    }
}

#[test]
fn a_run_that_ended_while_nobody_listened_is_heard_of() {
    let mut served = gated(Door::Address);
    let id = served.trigger(&[]);
    assert_eq!(served.bench.hear("up"), "up\n");
    let mut watch = served.start(&["watch", &id]);
    watch.until("started    a");
    watch.signal(Signal::STOP);
    served.run(&["cancel", &id]).is(0);
    served.run(&["watch", &id]).is(130);
    served.kill();
    served.begin_again();
    watch.signal(Signal::CONT);
    watch.done().is(130).prints("cancelled w in");
}

#[test]
fn a_log_goes_on_when_the_server_is_back() {
    for way in Way::ALL {
        let mut served = gated(way);
        let id = served.trigger(&[]);
        assert_eq!(served.bench.hear("up"), "up\n");
        let mut logs = served.start(&["logs", &id, "a", "-f"]);
        logs.until_printed("one");
        served.kill();
        logs.until("connection lost");
        served.begin_again();
        logs.until("connected");
        assert_eq!(served.bench.hear("up"), "up\n");
        served.bench.write("gate", "from the gate\n");
        let done = logs.done();
        assert_eq!(done.is(0).stdout, "one\none\nfrom the gate\ntwo\n");
        done.says("attempt 2");
    }
}

#[test]
fn whoever_leaves_does_not_stop_the_run() {
    let served = gated(Door::Socket);
    let mut trigger = served.start(&["trigger", "w", "--follow"]);
    trigger.until("started    a");
    trigger.signal(Signal::INT);
    trigger.done().is(130).says("the run goes on");
    assert_eq!(served.bench.hear("up"), "up\n");
    let watch = served.start(&["watch", "last"]);
    served.bench.write("gate", "");
    watch.done().is(0);
}

#[test]
fn a_cut_wire_repeats_nothing_and_loses_nothing() {
    let served = gated(Door::Address);
    let id = served.trigger(&[]);
    assert_eq!(served.bench.hear("up"), "up\n");
    let wire = Wire::to(&served.url);
    let mut logs = served.bench.start(&["logs", &id, "a", "-f", "--server", &wire.url]);
    let mut watch = served.bench.start(&["watch", &id, "--server", &wire.url]);
    logs.until_printed("one");
    watch.until("started    a");
    wire.cut();
    for cut in [&mut logs, &mut watch] {
        cut.until("connection lost");
        cut.until("connected");
    }
    served.bench.write("gate", "");
    let done = logs.done();
    assert_eq!(done.is(0).stdout, "one\ntwo\n");
    let done = watch.done();
    assert_eq!(done.is(0).stderr.matches("started    a").count(), 1, "{}", done.stderr);
    done.says("success    a in");
}
