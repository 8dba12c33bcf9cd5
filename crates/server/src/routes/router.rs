//! All routes, and the OpenAPI file that comes from them.

use super::openapi::{Doc, Made};
use super::unasked::Asked;
use super::{
    absent, approvals, attempts, explain, graph, instances, outputs, problems, signal, unasked,
};
use super::{add, bulk, rerun, trigger, ui, versions, workflows};
use super::{audit, deploy, diff, health, logs, orders, runs, session, tasks, tiers, tokens};
use crate::access;
use crate::app::App;
use crate::events::stream;
use crate::problem::{Code, Problem};
use axum::Router;
use axum::http::{Method, Uri};
use axum::response::IntoResponse as _;
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate as _, SizeAbove};
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Smaller answers are sent as they are.
const COMPRESSED_FROM_BYTES: u64 = 1_024;

/// The routes and their description.
pub fn described() -> (Router<App>, utoipa::openapi::OpenApi) {
    let (router, mut api) = OpenApiRouter::with_openapi(Doc::openapi())
        .routes(routes!(workflows::list, deploy::deploy))
        .routes(routes!(workflows::get, workflows::delete))
        .routes(routes!(versions::list))
        .routes(routes!(versions::get))
        .routes(routes!(graph::get))
        .routes(routes!(diff::diff))
        .routes(routes!(trigger::trigger))
        .routes(routes!(runs::list))
        .routes(routes!(runs::get))
        .routes(routes!(graph::of_run))
        .routes(routes!(explain::explain))
        .routes(routes!(attempts::of_run))
        .routes(routes!(outputs::of_run))
        .routes(routes!(orders::cancel))
        .routes(routes!(orders::pause))
        .routes(routes!(orders::resume))
        .routes(routes!(orders::retry))
        .routes(routes!(rerun::rerun))
        .routes(routes!(bulk::start))
        .routes(routes!(bulk::get))
        .routes(routes!(tasks::list, add::add))
        .routes(routes!(tasks::get))
        .routes(routes!(instances::list))
        .routes(routes!(attempts::of_task))
        .routes(routes!(outputs::of_task))
        .routes(routes!(logs::logs))
        .routes(routes!(orders::cancel_task))
        .routes(routes!(orders::pause_task))
        .routes(routes!(orders::resume_task))
        .routes(routes!(orders::retry_task))
        .routes(routes!(approvals::list))
        .routes(routes!(approvals::approve))
        .routes(routes!(approvals::reject))
        .routes(routes!(signal::signal))
        .routes(routes!(stream::events))
        .routes(routes!(tiers::list, tiers::set))
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::revoke))
        .routes(routes!(session::get, session::login, session::logout))
        .routes(routes!(audit::list))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
        .split_for_parts();
    problems::describe(&mut api);
    absent::describe(&mut api);
    (router, api)
}

pub fn router(app: App) -> Router {
    let (router, api) = described();
    let (asked, made) = (Asked::of(&api), Made::of(&api));
    let page = made.clone();
    let compressed = SizeAbove::new(COMPRESSED_FROM_BYTES)
        .and(NotForContentType::const_new("text/event-stream"));
    router
        .route("/openapi.json", get(move || async move { made.json() }))
        .route("/docs", get(move || async move { page.page() }))
        .route_layer(axum::middleware::from_fn_with_state(asked, unasked::refuse))
        .merge(ui::routes())
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(CompressionLayer::new().gzip(true).compress_when(compressed))
        .layer(CatchPanicLayer::custom(|_| broken().into_response()))
        .layer(axum::middleware::from_fn_with_state(app.clone(), access::around))
        .with_state(app)
}

/// A panic has been printed; whoever asked gets an answer all the same.
fn broken() -> Problem {
    Problem::new(Code::Internal, "a bug in Mainspring, whose log says more")
}

async fn no_route(uri: Uri) -> Problem {
    let path: String = uri.path().chars().take(200).collect();
    Problem::new(Code::RouteNotFound, format!("'{path}': `/docs` lists the routes"))
}

async fn no_method(method: Method, uri: Uri) -> Problem {
    let path: String = uri.path().chars().take(200).collect();
    Problem::new(Code::MethodNotAllowed, format!("{method} on '{path}'"))
}
