//! Templates in shell lines, run by real shells with values that try to be code.

use mainspring_core::expr::ShellLine;
use std::path::Path;
use std::process::Command;

const SHELLS: &[&[&str]] = &[&["/bin/sh"], &["bash"], &["bash", "--posix"]];

const VALUES: &[&str] = &[
    "plain",
    "",
    " ",
    "a  b",
    "'",
    "\"",
    "\\",
    "\\n",
    "a\\",
    "`touch pwned`",
    "$(touch pwned)",
    "; touch pwned",
    "' ; touch pwned '",
    "\" ; touch pwned \"",
    "&& touch pwned",
    "a[$(touch pwned)]",
    "$HOME",
    "${HOME}",
    "$((1/0))",
    "*",
    "[!x]*",
    "~",
    "!x",
    "# x",
    "-n",
    "%s%n",
    "E",
    "a\nE\ntouch pwned\n",
    "\n",
    "\t x \t",
    "<<E",
    "> pwned",
    "é☃\u{1f600}",
    "}",
    "}}",
    "${{ input.v }}",
];

/// Scripts, and what they print around the value.
const PLACES: &[(&str, Prints)] = &[
    ("printf %s ${{ item }}", Prints::Value("", "")),
    ("printf %s a${{ item }}b", Prints::Value("a", "b")),
    ("printf %s \"it's ${{ item }}!\"", Prints::Value("it's ", "!")),
    ("X=${{ item }}; printf %s \"$X\"", Prints::Value("", "")),
    ("printf %s \"$(printf %sx ${{ item }})\"", Prints::Value("", "x")),
    ("printf %s \"$(printf %sx \"<${{ item }}\")\"", Prints::Value("<", "x")),
    ("printf %s \"$(printf %s \"$(printf %sx ${{ item }})\")\"", Prints::Value("", "x")),
    ("cat <<E\nit's \"${{ item }}\nE\n", Prints::Value("it's \"", "\n")),
    ("cat <<-E # it's\n\t${{ item }}!\n\tE\nprintf '.'", Prints::Value("", "!\n.")),
    ("cat <<'A' - <<E\n'\nA\n${{ item }}\nE\n", Prints::Value("", "\n")),
    ("x=$(cat <<E\n$(printf %s. ${{ item }})\nE\n); printf %s \"$x\"", Prints::Value("", ".")),
    ("printf %s ${U:-${{ item }}}", Prints::Value("", "")),
    ("printf %s \"${U:-${{ item }}}\"", Prints::Value("", "")),
    ("printf %s ${U:-\"'${{ item }}'\"}", Prints::Value("'", "'")),
    ("P=${{ item }}x; printf %s \"${P#${{ item }}}\" ${P##${{ item }}}", Prints::Text("xx")),
    ("case ${{ item }} in ${{ item }}) printf yes;; *) printf no;; esac", Prints::Text("yes")),
    ("[ ${{ item }} = ${{ item }} ] && printf yes", Prints::Text("yes")),
    ("for i in ${{ item }}; do printf '<%s>' \"$i\"; done", Prints::Value("<", ">")),
    ("f() { printf '%s|' \"$@\"; }\nf a ${{ item }} b", Prints::Value("a|", "|b|")),
    ("(cd . && { printf %s ${{ item }}; })", Prints::Value("", "")),
    ("# it's '${{ item }}\nprintf %s ${{ item }} # '", Prints::Value("", "")),
    ("printf %s it\\'s\\ ${{ item }}", Prints::Value("it's ", "")),
    ("printf '%s' 'a\"'${{ item }}\"'b\"", Prints::Value("a\"", "'b")),
    ("printf %s $((1 + (2*3)))${{ item }}$#${#U}", Prints::Value("7", "00")),
    ("printf %s `printf a`${{ item }}\"`printf 'b c'`\"", Prints::Value("a", "b c")),
    ("if [ -n x ]; then\n  printf %s \\\n    ${{ item }}\nfi", Prints::Value("", "")),
    ("printf '$${{ x }}%s' ${{ item }}", Prints::Value("${{ x }}", "")),
    ("printf %s $\"\"${{ item }} >out; cat out; rm out", Prints::Either),
];

enum Prints {
    Value(&'static str, &'static str),
    Text(&'static str),
    /// The value, with a dollar before it in shells that do not know `$"…"`.
    Either,
}

fn run(shell: &[&str], script: &str, value: &str, folder: &Path) -> Result<String, String> {
    let output = Command::new(shell[0])
        .args(&shell[1..])
        .args(["-c", script])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/")
        .env("_MS_1", value)
        .current_dir(folder)
        .output()
        .expect("the shell is there");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{}: {}", output.status, text(&output.stderr))),
    }
}

#[test]
fn a_value_arrives_as_it_is_in_every_place_and_is_never_run() {
    let folder = tempfile::tempdir().expect("a folder");
    for (source, prints) in PLACES {
        let line = ShellLine::parse(source).unwrap_or_else(|it| panic!("{source}: {it:?}"));
        for value in VALUES {
            for shell in SHELLS {
                let printed = run(shell, line.script(), value, folder.path());
                let is_right = printed.as_ref().is_ok_and(|printed| match prints {
                    Prints::Value(before, after) => *printed == format!("{before}{value}{after}"),
                    Prints::Text(text) => printed == text,
                    Prints::Either => [format!("${value}"), (*value).to_owned()].contains(printed),
                });
                assert!(is_right, "{shell:?}, {value:?} in\n{source}\n{printed:?}");
            }
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    assert!(left.is_empty(), "something was run: {left:?}");
}
