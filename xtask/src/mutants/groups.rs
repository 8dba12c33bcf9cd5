//! Breakages of fan-outs and questions: what a group opens, when it ends and what it puts out,
//! and what an answer may change.

use super::mutant::{Mutant, mutant};

const ADVANCE: &str = "crates/core/src/world/advance.rs";
const APPLY: &str = "crates/core/src/world/apply.rs";
const ASK: &str = "crates/core/src/world/ask.rs";
const BACK: &str = "crates/core/src/plan/dag/back.rs";
const BELOW: &str = "crates/core/src/plan/dag/below.rs";
const COUNT: &str = "crates/core/src/kernel/group.rs";
const FAN: &str = "crates/core/src/evaluate/fan.rs";
const GROUP: &str = "crates/core/src/world/group.rs";
const INSTANCES: &str = "crates/core/src/world/instances.rs";
const LAUNCH: &str = "crates/core/src/launch.rs";
const LIST: &str = "crates/core/src/evaluate/list.rs";
const LOAD: &str = "crates/core/src/world/load.rs";
const MEMORY: &str = "crates/core/src/world/memory.rs";
const QUESTION: &str = "crates/core/src/evaluate/question.rs";
const REPORT: &str = "crates/core/src/world/report.rs";
const RETRY: &str = "crates/core/src/world/retry.rs";
const RUN: &str = "crates/core/src/world/run.rs";

