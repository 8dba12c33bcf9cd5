//! Where secrets are looked for, and what is said of the place.

use crate::rig::Bench;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

const W: &str = "\
name: w
tasks:
  a: { env: { TOKEN: { secret: api-token } }, run: 'printf %s \"$TOKEN\" | tr a-z A-Z > got' }
";

fn keep(bench: &Bench, folder: &str, value: &str) {
    fs::create_dir_all(bench.path(folder)).expect("made");
    bench.write(&format!("{folder}/api-token"), value);
}

#[test]
fn they_are_beside_the_database_unless_said_otherwise() {
    let bench = Bench::with(W);
    bench.run(&["run", "w.yaml"]).is(1).prints("api-token").prints(".mainspring/secrets");
    keep(&bench, ".mainspring/secrets", "hush\n");
    bench.run(&["run", "w.yaml"]).is(0);
    assert_eq!(bench.read("got"), "HUSH");
    keep(&bench, "elsewhere", "other");
    bench.run(&["run", "w.yaml", "--secrets-dir", "elsewhere"]).is(0);
    assert_eq!(bench.read("got"), "OTHER");
    keep(&bench, "third", "third");
    let mut command = bench.command(&["run", "w.yaml"]);
    command.env("MAINSPRING_SECRETS_DIR", "third");
    crate::rig::finish(command).is(0);
    assert_eq!(bench.read("got"), "THIRD");
}

#[test]
fn a_server_tells_where_it_looks() {
    let bench = Bench::new();
    let shown = |args: &[&str]| {
        let args = [&["server", "--print-config"], args].concat();
        bench.run(&args).is(0).stdout.clone()
    };
    assert!(shown(&[]).contains("secrets_dir = \".mainspring/secrets\" # default"));
    assert!(shown(&["--data", "d"]).contains("secrets_dir = \"d/secrets\" # default"));
    bench.write("mainspring.toml", "secrets_dir = \"kept\"\n");
    assert!(shown(&[]).contains("secrets_dir = \"kept\" # mainspring.toml"));
    let flag = shown(&["--secrets-dir", "flag"]);
    assert!(flag.contains("secrets_dir = \"flag\" # flag"), "{flag}");
}

#[test]
fn doctor_says_when_others_can_read_them() {
    let bench = Bench::new();
    let look = |args: &[&str]| bench.run(&[&["doctor"], args].concat());
    assert!(!look(&[]).is(0).stdout.contains("secrets"), "there are none");
    keep(&bench, ".mainspring/secrets", "hush");
    let set = |path: &str, mode| {
        let path = bench.path(path);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    };
    set(".mainspring/secrets", 0o755);
    set(".mainspring/secrets/api-token", 0o644);
    look(&[]).is(0).prints("warning").prints("others can read").prints("chmod -R go-rwx");
    set(".mainspring/secrets/api-token", 0o600);
    look(&[]).is(0).prints("secrets, 1 file");
    set(".mainspring/secrets/api-token", 0o644);
    set(".mainspring/secrets", 0o700);
    look(&[]).is(0).prints("secrets, 1 file");
    look(&["--secrets-dir", "nowhere"]).is(1).prints("nowhere is not there");
    bench.write("mainspring.toml", "secrets_dir = \"mainspring.toml\"\n");
    look(&[]).is(1).prints("is not a folder");
}
