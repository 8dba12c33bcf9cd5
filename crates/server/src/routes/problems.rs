//! The problems that each operation may answer with, for the OpenAPI file. Most follow from what
//! an operation takes and touches; the rest is a table. A test asks for every one of them.

use crate::problem::Code;
use axum::http::StatusCode;
use std::collections::{BTreeMap, BTreeSet};
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn, PathItem};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Response, ResponseBuilder};

/// The name under which bearer tokens are described.
pub const TOKEN: &str = "token";
/// The name under which sessions of browsers are described.
pub const SESSION: &str = "session";

/// Operations that ask for no token.
const OPEN: &[&str] = &["alive", "ready", "openSession"];
/// Operations that the role viewer is enough for, beside those that only look.
const OWN_SESSION: &[&str] = &["closeSession"];
/// Operations that look at what only an admin may see.
const ADMIN_LOOKS: &[&str] = &["listTokens", "listAudit"];
/// Operations that are answered from memory.
const FROM_MEMORY: &[&str] = &["getSession", "listTokens", "metrics"];

/// What every order about a run may be refused for.
const OF_A_RUN: &[Code] = &[Code::NotOwned, Code::RunState];

const OF_A_DECISION: &[Code] =
    &[Code::NotAnApproval, Code::NotWaiting, Code::Decided, Code::NotAllowed, Code::TaskSettled];

/// What follows from no rule: what an operation does is refused for reasons of its own.
const OWN: &[(&str, &[Code])] = &[
    ("deployWorkflow", &[Code::BadDefinition, Code::WorkflowNotFound]),
    ("deleteWorkflow", &[Code::WorkflowActive]),
    ("triggerRun", &[Code::BadInput, Code::GroupHeld, Code::RunNotFound]),
    ("cancelRun", OF_A_RUN),
    ("pauseRun", OF_A_RUN),
    ("resumeRun", OF_A_RUN),
    ("resumeRun", &[Code::HeldByParent]),
    ("retryRun", OF_A_RUN),
    ("retryRun", &[Code::ChildRun]),
    ("retryRun", &[Code::TaskNotFound, Code::TaskNotFailed, Code::DependentRunning]),
    ("rerunRun", &[Code::RunState, Code::TaskNotFound, Code::WorkflowNotFound]),
    ("rerunRun", &[Code::BadInput, Code::GroupHeld]),
    ("getBulk", &[Code::BulkNotFound]),
    ("addTasks", OF_A_RUN),
    ("addTasks", &[Code::BadDefinition]),
    ("cancelTask", OF_A_RUN),
    ("cancelTask", &[Code::TaskSettled, Code::TaskStopping]),
    ("pauseTask", OF_A_RUN),
    ("pauseTask", &[Code::TaskSettled, Code::TaskHeld, Code::TaskStopping]),
    ("resumeTask", OF_A_RUN),
    ("resumeTask", &[Code::TaskSettled, Code::TaskNotHeld]),
    ("retryTask", OF_A_RUN),
    ("retryTask", &[Code::TaskNotFailed, Code::DependentRunning, Code::ChildRun]),
    ("signalRun", OF_A_RUN),
    ("signalRun", &[Code::TooManySignals]),
    ("approveTask", OF_A_RUN),
    ("approveTask", OF_A_DECISION),
    ("rejectTask", OF_A_RUN),
    ("rejectTask", OF_A_DECISION),
    ("listInstances", &[Code::NotAGroup]),
    ("runOutput", &[Code::NoOutput, Code::ContentLost]),
    ("taskOutput", &[Code::NoOutput, Code::ContentLost]),
    ("taskLog", &[Code::AttemptNotFound, Code::BadRange, Code::ContentLost]),
    ("events", &[Code::RunNotFound]),
    ("listTiers", &[Code::Busy, Code::UnknownOutcome]),
    ("setTier", &[Code::TierNotFound, Code::TierOfWorkflow]),
    ("createToken", &[Code::BadRequest, Code::NameTaken]),
    ("revokeToken", &[Code::TokenNotFound, Code::LastAdmin]),
    ("openSession", &[Code::Unauthorized, Code::HostRefused]),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Get,
    Post,
    Put,
    Delete,
}

/// Adds to every operation whom it answers, and how it fails.
pub fn describe(api: &mut OpenApi) {
    for (path, item) in &mut api.paths.paths {
        for (method, operation) in operations(item) {
            let id = operation.operation_id.clone().unwrap_or_default();
            if !OPEN.contains(&id.as_str()) {
                let either = [TOKEN, SESSION];
                let nothing: [&str; 0] = [];
                let needed = either.map(|name| SecurityRequirement::new(name, nothing));
                operation.security = Some(needed.to_vec());
            }
            name_answers(operation);
            let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
            for code in codes((method, path), &id, operation) {
                by_status.entry(status(method, code).as_u16()).or_default().push(code);
            }
            for (status, codes) in by_status {
                let answer = RefOr::T(response(status, &codes));
                operation.responses.responses.insert(status.to_string(), answer);
            }
        }
    }
}

