//! Every operation of the OpenAPI file, through the real socket, on each kind of database: a route
//! that is added and not driven here fails.

use crate::door::{Base, Door, Served, Way};
use crate::http::{self, Answer, connect};
use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};

const GATE: &str = "\
name: w
tasks:
  a: { run: 'echo up > up; cat gate' }
  b: { depends_on: [a], run: 'true' }
";

/// One instance of two waits at the gate; what they put out is the run's too.
const FAN: &str = "\
name: fan
tasks:
  a: { parallel: 2, run: 'echo $MAINSPRING_INDEX > $MAINSPRING_OUTPUT; [ $MAINSPRING_INDEX = 0 ] || { echo up > up; cat gate; }' }
outputs: { all: '${{ tasks.a.output }}' }
";

/// A signal, an approval, and two of a kind.
const WAITS: &str = "\
name: waits
tasks:
  a: { wait: { signal: go } }
  b: { approval: { message: 'Really?' } }
  c: { parallel: 2, approval: { message: 'Really, ${{ index }}?', on_reject: continue } }
outputs: { a: '${{ tasks.a.output }}', c: '${{ tasks.c.output.map(one, one.approved) }}' }
";

/// Asks, and remembers what was asked.
struct Driver<'a> {
    served: &'a Served,
    driven: BTreeSet<String>,
    secret: Option<String>,
}

impl Driver<'_> {
    /// `operation` is a method and a path as the file has them; `names` fill its places in.
    #[track_caller]
    fn ask(&mut self, operation: &str, names: &[&str], body: &str, status: u16) -> Answer {
        let mut line = operation.to_owned();
        for name in names {
            let (from, to) = (line.find('{').expect("a place"), line.find('}').expect("a place"));
            line.replace_range(from..=to, name);
        }
        let bearer = self.secret.as_ref().map(|it| format!("authorization: Bearer {it}"));
        let headers: Vec<&str> = bearer.iter().map(String::as_str).collect();
        let answer = http::ask(&self.served.url, &line, &headers, body);
        assert_eq!(answer.status, status, "{line}: {answer:?}");
        let path = operation.split('?').next().unwrap_or_default();
        self.driven.insert(path.to_owned());
        answer
    }

    /// The first event of a stream.
    fn hear(&mut self, operation: &str) -> String {
        let mut stream = connect(&self.served.url);
        stream.write_all(&http::request(operation, &[], "")).expect("sent");
        let (mut heard, mut some) = (String::new(), [0; 1024]);
        while !heard.contains("event: ") {
            let count = stream.read(&mut some).expect("it speaks");
            assert_ne!(count, 0, "it ended: {heard}");
            heard.push_str(&String::from_utf8_lossy(&some[..count]));
        }
        self.driven.insert(operation.to_owned());
        heard
    }
}

fn workflows_and_runs(driver: &mut Driver<'_>) -> String {
    driver.ask("POST /workflows", &[], GATE, 201);
    driver.ask("GET /workflows", &[], "", 200);
    driver.ask("GET /workflows/{name}", &["w"], "", 200);
    driver.ask("GET /workflows/{name}/versions", &["w"], "", 200);
    driver.ask("GET /workflows/{name}/versions/{number}", &["w", "1"], "", 200);
    driver.ask("GET /workflows/{name}/versions/{number}/graph", &["w", "1"], "", 200);
    driver.ask("GET /workflows/{name}/diff?from=1&to=1", &["w"], "", 200);
    let run = driver.ask("POST /workflows/{name}/runs", &["w"], "{}", 202).json();
    let id = run["id"].as_str().expect("an id").to_owned();
    assert_eq!(driver.served.bench.hear("up"), "up\n");
    driver.ask("GET /runs", &[], "", 200);
    driver.ask("GET /runs/{id}", &[&id], "", 200);
    driver.ask(
        "POST /runs/{id}/tasks",
        &[&id],
        "tasks: { more: { noop: {}, depends_on: [b] } }",
        201,
    );
    let told = driver.ask("GET /runs/{id}/explain", &[&id], "", 200).json();
    assert_eq!(told["run"], id.as_str(), "{told}");
    let graph = driver.ask("GET /runs/{id}/graph", &[&id], "", 200).json();
    assert_eq!(graph["tasks"][2]["name"], "more");
    let told = driver.ask("GET /runs/{id}/explain?task=b", &[&id], "", 200).json();
    assert_eq!(told["tasks"][0]["reasons"][0]["kind"], "dependency");
    driver.ask("GET /runs/{id}/attempts", &[&id], "", 200);
    driver.ask("GET /runs/{id}/tasks", &[&id], "", 200);
    driver.ask("GET /runs/{id}/tasks/{name}", &[&id, "a"], "", 200);
    driver.ask("GET /runs/{id}/tasks/{name}/attempts", &[&id, "a"], "", 200);
    driver.ask("GET /runs/{id}/tasks/{name}/logs", &[&id, "a"], "", 200);
    assert!(driver.hear("GET /events").contains("event: ready"));
    id
}

