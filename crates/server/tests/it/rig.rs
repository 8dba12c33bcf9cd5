//! A server without a socket.

use crate::by_hand::ByHand;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use mainspring_core::ids::{SchedulerId, TokenId};
use mainspring_core::kernel::limit::LimitSetting;
use mainspring_core::kernel::record::{Role, TokenKind, TokenRow};
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::work::ExecutorKind;
use mainspring_engine::logs::LogPlaces;
use mainspring_engine::{Engine, EngineConfig, Executors, Load, Reports};
use mainspring_server::auth::secret;
use mainspring_server::auth::who::Peer;
use mainspring_server::routes::router::router;
use mainspring_server::{App, Config, Hub, Listen, Scope};
use mainspring_store::MemoryBlobs;
use mainspring_testkit::shaky::Shaky;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tower::ServiceExt as _;

pub const NOOPS: &str = "name: w\ntasks:\n  a: {noop: {}}\n  b: {noop: {}, depends_on: [a]}\n";

/// Final runs are kept for so long.
pub const RETENTION: Span = Span::from_secs(3_600);

/// For bodies: they are there at once.
const PATIENCE: Duration = Duration::from_secs(600);

/// What is unusual about a rig.
struct Setup {
    /// Permits for work.
    total: u32,
    read_time_max: Duration,
    scope: Scope,
    listen: Vec<Listen>,
    store: Arc<Shaky>,
}

impl Default for Setup {
    fn default() -> Self {
        let (scope, listen, store) = (Scope::Everything, Vec::new(), Arc::default());
        Self { total: 0, read_time_max: PATIENCE, scope, listen, store }
    }
}

pub struct Rig {
    pub app: App,
    pub router: Router,
    pub store: Arc<Shaky>,
    folder: tempfile::TempDir,
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    /// The code of a problem, whose shape is checked on the way.
    #[track_caller]
    pub fn code(&self) -> String {
        let kind = self.headers.get("content-type").expect("a content type");
        assert_eq!(kind, "application/problem+json", "{}", self.text);
        let problem = self.json();
        assert_eq!(problem["status"], self.status.as_u16());
        assert!(problem["detail"].is_string() && problem["title"].is_string());
        problem["code"].as_str().expect("a code").to_owned()
    }
}

impl Rig {
    /// One where no attempt ever starts: there is nobody to carry it out.
    pub async fn new() -> Self {
        Self::with(Setup::default(), |_| Executors::new()).await
    }

    /// One that serves only so much.
    pub async fn within(scope: Scope) -> Self {
        Self::with(Setup { scope, ..Setup::default() }, |_| Executors::new()).await
    }

    /// Nothing is decided here any more.
    pub async fn end(&self) {
        self.app.engine.stop();
        self.app.engine.stopped().await;
    }

    /// The next life, over what this one has left.
    pub async fn reborn(self) -> Self {
        self.reborn_within(Scope::Everything).await
    }

    pub async fn reborn_within(self, scope: Scope) -> Self {
        self.end().await;
        let store = Arc::clone(&self.store);
        Self::with(Setup { store, scope, ..Setup::default() }, |_| Executors::new()).await
    }

    /// One that waits for nobody's body.
    pub async fn impatient() -> Self {
        let read_time_max = Duration::from_millis(1);
        Self::with(Setup { read_time_max, ..Setup::default() }, |_| Executors::new()).await
    }

    /// One that other machines can reach.
    pub async fn exposed() -> Self {
        let listen = vec![Listen::Tcp("0.0.0.0:0".parse().unwrap())];
        Self::with(Setup { listen, ..Setup::default() }, |_| Executors::new()).await
    }

    /// One whose tasks are carried out by hand.
    pub async fn at_work() -> (Self, Arc<ByHand>) {
        let mut hand = None;
        let rig = Self::with(Setup { total: 100, ..Setup::default() }, |reports| {
            let made = hand.insert(Arc::new(ByHand::new(reports)));
            Executors::from([(ExecutorKind::Process, Arc::clone(made) as _)])
        });
        let rig = rig.await;
        (rig, hand.unwrap())
    }

    async fn with(
        Setup { total, read_time_max, scope, listen, store }: Setup,
        executors: impl FnOnce(Arc<dyn Reports>) -> Executors,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hub = Arc::new(Hub::default());
        let scheduler = SchedulerId::from_bytes([5; 16]);
        let blobs = Arc::new(MemoryBlobs::new());
        let logs = LogPlaces { folder: folder.path().to_owned(), blobs };
        let config = EngineConfig {
            store: Arc::clone(&store) as _,
            logs: logs.clone(),
            scheduler,
            limits: vec![
                LimitSetting::default_of("total", total),
                LimitSetting::default_of("executor:process", total),
            ],
            load: Load::All,
            observer: Arc::clone(&hub) as _,
            store_patience: None,
        };
        let engine = Engine::start(config, |reports| Ok(executors(reports))).await.unwrap();
        let config = Config {
            listen,
            insecure: false,
            hosts: Vec::new(),
            tls: None,
            workdir: "/".into(),
            read_time_max,
            logs,
            scope,
            retention: RETENTION,
            drain: std::time::Duration::from_secs(10),
            connections: 16,
        };
        let kept = Arc::clone(&store) as _;
        let app = App::new(Arc::new(engine), kept, (scheduler, hub), config).await.unwrap();
        Self { router: router(app.clone()), app, store, folder }
    }

    /// One that asks for tokens, with a token of each role: viewer, operator, admin.
    pub async fn guarded() -> (Self, [String; 3]) {
        let rig = Self::new().await;
        let secrets = [Role::Viewer, Role::Operator, Role::Admin].map(|role| rig.token(role, None));
        (rig, secrets)
    }

    pub fn token(&self, role: Role, expires_at: Option<Timestamp>) -> String {
        self.named_token(role.word(), role, expires_at)
    }

    pub fn named_token(&self, name: &str, role: Role, expires_at: Option<Timestamp>) -> String {
        let (secret, hash) = secret::make();
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        self.app.tokens.add(TokenRow {
            id: TokenId::from_bytes(id),
            name: name.into(),
            hash,
            role,
            kind: TokenKind::Bearer,
            created_at: Timestamp(0),
            expires_at,
        });
        secret
    }

    pub async fn send(&self, request: Request<Body>) -> axum::response::Response {
        let mut request = request;
        let peer = Peer { address: "127.0.0.1".into(), is_owner: false };
        request.extensions_mut().insert(ConnectInfo(peer));
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub async fn ask(&self, request: Request<Body>) -> Answer {
        let response = self.send(request).await;
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask(request(Method::GET, path, &[], "")).await
    }

    pub async fn post(&self, path: &str, body: &str) -> Answer {
        let json = [("content-type", "application/json")];
        self.ask(request(Method::POST, path, &json, body.to_owned())).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.ask(request(Method::DELETE, path, &[], "")).await
    }

    pub async fn deploy(&self, text: &str) -> Answer {
        let yaml = [("content-type", "application/yaml")];
        self.ask(request(Method::POST, "/workflows", &yaml, text.to_owned())).await
    }

    /// Deploys the noops and runs them; the id of the run.
    pub async fn run(&self) -> String {
        assert!(self.deploy(NOOPS).await.status.is_success());
        let answer = self.post("/workflows/w/runs", "{}").await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text);
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }
}

pub fn request(
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Request<Body> {
    let mut builder = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        builder = builder.header("host", "127.0.0.1:8070");
    }
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(body.into()).unwrap()
}
