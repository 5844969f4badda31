//! A Java producer's configuration, checked as `new KafkaProducer(…)` checks it.
//!
//! The way of a configuration: each value is read by the table, then the rules about several
//! keys run in the client's order, and what remains is what the client would run with.
//!
//! Invariants: a configuration that this module refuses is one that the client refuses, with
//! the same exception; a problem with one value never makes a rule about that value speak up.
//!
//! Simplifications: `bootstrap.servers` and serializers are supplied where absent; all host
//! names resolve; classes outside Kafka's own packages are taken to exist, and so are logins
//! outside the configuration.

mod bootstrap;
mod custom_partitioner;
mod effective;
mod rules;
mod security;
mod table;

use super::super::settings::JavaProducerSettings;
use super::super::version::KafkaVersion;
use super::class_names;
use super::definition::ConfigKey;
use super::values::Values;
use super::{ConfigProblem, Note, NoteKind, nearest, not_modelled};

pub use custom_partitioner::{CUSTOM_CLASSES, CustomClass};

const PARTITIONER_CLASS: &str = "partitioner.class";

/// Every key of a Java producer, of whatever version, in the order in which the client checks
/// them.
pub fn table() -> impl Iterator<Item = &'static ConfigKey> {
    table::DELIVERY
        .iter()
        .chain(security::SECURITY)
        .chain(table::TRANSACTIONS)
}

/// The key with this name, of whatever version.
pub fn find(name: &str) -> Option<&'static ConfigKey> {
    table().find(|key| key.name == name)
}

/// Checks a configuration as a client of this version does.
///
/// Pairs are keys and values as text; of a key that comes twice the later value counts. The
/// answer is what the client runs with and what it silently changed, or everything that it
/// refuses.
pub fn validate(
    version: KafkaVersion,
    pairs: &[(String, String)],
) -> Result<(JavaProducerSettings, Vec<Note>), Vec<ConfigProblem>> {
    let (values, problems) = Values::read(table(), version, pairs);
    let mut notes: Vec<Note> = pairs
        .iter()
        .filter(|(key, _)| !is_of_partitioner(&values, key))
        .filter_map(|(key, _)| key_note(version, key))
        .collect();
    notes.extend(not_modelled(pairs, |name| {
        find(name).filter(|key| key.is_known_to(version))
    }));
    notes.extend(partitioner_note(version, &values));
    let mut outcome = rules::Outcome {
        settings: effective::settings(version, &values),
        problems,
        notes,
    };
    rules::apply(version, (&values, pairs), &mut outcome);
    if outcome.problems.is_empty() {
        Ok((outcome.settings, outcome.notes))
    } else {
        Err(outcome.problems)
    }
}

/// A note about a key that means nothing to this client.
fn key_note(version: KafkaVersion, name: &str) -> Option<Note> {
    let Some(key) = find(name) else {
        let suggestion = nearest(name, table().filter(|key| key.is_known_to(version)));
        let text = suggestion.map_or_else(
            || "the client does not know this key and ignores it".to_owned(),
            |known| {
                format!("the client does not know this key and ignores it; did you mean {known}?")
            },
        );
        return Some(Note::new(name, NoteKind::Unknown, text));
    };
    if !key.is_known_to(version) {
        let (major, minor) = key.since;
        let text = format!(
            "a {version} client does not know this key and ignores it; it came with {major}.{minor}"
        );
        return Some(Note::new(name, NoteKind::Unknown, text));
    }
    None
}

/// Whether the key is for the class in `partitioner.class`.
fn is_of_partitioner(values: &Values, name: &str) -> bool {
    let class = values
        .text(PARTITIONER_CLASS)
        .and_then(custom_partitioner::find);
    class.is_some_and(|class| class.keys.iter().any(|key| key.name == name))
}

/// A note about a partitioner that only the application has, or that clients will not have for
/// long.
fn partitioner_note(version: KafkaVersion, values: &Values) -> Option<Note> {
    let class = values.text(PARTITIONER_CLASS)?;
    if class_names::partitioner(class, version).is_some() {
        let is_written = values.is_set(PARTITIONER_CLASS);
        return removed_note(version, class).filter(|_| is_written);
    }
    custom_partitioner::find(class).is_none().then(|| {
        let examples: Vec<_> = CUSTOM_CLASSES.iter().map(|class| class.name).collect();
        let text = format!(
            "{class} cannot be simulated; the default partitioner stands in for it. Examples that \
             can: {}",
            examples.join(", ")
        );
        Note::new(PARTITIONER_CLASS, NoteKind::NotModelled, text)
    })
}

/// What there is to say about a class that 4.0 removed; since 3.3 the client says it itself, in
/// these words (`KafkaProducer.warnIfPartitionerDeprecated`).
fn removed_note(version: KafkaVersion, class: &str) -> Option<Note> {
    let advice = match class {
        class_names::DEFAULT_PARTITIONER => {
            "DefaultPartitioner is deprecated.  Please clear partitioner.class configuration \
             setting to get the default partitioning behavior"
        }
        class_names::UNIFORM_STICKY_PARTITIONER => {
            "UniformStickyPartitioner is deprecated.  Please clear partitioner.class configuration \
             setting and set partitioner.ignore.keys to 'true' to get the uniform sticky \
             partitioning behavior"
        }
        _ => return None,
    };
    let text = if version.at_least(3, 3) {
        advice.to_owned()
    } else {
        "clients of 4.0 and later do not have this class and refuse it".to_owned()
    };
    Some(Note::new(PARTITIONER_CLASS, NoteKind::Deprecated, text))
}

#[cfg(test)]
mod tests;
