//! A librdkafka producer's configuration, checked as `rd_kafka_conf_set` and `rd_kafka_new` do.
//!
//! The way of a configuration: each property is set by itself, in the order given, under
//! whichever of its names; then the rules about several run in the client's order
//! (`rd_kafka_conf_finalize`), and what remains is what the client would run with.
//!
//! Invariants: a configuration that this module refuses is one that the client refuses, in the
//! same words; of several problems the client's own is the first; a problem with one value never
//! makes a rule about that value speak up. Problems and notes are about the names that somebody
//! wrote, while their texts use the property's own name, as the client's do.
//!
//! Simplifications: `bootstrap.servers` is supplied where absent, and host names resolve; logins,
//! certificates and plugins are taken to be there, in a build that has every feature; the
//! client's advice about logins is left out.

mod effective;
mod grammar;
mod number;
mod property;
mod rules;
mod table;

use std::collections::BTreeMap;

use super::super::rdkafka_version::RdkafkaVersion;
use super::super::settings::{DeliveryReports, RdkafkaProducerSettings};
use super::definition::{ConfigKey, Modelling, Valid};
use super::values::Values;
use super::{ConfigError, ConfigProblem, Note, NoteKind, RdkafkaCall, nearest_name};

pub use property::{Level, Property, Role, Standing};

const ACKS: &str = "request.required.acks";

/// Every property, in the client's order; topics' come last.
pub fn table() -> impl Iterator<Item = &'static Property> {
    [
        table::CLIENT,
        table::SECURITY,
        table::CONSUMER,
        table::PRODUCER,
        table::TOPIC,
    ]
    .into_iter()
    .flatten()
}

/// Every name that can be set, aliases included, with the property behind it.
pub fn names() -> impl Iterator<Item = (&'static str, &'static Property)> {
    table().flat_map(|property| property.names().map(move |name| (name, property)))
}

/// The property that somebody may call so.
pub fn find(name: &str) -> Option<&'static Property> {
    table().find(|property| property.is_called(name))
}

/// Checks a configuration as a producer of this release does.
///
/// Pairs are names and values as text; of a property that comes twice, under one name or two, the
/// later value counts. The answer is what the client runs with and what it warns of or silently
/// changes, or everything that it refuses. The application is taken to have a delivery-report
/// callback.
pub fn validate(
    version: RdkafkaVersion,
    pairs: &[(String, String)],
) -> Result<(RdkafkaProducerSettings, Vec<Note>), Vec<ConfigProblem>> {
    let mut given = Given::default();
    for (name, raw) in pairs {
        given.set(name, raw);
    }
    let Given {
        mut read,
        set,
        written,
        problems,
        mut notes,
    } = given;
    for property in table() {
        let key = &property.key;
        let is_refused = set.contains_key(key.name);
        if !is_refused {
            read.entry(key.name)
                .or_insert_with(|| grammar::default(key));
        }
    }
    let values = Values::of(read, set);
    notes.extend(warnings(&written));
    let mut outcome = rules::Outcome {
        settings: effective::settings(version, &values),
        problems,
        notes,
        written,
    };
    rules::apply(&values, &mut outcome);
    if outcome.problems.is_empty() {
        Ok((outcome.settings, outcome.notes))
    } else {
        Err(outcome.problems)
    }
}

/// What a client runs with after its properties were changed to these; its release and whether
/// its application has a callback stay.
pub fn change(
    settings: &RdkafkaProducerSettings,
    pairs: &[(String, String)],
) -> Result<RdkafkaProducerSettings, Vec<ConfigProblem>> {
    let (mut changed, _) = validate(settings.version, pairs)?;
    if settings.delivery_reports == DeliveryReports::None {
        changed.delivery_reports = DeliveryReports::None;
    }
    Ok(changed)
}

