//! Checks a tree against the field tables: known keys, types, units, bounds, what is missing.
//!
//! Everything that can be said about a value by itself is said here; what it means together with
//! others is `lower`'s business, which therefore reads values without complaining about them.

use crate::command::text::{escaped, is_harmless, listed, nearest};
use crate::command::units::{self, Flaw, Quantity, QuantityError};
use crate::kafka::version::KafkaVersion;
use crate::sim::config::{DURATION_MAX, RATE_MAX};

use super::fields::{Field, Kind, Presence, TableSpec};
use super::instant;
use super::problem::{Findings, Problem};
use super::tree::{Node, Place, Table, Value};

/// Characters of a name at most.
const NAME_CHARS_MAX: usize = 249;

/// Whether absent keys are problems; they are not in a text that did not parse completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completeness {
    Whole,
    Torn,
}

/// Goes through a whole tree.
pub(crate) struct Shape<'f> {
    pub(crate) findings: &'f mut Findings,
    pub(crate) completeness: Completeness,
}

impl Shape<'_> {
    /// Checks one table and everything in it.
    pub(crate) fn table(&mut self, spec: &'static TableSpec, table: &Table, place: Place) {
        for entry in &table.entries {
            match spec.field(&entry.key) {
                None => self
                    .findings
                    .problem(unknown_key(spec, &entry.key, entry.key_place)),
                Some(field) if field.presence == Presence::Later => {
                    self.findings.problem(not_yet(&entry.key, entry.key_place));
                }
                Some(field) => self.value(field, &field.kind, &entry.node),
            }
        }
        if self.completeness == Completeness::Torn {
            return;
        }
        for field in spec.fields {
            let is_missing =
                field.presence == Presence::Required && table.get(field.name).is_none();
            // A key that was mistyped is not missing as well.
            let is_mistyped = || {
                let unknown = table
                    .entries
                    .iter()
                    .filter(|entry| spec.field(&entry.key).is_none());
                let mut near = unknown.map(|entry| nearest(&entry.key, spec.names()));
                near.any(|near| near == Some(field.name))
            };
            if is_missing && !is_mistyped() {
                let name = match field.kind {
                    Kind::Table(inner) | Kind::Tables(inner, _) => inner.name.to_owned(),
                    _ => format!("`{}`", field.name),
                };
                self.findings.problem(
                    Problem::new(format!("{} has no {name}", spec.name))
                        .at(place, format!("{name} is missing"))
                        .hint(format!("{name}: {}", field.help)),
                );
            }
        }
    }

    fn value(&mut self, field: &Field, kind: &'static Kind, node: &Node) {
        match (kind, &node.value) {
            (Kind::Table(spec), Value::Table(table)) => self.table(spec, table, node.place),
            (Kind::Tables(spec, _), Value::Array(items)) => {
                for item in items {
                    match item.as_table() {
                        Some(table) => self.table(spec, table, item.place),
                        None => self.findings.problem(wrong_type(field, kind, item)),
                    }
                }
            }
            (Kind::List(inner), Value::Array(items)) => {
                for item in items {
                    self.value(field, inner, item);
                }
            }
            (Kind::Either(kinds), _) => match one_of(kinds, node) {
                Some(fitting) if is_scalar(fitting) => {
                    if let Err(problem) = scalar(field.name, fitting, kind, node) {
                        self.findings.problem(problem);
                    }
                }
                Some(fitting) => self.value(field, fitting, node),
                None => self.findings.problem(wrong_type(field, kind, node)),
            },
            (Kind::Numbered(inner), Value::Table(table)) => {
                for entry in &table.entries {
                    if entry.key.parse::<u32>().is_err() {
                        let problem = Problem::new(format!("`{}` is not a number", entry.key));
                        self.findings
                            .problem(problem.at(entry.key_place, expected(kind)));
                    }
                    self.value(field, inner, &entry.node);
                }
            }
            (Kind::Kafka, Value::Table(table)) => self.kafka(table),
            _ if !fits(kind, &node.value) => {
                self.findings.problem(wrong_type(field, kind, node));
            }
            _ => {
                if let Err(problem) = scalar(field.name, kind, kind, node) {
                    self.findings.problem(problem);
                }
            }
        }
    }

    /// Names and values are the real component's to judge; only their types are TOML's.
    fn kafka(&mut self, table: &Table) {
        for (at, entry) in table.entries.iter().enumerate() {
            if let Some(first) = table.entries[..at]
                .iter()
                .find(|first| first.key == entry.key)
            {
                let problem = Problem::new(format!("`{}` is set twice", entry.key));
                self.findings.problem(
                    problem
                        .at(entry.key_place, "again here")
                        .at(first.key_place, "first here"),
                );
            }
            let shown = escaped(&entry.key);
            match &entry.node.value {
                Value::Datetime(_) => self.findings.problem(
                    Problem::new(format!("`{shown}` cannot be a date"))
                        .at(entry.node.place, "expected a string, a number or a boolean"),
                ),
                Value::Array(items) if items.iter().any(|item| item.as_text().is_none()) => {
                    let problem = Problem::new(format!("`{shown}` is not a list of strings"));
                    self.findings
                        .problem(problem.at(entry.node.place, "expected [\"a\", \"b\"]"));
                }
                _ => {}
            }
        }
    }
}

