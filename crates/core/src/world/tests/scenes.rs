//! Runs in which something waits for each reason there is: what the guide shows.

use super::explains::{ALL, explained, lines, tiers};
use super::family::Family;
use super::stage::Stage;
use crate::kernel::row::{RunHead, RunProgress, RunStatus};
use crate::kernel::rows::Rows;
use crate::plan::dag::graph::Graph;
use crate::plan::dag::plan::Shape;
use crate::time::Span;
use crate::view::explain::behind::{Place, behind};
use crate::view::explain::explain;
use crate::view::explain::reason::Reason;
use crate::view::explain::seen::{Around, Seen};
use crate::view::explain::shapes::Explanation;
use std::collections::BTreeSet;

/// What a scene shows, and the kinds of its reasons.
struct Scene {
    title: &'static str,
    lines: Vec<String>,
    kinds: BTreeSet<&'static str>,
}

impl Scene {
    fn of(title: &'static str, told: &Explanation) -> Self {
        let tasks = told.tasks.iter().flat_map(|task| task.instances.iter().chain([task]));
        let of_tasks = tasks.flat_map(|task| &task.reasons);
        let kinds = told.reasons.iter().chain(of_tasks).map(|it| it.reason.kind()).collect();
        Self { title, lines: lines(told), kinds }
    }

    fn shown(title: &'static str, mut stage: Stage) -> Self {
        let told = explained(&mut stage, true, ALL);
        Self::of(title, &told).hiding(&stage.run.to_string())
    }

    /// Ids are not the same in every version of the program.
    fn hiding(mut self, run: &str) -> Self {
        self.lines.iter_mut().for_each(|line| *line = line.replace(run, "RUN"));
        self
    }
}

fn played(sketch: &str, script: &str) -> Stage {
    let mut stage = Stage::new(sketch);
    stage.play(script);
    stage
}

/// One run in which something waits for nearly everything.
fn at_work() -> Scene {
    let sketch = "
        @gpu=1
        @api=9@1/1h
        build
        unit timeout=30
        probe
        lint retries=1 delay=90
        deploy: build
        notify finally: build
        watch: probe/started
        train tier=gpu
        tune tier=gpu
        fetch tier=api
        fetch2 tier=api
        nap sleep=600
        paid signal=paid within=3600
        review approval within=86400 by=operator+ann
        manual
        scan
        crops fan=6 at_once=2
        fix final=main
        port final=main
        docs final=docs final_retries=1
        open if: lint/started
        clean always=300: build";
    let mut stage = Stage::new(sketch);
    stage.play("silence; build start; unit start; lint fail; train start; fetch start; fetch ok");
    stage.play(
        "pause manual; manual gone; crops/0 start; crops/0 fail; crops/1 start; crops/2 start",
    );
    stage.play("fix ok; fix start; port ok; docs ok");
    stage.now = stage.now + Span::from_secs(30);
    stage.settle();
    stage.play("scan refuse; docs refuse");
    Scene::shown("A run at work.", stage)
}

/// A run that waits for another one, which it began.
fn with_a_child() -> Scene {
    let family = Family::new(&[("release", "next child=deploy"), ("deploy", "a")]);
    let child = family.run("deploy").head.id.to_string();
    Scene::of("A run that has begun another one.", &family.explained("release")).hiding(&child)
}

fn with_a_backlog() -> Scene {
    let mut stage = Stage::new("crops fan=3000 retries=1 delay=60");
    for index in 0..1_001 {
        stage.play(&format!("crops/{index} fail"));
    }
    let scene = Scene::shown("A fan-out of which many wait for another try.", stage);
    let lines = scene.lines.into_iter().filter(|line| !line.starts_with("crops["));
    Scene { lines: lines.collect(), ..scene }
}

fn paused() -> Scene {
    Scene::shown(
        "A run that has passed a checkpoint.",
        played("a checkpoint\nb: a", "a ok; wait 5"),
    )
}

fn cancelling() -> Scene {
    let stage =
        played("a\nb: a\nclean always=30: b", "a start; cancel; a gone; clean start; wait 10");
    Scene::shown("A run that was cancelled.", stage)
}

/// The server takes on nothing more.
fn about_to_start() -> Scene {
    let mut stage = Stage::new("a\nb: a");
    stage.world.start_nothing_more();
    stage.play("a ok");
    Scene::shown("A task that nothing keeps.", stage)
}

fn unattended() -> Scene {
    let mut stage = played("a\nb: a", "a ok");
    let told = explained(&mut stage, false, ALL);
    Scene::of("A run whose server is not there.", &told)
}

/// A run of which nothing is stored yet, behind so many others.
fn pending(title: &'static str, others: usize) -> Scene {
    let stage = Stage::new("a\nb: a");
    let (head, progress) = stage.stored.clone().expect("stored");
    let head = RunHead { group: Some("deploy-test".into()), ..head };
    let progress = RunProgress { status: RunStatus::Pending, ..progress };
    standing(title, (stage, Rows::new(2)), (&head, &progress), others)
}

/// A run that is about to end.
fn through() -> Scene {
    let stage = played("a", "a ok");
    let (head, progress) = stage.stored.clone().expect("stored");
    let progress = RunProgress { status: RunStatus::Running, ..progress };
    let rows = stage.rows.clone();
    standing("A run of which nothing is left.", (stage, rows), (&head, &progress), 0)
}

/// As if it stood so.
fn standing(
    title: &'static str,
    (mut stage, rows): (Stage, Rows),
    (head, progress): (&RunHead, &RunProgress),
    others: usize,
) -> Scene {
    let limits = tiers(&mut stage);
    let graph = Graph::new(&stage.definition);
    let shape = Shape { definition: &stage.definition, graph: &graph };
    let active = vec![head.clone(); others];
    let active = active.as_slice();
    let places = [Place::Workflow { limit: 1, active }, Place::Group { limit: 1, active }];
    let behind: Vec<Reason> = behind(head, &places);
    let around = Around { limits: Some(&limits), behind: &behind };
    let seen = Seen { shape, head, progress, rows: &rows, around, now: stage.now };
    let told = explain(seen, ALL, |_| Vec::new());
    Scene::of(title, &told).hiding(&stage.run.to_string())
}

#[test]
fn something_waits_for_each_reason() {
    let scenes = [
        at_work(),
        with_a_child(),
        with_a_backlog(),
        paused(),
        cancelling(),
        pending("A run that is pending.", 1),
        pending("A run that is let in.", 0),
        about_to_start(),
        through(),
        unattended(),
    ];
    let told: BTreeSet<&str> = scenes.iter().flat_map(|scene| &scene.kinds).copied().collect();
    let missing: Vec<_> = Reason::KINDS.iter().filter(|kind| !told.contains(*kind)).collect();
    assert!(missing.is_empty(), "no scene shows {missing:?}");
    let shown = scenes.iter().map(|scene| format!("{}\n{}", scene.title, scene.lines.join("\n")));
    insta::assert_snapshot!("every_reason", shown.collect::<Vec<_>>().join("\n\n"));
}

#[test]
fn kinds_are_the_words_that_programs_are_told() {
    let reason = Reason::Backlog { delayed: 3 };
    let value = serde_json::to_value(&reason).expect("plain");
    assert_eq!(value["kind"], reason.kind());
    let words: BTreeSet<&str> = Reason::KINDS.iter().copied().collect();
    assert_eq!(words.len(), Reason::KINDS.len(), "each has its own");
}
