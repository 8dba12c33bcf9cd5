//! Errors as `application/problem+json`, each with a stable code.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mainspring_core::world::input::Refusal;
use mainspring_engine::NotDone;
use mainspring_store::ReadError;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

macro_rules! codes {
    ($($variant:ident = $word:literal, $status:ident, $title:literal;)*) => {
        /// What went wrong, for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($variant,)* }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            pub const fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status),* }
            }

            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title),* }
            }
        }
    };
}

codes! {
    BadRequest = "bad_request", BAD_REQUEST, "The request cannot be understood";
    BadQuery = "bad_query", BAD_REQUEST, "A query parameter is wrong";
    BadBody = "bad_body", BAD_REQUEST, "The body cannot be read";
    BadCursor = "bad_cursor", BAD_REQUEST, "The cursor is not one of ours";
    Unauthorized = "unauthorized", UNAUTHORIZED, "A token is needed";
    Forbidden = "forbidden", FORBIDDEN, "The token's role does not allow this";
    NotAllowed = "not_allowed", FORBIDDEN, "The approval is for others to decide";
    CrossOrigin = "cross_origin", FORBIDDEN, "Requests from other sites are refused";
    HostRefused = "host_refused", FORBIDDEN, "This name is not one the server answers to";
    RouteNotFound = "route_not_found", NOT_FOUND, "There is no such route";
    WorkflowNotFound = "workflow_not_found", NOT_FOUND, "There is no such workflow or version";
    RunNotFound = "run_not_found", NOT_FOUND, "There is no such run";
    TaskNotFound = "task_not_found", NOT_FOUND, "The run has no such task";
    NotAGroup = "not_a_group", NOT_FOUND, "The task is not a fan-out";
    InstanceNotFound = "instance_not_found", NOT_FOUND, "The fan-out has no such instance";
    NoOutput = "no_output", NOT_FOUND, "There is no output";
    AttemptNotFound = "attempt_not_found", NOT_FOUND, "The task has no such attempt";
    TokenNotFound = "token_not_found", NOT_FOUND, "There is no such token";
    BulkNotFound = "bulk_not_found", NOT_FOUND, "There is no such request on many runs";
    TierNotFound = "tier_not_found", NOT_FOUND, "There is no such tier";
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "This route has no such method";
    SlowBody = "slow_body", REQUEST_TIMEOUT, "The body did not arrive in time";
    WorkflowActive = "workflow_active", CONFLICT, "The workflow has runs that are not final";
    NotOwned = "not_owned", CONFLICT, "Another scheduler owns this run";
    OneRun = "one_run", CONFLICT, "Only one run is carried on here";
    RunState = "run_state", CONFLICT, "The run's state does not allow this";
    NotStarted = "not_started", CONFLICT, "The instance has not been started";
    TaskSettled = "task_settled", CONFLICT, "The task is settled already";
    TaskHeld = "task_held", CONFLICT, "The task is held already";
    TaskNotHeld = "task_not_held", CONFLICT, "The task is not held";
    TaskStopping = "task_stopping", CONFLICT, "The task is being stopped";
    TaskNotFailed = "task_not_failed", CONFLICT, "There is nothing to retry";
    DependentRunning = "dependent_running", CONFLICT, "A task below it is running";
    NotAnApproval = "not_an_approval", CONFLICT, "The task is no approval";
    NotWaiting = "not_waiting", CONFLICT, "It does not wait for a decision";
    Decided = "decided", CONFLICT, "It has been decided already";
    TooManySignals = "too_many_signals", CONFLICT, "The run takes no more signals";
    ChildRun = "child_run", CONFLICT, "A child run is not retried by itself";
    HeldByParent = "held_by_parent", CONFLICT, "The run's parent holds it";
    GroupHeld = "group_held", CONFLICT, "Another run holds the concurrency group";
    TierOfWorkflow = "tier_of_workflow", CONFLICT, "The limit is a workflow's own";
    LastAdmin = "last_admin", CONFLICT, "It is the last token of an admin";
    NameTaken = "name_taken", CONFLICT, "Another token has this name";
    KeyInFlight = "key_in_flight", CONFLICT, "A request with this key is under way";
    BodyTooLarge = "body_too_large", PAYLOAD_TOO_LARGE, "The body is too large";
    MediaType = "media_type", UNSUPPORTED_MEDIA_TYPE, "This content type is not taken here";
    BadRange = "bad_range", RANGE_NOT_SATISFIABLE, "The range lies outside of what there is";
    BadDefinition = "bad_definition", UNPROCESSABLE_ENTITY, "The definition has errors";
    BadInput = "bad_input", UNPROCESSABLE_ENTITY, "The input does not fit the workflow";
    KeyReused = "key_reused", UNPROCESSABLE_ENTITY, "The key was used for another request";
    ContentLost = "content_lost", INTERNAL_SERVER_ERROR, "What was kept of it is gone or damaged";
    Internal = "internal", INTERNAL_SERVER_ERROR, "Something went wrong here";
    Busy = "busy", SERVICE_UNAVAILABLE, "Too many requests are waiting";
    UnknownOutcome = "unknown_outcome", SERVICE_UNAVAILABLE, "Whether it was done is not known";
    StoreUnavailable = "store_unavailable", SERVICE_UNAVAILABLE, "The store cannot be reached";
    Stopping = "stopping", SERVICE_UNAVAILABLE, "The server is shutting down";
}