fn unknown_key(spec: &TableSpec, key: &str, place: Place) -> Problem {
    let problem =
        Problem::new(format!("unknown key `{key}` in {}", spec.name)).at(place, "not known here");
    if let Some(near) = nearest(key, spec.names()) {
        return problem.hint(format!("did you mean `{near}`?"));
    }
    let takes_kafka = spec
        .fields
        .iter()
        .any(|field| matches!(field.kind, Kind::Kafka));
    let names: Vec<&str> = spec.names().collect();
    let problem = problem.hint(format!("{} knows {}", spec.name, listed(&names, "and")));
    if takes_kafka {
        problem.hint("Kafka's own keys go under `config.`")
    } else {
        problem
    }
}

fn not_yet(key: &str, place: Place) -> Problem {
    Problem::new(format!("`{key}` is not yet in this version"))
        .at(place, "known, but not simulated yet")
        .hint("leave it out")
}

fn wrong_type(field: &Field, kind: &Kind, node: &Node) -> Problem {
    let name = field.name;
    if let (Kind::Tables(spec, _), Value::Table(_)) = (kind, &node.value) {
        return Problem::new(format!("`{name}` must be an array of tables"))
            .at(node.place, "one pair of brackets")
            .hint(format!("write {}", spec.name));
    }
    if let (Kind::Table(spec), true) = (kind, node.is_array_of_tables()) {
        return Problem::new(format!("there is one `{name}`, not several"))
            .at(node.place, "two pairs of brackets")
            .hint(format!("write {}", spec.name));
    }
    let found = node.value.type_name();
    Problem::new(format!("`{name}` cannot be {found}")).at(node.place, expected(kind))
}

/// The form that a value is written in: one that it is valid in, or else one that has its type.
fn one_of(kinds: &'static [Kind], node: &Node) -> Option<&'static Kind> {
    let is_valid = |kind: &&'static Kind| is_scalar(kind) && is_valid(kind, node);
    let fits = |kind: &&'static Kind| fits(kind, &node.value);
    kinds.iter().find(is_valid).or(kinds.iter().find(fits))
}

/// Whether a value has a TOML type that a kind can be written with.
fn fits(kind: &Kind, value: &Value) -> bool {
    match kind {
        Kind::Text
        | Kind::Name
        | Kind::Payload
        | Kind::Word(_)
        | Kind::Path
        | Kind::Command
        | Kind::Call => matches!(value, Value::Text(_)),
        Kind::Flag => matches!(value, Value::Boolean(_)),
        Kind::Whole(..) => matches!(value, Value::Integer(_)),
        Kind::Number(..) | Kind::Quantity(Quantity::RecordRate) => {
            matches!(value, Value::Integer(_) | Value::Float(_))
        }
        Kind::Quantity(Quantity::Share) => {
            matches!(value, Value::Integer(_) | Value::Float(_) | Value::Text(_))
        }
        // A bare number gets a better answer than its type: the unit is missing.
        Kind::Quantity(_) => {
            matches!(value, Value::Text(_) | Value::Integer(_) | Value::Float(_))
        }
        Kind::Instant => matches!(value, Value::Text(_) | Value::Datetime(_)),
        Kind::Version => matches!(value, Value::Text(_) | Value::Float(_)),
        Kind::Kafka | Kind::Table(_) | Kind::Numbered(_) => matches!(value, Value::Table(_)),
        Kind::List(_) | Kind::Tables(..) => matches!(value, Value::Array(_)),
        Kind::Either(kinds) => kinds.iter().any(|kind| fits(kind, value)),
    }
}

/// Whether a kind has nothing inside.
fn is_scalar(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::Kafka
            | Kind::List(_)
            | Kind::Table(_)
            | Kind::Tables(..)
            | Kind::Numbered(_)
            | Kind::Either(_)
    )
}

