//! Mistakes of the text itself.

use super::super::{Context, parse_bytes};
use super::{places, shown, told};
use insta::assert_snapshot;
use std::collections::BTreeSet;

fn told_bytes(bytes: &[u8]) -> String {
    let none = BTreeSet::new();
    shown(
        &parse_bytes(bytes, &Context { server_tiers: crate::spec::ServerTiers::Known(&none) })
            .expect_err("refused"),
    )
}

#[test]
fn texts_that_are_none() {
    assert_snapshot!(told(""), @"E008 1:1 The text holds no workflow. (begin with `name:` and `tasks:`)");
    assert_snapshot!(told("# only a comment\n"), @"E008 1:1 The text holds no workflow. (begin with `name:` and `tasks:`)");
    assert_snapshot!(told("- a\n- b\n"), @"E104 1:1 A workflow must be a map, not a list. (begin with `name:` and `tasks:`)");
    assert_snapshot!(told("just words"), @"E104 1:1 A workflow must be a map, not text. (begin with `name:` and `tasks:`)");
    assert_snapshot!(told("name: w\ntasks: {a: {noop: {}}}\n---\nname: v\n"), @"E007 3:1 A second document begins here. (put each workflow in a text of its own)");
    assert_snapshot!(told("a: b\0c"), @"E003 1:5 The character U+0000 may not stand in a text. (is this a text file? In quotes it can be written as an escape)");
    assert_snapshot!(told("é: \u{1b}[0m"), @"E003 1:4 The character U+001B may not stand in a text. (is this a text file? In quotes it can be written as an escape)");
    assert_snapshot!(told_bytes(b"name: w\nx: \xff\xfe"), @"E002 2:4 The byte 0xFF is not UTF-8 text. (save the text as UTF-8)");
    assert_snapshot!(told_bytes(b"\xff\xfen\0a\0"), @"E002 1:1 The byte 0xFF is not UTF-8 text. (this is UTF-16: save it as UTF-8)");
    assert_snapshot!(told_bytes("name: é".as_bytes().split_last().expect("bytes").1), @"E002 1:7 The byte 0xC3 is not UTF-8 text. (save the text as UTF-8)");
}

#[test]
fn broken_structure() {
    assert_snapshot!(told("name: w\ntasks: [1,\n"), @"E004 2:8 Not valid YAML: `[` is not closed. (add `]`)");
    assert_snapshot!(told("name: w\ntasks:\n\ta: 1\n"), @"E004 3:1 Not valid YAML: a tab in the indentation. (indent with spaces)");
    assert_snapshot!(told("name: a: b\n"), @"E004 1:8 Not valid YAML: `: ` begins a value, and there is one already. (put text that contains `: ` in quotes, or on lines of its own after `|`)");
    assert_snapshot!(told("name: \"w\ntasks: x"), @"E004 1:7 Not valid YAML: this quote is not closed. (add the closing quote) [2:1 here the text should have ended]");
}

#[test]
fn values_that_are_refused_wherever_they_stand() {
    let text = r#"
name: w
labels: { a: 012, b: .inf, c: 99999999999999999999, d: 1e999 }
tasks:
  a:
    run: echo ${{ input.day }}
    env: { A: "x${{ item }}", B: !secret x, C: *nope, D: "nul\0" }
    input: { a: 1, a: 2, 5: x, null: y, [k]: z, <<: {} }
"#;
    assert_snapshot!(told(text), @r#"
    E015 3:14 `012` begins with 0, which some read as octal. (put it in quotes if it is text, else drop the zeros (`0o17` is octal))
    E015 3:22 `.inf` is not a number that JSON can hold. (put it in quotes if it is text)
    E015 3:31 `99999999999999999999` is too large: integers have 64 bits. (put it in quotes if it is text)
    E015 3:56 `1e999` is too large for a number. (put it in quotes if it is text)
    E402 7:21 `item` is only there in a fan-out. (add `foreach:`)
    E014 7:34 The tag `!secret` is not supported here. (leave it out)
    E012 7:48 The alias `nope` has no anchor before it. (mark the value it stands for with `&nope`, or put text in quotes)
    E003 7:58 Text may not contain the character NUL.
    E009 8:20 `a` is given twice. (keep one of them) [8:14 first given here]
    E010 8:26 A field name must be text, and `5` is not. (put it in quotes)
    E010 8:32 A field name must be text, and `null` is not. (put it in quotes)
    E010 8:41 A field name must be text, and `[k]` is not. (put it in quotes)
    E011 8:49 The merge key `<<` is not supported. (write the fields out, or share them through `defaults:`)
    "#);
}

#[test]
fn recursive_aliases() {
    assert_snapshot!(told("name: w\ntasks: &t\n  a: { noop: {}, input: { x: *t } }\n"), @"E013 3:30 This alias stands inside the value that it stands for. (write the value out here)");
    assert_snapshot!(told("&r [*r]"), @r#"
    E104 1:4 A workflow must be a map, not a list. (begin with `name:` and `tasks:`)
    E013 1:5 This alias stands inside the value that it stands for. (write the value out here)
    "#);
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(places("\u{feff}nam: w\ntasks: {a: {noop: {}}}"), ["E101 1:1"]);
    assert!(super::read("\u{feff}name: w\ntasks: {a: {noop: {}}}").is_ok());
}

#[test]
fn columns_count_characters() {
    assert_eq!(
        places("{name: w, ééé: 1, x: 2, tasks: {a: {noop: {}}}}"),
        ["E101 1:11", "E101 1:19"]
    );
    assert_eq!(places("name: w\r\nx: 1\r\ntasks: {a: {noop: {}}}\r\n"), ["E101 2:1"]);
}

#[test]
fn a_mistake_under_an_anchor_is_told_once() {
    let text =
        "name: w\ntasks:\n  a: { run: x, retries: &r { max: x } }\n  b: { run: x, retries: *r }\n";
    assert_eq!(places(text), ["E104 3:35"]);
}
