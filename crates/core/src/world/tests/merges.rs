//! Merges queue up by the repository in which the work was done, however that was called.

use super::stage::Stage;
use crate::kernel::limit::queue_name;
use crate::work::{Ended, Outcome, ReportKind};
use crate::work_git::{Lands, queue_of};

/// The work of a task is done, in this repository.
fn done(stage: &mut Stage, task: &str, repository: Option<&str>) {
    let ended = Ended::of(Outcome::Success(None));
    let lands = repository.map(|it| Box::new(Lands { repository: it.to_owned(), into: None }));
    let ended = Ended { lands, ..ended };
    stage.report(task, ReportKind::Ended(ended)).expect("taken");
}

fn landing(stage: &Stage) -> String {
    let landing = stage.said.iter().filter(|said| said.starts_with("land"));
    landing.cloned().collect::<Vec<_>>().join("; ")
}

#[test]
fn two_names_of_one_repository_are_one_queue() {
    let mut stage = Stage::new("a merge=main\nb merge=main\nc merge=main\nd merge=docs");
    for (task, repository) in [("a", "/srv/app"), ("b", "/srv/app"), ("c", "/srv/other")] {
        done(&mut stage, task, Some(repository));
    }
    done(&mut stage, "d", Some("/srv/app"));
    assert_eq!(landing(&stage), "land a; land c; land d", "by repository, and by target");
    stage.play("crash; a alive; c alive; d alive");
    stage.play("a ok");
    assert_eq!(landing(&stage), "land a; land c; land d; land b", "a crash forgets no queue");
}

#[test]
fn its_name_is_the_same_for_whoever_sets_it_and_for_whoever_waits() {
    let mut stage = Stage::new("a merge=main\nb merge=main");
    done(&mut stage, "a", Some("/srv/app"));
    done(&mut stage, "b", Some("/srv/app"));
    let name = queue_name(&queue_of("/srv/app", "main"));
    let tiers = stage.world.tiers();
    let tier = tiers.iter().find(|tier| tier.name == name).expect("it is a limit");
    assert_eq!((tier.in_use, tier.limit, tier.waiting), (1, 1, 1));
    let (holds, waits) = (tier.holders[0].task.as_deref(), tier.waiters[0].task.as_deref());
    assert_eq!((holds, waits), (Some("a"), Some("b")));
}

#[test]
fn without_a_word_on_where_it_was_done_the_definition_says_so() {
    let mut stage = Stage::new("a merge=main\nb merge=main");
    done(&mut stage, "a", None);
    done(&mut stage, "b", None);
    assert_eq!(landing(&stage), "land a");
}