fn orders(driver: &mut Driver<'_>, id: &str) {
    for order in ["pause", "resume"] {
        driver.ask(&format!("POST /runs/{{id}}/tasks/{{name}}/{order}"), &[id, "b"], "", 200);
        driver.ask(&format!("POST /runs/{{id}}/{order}"), &[id], "", 200);
    }
    let ended = |driver: &Driver<'_>| {
        driver.served.bench.run(&["watch", id]).is(130);
    };
    driver.ask("POST /runs/{id}/tasks/{name}/cancel", &[id, "a"], "", 200);
    ended(driver);
    driver.ask("POST /runs/{id}/tasks/{name}/retry", &[id, "a"], "", 200);
    assert_eq!(driver.served.bench.hear("up"), "up\n");
    driver.ask("POST /runs/{id}/cancel", &[id], "", 200);
    ended(driver);
    driver.ask("POST /runs/{id}/retry", &[id], r#"{"tasks": ["a"]}"#, 200);
    assert_eq!(driver.served.bench.hear("up"), "up\n");
    driver.ask("POST /runs/{id}/cancel?force=true", &[id], "", 200);
    ended(driver);
    let anew = driver.ask("POST /runs/{id}/rerun", &[id], r#"{"from": "a"}"#, 202).json();
    assert_eq!(anew["retry_of"], id);
    assert_eq!(driver.served.bench.hear("up"), "up\n");
    let anew = anew["id"].as_str().expect("an id");
    driver.ask("POST /runs/{id}/cancel?force=true", &[anew], "", 200);
    driver.served.bench.run(&["watch", anew]).is(130);
    let body = r#"{"action": "cancel", "filter": {"workflow": "w"}}"#;
    let bulk = driver.ask("POST /runs/bulk", &[], body, 202).json();
    let bulk = bulk["id"].as_str().expect("an id").to_owned();
    driver.ask("GET /runs/bulk/{bulk}", &[&bulk], "", 200);
    driver.ask("DELETE /workflows/{name}", &["w"], "", 204);
}

fn fan_outs(driver: &mut Driver<'_>) {
    driver.ask("POST /workflows", &[], FAN, 201);
    let run = driver.ask("POST /workflows/{name}/runs", &["fan"], "{}", 202).json();
    let id = run["id"].as_str().expect("an id").to_owned();
    assert_eq!(driver.served.bench.hear("up"), "up\n");
    let group = driver.ask("GET /runs/{id}/tasks/{name}", &[&id, "a"], "", 200).json();
    assert_eq!((&group["status"], &group["count"]), (&"running".into(), &2.into()));
    let one = driver.ask("GET /runs/{id}/tasks/{name}?index=1", &[&id, "a"], "", 200).json();
    assert_eq!(one["index"], 1);
    driver.ask("GET /runs/{id}/tasks/{name}/instances", &[&id, "a"], "", 200);
    driver.ask("GET /runs/{id}/tasks/{name}/attempts?index=1", &[&id, "a"], "", 200);
    driver.ask("GET /runs/{id}/tasks/{name}/logs?index=1", &[&id, "a"], "", 200);
    driver.ask("GET /runs/{id}/tasks/{name}?index=2", &[&id, "a"], "", 404);
    driver.ask("POST /runs/{id}/tasks/{name}/cancel?index=1", &[&id, "a"], "", 200);
    driver.served.bench.run(&["watch", &id]).is(130);
    driver.ask("POST /runs/{id}/tasks/{name}/retry?index=1", &[&id, "a"], "", 200);
    assert_eq!(driver.served.bench.hear("up"), "up\n");
    driver.served.bench.write("gate", "");
    driver.served.bench.run(&["watch", &id]).is(0);
    let list = driver.ask("GET /runs/{id}/tasks/{name}/output", &[&id, "a"], "", 200);
    assert_eq!(list.json(), serde_json::json!([0, 1]));
    let output = driver.ask("GET /runs/{id}/output", &[&id], "", 200);
    assert_eq!(output.json(), serde_json::json!({"all": [0, 1]}));
}

fn tiers(driver: &mut Driver<'_>) {
    driver.ask("PUT /tiers", &[], r#"{"name": "gpu", "limit": 3}"#, 200);
    driver.ask("GET /tiers", &[], "", 200);
}

fn waits(driver: &mut Driver<'_>) {
    driver.ask("POST /workflows", &[], WAITS, 201);
    let run = driver.ask("POST /workflows/{name}/runs", &["waits"], "{}", 202).json();
    let id = run["id"].as_str().expect("an id").to_owned();
    driver.ask("POST /runs/{id}/signal", &[&id], r#"{"key": "go", "value": 7}"#, 200);
    let listed = |driver: &mut Driver<'_>| {
        let list = driver.ask("GET /approvals", &[], "", 200).json();
        list["items"].as_array().map_or(0, Vec::len)
    };
    while listed(driver) < 3 {}
    let path = "POST /runs/{id}/tasks/{name}/approve";
    let task = driver.ask(path, &[&id, "b"], r#"{"comment": "fine"}"#, 200).json();
    assert_eq!(task["output"]["approved"], true);
    driver.ask("POST /runs/{id}/tasks/{name}/reject?index=1", &[&id, "c"], "", 200);
    driver.ask("POST /runs/{id}/tasks/{name}/approve?index=0", &[&id, "c"], "", 200);
    driver.served.bench.run(&["watch", &id]).is(0);
    assert_eq!(listed(driver), 0);
    let output = driver.ask("GET /runs/{id}/output", &[&id], "", 200).json();
    assert_eq!(output, serde_json::json!({"a": 7, "c": [true, false]}));
}

fn people(driver: &mut Driver<'_>) {
    let body = r#"{"name": "me", "role": "admin"}"#;
    let token = driver.ask("POST /tokens", &[], body, 201).json();
    let secret = token["secret"].as_str().expect("a secret").to_owned();
    driver.secret = Some(secret.clone());
    driver.ask("GET /tokens", &[], "", 200);
    driver.ask("GET /audit", &[], "", 200);
    driver.ask("GET /session", &[], "", 200);
    let body = format!(r#"{{"token": "{secret}"}}"#);
    let opened = driver.ask("POST /session", &[], &body, 200);
    assert!(opened.header("set-cookie").is_some_and(|it| it.contains("HttpOnly")), "{opened:?}");
    driver.ask("DELETE /session", &[], "", 204);
    let id = token["id"].as_str().expect("an id");
    for probe in ["GET /healthz", "GET /readyz", "GET /metrics"] {
        driver.ask(probe, &[], "", 200);
    }
    driver.ask("DELETE /tokens/{id}", &[id], "", 204);
    driver.secret = None;
}

fn described(served: &Served) -> BTreeSet<String> {
    let api = http::ask(&served.url, "GET /openapi.json", &[], "").json();
    let paths = api["paths"].as_object().expect("paths");
    let of = |(path, item): (&String, &serde_json::Value)| {
        let methods = item.as_object().expect("methods").keys();
        methods.map(|method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
    };
    paths.into_iter().flat_map(of).collect()
}

#[test]
fn every_operation_is_driven_through_the_socket() {
    for base in Base::ALL {
        let served = Served::new(Way { door: Door::Address, base });
        served.bench.fifo("up");
        served.bench.fifo("gate");
        let mut driver = Driver { served: &served, driven: BTreeSet::new(), secret: None };
        let id = workflows_and_runs(&mut driver);
        orders(&mut driver, &id);
        fan_outs(&mut driver);
        waits(&mut driver);
        tiers(&mut driver);
        people(&mut driver);
        assert_eq!(driver.driven, described(&served), "on {base:?}");
    }
}