#[rustfmt::skip] // One below the other, the passage and what takes its place.
pub const MUTANTS: &[Mutant] = &[
    mutant("opened-again-after-a-crash", "a load knows which instances were opened", LOAD, (
        "            rows.put(row);",
        "            let mut row = row;
            if let Some(group) = &mut row.group {
                group.next = 0;
            }
            rows.put(row);",
    )),
    mutant("cursor-stands-still", "an instance is opened once", GROUP, (
        "        self.edit_group(key, no, |group| group.next += 1);",
        "",
    )),
    mutant("fan-in-reversed", "the list is in the order of the indexes", LIST, (
        "desk.outputs.instances(desk.around.key, no, next)?",
        "{
            let mut page = desk.outputs.instances(desk.around.key, no, next)?;
            if let [first, .., last] = &mut page[..] {
                std::mem::swap(&mut first.output, &mut last.output);
            }
            page
        }",
    )),
    mutant("fan-in-without-gaps", "the list has null where an instance has no output", LIST, (
        "            nulls(&mut text, index.saturating_sub(next));",
        "            let _ = (index, next);",
    )),
    mutant("fail-fast-goes-on", "after a failure the rest are cancelled", GROUP, (
        "run.strategy(no) == FailureStrategy::FailFast && !is_stopping",
        "run.strategy(no) == FailureStrategy::FailFast && !is_stopping && false",
    )),
    mutant("fail-fast-stops-nothing", "what is live of a closed group is stopped", GROUP, (
        "true => «self.stop_to_cancel(now, (key, task), why)»",
        "()",
    )),
    mutant("closed-opens-more", "a closed group opens no more", COUNT, (
        "self.closed.is_none() && self.next < self.count",
        "self.next < self.count",
    )),
    mutant("concurrency-ignored", "no more at once than it may have", INSTANCES, (
        "self.live + group.waiting >= fan_out.concurrency.unwrap_or(u32::MAX)",
        "fan_out.concurrency == Some(0)",
    )),
    mutant("ends-before-its-last", "a group ends after its last instance", COUNT, (
        "!self.has_more() && self.unsettled() == 0",
        "!self.has_more() && self.unsettled() <= 1",
    )),
    mutant("retry-counted-twice", "a retried instance is counted once", RUN, (
        "        instances.note(group, index, (before, after));",
        "        instances.note(group, index, (before, after));
        if before.fact == Fact::Failed {
            group.failed = group.failed.saturating_sub(1);
        }",
    )),
    mutant("old-answer-accepted", "an answer to a former world is refused", ASK, (
        "epoch == self.epoch",
        "epoch <= self.epoch",
    )),
    mutant("answered-twice", "a question is answered once", ASK, (
        "        run.asked.remove(&about);",
        "",
    )),
    mutant("noops-applied-twice", "noops that were worked out are not worked out again", GROUP, (
        "            self.open_instance(key, no, index);",
        "            let _ = index;",
    )),
    mutant("noops-decided-while-paused", "nothing opens while it is held", GROUP, (
        "self.next_instance(no).is_some() && (is_new || is_due)",
        "(is_new || is_due)",
    )),
    mutant("ignored-errors-fail", "ignore_errors makes a success", GROUP, (
        "own.is_some() || group.failed > 0 && run.strategy(no) != FailureStrategy::IgnoreErrors",
        "own.is_some() || group.failed > 0",
    )),
    mutant("cancelled-instance-is-nothing", "a cancelled instance cancels its group", GROUP, (
        "!failed && group.cancelled + group.unopened() > 0",
        "!failed && group.cancelled + group.unopened() > 0 && group.success == 0",
    )),
    mutant("group-hold-ignored", "a held group starts nothing", GROUP, (
        "!self.lets_start(no) || self.rows.is_held(no)",
        "!self.lets_start(no)",
    )),
    mutant("instance-hold-ignored", "a held instance does not start", INSTANCES, (
        "row.fact == Fact::Delayed && row.hold.is_none() && has_come",
        "row.fact == Fact::Delayed && has_come",
    )),
    mutant("instance-delay-ignored", "an instance waits for its delay", INSTANCES, (
        "row.fact == Fact::Delayed && row.hold.is_none() && has_come",
        "row.fact == Fact::Delayed && row.hold.is_none()",
    )),
    mutant("group-never-starts", "a group has started with its first instance", REPORT, (
        "            self.change(key, TaskRef::plain(no), |row| row.ever_started = true);",
        "",
    )),
    mutant("numbers-begin-anew", "numbers go on when a group opens again", GROUP, (
        "row.group.as_ref().map_or(0, |group| group.attempts)",
        "0",
    )),
    mutant("instances-stay", "instances go when their group goes back", RETRY, (
        "        self.draft.add(Change::SendBackInstances(key, no));",
        "",
    )),
    mutant("footing-ignored", "a group waits again for what is decided again", BACK, (
        "if gone { Footing::Gone } else { Footing::Stays }",
        "if gone && false { Footing::Gone } else { Footing::Stays }",
    )),
    mutant("list-goes-back", "the list that an open group is made of stays", BACK, (
        "must || is_made_of(run, no, above)",
        "must",
    )),
    mutant("retry-leaves-unopened", "a retry opens what was never opened", RETRY, (
        "                group.closed = stay_closed.then_some(Closed::Chosen);",
        "                let _ = (stay_closed, Closed::Chosen);",
    )),
    mutant("cancel-reaches-groups", "a group that has opened goes on below a cancel", BELOW, (
        "fact.is_live() || matches!(fact, Fact::Open | Fact::WorkerDone)",
        "fact.is_live() || fact == Fact::WorkerDone",
    )),
    mutant("items-forgotten", "an instance is told its item after a reload too", LAUNCH, (
        "self.lacks_items()",
        "false",
    )),
    mutant("items-of-the-landed", "what is made of work that was done stays so when it fails to land", FAN, (
        "upstream.and_then(|upstream| upstream.work.as_ref())",
        "upstream.and_then(|upstream| upstream.work.as_ref().filter(|_| false))",
    )),
    mutant("wrong-item", "instances of one item are next to each other", QUESTION, (
        "items.get(self.index as usize / times.max(1))",
        "items.get(self.index as usize % items.len())",
    )),
    mutant("none-is-failure", "zero items are a success", GROUP, (
        "Ok(Output::Inline(empty))",
        "{
                let _ = empty;
                Err(TaskError::new(ErrorClass::Logic, \"none\".to_owned()))
            }",
    )),
    mutant("condition-ignored", "a condition that is false skips", ASK, (
        "                    step(row, Event::ConditionFalse);",
        "                    step(row, Event::DecidedSuccess);",
    )),
    mutant("condition-asked-again", "a condition is looked at once", ADVANCE, (
        "run.rows.fact(no) == Fact::Delayed",
        "false",
    )),
    mutant("output-let-go-early", "what is not stored yet is not let go of", RUN, (
        "        self.unread.recounted = true;",
        "        self.forget_all_unread();",
    )),
    mutant("output-never-restored", "a retry has the outputs that memory let go of", APPLY, (
        "            self.restore_outputs(key, found.as_ref())?;",
        "            let _ = &found;",
    )),
    mutant("output-of-readers", "an output stays while somebody may read it", MEMORY, (
        "self.unread.readers[no.position()] > 0 || !is_settled",
        "!is_settled",
    )),
];