/// What calls of `rd_kafka_conf_set` lead to.
#[derive(Default)]
struct Given<'a> {
    /// Values by their property's own name.
    read: BTreeMap<&'static str, super::grammar::Value>,
    /// What was written for each property.
    set: BTreeMap<&'a str, &'a str>,
    /// Which of its names was written.
    written: BTreeMap<&'static str, &'a str>,
    problems: Vec<ConfigProblem>,
    notes: Vec<Note>,
}

impl<'a> Given<'a> {
    fn set(&mut self, name: &'a str, raw: &'a str) {
        let Some(property) = find(name) else {
            return self.problems.push(unknown(name));
        };
        let key = &property.key;
        self.set.insert(key.name, raw);
        self.written.insert(key.name, name);
        match grammar::read(key, raw) {
            Ok(reading) => {
                self.notes.extend(
                    reading
                        .rest
                        .map(|rest| half_read(name, &reading.value, &rest)),
                );
                self.read.insert(key.name, reading.value);
            }
            Err(text) => {
                self.read.remove(key.name);
                let mut problem = refused(RdkafkaCall::SetInvalid, name, text);
                problem.hint = words_hint(key, raw);
                self.problems.push(problem);
            }
        }
    }
}

fn refused(call: RdkafkaCall, name: &str, text: String) -> ConfigProblem {
    ConfigProblem {
        error: ConfigError::Rdkafka(call),
        ..ConfigProblem::new(name, text)
    }
}

/// A name that the client has no property for, or none that a text can set.
fn unknown(name: &str) -> ConfigProblem {
    if table::WITH_SETTERS.contains(&name) {
        let text =
            format!("Property \"{name}\" must be set through dedicated .._set_..() function");
        return refused(RdkafkaCall::SetInvalid, name, text);
    }
    let text = format!("No such configuration property: \"{name}\"");
    let mut problem = refused(RdkafkaCall::SetUnknown, name, text);
    let of_java = table::JAVA_KEYS.iter().find(|(key, _)| *key == name);
    problem.hint = match of_java {
        Some((_, here)) => Some((*here).to_owned()),
        None => nearest_name(name, names().map(|(name, _)| name))
            .map(|known| format!("did you mean {known}?")),
    };
    problem
}

/// The word that was meant, or those that there are.
fn words_hint(key: &ConfigKey, raw: &str) -> Option<String> {
    let (Valid::OneOf(words) | Valid::OneOfIgnoringCase(words) | Valid::ItemsOf(words)) = key.valid
    else {
        return None;
    };
    Some(match nearest_name(raw, words.iter().copied()) {
        Some(word) => format!("did you mean {word}?"),
        None => format!("known values: {}", words.join(", ")),
    })
}

/// A number with something behind it, which nobody means to be ignored.
fn half_read(name: &str, value: &super::grammar::Value, rest: &str) -> Note {
    let number = match value {
        super::grammar::Value::Double(number) => number::general(*number),
        super::grammar::Value::Integer(number) => number.to_string(),
        _ => String::new(),
    };
    let text = format!("the client reads {number}, and ignores the '{rest}' behind it");
    Note::new(name, NoteKind::Changed, text)
}

/// What the client warns of, property by property, and what only the simulation ignores.
fn warnings(written: &BTreeMap<&'static str, &str>) -> Vec<Note> {
    let mut notes = Vec::new();
    for property in table() {
        let Some(name) = written.get(property.key.name) else {
            continue;
        };
        let standing = match property.standing {
            Standing::Current => None,
            Standing::Deprecated => Some("deprecated"),
            Standing::Experimental => Some("experimental"),
            Standing::DeprecatedAndExperimental => Some("deprecated and experimental"),
        };
        if let Some(standing) = standing {
            let text = format!("the client warns that this is {standing}");
            notes.push(Note::new(name, NoteKind::Warned, text));
        }
        if property.role == Role::Consumer {
            let text = "a consumer property, which a producer ignores".to_owned();
            notes.push(Note::new(name, NoteKind::Warned, text));
        } else if property.key.modelling == Modelling::Ignored {
            notes.push(super::without_effect(name));
        }
    }
    notes
}

#[cfg(test)]
mod tests;
