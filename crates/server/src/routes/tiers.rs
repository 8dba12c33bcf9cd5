//! `/tiers`: limits, who holds them, who waits for them.

use super::page::Page;
use crate::app::App;
use crate::auth::who::{Operator, Viewer};
use crate::change::Held;
use crate::extract::Body;
use crate::problem::{Code, Problem};
use crate::whole::whole_or_none;
use axum::Json;
use axum::extract::State;
use mainspring_core::kernel::limit::{Source, check_name, is_of_workflow, is_tier};
use mainspring_core::limits::TIER_PERMITS_MAX;
use mainspring_core::view::tiers::{SourceWord, TierView};
use mainspring_core::world::input::{Input, Reply, SetRate, SetTier};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// Workflows read at a time.
const WORKFLOWS_AT_ONCE: usize = 200;

/// What a limit is to be from now on. What is not said stays as it is.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TierBody {
    /// `total`, `executor:process`, `queue:` and a name, or a tier's; one that is not there is
    /// added. Names have at most 128 characters, without `queue:`.
    #[schema(
        min_length = 1,
        max_length = 134,
        pattern = "^(executor:process|(queue:)?[A-Za-z0-9][A-Za-z0-9_.-]{0,127})$"
    )]
    name: String,
    /// How many at once; 0 lets nothing start.
    #[serde(default, deserialize_with = "whole_or_none")]
    #[schema(minimum = 0, maximum = 1_000_000)]
    limit: Option<u32>,
    /// How many starts in any time of this length, like `100/1m`; null for no such bound.
    #[serde(default, deserialize_with = "said")]
    #[schema(schema_with = rate_schema)]
    rate: Said,
}

/// A duration as it is usually written: units in their order, the first of them not zero, or one
/// with a fraction. None of it is longer than what is taken.
const RATE: &str = "^([1-9][0-9]{0,5}|1000000)/(\
    [1-9][0-9]?d( ?[0-9]{1,3}h)?( ?[0-9]{1,3}m)?( ?[0-9]{1,3}s)?( ?[0-9]{1,3}ms)?|\
    [1-9][0-9]{0,2}h( ?[0-9]{1,3}m)?( ?[0-9]{1,3}s)?( ?[0-9]{1,3}ms)?|\
    [1-9][0-9]{0,4}m( ?[0-9]{1,3}s)?( ?[0-9]{1,3}ms)?|\
    [1-9][0-9]{0,5}s( ?[0-9]{1,3}ms)?|\
    [1-9][0-9]{0,8}ms|\
    [1-9][0-9]?\\.[0-9]{1,3}(d|h|m|s|ms))$";

fn rate_schema() -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .description(Some(
            "How many starts in any time of this length, like `100/1m`; null for no such bound.",
        ))
        .pattern(Some(RATE))
        .build()
}

/// What was said of a rate; null is something else than nothing.
#[derive(Clone, Debug, Default)]
enum Said {
    #[default]
    Nothing,
    Null,
    Text(String),
}

fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Said, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map_or(Said::Null, Said::Text))
}

/// Lists limits by name: the server's, every workflow's own, and those on how many runs are active.
/// Concurrency groups are listed while runs count against them, at most 100: those that most wait
/// for.
#[utoipa::path(get, path = "/tiers", operation_id = "listTiers", tag = "tiers",
    responses((status = 200, body = Page<TierView>)))]
pub async fn list(
    State(app): State<App>,
    Viewer(_): Viewer,
) -> Result<Json<Page<TierView>>, Problem> {
    let mut items = app.tiers().await?;
    items.extend(app.limits(Input::RunLimits).await?);
    items.extend(idle(&app, &items).await?);
    items.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Json(Page { items, next_cursor: None }))
}

/// Changes a limit of the server's, or adds a tier. It takes effect at once and outlives the
/// server. A number below what is in use lets nothing in and stops nothing.
#[utoipa::path(put, path = "/tiers", operation_id = "setTier", tag = "tiers", request_body = TierBody,
    responses((status = 200, body = TierView)))]
