//! The values of a whole configuration, read by its table.
//!
//! Invariants: every key that the version knows has its value or its default, except where the
//! value was refused, and then there is a problem; of a key that was set twice the later value
//! counts, as in Java's `Properties`.

use std::collections::BTreeMap;

use super::super::version::KafkaVersion;
use super::class_names;
use super::definition::{ConfigKey, DefaultValue, ValueKind};
use super::grammar::{self, Value};
use super::{ConfigProblem, shown};

/// What was read.
#[derive(Debug)]
pub(super) struct Values<'a> {
    read: BTreeMap<&'static str, Value>,
    set: BTreeMap<&'a str, &'a str>,
}

impl<'a> Values<'a> {
    /// Reads the pairs by the table, in the table's order.
    ///
    /// Keys that the table does not have, or not in this version, are left to the caller.
    pub(super) fn read(
        table: impl Iterator<Item = &'static ConfigKey>,
        version: KafkaVersion,
        pairs: &'a [(String, String)],
    ) -> (Self, Vec<ConfigProblem>) {
        let set = pairs
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        let mut values = Self {
            read: BTreeMap::new(),
            set,
        };
        let mut problems = Vec::new();
        for key in table.filter(|key| key.is_known_to(version)) {
            match values.read_one(key, version) {
                Ok(value) => {
                    values.read.insert(key.name, value);
                }
                Err(problem) => problems.push(problem),
            }
        }
        (values, problems)
    }

    /// Values that were read elsewhere, and what was written for them, by the keys' own names.
    pub(super) fn of(read: BTreeMap<&'static str, Value>, set: BTreeMap<&'a str, &'a str>) -> Self {
        Self { read, set }
    }

    fn read_one(&self, key: &ConfigKey, version: KafkaVersion) -> Result<Value, ConfigProblem> {
        let raw = match (self.set.get(key.name), key.default(version)) {
            (Some(raw), _) => raw,
            (None, DefaultValue::Text(default)) => default,
            (None, DefaultValue::Null | DefaultValue::Required) => return Ok(Value::Null),
        };
        grammar::read(key, version, raw).map_err(|text| {
            let mut problem = ConfigProblem::new(key.name, text);
            if key.kind == ValueKind::Class {
                problem.hint = class_names::nearest_class(raw, version)
                    .map(|class| format!("did you mean {class}?"));
            }
            problem
        })
    }

    /// Whether somebody set the key, to whatever value.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.set.contains_key(name)
    }

    /// Whether all these keys have values, so that a rule about them makes sense.
    pub(super) fn are_read(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.read.contains_key(name))
    }

    /// The value as it was written, masked if it is secret; empty if nobody set the key.
    pub(super) fn written(&self, name: &str) -> &str {
        self.set.get(name).map_or("", |value| shown(name, value))
    }

    /// The value of a numeric key.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        match self.read.get(name) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// The value of a numeric key; negative values are out of range and answer nothing.
    pub(super) fn unsigned<T: TryFrom<i64>>(&self, name: &str) -> Option<T> {
        self.integer(name)
            .and_then(|number| T::try_from(number).ok())
    }

    /// The value of a numeric key; negative values, where the client admits them, count as 0.
    pub(super) fn clamped(&self, name: &str) -> Option<u64> {
        self.integer(name)
            .map(|number| u64::try_from(number).unwrap_or(0))
    }

    /// The value of a numeric key that always has one in range; 0 where it was refused, since
    /// then the settings are not used.
    pub(super) fn or_zero<T: TryFrom<i64> + Default>(&self, name: &str) -> T {
        self.unsigned(name).unwrap_or_default()
    }

    /// Whether a boolean key is true.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.flag(name) == Some(true)
    }

    /// The value of a floating-point key.
    pub(super) fn double(&self, name: &str) -> Option<f64> {
        match self.read.get(name) {
            Some(Value::Double(number)) => Some(*number),
            _ => None,
        }
    }

    /// The value of a boolean key.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        match self.read.get(name) {
            Some(Value::Boolean(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// The value of a text, class or password key; nothing for null.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.read.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The items of a list key; none for null.
    pub(super) fn list(&self, name: &str) -> &[String] {
        match self.read.get(name) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }
}
