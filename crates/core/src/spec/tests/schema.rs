//! The schema of a run's input, and inputs checked against it.

use super::super::input::{InputProblem, check_input};
use super::told;
use crate::json::Json;
use insta::assert_snapshot;

fn deployed(schema: &str) -> String {
    told(&format!("name: w\ninput: {schema}\ntasks: {{a: {{noop: {{}}}}}}\n"))
}

#[track_caller]
fn input(schema: &str, given: &str, expected: Result<&str, &[(&str, &str)]>) {
    let schema = (!schema.is_empty()).then(|| Json::parse(schema).expect("JSON"));
    let result = check_input(schema.as_ref(), &Json::parse(given).expect("JSON"));
    let expected = expected.map(|text| Json::parse(text).expect("JSON")).map_err(|problems| {
        let problem = |(path, message): &(&str, &str)| InputProblem {
            path: (*path).to_owned(),
            message: (*message).to_owned(),
        };
        problems.iter().map(problem).collect::<Vec<_>>()
    });
    assert_eq!(result, expected);
}

#[test]
fn schemas_that_are_refused() {
    assert_snapshot!(deployed("5"), @"E104 2:8 `input` must be a JSON Schema, not a number. (write a JSON Schema, such as `{type: object, properties: {…}}`)");
    assert_snapshot!(deployed("{type: objekt}"), @"E301 2:15 There is no type `objekt`. (use object, array, string, number, integer, boolean or null)");
    assert_snapshot!(deployed("{type: array}"), @"E301 2:15 A run's input is always an object. (write `type: object`, and put this under `properties`)");
    assert_snapshot!(deployed("{properties: {a: {minimum: x}, b: {type: strin}}}"), @r#"
    E301 2:35 Not a valid JSON Schema: "x" is not of type "number".
    E301 2:49 There is no type `strin`. (use object, array, string, number, integer, boolean or null)
    "#);
    assert_snapshot!(deployed("{properties: {a: {pattern: '('}}}"), @"E301 2:35 The pattern `(` cannot be used. (check its brackets; look-around, back references and very large patterns are not supported)");
    assert_snapshot!(deployed("{properties: {a: {pattern: '(?=x)y'}}}"), @"E301 2:35 The pattern `(?=x)y` cannot be used. (check its brackets; look-around, back references and very large patterns are not supported)");
    assert_snapshot!(deployed("{properties: {a: {pattern: '((a{1,100}){1,100}){1,100}'}}}"), @"E301 2:35 The pattern `((a{1,100}){1,100}){1,100}` cannot be used. (check its brackets; look-around, back references and very large patterns are not supported)");
    assert_snapshot!(deployed("{patternProperties: {'(': {}}}"), @"E301 2:34 The pattern `(` cannot be used. (check its brackets; look-around, back references and very large patterns are not supported)");
    assert_snapshot!(deployed("{$schema: 'http://nope/'}"), @"E301 2:18 The dialect `http://nope/` of JSON Schema is not known. (leave `$schema` out for draft 2020-12)");
}

#[test]
fn references_stay_inside() {
    assert_snapshot!(deployed("{properties: {a: {$ref: 'https://example.com/x.json'}}}"), @"E302 2:32 The reference `https://example.com/x.json` leads out of this schema. (copy what it refers to under `$defs`, and write `#/$defs/…`)");
    assert_snapshot!(deployed("{properties: {a: {$ref: 'file:///etc/passwd'}}}"), @"E302 2:32 The reference `file:///etc/passwd` leads out of this schema. (copy what it refers to under `$defs`, and write `#/$defs/…`)");
    assert_snapshot!(deployed("{properties: {a: {$ref: 'https://json-schema.org/draft/2020-12/schema'}}}"), @"E302 2:32 The reference `https://json-schema.org/draft/2020-12/schema` leads out of this schema. (copy what it refers to under `$defs`, and write `#/$defs/…`)");
    assert_snapshot!(deployed("{properties: {a: {$ref: '#/$defs/none'}}}"), @"E302 2:32 `#/$defs/none` names nothing in this schema. (define it under `$defs`)");
    assert_snapshot!(deployed("{properties: {a: {$ref: '#'}}}"), @"E302 2:32 The reference `#` leads back to itself. (recursive schemas are not supported)");
    assert_snapshot!(deployed("{$ref: '#/$defs/a', $defs: {a: {$ref: '#/$defs/b'}, b: {$ref: '#/$defs/a'}}}"), @"E302 2:70 The reference `#/$defs/a` leads back to itself. (recursive schemas are not supported)");
    assert_snapshot!(deployed("{properties: {a: {$dynamicRef: '#x'}, b: {$id: 'http://x/y', $ref: '#/$defs/q'}}, $defs: {q: {}}}"), @r#"
    E302 2:39 `$dynamicRef` is not supported.
    E302 2:55 `$id` is only supported at the top of a schema. (leave it out)
    "#);
    assert_eq!(
        deployed(
            "{properties: {a: {$ref: '#/$defs/a'}, $ref: {type: string}}, $defs: {a: {type: string}}}"
        ),
        ""
    );
}

#[test]
fn doubled_references_do_not_explode() {
    let mut defs = "l0: {type: string}".to_owned();
    for level in 1..40 {
        let inner = level - 1;
        defs.push_str(&format!(
            ", l{level}: {{allOf: [{{$ref: '#/$defs/l{inner}'}}, {{$ref: '#/$defs/l{inner}'}}]}}"
        ));
    }
    let schema = format!("{{properties: {{a: {{$ref: '#/$defs/l39'}}}}, $defs: {{{defs}}}}}");
    assert_snapshot!(deployed(&schema), @"E304 2:1 More than 10000 schemas, references followed.");
}

#[test]
fn long_chains_of_references_do_not_end_the_stack() {
    let mut defs = "l0: {type: string}".to_owned();
    for level in 1..5_000 {
        defs.push_str(&format!(", l{level}: {{$ref: '#/$defs/l{}'}}", level - 1));
    }
    let schema = format!("{{properties: {{a: {{$ref: '#/$defs/l4999'}}}}, $defs: {{{defs}}}}}");
    assert!(deployed(&schema).contains("E304"), "{}", deployed(&schema));
}

#[test]
fn many_patterns_are_refused_before_they_are_compiled() {
    let properties: String =
        (0..1_000).map(|n| format!("p{n}: {{pattern: '^[\\w.-]{{1,60}}$'}}, ")).collect();
    let told = deployed(&format!("{{properties: {{{properties}}}}}"));
    assert!(told.starts_with("E304 2:1 More than 100 patterns"), "{told}");
    assert_eq!(deployed("{properties: {a: {pattern: '^[\\w.-]{1,64}$'}}}"), "");
}

#[test]
fn deep_schemas_fit_the_stack() {
    let deep = format!("{}{}", "{properties: {a: ".repeat(29), "{}".to_owned() + &"}}".repeat(29));
    assert!(deployed(&deep).is_empty(), "{}", deployed(&deep));
    let deep = format!("{}{{}}{}", "{not: ".repeat(60), "}".repeat(60));
    assert!(deployed(&deep).is_empty(), "{}", deployed(&deep));
}

#[test]
fn defaults_obey_their_schema() {
    assert_snapshot!(deployed("{properties: {a: {type: integer, default: x}, b: {type: object, properties: {c: {maxLength: 1, default: xx}}}}}"), @r#"
    E303 2:50 This default breaks its own schema: "x" is not of type "integer". (give a default that fits, or change the schema around it)
    E303 2:112 This default breaks its own schema: "xx" is longer than 1 character. (give a default that fits, or change the schema around it)
    "#);
    assert_snapshot!(deployed("{properties: {a: {$ref: '#/$defs/a'}}, $defs: {a: {type: string, default: 5}}}"), @r#"E303 2:82 This default breaks its own schema: 5 is not of type "string". (give a default that fits, or change the schema around it)"#);
    let filled = "{properties: {o: {type: object, required: [x], default: {}, properties: {x: {default: 1}}}}}";
    assert_eq!(deployed(filled), "");
}

#[test]
fn an_input_without_a_schema_is_any_object() {
    input("", r#"{"a": 1}"#, Ok(r#"{"a": 1}"#));
    input("", "[]", Err(&[("", "A run's input must be a JSON object.")]));
    input("", "null", Err(&[("", "A run's input must be a JSON object.")]));
}

#[test]
fn defaults_are_filled_in() {
    let schema = r##"{"type": "object", "properties": {
        "day": {"type": "string", "default": "today"},
        "o": {"type": "object", "properties": {"x": {"default": 1}, "y": {"default": null}}},
        "r": {"$ref": "#/$defs/r"}},
        "$defs": {"r": {"type": "object", "default": {}, "properties": {"z": {"default": [1]}}}}}"##;
    input(schema, "{}", Ok(r#"{"day":"today","r":{"z":[1]}}"#));
    input(
        schema,
        r#"{"day": "x", "o": {"x": 2}, "r": {"z": 0}}"#,
        Ok(r#"{"day":"x","o":{"x":2,"y":null},"r":{"z":0}}"#),
    );
}

#[test]
fn every_problem_of_an_input_is_told() {
    let schema = r#"{"type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"type": "string"}}, "e": {"format": "email"}}}"#;
    input(
        schema,
        r#"{"b": [1, "x", 2], "c": 1, "e": "nobody"}"#,
        Err(&[
            ("/b/0", "1 is not of type \"string\""),
            ("/b/2", "2 is not of type \"string\""),
            ("/e", "\"nobody\" is not a \"email\""),
            ("", "Additional properties are not allowed ('c' was unexpected)"),
            ("", "\"a\" is a required property"),
        ]),
    );
}

#[test]
fn inputs_are_bounded() {
    let big = format!(r#"{{"a": "{}"}}"#, "x".repeat(crate::limits::RUN_INPUT_BYTES_MAX));
    let too_large = "The input with its defaults has more than 4194304 bytes.";
    input("", &big, Err(&[("", too_large)]));
    let value = "x".repeat(1_000_000);
    let schema = format!(
        r##"{{"properties": {{"a": {{"$ref": "#/$defs/d"}}, "b": {{"$ref": "#/$defs/d"}}, "c": {{"$ref": "#/$defs/d"}},
        "d": {{"$ref": "#/$defs/d"}}, "e": {{"$ref": "#/$defs/d"}}}}, "$defs": {{"d": {{"default": "{value}"}}}}}}"##
    );
    input(&schema, "{}", Err(&[("", too_large)]));
}

#[test]
fn a_large_input_is_told_its_first_problem() {
    let schema = r#"{"properties": {"a": {"items": {"type": "string"}}}}"#;
    let given = format!(r#"{{"a": [{}1]}}"#, "1,".repeat(1_000_000));
    input(schema, &given, Err(&[("/a/0", "1 is not of type \"string\"")]));
}

/// References make it deeper than the text of the schema is.
#[test]
fn defaults_do_not_nest_deeper_than_what_may_be_given() {
    let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
    let step = |at: usize| {
        format!(
            r##""s{at}": {{"default": {{}}, "properties": {{"a": {{"$ref": "#/$defs/s{}"}}}}}}"##,
            at + 1
        )
    };
    let steps: Vec<String> = (0..30).map(step).collect();
    let schema = format!(
        r##"{{"properties": {{"a": {{"$ref": "#/$defs/s0"}}}},
            "$defs": {{{}, "s30": {{"default": {deep}}}}}}}"##,
        steps.join(", ")
    );
    input(&schema, "{}", Err(&[("", "The input with its defaults nests more than 64 deep.")]));
}

#[test]
fn a_message_does_not_repeat_a_large_value() {
    let schema = Json::parse(r#"{"properties": {"a": {"type": "integer"}}}"#).expect("JSON");
    let given = Json::parse(&format!(r#"{{"a": "{}"}}"#, "x".repeat(100_000))).expect("JSON");
    let problems = check_input(Some(&schema), &given).expect_err("refused");
    assert!(problems[0].message.len() < 300, "{}", problems[0].message);
}

#[test]
fn patterns_have_a_size() {
    assert!(deployed("{properties: {a: {pattern: '(a{1,100}){1,500}'}}}").contains("E301"));
    assert_eq!(deployed("{properties: {a: {pattern: '(a{1,100}){1,50}'}}}"), "");
}