/// One error, as every route gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the code tells.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub title: &'static str,
    pub status: u16,
    /// Stable, for programs.
    #[schema(schema_with = code_schema)]
    pub code: &'static str,
    /// For people: what, where and what to do.
    pub detail: String,
    /// Of a definition or an input: each thing that is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<Fault>,
}

fn code_schema() -> Object {
    let words = Code::ALL.iter().map(|code| code.word());
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(words))
        .description(Some("Stable, for programs."))
        .build()
}

/// One thing that is wrong with what was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Fault {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    pub message: String,
    /// Where, as a JSON pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: code.title(),
            status: code.status().as_u16(),
            code: code.word(),
            detail: detail.into(),
            errors: Vec::new(),
        }
    }

    /// The same code means another status where something is only looked at.
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status.as_u16();
        self
    }

    pub fn with(mut self, errors: Vec<Fault>) -> Self {
        self.errors = errors;
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(&self)).into_response();
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        match status {
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        // For whoever writes the log.
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let code = match &refusal {
            Refusal::WorkflowNotFound => Code::WorkflowNotFound,
            Refusal::WorkflowActive(_) => Code::WorkflowActive,
            Refusal::RunNotFound => Code::RunNotFound,
            Refusal::TaskNotFound(_) => Code::TaskNotFound,
            Refusal::NotAGroup(_) => Code::NotAGroup,
            Refusal::InstanceNotFound { .. } => Code::InstanceNotFound,
            Refusal::NotStarted(_) => Code::NotStarted,
            Refusal::TierOfWorkflow(_) => Code::TierOfWorkflow,
            Refusal::TierNotFound(_) => Code::TierNotFound,
            Refusal::GroupHeld { .. } => Code::GroupHeld,
            Refusal::NotOwned => Code::NotOwned,
            Refusal::RunIs(_) | Refusal::Outdated | Refusal::AddedMeanwhile => Code::RunState,
            Refusal::TaskSettled => Code::TaskSettled,
            Refusal::TaskHeld => Code::TaskHeld,
            Refusal::TaskNotHeld => Code::TaskNotHeld,
            Refusal::TaskStopping => Code::TaskStopping,
            Refusal::TaskNotFailed => Code::TaskNotFailed,
            Refusal::DependentRunning(_) => Code::DependentRunning,
            Refusal::NotAnApproval(_) => Code::NotAnApproval,
            Refusal::NotWaiting => Code::NotWaiting,
            Refusal::Decided => Code::Decided,
            Refusal::NotAllowed(_) => Code::NotAllowed,
            Refusal::TooManySignals => Code::TooManySignals,
            Refusal::ChildRun(_) => Code::ChildRun,
            Refusal::HeldByParent(_) => Code::HeldByParent,
            // An answer to executors, never to a request.
            Refusal::Stale => Code::Internal,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<NotDone> for Problem {
    fn from(why: NotDone) -> Self {
        let code = match why {
            NotDone::Refused(refusal) => return refusal.into(),
            NotDone::Busy => Code::Busy,
            NotDone::UnknownOutcome => Code::UnknownOutcome,
            NotDone::Unreadable(_) | NotDone::StoreAway => Code::StoreUnavailable,
            NotDone::Stopped => Code::Stopping,
        };
        Self::new(code, why.to_string())
    }
}

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Self {
        let code = match &error {
            ReadError::Failed { .. } => Code::StoreUnavailable,
            ReadError::Damaged(_) => Code::Internal,
        };
        Self::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_core::ids::RunId;
    use std::collections::BTreeSet;

    #[test]
    fn codes_are_told_apart_by_their_words() {
        let words: BTreeSet<&str> = Code::ALL.iter().map(|code| code.word()).collect();
        assert_eq!(words.len(), Code::ALL.len());
    }

    /// A program that knows the engine's codes knows the server's.
    #[test]
    fn refusals_keep_their_codes() {
        let of_instances = [
            Refusal::NotAGroup("a".into()),
            Refusal::InstanceNotFound { task: "a".into(), index: 1, count: 1 },
            Refusal::NotStarted(1),
        ];
        let others = [Refusal::WorkflowNotFound, Refusal::TaskHeld, Refusal::WorkflowActive(1)];
        let of_approvals = [
            Refusal::NotAnApproval("a".into()),
            Refusal::NotWaiting,
            Refusal::Decided,
            Refusal::NotAllowed("ann".to_owned()),
            Refusal::TooManySignals,
            Refusal::ChildRun(RunId::from_bytes([1; 16])),
            Refusal::HeldByParent(RunId::from_bytes([1; 16])),
        ];
        for refusal in of_instances.into_iter().chain(others).chain(of_approvals) {
            assert_eq!(refusal.code(), Problem::from(refusal.clone()).code);
        }
    }
}