/// A value that has the right type: is it within what its kind allows? `whole` is what the key
/// takes in all, of which `kind` may be one form.
fn scalar(name: &str, kind: &Kind, whole: &Kind, node: &Node) -> Result<(), Problem> {
    let bad = |why: String| Err(Problem::new(why).at(node.place, expected(whole)));
    match (kind, &node.value) {
        (Kind::Whole(least, most), Value::Integer(number)) => match number {
            Some(number) if (*least..=*most).contains(number) => Ok(()),
            Some(number) if number < least => bad(format!("`{name}` is too small")),
            _ => bad(format!("`{name}` is too large")),
        },
        (Kind::Number(least, most), value) => match number(value) {
            Some(number) if *least <= number && number <= *most => Ok(()),
            Some(number) if number < *least => bad(format!("`{name}` is too small")),
            Some(number) if number > *most => bad(format!("`{name}` is too large")),
            _ => bad(format!("`{name}` is not a number")),
        },
        (Kind::Quantity(quantity), value) => match measure(*quantity, &written(value)) {
            Ok(()) => Ok(()),
            Err(QuantityError {
                flaw: Flaw::TooLarge,
                ..
            }) => {
                let title = format!("`{name}` is too large");
                Err(Problem::new(title).at(node.place, most(*quantity)))
            }
            Err(error) => bad(format!("`{name}`: {}", flaw(error))),
        },
        (Kind::Word(words), Value::Text(text)) if !words.contains(&text.as_str()) => {
            let problem = Problem::new(format!("unknown `{name}` \"{text}\""));
            let near = nearest(text, words.iter().copied());
            Err(problem.at(node.place, expected(whole)).maybe(near))
        }
        (Kind::Name, Value::Text(text)) => name_problem(name, text, node.place),
        (Kind::Text, Value::Text(text)) if !text.chars().all(is_fine_in_text) => {
            Err(Problem::new(format!("`{name}` holds control characters"))
                .at(node.place, format!("reads \"{text}\""))
                .hint("a terminal would obey them: leave them out"))
        }
        (Kind::Instant, value) if instant::parse(&written(value)).is_none() => {
            bad(format!("`{name}` is not a date and time in UTC"))
        }
        (Kind::Version, value) => version(name, &written(value), node.place),
        _ => Ok(()),
    }
}

fn is_fine_in_text(c: char) -> bool {
    is_harmless(c) || c == '\n'
}

fn name_problem(name: &str, text: &str, place: Place) -> Result<(), Problem> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let problem = if text.is_empty() {
        Problem::new(format!("`{name}` is empty"))
    } else if let Some(wrong) = text.chars().find(|c| !allowed(*c)) {
        Problem::new(format!("`{name}` holds '{}'", wrong.escape_debug()))
    } else if text.chars().count() > NAME_CHARS_MAX {
        Problem::new(format!(
            "`{name}` is longer than {NAME_CHARS_MAX} characters"
        ))
    } else if matches!(text, "." | "..") {
        Problem::new(format!("`{name}` cannot be `{text}`"))
    } else {
        return Ok(());
    };
    Err(problem.at(place, expected(&Kind::Name)))
}

fn version(name: &str, text: &str, place: Place) -> Result<(), Problem> {
    match text.parse::<KafkaVersion>() {
        Ok(_) => Ok(()),
        Err(error) => {
            let problem = Problem::new(format!("`{name}`: {error}"));
            Err(problem.at(place, expected(&Kind::Version)))
        }
    }
}

