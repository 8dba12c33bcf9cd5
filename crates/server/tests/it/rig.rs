//! A server without a socket.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use mainspring_core::ids::{SchedulerId, TokenId};
use mainspring_core::kernel::record::{Role, TokenKind, TokenRow};
use mainspring_core::time::Timestamp;
use mainspring_engine::{Engine, EngineConfig, Executors, Load};
use mainspring_server::auth::secret;
use mainspring_server::auth::who::Peer;
use mainspring_server::routes::router::router;
use mainspring_server::{App, Config, Hub};
use mainspring_store::Memory;
use serde_json::Value;
use std::sync::Arc;
use tower::ServiceExt as _;

pub const NOOPS: &str = "name: w\ntasks:\n  a: {noop: {}}\n  b: {noop: {}, depends_on: [a]}\n";

pub struct Rig {
    pub app: App,
    pub router: Router,
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
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (store, hub) = (Arc::new(Memory::default()), Arc::new(Hub::default()));
        let scheduler = SchedulerId::from_bytes([5; 16]);
        let config = EngineConfig {
            store: Arc::clone(&store) as _,
            scheduler,
            // No attempt ever starts: there is nobody to carry it out.
            limits: vec![("total".to_owned(), 0)],
            load: Load::All,
            observer: Arc::clone(&hub) as _,
            store_patience: None,
        };
        let engine = Engine::start(config, |_| Ok(Executors::new())).await.unwrap();
        let config = Config {
            listen: Vec::new(),
            insecure: false,
            hosts: Vec::new(),
            tls: None,
            workdir: "/".into(),
            data: folder.path().to_owned(),
        };
        let app = App::new(Arc::new(engine), store, (scheduler, hub), config).await.unwrap();
        Self { router: router(app.clone()), app, folder }
    }

    /// One that asks for tokens, with a token of each role: viewer, operator, admin.
    pub async fn guarded() -> (Self, [String; 3]) {
        let rig = Self::new().await;
        let secrets = [Role::Viewer, Role::Operator, Role::Admin].map(|role| rig.token(role, None));
        (rig, secrets)
    }

    pub fn token(&self, role: Role, expires_at: Option<Timestamp>) -> String {
        let (secret, hash) = secret::make();
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        self.app.tokens.add(TokenRow {
            id: TokenId::from_bytes(id),
            name: role.word().into(),
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
