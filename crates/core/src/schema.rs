//! How the plain types of this room look in an OpenAPI file.

use crate::ids::RunId;
use crate::json::Json;
use crate::time::Timestamp;
use std::borrow::Cow;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaFormat, SchemaType};
use utoipa::openapi::{KnownFormat, RefOr, Type};
use utoipa::{PartialSchema, ToSchema};

fn text(format: KnownFormat, description: &str) -> RefOr<Schema> {
    let object = ObjectBuilder::new().schema_type(Type::String);
    let object = object.format(Some(SchemaFormat::KnownFormat(format)));
    RefOr::T(Schema::Object(object.description(Some(description)).build()))
}

impl PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        text(KnownFormat::DateTime, "RFC 3339, UTC, microseconds")
    }
}

impl ToSchema for Timestamp {
    fn name() -> Cow<'static, str> {
        "Timestamp".into()
    }
}

impl PartialSchema for RunId {
    fn schema() -> RefOr<Schema> {
        text(KnownFormat::Uuid, "UUIDv7")
    }
}

impl ToSchema for RunId {
    fn name() -> Cow<'static, str> {
        "RunId".into()
    }
}

impl PartialSchema for Json {
    fn schema() -> RefOr<Schema> {
        let any = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
        RefOr::T(Schema::Object(any.description(Some("any JSON value")).build()))
    }
}

impl ToSchema for Json {
    fn name() -> Cow<'static, str> {
        "Json".into()
    }
}
