//! Values as librdkafka reads them from text, and what it says against one.
//!
//! Invariants: texts are verbatim, without the line feed that some end with; they use a
//! property's own name, whichever alias was written; an empty text stands for "not given".
//!
//! Simplification: `nan`, which the client takes for a number within every range, is refused.
//!
//! Source: `rd_kafka_anyconf_set_prop` (`rdkafka_conf.c`).

use super::super::definition::{ConfigKey, DefaultValue, Valid, ValueKind};
use super::super::grammar::Value;
use super::number;

/// A value, and how much of what was written the client looked at.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) value: Value,
    /// What stands behind the number, where that is more than blanks.
    pub(super) rest: Option<String>,
}

impl From<Value> for Reading {
    fn from(value: Value) -> Self {
        Self { value, rest: None }
    }
}

/// Reads a value and checks it, or says why not in the client's words.
pub(super) fn read(key: &ConfigKey, raw: &str) -> Result<Reading, String> {
    if raw.is_empty() {
        return empty(key);
    }
    match key.kind {
        ValueKind::Boolean => boolean(key, raw),
        ValueKind::Int | ValueKind::Short | ValueKind::Long => integer(key, raw),
        ValueKind::Double => float(key, raw),
        ValueKind::List => words(key, raw),
        ValueKind::String | ValueKind::Class | ValueKind::Password => text(key, raw),
    }
}

/// What the default is as a value.
pub(super) fn default(key: &ConfigKey) -> Value {
    match (key.default_of_newest(), key.kind) {
        (DefaultValue::Text(""), ValueKind::List) => Value::List(Vec::new()),
        (DefaultValue::Text(""), _) => Value::Text(String::new()),
        (DefaultValue::Text(default), _) => {
            read(key, default).map_or(Value::Null, |reading| reading.value)
        }
        (DefaultValue::Null | DefaultValue::Required, _) => Value::Null,
    }
}

/// An empty text resets a text to its default, and is nothing else's value.
fn empty(key: &ConfigKey) -> Result<Reading, String> {
    let name = key.name;
    let kind = match key.kind {
        ValueKind::Boolean => "Bool configuration",
        ValueKind::Int | ValueKind::Short | ValueKind::Long => "Integer configuration",
        ValueKind::Double => "Float configuration",
        ValueKind::List => "Configuration",
        ValueKind::String | ValueKind::Class | ValueKind::Password => match key.valid {
            Valid::OneOfIgnoringCase(_) => "Configuration",
            Valid::OneOf(_) | Valid::NonEmpty => return Err(invalid_text(name, "(null)")),
            _ => return Ok(default(key).into()),
        },
    };
    Err(format!(
        "{kind} property \"{name}\" cannot be set to empty value"
    ))
}

fn boolean(key: &ConfigKey, raw: &str) -> Result<Reading, String> {
    let is = |words: [&str; 3]| words.iter().any(|word| raw.eq_ignore_ascii_case(word));
    if is(["true", "t", "1"]) {
        return Ok(Value::Boolean(true).into());
    }
    if is(["false", "f", "0"]) {
        return Ok(Value::Boolean(false).into());
    }
    Err(format!(
        "Expected bool value for \"{}\": true or false",
        key.name
    ))
}

fn integer(key: &ConfigKey, raw: &str) -> Result<Reading, String> {
    let read = number::integer(raw)
        .or_else(|| word_for_number(key.name, raw))
        .ok_or_else(|| invalid(key.name))?;
    let value = i64::from(read.number);
    if let Valid::Between(min, max) = key.valid
        && !(min..=max).contains(&value)
    {
        return Err(out_of_range(
            key.name,
            &value.to_string(),
            &format!("{min}..{max}"),
        ));
    }
    Ok(Reading {
        value: Value::Integer(value),
        rest: rest(raw, read.length),
    })
}

/// `all`, the one word that stands for a number.
fn word_for_number(name: &str, raw: &str) -> Option<number::Read<i32>> {
    let is_all = name == super::ACKS && raw.eq_ignore_ascii_case("all");
    is_all.then_some(number::Read {
        number: -1,
        length: raw.len(),
    })
}

fn float(key: &ConfigKey, raw: &str) -> Result<Reading, String> {
    let read = number::float(raw)
        .filter(|read| !read.number.is_nan())
        .ok_or_else(|| invalid(key.name))?;
    if let Valid::BetweenDoubles(min, max) = key.valid
        && !(min..=max).contains(&read.number)
    {
        let range = format!("{}..{}", number::general(min), number::general(max));
        return Err(out_of_range(
            key.name,
            &number::general(read.number),
            &range,
        ));
    }
    Ok(Reading {
        value: Value::Double(read.number),
        rest: rest(raw, read.length),
    })
}

fn text(key: &ConfigKey, raw: &str) -> Result<Reading, String> {
    let text = raw.trim_start_matches(number::is_space);
    match key.valid {
        Valid::OneOfIgnoringCase(words) => match known(words, text) {
            Some(word) => Ok(Value::Text(word).into()),
            None => Err(invalid_word(key.name, text)),
        },
        Valid::OneOf(words) if !words.contains(&text) => Err(invalid_text(key.name, text)),
        _ => Ok(Value::Text(text.to_owned()).into()),
    }
}

/// Words with commas between; each may have a sign.
fn words(key: &ConfigKey, raw: &str) -> Result<Reading, String> {
    let mut items = Vec::new();
    for item in raw.split(',') {
        let item = item.trim_start_matches(number::is_space);
        let word = item.trim_start_matches(['+', '-']);
        match key.valid {
            Valid::ItemsOf(words) => match known(words, word) {
                Some(word) => items.push(word),
                None => return Err(invalid_word(key.name, word)),
            },
            _ => items.push(word.to_owned()),
        }
    }
    Ok(Value::List(items).into())
}

fn known(words: &[&str], text: &str) -> Option<String> {
    let is_it = |word: &&&str| word.eq_ignore_ascii_case(text);
    words.iter().find(is_it).map(|word| (*word).to_owned())
}

fn rest(raw: &str, length: usize) -> Option<String> {
    let rest = raw[length..].trim_matches(number::is_space);
    (!rest.is_empty()).then(|| rest.to_owned())
}

fn invalid(name: &str) -> String {
    format!("Invalid value for configuration property \"{name}\"")
}

fn invalid_text(name: &str, text: &str) -> String {
    format!("Invalid value for configuration property \"{name}\": {text}")
}

fn invalid_word(name: &str, word: &str) -> String {
    format!("Invalid value \"{word}\" for configuration property \"{name}\"")
}

fn out_of_range(name: &str, value: &str, range: &str) -> String {
    format!("Configuration property \"{name}\" value {value} is outside allowed range {range}")
}
