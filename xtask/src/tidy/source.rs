//! A Rust file split into code, comments and literals, byte by byte, so that a rule about
//! code does not fall for a word in a string. Not a parser: it knows just the tokens that can
//! hide other tokens.

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Class {
    Code,
    Comment,
    /// A string or character literal, with its quotes.
    Literal,
}

#[derive(Debug)]
pub struct Source<'a> {
    pub path: &'a str,
    pub text: &'a str,
    classes: Vec<Class>,
    /// The text with everything but code blanked; offsets and lines are those of the text.
    pub code: String,
    /// The text with everything but comments blanked.
    pub comments: String,
}

impl<'a> Source<'a> {
    pub fn new(path: &'a str, text: &'a str) -> Source<'a> {
        let classes = classify(text.as_bytes());
        let code = keep(text, &classes, Class::Code);
        let comments = keep(text, &classes, Class::Comment);
        Source { path, text, classes, code, comments }
    }

    pub fn class_at(&self, offset: usize) -> Class {
        self.classes.get(offset).copied().unwrap_or(Class::Code)
    }
}

fn keep(text: &str, classes: &[Class], class: Class) -> String {
    let kept = text
        .bytes()
        .zip(classes)
        .map(|(byte, of)| if *of == class || byte == b'\n' { byte } else { b' ' })
        .collect();
    String::from_utf8(kept).expect("a class changes only at an ASCII byte")
}

fn classify(bytes: &[u8]) -> Vec<Class> {
    let mut classes = Vec::with_capacity(bytes.len());
    while classes.len() < bytes.len() {
        let at = classes.len();
        let (length, class) = token(bytes, at);
        classes.resize((at + length.max(1)).min(bytes.len()), class);
    }
    classes
}

/// The length and the class of what begins at `at`.
fn token(bytes: &[u8], at: usize) -> (usize, Class) {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        return (length, Class::Comment);
    }
    if rest.starts_with(b"/*") {
        return (block_comment(rest), Class::Comment);
    }
    if rest[0] == b'"' {
        return (quoted(rest, b'"'), Class::Literal);
    }
    if rest[0] == b'\'' {
        return match char_literal(rest) {
            Some(length) => (length, Class::Literal),
            None => (1, Class::Code),
        };
    }
    let starts_word = at == 0 || !is_word(bytes[at - 1]);
    if starts_word && let Some(length) = raw_string(rest) {
        return (length, Class::Literal);
    }
    (1, Class::Code)
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if rest[at..].starts_with(b"*/") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// `'x'` or `'\n'`, but not the lifetime `'x`.
fn char_literal(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        return Some(quoted(rest, b'\''));
    }
    let width = match rest.get(1)? {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    (rest.get(1 + width) == Some(&b'\'')).then_some(width + 2)
}

/// `r"…"`, `r#"…"#`, `br"…"`, `cr"…"`; a raw identifier is none.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let prefix = match rest {
        [b'r', ..] => 1,
        [b'b' | b'c', b'r', ..] => 2,
        _ => return None,
    };
    let hashes = rest[prefix..].iter().take_while(|&&b| b == b'#').count();
    let open = prefix + hashes;
    if rest.get(open) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let body = &rest[open + 1..];
    let end = body.windows(close.len()).position(|window| window == close);
    Some(end.map_or(rest.len(), |end| open + 1 + end + close.len()))
}

pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &str) {
        let source = Source::new("a.rs", text);
        let squeezed: Vec<&str> = source.code.split_whitespace().collect();
        assert_eq!(squeezed.join(" "), code, "in {text}");
        assert_eq!(source.code.len(), text.len());
    }

    #[test]
    fn comments_and_strings_are_not_code() {
        check("a(); // b\nc();", "a(); c();");
        check("a /* b /* c */ d */ e", "a e");
        check(r#"f("a \" b", c)"#, "f( , c)");
        check(r##"f(r#"a " // b"#, c)"##, "f( , c)");
        check(r#"f(br"a\", c)"#, "f( , c)");
        check(r#"f(b"a{", c"b{", d)"#, "f(b , c , d)");
    }

    #[test]
    fn a_quote_may_be_a_character_or_a_lifetime() {
        check("f('{', '\\'', '“', x)", "f( , , , x)");
        check("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
        check("'outer: loop { break 'outer; }", "'outer: loop { break 'outer; }");
    }

    #[test]
    fn a_raw_identifier_is_code() {
        check("let r#type = for_r; g(\"x\")", "let r#type = for_r; g( )");
    }

    #[test]
    fn what_is_left_open_ends_with_the_file() {
        check("a /* b", "a");
        check("a \"b", "a");
        check("a r#\"b\"", "a");
        check("a '\\", "a");
    }
}
