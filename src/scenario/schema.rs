//! A JSON schema of the format, for editors.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::command::text::append;

use super::fields::{Field, Kind, Presence, ROOT, TableSpec};
use super::shape::described;

/// The schema as JSON text, ending with a line feed.
pub fn schema() -> String {
    let mut definitions = BTreeMap::new();
    let mut schema = table(&ROOT, &mut definitions);
    if let Value::Object(object) = &mut schema {
        object.insert(
            "$schema".into(),
            "http://json-schema.org/draft-07/schema#".into(),
        );
        object.insert("title".into(), "kdrill scenario".into());
        let definitions: Map<String, Value> = definitions.into_iter().collect();
        object.insert("definitions".into(), Value::Object(definitions));
        // What is absent can come from the scenario that this one extends.
        object.remove("required");
    }
    format!("{schema:#}\n")
}

type Definitions = BTreeMap<String, Value>;

fn table(spec: &'static TableSpec, definitions: &mut Definitions) -> Value {
    let mut properties = Map::new();
    for field in spec.fields {
        if field.presence != Presence::Later {
            properties.insert(field.name.to_owned(), property(field, definitions));
        }
    }
    let required: Vec<&str> = spec
        .fields
        .iter()
        .filter(|field| field.presence == Presence::Required && !is_inherited(spec))
        .map(|field| field.name)
        .collect();
    let mut schema = json!({
        "type": "object",
        "description": spec.help,
        "properties": properties,
        "additionalProperties": false,
    });
    if let (false, Value::Object(object)) = (required.is_empty(), &mut schema) {
        object.insert("required".into(), required.into());
    }
    schema
}

/// Whether a table may be completed by the one that it extends.
fn is_inherited(spec: &TableSpec) -> bool {
    std::ptr::eq(spec, &raw const super::fields::SCENARIO)
}

fn property(field: &'static Field, definitions: &mut Definitions) -> Value {
    let mut schema = kind(&field.kind, definitions);
    if let Value::Object(object) = &mut schema {
        let mut help = field.help.to_owned();
        if let Presence::Default(value) = field.presence {
            append(&mut help, format_args!(" (default: {value})"));
        }
        object.insert("description".into(), help.into());
    }
    schema
}

fn kind(of: &'static Kind, definitions: &mut Definitions) -> Value {
    match of {
        Kind::Text | Kind::Payload | Kind::Path | Kind::Command | Kind::Call => {
            json!({ "type": "string" })
        }
        Kind::Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]+$" }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Whole(least, most) => {
            let mut schema = json!({ "type": "integer", "minimum": *least as i64 });
            if let (Ok(most), Value::Object(object)) = (i64::try_from(*most), &mut schema)
                && most < i64::MAX
            {
                object.insert("maximum".into(), most.into());
            }
            schema
        }
        Kind::Number(least, most) if *most < 1e12 => {
            json!({ "type": "number", "minimum": least, "maximum": most })
        }
        Kind::Number(..) => json!({ "type": "number" }),
        Kind::Quantity(quantity) => quantity_schema(*quantity, of),
        Kind::Instant => json!({ "type": "string", "format": "date-time" }),
        Kind::Version => json!({ "type": "string", "pattern": "^[0-9]+\\.[0-9]+(\\.[0-9]+)?$" }),
        Kind::Kafka => json!({ "type": "object" }),
        Kind::List(inner) => json!({ "type": "array", "items": kind(inner, definitions) }),
        Kind::Table(spec) => reference(spec, definitions),
        Kind::Tables(spec, _) => {
            json!({ "type": "array", "items": reference(spec, definitions) })
        }
        Kind::Numbered(inner) => json!({
            "type": "object",
            "patternProperties": { "^[0-9]+$": kind(inner, definitions) },
            "additionalProperties": false,
        }),
        Kind::Either(kinds) => {
            let any: Vec<Value> = kinds.iter().map(|inner| kind(inner, definitions)).collect();
            json!({ "anyOf": any })
        }
    }
}

fn quantity_schema(quantity: crate::command::units::Quantity, of: &Kind) -> Value {
    use crate::command::units::Quantity;
    match quantity {
        Quantity::RecordRate => json!({ "type": "number", "minimum": 0 }),
        Quantity::Share => json!({ "type": ["number", "string"] }),
        _ => json!({ "type": "string", "title": described(of) }),
    }
}

fn reference(spec: &'static TableSpec, definitions: &mut Definitions) -> Value {
    let name = definition_name(spec);
    if !definitions.contains_key(&name) {
        // Holds the place, so that a table inside itself would end here.
        definitions.insert(name.clone(), Value::Null);
        let schema = table(spec, definitions);
        definitions.insert(name.clone(), schema);
    }
    json!({ "allOf": [{ "$ref": format!("#/definitions/{name}") }] })
}

/// `[[link]]` and `link = { … }` are two definitions.
fn definition_name(spec: &TableSpec) -> String {
    let is_in_name = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let name: String = spec.name.chars().filter(is_in_name).collect();
    if spec.name.contains('=') {
        format!("{name}.value")
    } else {
        name
    }
}
