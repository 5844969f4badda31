//! Values as Java reads them from text, and the reasons it gives for refusing one.
//!
//! Invariants: reasons are verbatim; a refused value appears in them as it was written, trimmed
//! or not, unless its key holds a secret, in which case no reason is possible.
//!
//! Simplifications: validators are those of 4.x for every version, except that lists lose their
//! repeated items and are checked for empty ones only since 4.2; floating-point numbers follow
//! Rust's grammar, which lacks Java's hexadecimal form and type suffixes.

use std::collections::BTreeSet;

use super::super::version::KafkaVersion;
use super::class_names;
use super::definition::{ConfigKey, Valid, ValueKind};

/// A value that its key's kind admits.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Boolean(bool),
    Integer(i64),
    Double(f64),
    Text(String),
    List(Vec<String>),
}

/// Reads a value and checks it, or says why not in the words of a `ConfigException`.
pub(super) fn read(key: &ConfigKey, version: KafkaVersion, raw: &str) -> Result<Value, String> {
    let value = distinct(key, version, parse(key, version, raw)?);
    validate(key, version, raw, &value)?;
    Ok(value)
}

/// `ConfigDef.parseType`.
fn parse(key: &ConfigKey, version: KafkaVersion, raw: &str) -> Result<Value, String> {
    let text = java_trim(raw);
    let not_a_number = |kind| invalid(key.name, raw, &format!("Not a number of type {kind}"));
    match key.kind {
        ValueKind::Boolean if text.eq_ignore_ascii_case("true") => Ok(Value::Boolean(true)),
        ValueKind::Boolean if text.eq_ignore_ascii_case("false") => Ok(Value::Boolean(false)),
        ValueKind::Boolean => Err(invalid(
            key.name,
            raw,
            "Expected value to be either true or false",
        )),
        ValueKind::Short => number(text.parse::<i16>()).ok_or_else(|| not_a_number("SHORT")),
        ValueKind::Int => number(text.parse::<i32>()).ok_or_else(|| not_a_number("INT")),
        ValueKind::Long => number(text.parse::<i64>()).ok_or_else(|| not_a_number("LONG")),
        ValueKind::Double => text
            .parse()
            .map(Value::Double)
            .map_err(|_| not_a_number("DOUBLE")),
        ValueKind::List if text.is_empty() => Ok(Value::List(Vec::new())),
        ValueKind::List => Ok(Value::List(
            text.split(',').map(|item| item.trim().to_owned()).collect(),
        )),
        ValueKind::Class if !class_names::may_exist(text, version) => Err(invalid(
            key.name,
            raw,
            &format!("Class {raw} could not be found."),
        )),
        ValueKind::String | ValueKind::Class | ValueKind::Password => {
            Ok(Value::Text(text.to_owned()))
        }
    }
}

fn number<T: Into<i64>, E>(parsed: Result<T, E>) -> Option<Value> {
    parsed.ok().map(|number| Value::Integer(number.into()))
}

/// `ConfigDef.parseValue`, since 4.2: of repeated items the first stays, and a warning is logged.
fn distinct(key: &ConfigKey, version: KafkaVersion, value: Value) -> Value {
    match (key.valid, value) {
        (Valid::DistinctItems | Valid::DistinctItemsNotEmpty, Value::List(mut items))
            if version.at_least(4, 2) =>
        {
            let mut seen = BTreeSet::new();
            items.retain(|item| seen.insert(item.clone()));
            Value::List(items)
        }
        (_, value) => value,
    }
}

/// `ConfigDef.Validator.ensureValid`, one arm for each validator.
fn validate(
    key: &ConfigKey,
    version: KafkaVersion,
    raw: &str,
    value: &Value,
) -> Result<(), String> {
    let refuse = |why: &str| Err(invalid(key.name, raw, why));
    match (key.valid, value) {
        (Valid::AtLeast(min), Value::Integer(number)) if *number < min => {
            refuse(&format!("Value must be at least {min}"))
        }
        (Valid::Between(min, _), Value::Integer(number)) if *number < min => {
            refuse(&format!("Value must be at least {min}"))
        }
        (Valid::Between(_, max), Value::Integer(number)) if *number > max => {
            refuse(&format!("Value must be no more than {max}"))
        }
        (Valid::BetweenDoubles(min, _), Value::Double(number)) if *number < min => {
            refuse(&format!("Value must be at least {min}"))
        }
        (Valid::BetweenDoubles(_, max), Value::Double(number)) if *number > max => {
            refuse(&format!("Value must be no more than {max}"))
        }
        (Valid::GzipLevel, Value::Integer(level)) if *level != -1 && !(1..=9).contains(level) => {
            refuse("Value must be between 1 and 9 or equal to -1")
        }
        (Valid::OneOf(texts), Value::Text(text)) if !texts.contains(&text.as_str()) => {
            refuse(&format!("String must be one of: {}", texts.join(", ")))
        }
        (Valid::OneOfIgnoringCase(texts), Value::Text(text))
            if !texts.iter().any(|known| known.eq_ignore_ascii_case(text)) =>
        {
            refuse(&format!(
                "String must be one of (case insensitive): {}",
                texts.join(", ")
            ))
        }
        (Valid::NonEmpty, Value::Text(text)) if text.is_empty() => {
            refuse("String must be non-empty")
        }
        (Valid::ItemsOf(known), Value::List(items)) => items
            .iter()
            .find(|item| !known.contains(&item.as_str()))
            .map_or(Ok(()), |item| {
                let why = format!("String must be one of: {}", known.join(", "));
                Err(invalid(key.name, item, &why))
            }),
        (Valid::DistinctItems | Valid::DistinctItemsNotEmpty, Value::List(items))
            if version.at_least(4, 2) =>
        {
            validate_items(key, items)
        }
        _ => Ok(()),
    }
}

/// `ConfigDef.ValidList`, since 4.2.
fn validate_items(key: &ConfigKey, items: &[String]) -> Result<(), String> {
    let name = key.name;
    if items.is_empty() && key.valid == Valid::DistinctItemsNotEmpty {
        return Err(format!(
            "Configuration '{name}' must not be empty. Valid values include: any non-empty value"
        ));
    }
    if items.iter().any(String::is_empty) {
        return Err(format!("Configuration '{name}' values must not be empty."));
    }
    Ok(())
}

/// The text of a `ConfigException` about a value.
pub(super) fn invalid(name: &str, value: &str, why: &str) -> String {
    format!("Invalid value {value} for configuration {name}: {why}")
}

/// `String.trim`: control characters go with the blanks, other white space stays.
fn java_trim(text: &str) -> &str {
    text.trim_matches(|character| character <= ' ')
}
