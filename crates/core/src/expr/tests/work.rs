use super::super::{Expr, Known};
use super::stage::{Stage, problems};
use crate::limits::EXPR_WORK_MAX;

/// Outputs that make short expressions long.
fn large() -> Stage {
    let mut stage = Stage::new();
    let texts = |count: usize, length: usize| {
        let text = |number: usize| format!("\"{}{number:05}\"", "a".repeat(length));
        format!("[{}]", (0..count).map(text).collect::<Vec<_>>().join(","))
    };
    let numbers: Vec<String> = (0..10_000).map(|number| number.to_string()).collect();
    let fields: Vec<String> = (0..10_000).map(|at| format!("\"k{at}\":{at}")).collect();
    let items: Vec<String> =
        (0..10_000).map(|at| format!(r#"{{"name":"item-{at}.csv","size":{at}}}"#)).collect();
    for (name, text) in [
        ("l", format!("[{}]", numbers.join(","))),
        ("items", format!("[{}]", items.join(","))),
        ("m", format!("{{{}}}", fields.join(","))),
        ("s", format!("\"{}\"", "a".repeat(1024 * 1024))),
        ("digits", format!("\"{}\"", "1".repeat(1024 * 1024))),
        ("bits", format!("\"{}\"", "01101".repeat(200_000))),
        ("texts", texts(10_000, 100)),
        ("long", texts(10_000, 1_000)),
        ("deep", format!("[{}]", vec!["[[[1,[2,[3]]]]]"; 1_000_000].join(","))),
    ] {
        stage.outputs.insert(name, text);
    }
    stage
}

/// A short way to write them.
fn long_form(source: &str) -> String {
    let names = ["long", "l", "items", "m", "s", "digits", "bits", "texts", "deep"];
    names.iter().fold(source.to_owned(), |text, name| {
        text.replace(&format!("${name}"), &format!("tasks.{name}.output"))
    })
}

/// Each of them ends, and says why.
#[track_caller]
fn refused(sources: &[&str]) {
    let stage = large();
    let work = format!("it takes more than {EXPR_WORK_MAX} steps of work; let it");
    for source in sources {
        let source = long_form(source);
        let told = match stage.value(&source) {
            Ok(value) => format!("it is {}", value.as_str()),
            Err(trouble) => trouble.to_string(),
        };
        let refused = told.contains(&work) || told.contains("it makes more than");
        assert!(refused && told.starts_with("in `"), "{source}: {told}");
    }
}

#[test]
fn long_searches_and_comparisons_are_refused() {
    refused(&[
        "$l.map(x, $s.matches('(.*)(.*)(.*)z')).size() > 0",
        "$l.exists(x, $s.matches('(.*)(.*)(.*)z'))",
        "$l.exists(x, $s.matches('z')) || true",
        "$bits.matches('[01]*1[01]{200}2')",
        "$l.filter(x, $l == $l).size() == 0",
        "$l.filter(x, $l != $l).size() == 0",
        "$l.all(x, $m == $m)",
        "$long.filter(x, x in $long).size() == 0",
        "$texts.filter(x, x in $texts).size() == 0",
        "$l.all(x, $texts in [$texts])",
        "$l.map(x, $s == $s + 'b').size() == 0",
        "$l.map(x, $s < $s).size() == 0",
    ]);
}

#[test]
fn long_copies_are_refused() {
    refused(&[
        "$l.map(x, $s + string(x)).size() == 0",
        "$l.map(x, size($s + $s)).size() == 0",
        "$l.map(x, [$l]).size() == 0",
        "$l.map(x, {'a': $m}).size() == 0",
        "$l.map(x, $s.contains('ab')).size() == 0",
        "$l.map(x, $s.endsWith($s)).size() == 0",
        "$l.map(x, string($s).size()).size() == 0",
        "$l.map(x, bytes($s).size()).size() == 0",
        "$l.map(x, bytes($s)).size() == 0",
        "$l.map(x, string(bytes($s)).size()).size() == 0",
    ]);
}

/// In `exists` an error is only the end when no element comes to true.
#[test]
fn long_errors_are_refused() {
    refused(&[
        "$l.exists(x, int($digits) == x)",
        "$l.exists(x, double($digits) == 1.0)",
        "$l.exists(x, $m[$s] == x)",
        "$l.exists(x, $m < x)",
        "$l.exists(x, x + $l == x)",
        "$l.exists(x, $m - x == x)",
        "$l.exists(x, x * $texts == x)",
        "$l.exists(x, $l in $m)",
        "$deep == $deep",
    ]);
}

#[test]
fn long_ways_are_refused() {
    let wide = format!("$l.map(x, [{}]).size() == 0", vec!["1"; 1_500].join(","));
    let fields = vec!["$deep[0][0] != 1"; 31].join(" && ");
    refused(&[&wide, &fields]);
}

#[test]
fn what_is_reasonable_is_allowed() {
    let mut stage = large();
    stage.outputs.insert("huge", format!("[{}]", vec!["123"; 13_000_000].join(",")));
    stage.outputs.insert(
        "rows",
        format!(
            "[{}]",
            vec![format!(r#"{{"id":1,"text":"{}"}}"#, "a".repeat(4_000)); 10_000].join(",")
        ),
    );
    for (source, expected) in [
        ("$items.filter(x, x.size >= 5000).size()", "5000"),
        ("$items.map(x, x.name).size()", "10000"),
        (r"$items.filter(x, x.name.matches('^item-\\d+[.](csv|txt)$')).size()", "10000"),
        (r"$items.all(x, x.name.matches('^[\\w.-]+$') && x.name.startsWith('item-'))", "true"),
        ("$texts.exists(x, x.endsWith('09999') && x.contains('a0'))", "true"),
        ("size(tasks.huge.output)", "13000000"),
        ("size(tasks.rows.output)", "10000"),
        ("tasks.rows.output.filter(x, x.id == 1).size()", "10000"),
        ("'x' in $texts", "false"),
        ("$l == $l && $m == $m && $texts == $texts", "true"),
        ("9999 in $l", "true"),
        ("'k77' in $m", "true"),
        ("$l.filter(x, x in [1, 2, 3]).size()", "3"),
        ("$l.filter(x, x < 500).filter(x, x in $l).size()", "500"),
        ("$m.map(k, $m[k] + 1).size()", "10000"),
        ("$s.matches('^a+$') && !$s.matches('(.*)(.*)(.*)z')", "true"),
        ("size($s + $s + $s + $s)", "4194304"),
        ("$l.exists_one(x, x == 77)", "true"),
        ("$l.map(x, x + 1).filter(x, x % 2 == 0).map(x, [x, string(x)]).size()", "5000"),
    ] {
        let value = stage.value(&long_form(source));
        assert_eq!(value.map(|json| json.as_str().to_owned()), Ok(expected.to_owned()), "{source}");
    }
}

/// The same expression over the same values is always allowed or always refused, whoever has
/// read them before.
#[test]
fn what_was_made_before_is_paid_for_again() {
    let half = format!("[{}]", vec!["1"; 6_000_000].join(","));
    let mut stage = Stage::new();
    stage.outputs.insert("half", half.clone());
    stage.outputs.insert("other", half);
    let known = Known::new(&stage);
    let value = |source: &str| {
        let expr = Expr::compile(source).expect("good");
        expr.value(&known.scope()).map_err(|trouble| trouble.to_string())
    };
    assert!(value("1 in tasks.half.output").is_ok());
    assert!(value("1 in tasks.other.output").is_ok());
    let told = value("1 in tasks.half.output && 1 in tasks.other.output").expect_err("too much");
    assert!(told.contains("steps of work"), "{told}");
}

#[test]
fn a_pattern_is_not_too_large() {
    for pattern in ["([01]{1,50}){1,90}2", "(a{1000}){1000}", r"\\w{200}"] {
        let found = problems(&format!("input.day.matches('{pattern}')"));
        assert!(found[0].contains("The pattern is too large."), "{pattern}: {found:?}");
    }
    let told = super::stage::shown("input.day.matches('(a{1000}){1000}' + input.day)");
    assert!(told.ends_with("`matches`: The pattern is too large"), "{told}");
}
