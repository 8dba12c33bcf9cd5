use super::super::{Expr, Known, Place};
use super::stage::Stage;

fn asked_by(sources: &[&str]) -> String {
    let stage = Stage::new();
    let known = Known::new(&stage);
    for source in sources {
        let expr = Expr::compile(source).expect("good");
        let _whatever = expr.value(&known.instance(Place { index: 0, count: 1, item: None }));
    }
    let asked = stage.asked.borrow();
    asked.join(" ")
}

#[test]
fn only_what_is_read_is_fetched_and_only_once() {
    assert_eq!(asked_by(&["index", "index + 1", "tasks.fetch.status"]), "");
    assert_eq!(asked_by(&["tasks.fetch.output.count", "tasks.fetch.output.files"]), "fetch");
    assert_eq!(asked_by(&["tasks.list.output[0] + 1", "size(tasks.list.output)"]), "list");
    assert_eq!(asked_by(&["input.n + index", "input.n", "input"]), "input");
}

/// A value is made from its text at most once, and nothing is made of what is beside it.
#[test]
fn a_large_output_costs_little_when_little_of_it_is_read() {
    let mut stage = Stage::new();
    let many = vec![r#"{"name": "x"}"#; 200_000].join(",");
    stage.outputs.insert("large", format!(r#"{{"rows": [{many}], "count": 7}}"#));
    let known = Known::new(&stage);
    let value = |source: &str| {
        let expr = Expr::compile(source).expect("good");
        expr.value(&known.scope()).expect("a value").as_str().to_owned()
    };
    assert_eq!(value("tasks.large.output.count + 1"), "8");
    assert_eq!(known.made(), ["tasks.large.output.count"]);
    assert_eq!(value("tasks.large.output.count * 2"), "14");
    assert_eq!(value("tasks.large.output.rows[3].name + '!'"), r#""x!""#);
    assert_eq!(
        known.made(),
        ["tasks.large.output.count", "tasks.large.output.rows[3].name"],
        "the rows were never made into values"
    );
    assert_eq!(value("false && tasks.large.output.rows == []"), "false");
    assert_eq!(known.made().len(), 2, "what is not come by is not made either");
}

#[test]
fn instances_share_what_is_not_their_own() {
    let stage = Stage::new();
    let known = Known::new(&stage);
    let expr = Expr::compile("item + tasks.list.output[index]").expect("good");
    let values: Vec<String> = ["10", "20", "30"]
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let index = u32::try_from(index).expect("small");
            let place = Place { index, count: 3, item: Some(item) };
            expr.value(&known.instance(place)).expect("a sum").as_str().to_owned()
        })
        .collect();
    assert_eq!(values, ["11", "22", "33"]);
    assert_eq!(*stage.asked.borrow(), ["list"]);
}
