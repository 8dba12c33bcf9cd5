use super::super::{Known, Tree};
use super::stage::Stage;
use serde_json::json;

fn rendered(value: &serde_json::Value) -> String {
    let tree = Tree::of(value).unwrap_or_else(|it| panic!("{value}: {it:?}"));
    let stage = Stage::new();
    let known = Known::new(&stage);
    match tree.render(&known.scope(), "input") {
        Ok(json) => json.as_str().to_owned(),
        Err(trouble) => format!("! {trouble}"),
    }
}

#[test]
fn values_are_put_in_where_templates_stand() {
    let value = json!({
        "day": "${{ input.day }}",
        "list": [1, "${{ input.l }}", { "n": "n is ${{ input.n }}" }],
        "plain": { "a": null },
    });
    assert_eq!(
        rendered(&value),
        r#"{"day":"monday","list":[1,[3, 1, 2],{"n":"n is 2"}],"plain":{"a":null}}"#
    );
}

#[test]
fn one_without_expressions_is_at_hand() {
    let fixed = |value| Tree::of(&value).expect("good").fixed().map(|json| json.to_string());
    assert_eq!(
        fixed(json!({ "b": [1, "x"], "a": {} })).as_deref(),
        Some(r#"{"a":{},"b":[1,"x"]}"#)
    );
    assert_eq!(fixed(json!({ "b": [1, "$${{ x }}"] })).as_deref(), Some(r#"{"b":[1,"${{ x }}"]}"#));
    assert_eq!(fixed(json!(["${{ index }}"])), None);
}

#[test]
fn troubles_and_problems_say_where() {
    let value = json!({ "a b": [{ "c": "x ${{ input.nope }}" }] });
    assert!(
        rendered(&value).starts_with("! `input['a b'][0].c`: `input` has no field `nope`"),
        "{}",
        rendered(&value)
    );
    let found = Tree::of(&json!({ "a/b": ["${{ x", "${{ y }}"] })).expect_err("wrong");
    let pointers: Vec<&str> = found.iter().map(|it| it.pointer.as_str()).collect();
    assert_eq!(pointers, ["/a~1b/0", "/a~1b/1"]);
    let tree = Tree::of(&json!({ "x": ["${{ tasks.a.output }}"] })).expect("good");
    let references = tree.references();
    assert_eq!(references.len(), 1);
    assert_eq!((references[0].1.as_str(), references[0].2.clone()), ("/x/0", 10..11));
}

#[test]
fn nothing_gets_too_deep_to_be_read_again() {
    let mut stage = Stage::new();
    stage.outputs.insert("deep", format!("{}{}", "[".repeat(60), "]".repeat(60)));
    let known = Known::new(&stage);
    let tree = Tree::of(&json!([[[[["${{ tasks.deep.output }}"]]]]])).expect("good");
    let told = tree.render(&known.scope(), "input").expect_err("too deep").to_string();
    assert_eq!(told, "`input` nests more than 64 deep with its values put in");
}
