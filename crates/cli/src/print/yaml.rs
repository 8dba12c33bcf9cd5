//! YAML of plain data: blocks for what nests, JSON for what does not. A string in double quotes
//! means the same in both, so that only words that nothing can mistake stand without.

use super::tree::Tree;

pub fn text(tree: &Tree) -> String {
    let mut text = String::new();
    match tree {
        Tree::Leaf(_) => inline(tree, &mut text),
        _ if is_empty(tree) => inline(tree, &mut text),
        _ => block(tree, 0, &mut text),
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn is_empty(tree: &Tree) -> bool {
    match tree {
        Tree::Leaf(_) => true,
        Tree::List(items) => items.is_empty(),
        Tree::Map(fields) => fields.is_empty(),
    }
}

/// Every line begins at `indent`, but the first one: whoever calls has written that far.
fn block(tree: &Tree, indent: usize, text: &mut String) {
    let begin = |first: bool, text: &mut String| {
        if !first {
            text.push_str(&" ".repeat(indent));
        }
    };
    match tree {
        Tree::Leaf(_) => inline(tree, text),
        Tree::List(items) => {
            for (position, item) in items.iter().enumerate() {
                begin(position == 0, text);
                text.push_str("- ");
                match is_empty(item) {
                    true => inline(item, text),
                    false => block(item, indent + 2, text),
                }
            }
        }
        Tree::Map(fields) => {
            for (position, (name, value)) in fields.iter().enumerate() {
                begin(position == 0, text);
                text.push_str(&word(name));
                text.push(':');
                if is_empty(value) {
                    text.push(' ');
                    inline(value, text);
                    continue;
                }
                text.push('\n');
                text.push_str(&" ".repeat(indent + 2));
                block(value, indent + 2, text);
            }
        }
    }
}

fn inline(tree: &Tree, text: &mut String) {
    match tree {
        Tree::List(_) => text.push_str("[]"),
        Tree::Map(_) => text.push_str("{}"),
        Tree::Leaf(raw) => match serde_json::from_str::<String>(raw.get()) {
            Ok(string) => text.push_str(&word(&string)),
            Err(_) => text.push_str(raw.get()),
        },
    }
    text.push('\n');
}

/// A string; without quotes if it can be taken for nothing else.
fn word(string: &str) -> String {
    const TAKEN: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_plain = string.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && string.chars().all(|c| c.is_ascii_alphanumeric() || "_-./ ".contains(c))
        && !string.ends_with(' ')
        && !TAKEN.contains(&string.to_ascii_lowercase().as_str());
    match is_plain {
        true => string.to_owned(),
        false => serde_json::Value::from(string).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn data_is_laid_out_in_blocks() {
        let value = json!({
            "run": {"id": "0198-a", "none": null, "size": 1.5, "labels": {}, "yes": "no"},
            "tasks": [{"name": "a b", "why": "x: y\n"}, {"list": [1, [2, []]]}, "3", ""],
        });
        let text = text(&Tree::of(&value).expect("a tree"));
        insta::assert_snapshot!(text, @r#"
        run:
          id: "0198-a"
          labels: {}
          none: null
          size: 1.5
          "yes": "no"
        tasks:
          - name: a b
            why: "x: y\n"
          - list:
              - 1
              - - 2
                - []
          - "3"
          - ""
        "#);
    }

    #[test]
    fn what_could_be_mistaken_is_quoted() {
        let words =
            ["~", "null", "0x1", "1e3", "a #b", "a: b", "- a", "é", "\u{1}", "=", "<<", ".5"];
        let value: Value = words.iter().map(|it| ((*it).to_owned(), json!([it]))).collect();
        let text = text(&Tree::of(&value).expect("a tree"));
        for word in words {
            let quoted = Value::from(word).to_string();
            assert!(text.contains(&format!("{quoted}:\n  - {quoted}\n")), "{text}");
        }
    }
}
