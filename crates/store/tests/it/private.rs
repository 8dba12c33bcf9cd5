//! What sslmode asks of the server.

use crate::asking::register;
use crate::rows::SCHEDULER;
use mainspring_store::Postgres;
use mainspring_throwaway::Encrypted;

const ENCRYPTED: &str = "select string_agg(distinct ssl::text, ',')
    from pg_stat_ssl join pg_stat_activity using (pid) where application_name like 'mainspring,%'";

#[test]
fn a_mode_encrypts_and_checks_what_it_says() {
    let encrypted = Encrypted::start();
    encrypted.server().create_database("db");
    let authority = encrypted.authority().display().to_string().replace('/', "%2F");
    let checked = format!("sslmode=verify-full&sslrootcert={authority}");
    for (host, mode, is_encrypted) in [
        ("localhost", "sslmode=disable", "false"),
        ("localhost", "sslmode=prefer", "true"),
        ("127.0.0.1", "sslmode=require", "true"),
        ("localhost", checked.as_str(), "true"),
    ] {
        let store = Postgres::open(&format!("{}?{mode}", encrypted.url(host, "db"))).unwrap();
        register(&store, SCHEDULER);
        assert_eq!(encrypted.server().sql("db", ENCRYPTED), is_encrypted, "{host} {mode}");
    }
    for (host, mode) in [
        // An authority that nobody on this system trusts.
        ("localhost", "sslmode=verify-full"),
        // A certificate for another name.
        ("127.0.0.1", checked.as_str()),
    ] {
        let url = format!("{}?{mode}", encrypted.url(host, "db"));
        let refused = Postgres::open(&url).unwrap_err().to_string();
        assert!(refused.contains("certificate"), "{host} {mode}: {refused}");
    }
}