/// An order about what has not begun is refused; whoever looks for it does not find it.
fn status(method: Method, code: Code) -> StatusCode {
    match (method, code) {
        (Method::Get, Code::NotStarted) => StatusCode::NOT_FOUND,
        _ => code.status(),
    }
}

/// Every answer needs a description; most say no more than their status does.
fn name_answers(operation: &mut Operation) {
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        if response.description.is_empty() {
            let known = StatusCode::from_bytes(status.as_bytes()).ok();
            let reason = known.and_then(|status| status.canonical_reason());
            response.description = reason.unwrap_or_default().to_owned();
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    let all = [
        (Method::Get, item.get.as_mut()),
        (Method::Post, item.post.as_mut()),
        (Method::Put, item.put.as_mut()),
        (Method::Delete, item.delete.as_mut()),
    ];
    all.into_iter().filter_map(|(method, operation)| Some((method, operation?)))
}

fn codes((method, path): (Method, &str), id: &str, operation: &Operation) -> BTreeSet<Code> {
    // Whoever takes no query refuses one; and every request names a host.
    let mut codes = BTreeSet::from([Code::BadQuery, Code::BadRequest]);
    if id == "alive" {
        return codes;
    }
    codes.extend([Code::Internal, Code::Stopping]);
    if !FROM_MEMORY.contains(&id) {
        codes.insert(Code::StoreUnavailable);
    }
    if !OPEN.contains(&id) {
        codes.extend([Code::Unauthorized, Code::HostRefused]);
    }
    let changes = method != Method::Get;
    if (changes && !OPEN.contains(&id) && !OWN_SESSION.contains(&id)) || ADMIN_LOOKS.contains(&id) {
        codes.insert(Code::Forbidden);
    }
    if changes {
        codes.extend([Code::CrossOrigin, Code::Busy, Code::OneRun, Code::UnknownOutcome]);
    }
    if matches!(method, Method::Post | Method::Put) {
        codes.extend([Code::BadBody, Code::SlowBody, Code::BodyTooLarge, Code::MediaType]);
    }
    codes.extend(of_path(path));
    codes.extend(operation.parameters.iter().flatten().flat_map(of_parameter));
    let own = OWN.iter().filter(|(named, _)| *named == id);
    codes.extend(own.flat_map(|(_, codes)| codes.iter().copied()));
    codes
}

fn of_path(path: &str) -> impl Iterator<Item = Code> {
    let holds = [
        ("/workflows/{name}", Code::WorkflowNotFound),
        ("/runs/{id}", Code::RunNotFound),
        ("/tasks/{name}", Code::TaskNotFound),
    ];
    holds.into_iter().filter(move |(part, _)| path.contains(part)).map(|(_, code)| code)
}

fn of_parameter(parameter: &RefOr<Parameter>) -> Vec<Code> {
    let RefOr::T(parameter) = parameter else { return Vec::new() };
    match (&parameter.parameter_in, parameter.name.as_str()) {
        (ParameterIn::Query, "cursor") => vec![Code::BadCursor],
        (ParameterIn::Query, "index") => {
            vec![Code::NotAGroup, Code::InstanceNotFound, Code::NotStarted]
        }
        (ParameterIn::Header, "Idempotency-Key") => {
            vec![Code::BadRequest, Code::KeyInFlight, Code::KeyReused]
        }
        _ => Vec::new(),
    }
}

fn response(status: u16, codes: &[Code]) -> Response {
    let lines: Vec<String> =
        codes.iter().map(|code| format!("`{}`: {}", code.word(), code.title())).collect();
    let problem = Content::new(Some(Ref::from_schema_name("Problem")));
    let response = ResponseBuilder::new()
        .description(lines.join("\n"))
        .content("application/problem+json", problem);
    let header = |kind, says: &str| {
        let schema = ObjectBuilder::new().schema_type(kind).build();
        HeaderBuilder::new().schema(Some(schema)).description(Some(says)).build()
    };
    match status {
        401 => response.header("www-authenticate", header(Type::String, "`Bearer`")).build(),
        416 => response.header("content-range", header(Type::String, "`bytes */LENGTH`")).build(),
        503 => response.header("retry-after", header(Type::Integer, "in seconds")).build(),
        _ => response.build(),
    }
}
