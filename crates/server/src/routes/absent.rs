//! What may be absent: a body, and fields of answers.
//!
//! Fields that do not apply are absent from answers, never null. The derived schemas cannot know
//! this and allow null for each field that may be missing: here it is taken out again. Bodies of
//! requests stay as they are, since there null is read like an absent field.

use utoipa::openapi::schema::{OneOf, Schema, SchemaType, Type};
use utoipa::openapi::{OpenApi, RefOr, Required};

/// How the types of bodies of requests end.
const REQUEST: &str = "Body";

/// Operations for which no body at all stands for `{}`.
const BODY_OPTIONAL: &[&str] = &["triggerRun", "retryRun", "rerunRun", "approveTask", "rejectTask"];

pub fn describe(api: &mut OpenApi) {
    for operation in api.paths.paths.values_mut().filter_map(|item| item.post.as_mut()) {
        let id = operation.operation_id.as_deref().unwrap_or_default();
        if let (true, Some(body)) = (BODY_OPTIONAL.contains(&id), operation.request_body.as_mut())
            && let RefOr::T(body) = body
        {
            body.required = Some(Required::False);
        }
    }
    let schemas = api.components.iter_mut().flat_map(|it| it.schemas.iter_mut());
    for (name, schema) in schemas {
        if !name.ends_with(REQUEST) {
            strip(schema);
        }
    }
}

fn strip(schema: &mut RefOr<Schema>) {
    let RefOr::T(inner) = schema else { return };
    match inner {
        Schema::Object(object) => {
            if let SchemaType::Array(types) = &mut object.schema_type {
                types.retain(|kind| *kind != Type::Null);
                if let [only] = types.as_slice() {
                    object.schema_type = SchemaType::Type(only.clone());
                }
            }
            object.properties.values_mut().for_each(strip);
        }
        Schema::Array(array) => {
            if let utoipa::openapi::schema::ArrayItems::RefOrSchema(items) = &mut array.items {
                strip(items);
            }
        }
        Schema::AllOf(all) => all.items.iter_mut().for_each(strip),
        Schema::OneOf(one) => {
            one.items.iter_mut().for_each(strip);
            if let Some(only) = only(one) {
                *schema = only;
            }
        }
        _ => {}
    }
}

/// What is left when null is taken out of a choice of two.
fn only(one: &mut OneOf) -> Option<RefOr<Schema>> {
    one.items.retain(|item| !is_null(item));
    if one.items.len() == 1 { one.items.pop() } else { None }
}

fn is_null(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(object))
        if object.schema_type == SchemaType::Type(Type::Null))
}
