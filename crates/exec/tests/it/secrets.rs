//! Secrets reach the process that names them, and nobody else.

use crate::rig::{Rig, With, argv, shell};
use mainspring_core::error::ErrorClass;
use mainspring_core::limits::ENV_VALUE_BYTES_MAX;
use mainspring_core::work::{EnvPart, EnvValue, Launch, Outcome};
use std::process::{Command, Stdio};

/// Succeeds if the variable is as expected, without saying what it is.
fn compare(variable: &str, expected: &str) -> Launch {
    shell(&format!("test \"${variable}\" = \"$(cat)\"")).with_input(expected)
}

trait WithInput {
    fn with_input(self, text: &str) -> Self;
}

impl WithInput for Launch {
    /// On stdin, as JSON: the shell sees it with its quotes.
    fn with_input(mut self, text: &str) -> Self {
        self.input = mainspring_core::json::Json::parse(text).unwrap();
        self
    }
}

#[test]
fn a_secret_is_its_file_without_the_last_newline() {
    let rig = Rig::new();
    rig.keep_secret("api-token", "\"hunter22\"\n");
    let ended = rig.run(compare("TOKEN", "\"hunter22\"").secret("TOKEN", "api-token"));
    assert_eq!(ended.outcome, Outcome::Success(None));
    // It is looked up at every start.
    rig.keep_secret("api-token", "\"changed\"");
    let ended = rig.run(compare("TOKEN", "\"changed\"").secret("TOKEN", "api-token"));
    assert_eq!(ended.outcome, Outcome::Success(None));
}

#[test]
fn text_and_secrets_mix() {
    let rig = Rig::new();
    rig.keep_secret("user", "ann");
    rig.keep_secret("pass.word", b"p\xffss");
    let text = |text: &str| EnvPart::Text(text.to_owned());
    let secret = |name: &str| EnvPart::Secret(name.to_owned());
    let url = vec![text("db://"), secret("user"), text(":"), secret("pass.word"), secret("user")];
    let mut launch = shell("printf %s \"$URL\" > $WHERE").env("WHERE", rig.path("url"));
    launch = launch.with(|work| work.env.push(("URL".to_owned(), EnvValue::Parts(url))));
    let shown = format!("{launch:?}");
    assert!(shown.contains("pass.word") && !shown.contains("ann"), "{shown}");
    assert_eq!(rig.run(launch).outcome, Outcome::Success(None));
    assert_eq!(std::fs::read(rig.path("url")).unwrap(), b"db://ann:p\xffssann");
}

#[test]
fn a_missing_secret_names_itself_and_both_places() {
    let rig = Rig::new();
    rig.keep_secret("other", "hunter22");
    let launch = argv(&["true"]).secret("OTHER", "other").secret("TOKEN", "api-token");
    let error = rig.fail(launch);
    assert_eq!(error.class, ErrorClass::Logic);
    let file = rig.path("secrets").join("api-token");
    for part in
        ["env.TOKEN", "\"api-token\"", file.to_str().unwrap(), "MAINSPRING_SECRET_API_TOKEN"]
    {
        assert!(error.message.contains(part), "{}", error.message);
    }
    assert!(!error.message.contains("hunter22"));
    assert_eq!(rig.files_in("work"), [""; 0]);
}

#[test]
fn a_secret_that_cannot_be_used_names_the_field_and_shows_nothing() {
    let rig = Rig::new();
    rig.keep_secret("nul", "hunter\0hunter");
    rig.keep_secret("large", "hunter".repeat(ENV_VALUE_BYTES_MAX));
    rig.keep_secret("half", "hunter".repeat(ENV_VALUE_BYTES_MAX / 7));
    std::fs::create_dir(rig.path("secrets/folder")).unwrap();
    std::fs::write(rig.path("outside"), "hunter22").unwrap();
    std::os::unix::fs::symlink("../outside", rig.path("secrets/link")).unwrap();
    for (name, says) in [
        ("nul", "env.TOKEN holds a NUL byte"),
        ("large", "is over 65536 bytes"),
        ("folder", "is not a plain file"),
        ("link", "leads out of its folder"),
        ("../outside", "bad name"),
    ] {
        let error = rig.fail(argv(&["true"]).secret("TOKEN", name));
        assert_eq!(error.class, ErrorClass::Logic, "{error:?}");
        assert!(error.message.starts_with("env.TOKEN"), "{}", error.message);
        assert!(error.message.contains(says), "{}", error.message);
        assert!(!error.message.contains("hunter"), "{}", error.message);
    }
    let twice = vec![EnvPart::Secret("half".to_owned()); 2];
    let launch = argv(&["true"]);
    let error =
        rig.fail(launch.with(|work| work.env.push(("BOTH".to_owned(), EnvValue::Parts(twice)))));
    assert!(error.message.contains("env.BOTH is 112344 bytes"), "{}", error.message);
}

const ROLE: &str = "MAINSPRING_TEST_SECRETS";

/// Not a test by itself, unless another one sets the variable: a server with secrets in its own
/// environment.
#[test]
fn server_with_variables() {
    if std::env::var(ROLE).is_err() {
        return;
    }
    let rig = Rig::passing(&["MAINSPRING_SECRET_API_V2_KEY", "MAINSPRING_SECRET_X", ROLE]);
    let found = rig.run(compare("KEY", "\"from variable\"").secret("KEY", "api.v2-key"));
    assert_eq!(found.outcome, Outcome::Success(None));
    rig.keep_secret("api.v2-key", "\"from file\"");
    let found = rig.run(compare("KEY", "\"from file\"").secret("KEY", "api.v2-key"));
    assert_eq!(found.outcome, Outcome::Success(None), "the file comes first");
    let environment = rig.written(argv(&["env"]).secret("MINE", "x")).text();
    assert!(environment.contains(&format!("{ROLE}=1\n")), "{environment}");
    assert!(!environment.contains("MAINSPRING_SECRET_"), "{environment}");
    assert!(environment.contains("MINE=***\n"), "{environment}");
}

#[test]
fn a_variable_of_the_server_will_do_and_is_not_passed_on() {
    let server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "secrets::server_with_variables", "--nocapture"])
        .env(ROLE, "1")
        .env("MAINSPRING_SECRET_API_V2_KEY", "\"from variable\"")
        .env("MAINSPRING_SECRET_X", "hunter22")
        .stdout(Stdio::null())
        .output()
        .unwrap();
    assert!(server.status.success(), "{}", String::from_utf8_lossy(&server.stderr));
}
