use super::super::ShellLine;

fn script(source: &str) -> String {
    match ShellLine::parse(source) {
        Ok(line) => line.script().to_string(),
        Err(found) => found
            .iter()
            .map(|it| format!("! [{}] {}", &source[it.at.clone()], it.message))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

#[test]
fn templates_are_quoted_as_their_place_asks() {
    for (source, expected) in [
        ("echo hello", "echo hello"),
        ("echo ${{index}}", "echo \"$_MS_1\""),
        ("echo \"a ${{index}} b\"", "echo \"a ${_MS_1} b\""),
        ("echo ${{index}} ${{count}} ${{index}}", "echo \"$_MS_1\" \"$_MS_2\" \"$_MS_1\""),
        ("X=${{index}}y z", "X=\"$_MS_1\"y z"),
        ("echo 'it''s' ${{index}}", "echo 'it''s' \"$_MS_1\""),
        ("echo it\\'s ${{index}}", "echo it\\'s \"$_MS_1\""),
        ("echo \"it's\" ${{index}}", "echo \"it's\" \"$_MS_1\""),
        ("echo \"\\\"\" ${{index}}", "echo \"\\\"\" \"$_MS_1\""),
        ("# don't\necho ${{index}}", "# don't\necho \"$_MS_1\""),
        (
            "echo a#'b ${{index}}",
            "! [${{index}}] `${{index}}` stands in single quotes, in which no value is put.",
        ),
        (
            "echo $(cat ${{index}}) \"$(cat ${{index}})\"",
            "echo $(cat \"$_MS_1\") \"$(cat \"$_MS_1\")\"",
        ),
        ("echo \"$(echo \"${{index}}\")${{count}}\"", "echo \"$(echo \"${_MS_1}\")${_MS_2}\""),
        ("echo ${X:-${{index}}} \"${X:-${{index}}}\"", "echo ${X:-\"$_MS_1\"} \"${X:-${_MS_1}}\""),
        ("echo ${X#${{index}}} \"${X%%${{index}}}\"", "echo ${X#\"$_MS_1\"} \"${X%%\"$_MS_1\"}\""),
        ("echo $# ${#X} ${#} $$ ${{index}}", "echo $# ${#X} ${#} $$ \"$_MS_1\""),
        ("echo $((1+2)) ${{index}}", "echo $((1+2)) \"$_MS_1\""),
        ("echo $(( (1+2) * $(echo 3) )) ${{index}}", "echo $(( (1+2) * $(echo 3) )) \"$_MS_1\""),
        (
            "(cd x; ls ${{index}}) && f() { g ${{index}}; }",
            "(cd x; ls \"$_MS_1\") && f() { g \"$_MS_1\"; }",
        ),
        ("[ ${{index}} = 1 ] || exit", "[ \"$_MS_1\" = 1 ] || exit"),
        ("cat <<< ${{index}}", "cat <<< \"$_MS_1\""),
        ("echo $${{index}}", "echo ${{index}}"),
        ("a\\\n ${{index}}", "a\\\n \"$_MS_1\""),
        ("case x in a) echo ${{index}};; esac", "case x in a) echo \"$_MS_1\";; esac"),
        ("echo $'a' $\"b\" ${{index}}", "echo $'a' $\"b\" \"$_MS_1\""),
        ("# ${{index}}\nls", "# ${_MS_1}\nls"),
        (
            "echo let ${{index}}; let x=1; echo ${{index}}",
            "echo let \"$_MS_1\"; let x=1; echo \"$_MS_1\"",
        ),
        ("[[ -f x ]] && echo ${{index}}", "[[ -f x ]] && echo \"$_MS_1\""),
        ("echo é ${{index}} é", "echo é \"$_MS_1\" é"),
    ] {
        assert_eq!(script(source), expected, "{source}");
    }
}

#[test]
fn here_documents() {
    for (source, expected) in [
        (
            "cat <<EOF\nit's ${{index}}\nEOF\necho ${{index}}",
            "cat <<EOF\nit's ${_MS_1}\nEOF\necho \"$_MS_1\"",
        ),
        (
            "cat <<-E x\n\ta ${{index}}\n\tE\necho ${{index}}",
            "cat <<-E x\n\ta ${_MS_1}\n\tE\necho \"$_MS_1\"",
        ),
        ("cat <<'E'\nit's \"\nE\necho ${{index}}", "cat <<'E'\nit's \"\nE\necho \"$_MS_1\""),
        (
            "cat <<A <<\"B\"\na's ${{index}}\nA\nb's\nB\necho ${{index}}",
            "cat <<A <<\"B\"\na's ${_MS_1}\nA\nb's\nB\necho \"$_MS_1\"",
        ),
        ("cat <<\\E\n`\nE\necho ${{index}}", "cat <<\\E\n`\nE\necho \"$_MS_1\""),
        (
            "x=$(cat <<E\n$(echo ${{index}}) ${X:-${{index}}}\nE\n)\necho ${{index}}",
            "x=$(cat <<E\n$(echo \"$_MS_1\") ${X:-${_MS_1}}\nE\n)\necho \"$_MS_1\"",
        ),
        ("cat <<E\n${{index}}", "cat <<E\n${_MS_1}"),
        ("cat <<E\n${{index}}E\nE", "cat <<E\n${_MS_1}E\nE"),
        (
            "cat <<'E'\na ${{index}}\nE",
            "! [${{index}}] `${{index}}` stands in a here-document whose end mark is quoted, in which no value is put.",
        ),
        (
            "cat <<${{index}}\nE",
            "! [${{index}}] `${{index}}` is the end mark of a here-document, in which no value is put.",
        ),
        (
            "cat <<E\n\\${{index}}\nE",
            "! [${{index}}] `${{index}}` stands behind a backslash, which would quote its first character.",
        ),
    ] {
        assert_eq!(script(source), expected, "{source}");
    }
}

#[test]
fn places_in_which_no_value_is_put() {
    for (source, why) in [
        ("echo '${{index}}'", "stands in single quotes"),
        ("echo `cat ${{index}}`", "stands in backticks"),
        ("echo \"`cat ${{index}}`\"", "stands in backticks"),
        ("echo $((${{index}} + 1))", "stands in arithmetic"),
        ("((${{index}} > 1))", "stands in arithmetic"),
        ("echo \\${{index}}", "stands behind a backslash"),
        ("echo \"\\${{index}}\"", "stands behind a backslash"),
        ("echo ${X:${{index}}}", "stands inside `${ … }`"),
        ("echo ${${{index}}}", "stands inside `${ … }`"),
        ("echo \"${X/${{index}}/b}\"", "stands inside `${ … }`"),
        ("a[${{index}}]=1", "stands in `[ … ]` of a word"),
        ("[[ ${{index}} -eq 1 ]]", "stands behind `[[`"),
        ("if [[ 1 && ${{index}} -eq 1 ]]; then ls; fi", "stands behind `[[`"),
        ("let x=${{index}}", "stands behind `let`"),
        ("X=1 eval \"echo ${{index}}\"", "stands behind `eval`"),
        ("echo $'it\\'s' ${{index}}", "It is not certain"),
        ("echo $(case a in a) echo ${{index}};; esac)", "It is not certain"),
        ("echo \"${X:-'}\" ${{index}}", "It is not certain"),
        ("echo $((cat 'a)') ) ${{index}}", "It is not certain"),
        ("cat <<\"a$b\"\n\na$b\n${{index}}", "It is not certain"),
        ("cat <<E\na\\\nE\n${{index}}", "It is not certain"),
        ("cat <<E $(echo\n)\n${{index}}", "It is not certain"),
    ] {
        let found = script(source);
        assert!(found.starts_with("! ") && found.contains(why), "{source}: {found}");
    }
}

/// Wherever a shell takes the word for the first of a command.
#[test]
fn eval_is_found_in_quotes_too() {
    for before in [
        "\\eval",
        "e\\val",
        "\"eval\"",
        "'eval'",
        "ev''al",
        "ev\"\"al",
        "$'eval'",
        "$\"eval\"",
        "\\command eval",
        "\"command\" eval",
        "command \\eval",
        "\\builtin eval",
        "'exec' eval",
        "if \\eval",
        "x=1 'eval'",
        "2>/dev/null \"eval\"",
    ] {
        let found = script(&format!("{before} \"echo ${{{{index}}}}\""));
        assert!(found.contains("stands behind `eval`"), "{before}: {found}");
    }
    assert!(script("\\let x=${{index}}").contains("stands behind `let`"));
    // These are other words, or no commands.
    for source in [
        "\\evals ${{index}}",
        "\"$x\"eval ${{index}}",
        "echo 'eval' ${{index}}",
        "'if' eval ${{index}}",
        "x='eval' echo ${{index}}",
        "'[[' ${{index}}",
        "> 'eval' echo ${{index}}",
    ] {
        assert!(!script(source).starts_with("! "), "{source}: {}", script(source));
    }
}

#[test]
fn eval_is_found_behind_whatever_may_stand_before_it() {
    for before in [
        "2>/dev/null ",
        "> log ",
        ">/dev/null 2>&1 ",
        "<in X=1 ",
        "2> \"$LOG\" ",
        ">| log ",
        "2>${{index}} ",
        "command ",
        "command -p ",
        "builtin ",
        "exec ",
        "command builtin ",
        "! ",
        "time ",
        "time -p ",
        "if ",
        "while ! ",
        "{ ",
        "( ",
        "(",
        "true && ",
        "true; ",
        "true | ",
        "if x; then ",
        "for x in a; do ",
        "coproc ",
        "f() { ",
        "f() ",
        "function f { ",
        "for x do ",
        "3<<E ",
        "<<<text ",
        "{fd}>log ",
        "&>log ",
        ">&2 ",
        "cat <(",
        "case a in a) ",
        "X=$(ls) ",
        "<<E ",
    ] {
        let source = format!("{before}eval \"echo ${{{{index}}}}\"\nE\n");
        let found = script(&source);
        assert!(
            found.starts_with("! ") && found.contains("stands behind `eval`"),
            "{source}: {found}"
        );
    }
    for source in [
        "> eval echo ${{index}}",
        "2>eval echo ${{index}}",
        "echo eval ${{index}}",
        "echo 2>/dev/null eval ${{index}}",
        "command -v eval; echo ${{index}}",
        "command ls ${{index}}",
        "exec ./x ${{index}}",
    ] {
        assert!(!script(source).starts_with("! "), "{source}: {}", script(source));
    }
}

#[test]
fn what_is_not_certain_is_of_no_matter_where_no_template_follows() {
    let source = "echo ${{index}}; echo $'it\\'s'";
    assert_eq!(script(source), "echo \"$_MS_1\"; echo $'it\\'s'");
}

#[test]
fn anything_ends() {
    let pieces = [
        "'",
        "\"",
        "`",
        "$(",
        "${",
        "$((",
        ")",
        "}",
        "<<E\n",
        "\nE\n",
        "\\",
        "#",
        "${{index}}",
        " ",
        "[",
        "<<-'E'",
    ];
    let mut state = 7_u64;
    for _ in 0..20_000 {
        let mut source = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            source.push_str(pieces[usize::try_from(state >> 59).expect("small") % pieces.len()]);
        }
        let _whatever = ShellLine::parse(&source);
    }
}