fn measure(quantity: Quantity, text: &str) -> Result<(), QuantityError> {
    match quantity {
        Quantity::Duration => units::duration(text).map(drop),
        Quantity::Size => units::size(text).map(drop),
        Quantity::ByteRate => units::byte_rate(text).map(drop),
        Quantity::RecordRate => units::record_rate(text).map(drop),
        Quantity::Share => units::share(text).map(drop),
    }
}

/// The most that a quantity can be.
fn most(quantity: Quantity) -> String {
    match quantity {
        Quantity::RecordRate => format!("at most {RATE_MAX} records per second"),
        Quantity::Share => "at most 1, which is 100%".to_owned(),
        Quantity::Duration => {
            let days = DURATION_MAX.as_seconds() / 86_400.0;
            format!("a run takes at most {days} days")
        }
        Quantity::Size | Quantity::ByteRate => "at most 2^64 bytes".to_owned(),
    }
}

fn flaw(error: QuantityError) -> String {
    let text = error.to_string();
    text.split_once(": expected")
        .map_or(text.clone(), |(why, _)| why.to_owned())
}

/// Whether a value is what its kind allows, as far as that can be said without looking inside.
pub(crate) fn is_valid(kind: &'static Kind, node: &Node) -> bool {
    match kind {
        Kind::Either(kinds) => kinds.iter().any(|kind| is_valid(kind, node)),
        // A name that was refused still tells things apart: less noise after the first problem.
        Kind::Name | Kind::Text => fits(kind, &node.value),
        _ => fits(kind, &node.value) && scalar("", kind, kind, node).is_ok(),
    }
}

/// A scalar as its writer wrote it.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Float(text) | Value::Datetime(text) => text.clone(),
        Value::Integer(Some(number)) => number.to_string(),
        Value::Integer(None) => "9".repeat(40),
        Value::Boolean(value) => value.to_string(),
        Value::Array(_) | Value::Table(_) => String::new(),
    }
}

/// A finite number.
pub(crate) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Integer(number) => number.map(|number| number as f64),
        Value::Float(text) => text.parse().ok(),
        _ => None,
    };
    number.filter(|number: &f64| number.is_finite())
}

/// What a kind looks like, in words.
pub(crate) fn expected(kind: &Kind) -> String {
    format!("expected {}", described(kind))
}

pub(crate) fn described(kind: &Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Name => "letters, digits, '.', '_' and '-' only".to_owned(),
        Kind::Payload => "a string".to_owned(),
        Kind::Word(words) => {
            let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            listed(&quoted.iter().map(String::as_str).collect::<Vec<_>>(), "or")
        }
        Kind::Flag => "true or false".to_owned(),
        Kind::Whole(least, most) if *most >= i128::from(i64::MAX) => {
            format!("a whole number of at least {least}")
        }
        Kind::Whole(least, most) if least == most => format!("{least}"),
        Kind::Whole(least, most) => format!("a whole number from {least} to {most}"),
        Kind::Number(least, most) if *most < 1e12 => format!("a number from {least} to {most}"),
        Kind::Number(least, _) if *least == 0.0 => "a number of at least 0".to_owned(),
        Kind::Number(..) => "a number".to_owned(),
        Kind::Quantity(quantity) => quantity.expected().to_owned(),
        Kind::Instant => "a date and time such as \"2026-01-01T00:00:00Z\"".to_owned(),
        Kind::Version => "a version such as \"4.3\"".to_owned(),
        Kind::Path => "a path".to_owned(),
        Kind::Command => "a command such as \"link cut trips *\"".to_owned(),
        Kind::Call => "a call such as \"produce events key=a value=b\"".to_owned(),
        Kind::Kafka => "configuration keys: config.linger.ms = 5".to_owned(),
        Kind::List(inner) => format!("an array, each item {}", described(inner)),
        Kind::Table(spec) => format!("a table: {}", spec.name),
        Kind::Tables(spec, _) => format!("tables: {}", spec.name),
        Kind::Numbered(_) => "a table of numbers: { 2 = 40 }".to_owned(),
        Kind::Either(kinds) => {
            let parts: Vec<String> = kinds.iter().map(described).collect();
            listed(&parts.iter().map(String::as_str).collect::<Vec<_>>(), "or")
        }
    }
}
