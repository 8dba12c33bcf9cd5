//! URLs of databases for people to read: what is printed is copied into tickets.

/// Without its password, wherever in the URL that is.
pub fn database_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "…".to_owned() };
    let (place, query) = match rest.split_once('?') {
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
        Some((name, _)) if !SHOWN.contains(&name) => format!("{name}=…"),
        _ => field.to_owned(),
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
            ("secret", "…"),
        ] {
            assert_eq!(database_url(url), shown);
        }
    }
}
