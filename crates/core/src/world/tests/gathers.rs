//! Ends of attempts wait a moment for others, unless somebody waits for what they mean.

use super::stage::Stage;
use crate::limits::GATHER;
use crate::time::Timestamp;
use crate::work::{Ended, Outcome, Report, ReportKind};
use crate::world::input::{Command, Input, Order, Prefetched, Refusal, Reply, Verb};

const AT_ONCE: Option<Timestamp> = Some(Timestamp(i64::MIN));

fn eight() -> Stage {
    Stage::new("a\nb\nc\nd\ne\nf\ng\nh")
}

/// Task number `no` ends, and nothing is committed yet.
fn end(stage: &mut Stage, no: usize) -> Result<Reply, Refusal> {
    let ticket = *stage.live.values().nth(no).expect("it is live");
    let ended = Ended::of(Outcome::Success(None));
    let input = Input::Report(Report { ticket, what: ReportKind::Ended(ended) });
    stage.world.apply(stage.now, input, Prefetched::default())
}

#[test]
fn one_of_many_waits_and_two_of_eight_do_not() {
    let mut stage = eight();
    end(&mut stage, 0).unwrap();
    assert_eq!(stage.world.deadline(), Some(stage.now + GATHER));
    end(&mut stage, 1).unwrap();
    assert_eq!(stage.world.deadline(), AT_ONCE);
    stage.settle();
    assert_eq!(stage.world.deadline(), None);
}

#[test]
fn one_of_few_does_not_wait() {
    let mut stage = Stage::new("a\nb\nc\nd: a");
    end(&mut stage, 0).unwrap();
    assert_eq!(stage.world.deadline(), AT_ONCE);
}

#[test]
fn an_answer_that_may_follow_from_what_waits_ends_the_wait() {
    let mut stage = eight();
    end(&mut stage, 0).unwrap();
    let resume = Command { run: stage.run, order: Order::Run(Verb::Resume), by: "ann".to_owned() };
    let refused = stage.world.apply(stage.now, Input::Command(resume), Prefetched::default());
    assert!(refused.is_err());
    assert_eq!(stage.world.deadline(), AT_ONCE);
}

/// Whoever keeps an outcome is told to forget it when its report comes too late; that it is too
/// late must be durable first.
#[test]
fn a_report_that_comes_twice_ends_the_wait() {
    let mut stage = eight();
    end(&mut stage, 0).unwrap();
    assert_eq!(end(&mut stage, 0), Err(Refusal::Stale));
    assert_eq!(stage.world.deadline(), AT_ONCE);
}
