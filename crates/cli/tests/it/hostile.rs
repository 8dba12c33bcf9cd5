//! Files that would eat memory: refused, within 200 MB of address space.

use crate::rig::{Bench, Done};

/// `validate` and `run` under `ulimit -v`.
fn check(bench: &Bench, file: &str, says: &str) {
    for command in ["validate", "run"] {
        let done: Done = bench.shell(&format!("ulimit -v 204800; exec $M {command} {file}"));
        done.is(2).says(says);
        assert!(done.stderr.len() < 1_000_000, "{} bytes of stderr", done.stderr.len());
    }
    assert!(!bench.path(".mainspring").exists());
}

#[test]
fn a_file_of_100_mb_is_not_read() {
    let bench = Bench::new();
    let file = std::fs::File::create(bench.path("w.yaml")).expect("made");
    file.set_len(100 * 1024 * 1024).expect("grown");
    check(&bench, "w.yaml", "has 104857600 bytes: a definition has at most 4194304");
    check(&bench, "/dev/zero", "more than 4194304 bytes");
}

#[test]
fn aliases_that_multiply_are_refused() {
    let bench = Bench::new();
    let mut bomb = String::from("name: w\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let one = format!("*a{}", level - 1);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", vec![one; 10].join(", ")));
    }
    bench.write("w.yaml", bomb);
    check(&bench, "w.yaml", "error[E");
}

#[test]
fn millions_of_values_are_refused() {
    let bench = Bench::new();
    bench.write("w.yaml", format!("name: w\nlabels: [{}]\n", "1,".repeat(2_000_000)));
    check(&bench, "w.yaml", "error[E006]");
    bench.write("w.yaml", "- ".repeat(2_000_000));
    check(&bench, "w.yaml", "error[E");
}

#[test]
fn rubbish_is_refused() {
    let bench = Bench::new();
    let mut seed = 88_172_645_463_325_252_u64;
    let rubbish: Vec<u8> = (0..1_000_000)
        .map(|_| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed.to_le_bytes()[0]
        })
        .collect();
    bench.write("w.yaml", rubbish);
    check(&bench, "w.yaml", "error[E002]");
    bench.write("w.yaml", "\0".repeat(1_000));
    check(&bench, "w.yaml", "error[E003]");
    bench.write("w.yaml", "");
    check(&bench, "w.yaml", "error[E008]");
    bench.write("w.yaml", format!("name: w\ndescription: {}\n", "é".repeat(2_000_000)));
    check(&bench, "w.yaml", "error[E");
}

#[test]
fn deep_nesting_is_refused() {
    let bench = Bench::new();
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")] {
        let text = format!("name: w\nx: \n {}1{}\n", open.repeat(300_000), close.repeat(300_000));
        bench.write("w.yaml", text);
        check(&bench, "w.yaml", "error[E");
    }
}
