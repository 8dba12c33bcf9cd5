//! URLs and command lines for people to read: what is printed is copied into tickets.

/// Without its password, wherever in the URL that is.
pub fn database_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "…".to_owned() };
    let (place, query) = match rest.split_once('?') {
        // The `?` may be part of a password, or the `@` of a field: nothing of it is safe to show.
        Some((place, query)) if place.contains(':') && query.contains('@') => {
            return format!("{scheme}://…");
        }
        Some((place, query)) => (place, Some(query)),
        None => (rest, None),
    };
    let place = match place.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        None => place.to_owned(),
    };
    let query = query.map(|query| {
        let fields: Vec<String> = query.split('&').map(field).collect();
        format!("?{}", fields.join("&"))
    });
    format!("{scheme}://{place}{}", query.unwrap_or_default())
}

/// Only fields that are known to be no secrets are shown: names may be written in many ways.
fn field(field: &str) -> String {
    const SHOWN: &[&str] = &["sslmode", "host", "port", "user", "dbname", "application_name"];
    match field.split_once('=') {
        Some((name, _)) if SHOWN.contains(&name) => field.to_owned(),
        Some((name, _)) => format!("{name}=…"),
        None => "…".to_owned(),
    }
}

/// A command line as one text, without what its words keep secret.
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut before = "";
    let mut shown = Vec::new();
    for word in words {
        shown.push(match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => {
                format!("{flag}={}", value_of(flag, value))
            }
            _ => value_of(before, word),
        });
        before = word;
    }
    shown.join(" ")
}

fn value_of(flag: &str, value: &str) -> String {
    match flag {
        "--token" => "…".to_owned(),
        // An input may be anything, a password too.
        "--input" => format!("{}=…", value.split('=').next().unwrap_or_default()),
        "--database" => database_url(value),
        _ if value.contains("://") => database_url(value),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        for (url, shown) in [
            ("postgres://u:secret@h:5/d", "postgres://u@h:5/d"),
            ("postgres://u@h/d?sslmode=require", "postgres://u@h/d?sslmode=require"),
            ("postgres://h/d?password=s@cret&user=u", "postgres://h/d?password=…&user=u"),
            ("postgres://u:se@cret@h/d?passw%6Frd=secret", "postgres://u@h/d?passw%6Frd=…"),
            ("postgres://u:sec?ret@h/d", "postgres://…"),
            ("postgres://u@h/d?secret", "postgres://u@h/d?…"),
            ("secret", "…"),
        ] {
            assert_eq!(database_url(url), shown);
        }
    }

    #[test]
    fn no_word_of_a_command_line_tells_a_secret() {
        for (line, shown) in [
            ("server --database postgres://u:secret@h/d", "server --database postgres://u@h/d"),
            ("server --database=postgres://u:secret@h/d", "server --database=postgres://u@h/d"),
            ("server --database secret --data d", "server --database … --data d"),
            ("x --token secret --token=secret", "x --token … --token=…"),
            ("run w.yaml --input key=secret", "run w.yaml --input key=…"),
            ("run w.yaml --input=key=secret", "run w.yaml --input=key=…"),
            ("x http://u:secret@h --tier gpu=2", "x http://u@h --tier gpu=2"),
        ] {
            assert_eq!(command_line(line.split(' ')), shown);
        }
    }
}
