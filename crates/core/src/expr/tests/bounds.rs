use super::super::{Expr, Known};
use super::stage::{Stage, problems, shown};
use crate::limits::{EXPR_BRACKETS_MAX, EXPR_BYTES_MAX, EXPR_OPERATORS_MAX};

#[test]
fn an_expression_is_not_too_long() {
    let long = format!("'{}' + 'x'", "x".repeat(EXPR_BYTES_MAX - 8));
    assert_eq!(long.len(), EXPR_BYTES_MAX);
    assert!(problems(&long).is_empty());
    assert!(problems(&format!("{long} "))[0].contains("may have 4096 bytes"));
}

/// Each of these recurses in another place of the parser, the walk or the evaluation: as many as
/// are allowed, on a thread as small as half of any that it may run on.
#[test]
fn what_is_allowed_fits_a_small_stack() {
    let (brackets, operators) = (EXPR_BRACKETS_MAX, EXPR_OPERATORS_MAX);
    let around = |open: &str, close: &str| {
        let inner = vec!["1"; operators / 2].join("+");
        format!("{}{inner}{}", open.repeat(brackets), close.repeat(brackets))
    };
    let sources = [
        format!("{}1", "-".repeat(operators)),
        format!("{}true", "!".repeat(operators)),
        vec!["1"; operators].join("+"),
        vec!["1"; operators].join("<"),
        vec!["true"; operators].join("&&"),
        format!("input{}", ".x".repeat(operators)),
        format!("input{}", "[index]".repeat(brackets)),
        format!("'x'{}", ".size()".repeat(brackets)),
        format!("{}1", "true?1:".repeat(90)),
        around("[", "]"),
        around("(", ")"),
        around("{'a':", "}"),
        around("int(", ")"),
        around("[1].map(x,", ")").replacen("[1]", "1", brackets / 2),
    ];
    std::thread::scope(|scope| {
        let small = std::thread::Builder::new().stack_size(1024 * 1024);
        let run = small.spawn_scoped(scope, || {
            let stage = Stage::new();
            let known = Known::new(&stage);
            for source in &sources {
                if let Ok(expr) = Expr::compile(source) {
                    let _whatever = expr.value(&known.scope());
                }
            }
        });
        run.expect("a thread").join().expect("no panic");
    });
}

#[test]
fn what_would_not_fit_is_refused_before_it_is_parsed() {
    for source in [
        "[".repeat(3000),
        format!("'{}", "[".repeat(3000)),
        format!("'\\q{}'", "[".repeat(3000)),
        "-".repeat(3000),
        format!("input{}", "[index]".repeat(500)),
        vec!["1"; 1500].join("+"),
    ] {
        let found = problems(&source);
        assert!(found[0].contains("An expression may have"), "{found:?}");
    }
}

#[test]
fn comprehensions_do_not_nest() {
    let found = problems("input.l.map(x, input.l.map(y, x + y))");
    assert!(found[0].contains("may not stand inside each other"), "{found:?}");
    assert!(problems("input.l.map(x, x + 1).filter(x, x > 1)").is_empty(), "one after the other");
}

fn with_list(length: usize) -> Stage {
    let mut stage = Stage::new();
    let numbers: Vec<String> = (0..length).map(|number| number.to_string()).collect();
    stage.outputs.insert("long", format!("[{}]", numbers.join(",")));
    stage
}

#[test]
fn lists_that_are_gone_through_are_not_too_long() {
    let source = "size(tasks.long.output.map(x, x + 1))";
    assert_eq!(with_list(10_000).value(source).expect("allowed").as_str(), "10000");
    let told = with_list(10_001).value(source).expect_err("too long").to_string();
    assert!(told.contains("goes through 10001 elements; at most 10000"), "{told}");
    let whole = with_list(10_001).value("size(tasks.long.output)").expect("not gone through");
    assert_eq!(whole.as_str(), "10001");
}

#[test]
fn what_an_expression_makes_is_bounded() {
    let stage = with_list(10_000);
    for source in [
        "size(tasks.long.output.map(x, tasks.long.output))",
        "size(tasks.long.output.map(x, [tasks.long.output, {'a': tasks.long.output}]))",
    ] {
        let told = stage.value(source).expect_err("too much").to_string();
        assert!(told.contains("it makes more than"), "{told}");
    }
    let mut stage = Stage::new();
    stage.outputs.insert("text", format!("\"{}\"", "x".repeat(2 * 1024 * 1024)));
    let sum = vec!["tasks.text.output"; 65].join("+");
    let told = stage.value(&format!("size({sum})")).err().map(|trouble| trouble.to_string());
    assert!(told.is_some_and(|told| told.contains("it makes more than")));
    let copies = format!("[{}]", vec!["tasks.text.output"; 60].join(","));
    let told = stage.value(&copies).err().map(|trouble| trouble.to_string());
    assert!(told.is_some_and(|told| told.contains("bytes of JSON")));
}

#[test]
fn a_value_nests_no_deeper_than_a_document() {
    let deep = format!("{}1{}", "[".repeat(64), "]".repeat(64));
    assert_eq!(shown(&deep), deep);
    let mut stage = Stage::new();
    stage.outputs.insert("deep", deep);
    let told = stage.value("[tasks.deep.output]").expect_err("too deep").to_string();
    assert!(told.ends_with("nested more than 64 deep"), "{told}");
}
