use super::super::{Known, Part, Place, Text};
use super::stage::Stage;

fn both(source: &str) -> (String, String) {
    let text = Text::parse(source).unwrap_or_else(|it| panic!("{source}: {it:?}"));
    let stage = Stage::new();
    let known = Known::new(&stage);
    let scope = known.instance(Place { index: 0, count: 2, item: Some(r#"{"a": [1, "x y"]}"#) });
    let told = |it: super::super::Trouble| format!("! {it}");
    (
        text.render(&scope).unwrap_or_else(told),
        text.value(&scope).map_or_else(told, |json| json.as_str().to_owned()),
    )
}

#[test]
fn a_template_that_is_all_of_a_text_keeps_its_type() {
    for (source, text, value) in [
        ("", "", r#""""#),
        ("plain", "plain", r#""plain""#),
        ("${{ input.day }}", "monday", r#""monday""#),
        ("${{ input.n }}", "2", "2"),
        ("${{ input.n }} ", "2 ", r#""2 ""#),
        ("${{ input.no }}", "", "null"),
        ("x${{ input.no }}", "x", r#""x""#),
        ("${{ input.yes }}!", "true!", r#""true!""#),
        ("${{ input.l }}", "[3,1,2]", "[3, 1, 2]"),
        ("${{ item }}", r#"{"a":[1,"x y"]}"#, r#"{"a": [1, "x y"]}"#),
        ("${{ 'a\"b' }}${{ index }}", "a\"b0", r#""a\"b0""#),
        ("$${{ input.day }}", "${{ input.day }}", r#""${{ input.day }}""#),
        ("${{ tasks['my-task'].output.ratio }}", "0.50", "0.50"),
    ] {
        assert_eq!(both(source), (text.to_owned(), value.to_owned()), "{source}");
    }
}

#[test]
fn a_text_without_expressions_needs_nothing() {
    assert_eq!(Text::parse("a").expect("good").fixed(), Some("a"));
    assert_eq!(Text::parse("$${{").expect("good").fixed(), Some("${{"));
    assert_eq!(Text::parse("${{ index }}").expect("good").fixed(), None);
}

#[test]
fn places_are_those_of_the_whole_text() {
    let source = "é ${{ tasks.a.output }} and ${{ size(tasks['b-c'].output) }}";
    let text = Text::parse(source).expect("good");
    let names: Vec<&str> = text.references().map(|(_, at)| &source[at]).collect();
    assert_eq!(names, ["a", "b-c"]);
    let found = Text::parse("é ${{ imput.a }} ${{ x y }}").expect_err("wrong");
    let shown: Vec<(usize, usize)> = found.iter().map(|it| (it.at.start, it.at.end)).collect();
    assert_eq!(shown, [(7, 12), (24, 25)], "{found:?}");
}

#[test]
fn secrets_are_parts() {
    let text = Text::parse("Bearer ${{ secrets.token }}").expect("good");
    let secret = |part: &Part| match part {
        Part::Template(expr, _) => expr.secret().map(|name| name.to_string()),
        Part::Plain(_) => None,
    };
    let secrets: Vec<String> = text.parts().iter().filter_map(secret).collect();
    assert_eq!(secrets, ["token"]);
}