pub async fn set(
    State(app): State<App>,
    Operator(who): Operator,
    body: Body,
) -> Result<Json<TierView>, Problem> {
    let set = read(body.json()?)?;
    let record = who.record("tier.set", target(&set));
    match app.submit(record, Input::SetTier(set), Held::default()).await? {
        Reply::Tiers(mut tiers) if tiers.len() == 1 => Ok(Json(tiers.remove(0))),
        _ => unreachable!("a change of a tier is answered by the tier"),
    }
}

fn read(body: TierBody) -> Result<SetTier, Problem> {
    let wrong = |detail: String| Problem::new(Code::BadBody, detail);
    let TierBody { name, limit, rate } = body;
    // Whose own it is, is said by whoever knows it.
    if !is_of_workflow(&name) {
        check_name(&name).map_err(|why| wrong(format!("name `{name}`: {why}")))?;
    }
    if limit.is_some_and(|limit| limit > TIER_PERMITS_MAX) {
        return Err(wrong(format!("limit: from 0 to {TIER_PERMITS_MAX}")));
    }
    let rate = match rate {
        Said::Nothing => SetRate::Keep,
        Said::Null => SetRate::Off,
        Said::Text(text) => {
            SetRate::To(text.parse().map_err(|why| wrong(format!("rate `{text}`: {why}")))?)
        }
    };
    if limit.is_none() && rate == SetRate::Keep {
        return Err(wrong("say a limit, a rate, or both".to_owned()));
    }
    Ok(SetTier { name: name.into(), limit, rate })
}

/// What the record says: enough to see what it was set to.
fn target(set: &SetTier) -> String {
    let limit = set.limit.map(|limit| format!(" limit {limit}")).unwrap_or_default();
    let rate = match set.rate {
        SetRate::Keep => String::new(),
        SetRate::To(rate) => format!(" rate {rate}"),
        SetRate::Off => " no rate".to_owned(),
    };
    format!("tier {}{limit}{rate}", set.name)
}

/// What workflows say that nothing runs of: the engine does not know it, or does not tell.
async fn idle(app: &App, known: &[TierView]) -> Result<Vec<TierView>, Problem> {
    let known: BTreeSet<&str> = known.iter().map(|tier| tier.name.as_str()).collect();
    let mut found = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let rows = app.store.workflows(after.as_deref(), WORKFLOWS_AT_ONCE).await?;
        for row in &rows {
            let version = app.version(&row.name, row.latest).await?;
            let tiers = version.definition.tiers.iter().map(|(tier, bound)| {
                let name = format!("{}/{tier}", row.name);
                TierView::idle(&name, *bound, Source::Workflow(row.latest))
            });
            let max = version.definition.max_active_runs;
            let runs = max.map(|max| TierView::idle_active(&row.name, max));
            found.extend(tiers.chain(runs).filter(|tier| !known.contains(tier.name.as_str())));
        }
        match rows.last() {
            Some(last) if rows.len() == WORKFLOWS_AT_ONCE => after = Some(last.name.to_string()),
            _ => return Ok(found),
        }
    }
}

impl App {
    /// How the limits stand that the engine knows and that tasks count against.
    pub async fn tiers(&self) -> Result<Vec<TierView>, Problem> {
        self.limits(Input::Tiers).await
    }

    async fn limits(&self, asked: Input) -> Result<Vec<TierView>, Problem> {
        match self.engine.submit(asked).await? {
            Reply::Tiers(tiers) => Ok(tiers),
            _ => unreachable!("a question about limits is answered by limits"),
        }
    }

    /// Tiers that tasks may name beside their workflow's own.
    pub async fn server_tiers(&self) -> Result<BTreeSet<String>, Problem> {
        let tiers = self.tiers().await?.into_iter();
        let is_defined = |tier: &TierView| {
            matches!(tier.source, SourceWord::Config | SourceWord::Api) && is_tier(&tier.name)
        };
        Ok(tiers.filter(is_defined).map(|tier| tier.name).collect())
    }
}
