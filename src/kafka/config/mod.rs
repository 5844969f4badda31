//! What somebody configured: tables of keys, their checks, and the way to effective settings.
//!
//! A client's configuration is checked as that client checks it, with its errors and its words;
//! a broker's and a topic's by the same tables as a Java client's, with unknown names refused.
//!
//! Invariants: all independent problems are reported at once, in the order in which the real
//! component would meet them; every problem and every note names the key it belongs to; no text
//! shows the value of a secret.

pub mod broker;
mod class_names;
pub mod consumer;
mod definition;
mod grammar;
pub mod java;
pub mod rdkafka;
pub mod topic;

mod values;

use std::fmt;

use super::exception::ExceptionClass;

pub use definition::{ConfigKey, DefaultValue, Importance, Line, Modelling, Valid, ValueKind};

/// What the wrapping exception of a producer's constructor says.
pub const FAILED_TO_CONSTRUCT: &str = "Failed to construct kafka producer";
/// What stands in place of a secret.
pub const MASK: &str = "[hidden]";
/// How alike two names must be for one to be suggested for the other, 0 to 1.
const LIKENESS_MIN: f64 = 0.7;
/// How alike a name is to a longer one that it is the beginning of.
const LIKENESS_OF_BEGINNING: f64 = 0.9;

/// Something that was configured and that the real component refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The key at fault, for a caret; of a conflict, the key that was set to cause it.
    pub key: String,
    /// The error that says so.
    pub error: ConfigError,
    /// The text of that error, verbatim where the real component has one.
    pub text: String,
    /// What could be meant instead, in our words.
    pub hint: Option<String>,
}

/// The error that carries a refusal to whoever configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigError {
    /// An exception of the Java client, the broker or its tools.
    Exception {
        /// Its class.
        class: ExceptionClass,
        /// Where it surfaces.
        raised_in: RaisedIn,
    },
    /// A result of one of librdkafka's functions.
    Rdkafka(RdkafkaCall),
}

/// Where an exception about a configuration surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RaisedIn {
    /// While the configuration is read: the exception arrives as it is.
    Configuration,
    /// Within `new KafkaProducer`: the exception arrives as the cause of a `KafkaException`.
    Constructor,
}

/// The call of librdkafka that refuses a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RdkafkaCall {
    /// `rd_kafka_conf_set` of a property that does not exist.
    SetUnknown,
    /// `rd_kafka_conf_set` of a value that the property does not take.
    SetInvalid,
    /// `rd_kafka_new`.
    New,
    /// `rd_kafka_topic_new`, which tells only its log why.
    NewTopic,
}

impl RdkafkaCall {
    /// The name of the result, as librdkafka has it.
    pub const fn result_name(self) -> &'static str {
        match self {
            Self::SetUnknown => "RD_KAFKA_CONF_UNKNOWN",
            Self::SetInvalid => "RD_KAFKA_CONF_INVALID",
            Self::New | Self::NewTopic => "_INVALID_ARG",
        }
    }
}

impl ConfigError {
    /// The short name that stands before the text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exception { class, .. } => class.simple_name(),
            Self::Rdkafka(call) => call.result_name(),
        }
    }
}

impl ConfigProblem {
    fn new(key: &str, text: String) -> Self {
        Self {
            key: key.to_owned(),
            error: ConfigError::Exception {
                class: ExceptionClass::Config,
                raised_in: RaisedIn::Configuration,
            },
            text,
            hint: None,
        }
    }
}

impl fmt::Display for ConfigProblem {
    /// As the application sees it: a stack trace, or a result and its text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        match self.error {
            ConfigError::Exception {
                class,
                raised_in: RaisedIn::Configuration,
            } => write!(f, "{}: {text}", class.qualified_name()),
            ConfigError::Exception {
                class,
                raised_in: RaisedIn::Constructor,
            } => {
                let (outer, inner) = (
                    ExceptionClass::Kafka.qualified_name(),
                    class.qualified_name(),
                );
                write!(
                    f,
                    "{outer}: {FAILED_TO_CONSTRUCT}\nCaused by: {inner}: {text}"
                )
            }
            ConfigError::Rdkafka(call) => write!(f, "{}: {text}", call.result_name()),
        }
    }
}

/// Something that was configured and that silently means something else, or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The key it is about.
    pub key: String,
    /// What it is about it.
    pub kind: NoteKind,
    /// The note, in one sentence of ours.
    pub text: String,
}

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// The component runs with another value than the one that was configured or that holds by
    /// default.
    Changed,
    /// The component warns about it, and does as it is told.
    Warned,
    /// The component does not know the key, and does not mind.
    Unknown,
    /// The component knows the key; the simulation does not.
    NotModelled,
    /// The component does what is asked, and later releases will not.
    Deprecated,
}

impl Note {
    fn new(key: &str, kind: NoteKind, text: String) -> Self {
        Self {
            key: key.to_owned(),
            kind,
            text,
        }
    }
}

/// Whether the value of this key must never be shown: passwords, keys, JAAS entries and tokens.
pub fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.ends_with("password")
        || key.ends_with("jaas.config")
        || key.ends_with("ssl.keystore.key")
        || key.ends_with("key.pem")
        || ["secret", "passphrase", "credential"]
            .iter()
            .any(|word| key.contains(word))
        || key.ends_with(".user.info")
        || key.ends_with("token")
}

/// The value as it may be shown.
pub fn shown<'a>(key: &str, value: &'a str) -> &'a str {
    if is_secret(key) { MASK } else { value }
}

/// Notes about the keys that a table accepts without effect.
fn not_modelled(
    pairs: &[(String, String)],
    find: impl Fn(&str) -> Option<&'static ConfigKey>,
) -> Vec<Note> {
    pairs
        .iter()
        .filter(|(name, _)| find(name).is_some_and(|key| key.modelling == Modelling::Ignored))
        .map(|(name, _)| without_effect(name))
        .collect()
}

/// The note about a key that only the simulation ignores.
fn without_effect(name: &str) -> Note {
    let text = "accepted as Kafka accepts it, without effect in the simulation";
    Note::new(name, NoteKind::NotModelled, text.to_owned())
}

/// The name of a table that is most like this one, if any is like it at all.
pub fn nearest<'a>(name: &str, table: impl IntoIterator<Item = &'a ConfigKey>) -> Option<&'a str> {
    nearest_name(name, table.into_iter().map(|key| key.name))
}

/// The first of the most alike names; a name that goes on where this one ends is very alike.
fn nearest_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(f64, &str)> = None;
    for candidate in known {
        let goes_on = candidate
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('.'));
        let likeness = if goes_on {
            LIKENESS_OF_BEGINNING
        } else {
            strsim::normalized_damerau_levenshtein(name, candidate)
        };
        if likeness >= LIKENESS_MIN && best.is_none_or(|(highest, _)| likeness > highest) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_leads_to_the_nearest_key() {
        for (typed, meant) in [
            ("linger.sm", "linger.ms"),
            ("linger", "linger.ms"),
            ("max.in.flight", "max.in.flight.requests.per.connection"),
            (
                "max.in.flight.request.per.conection",
                "max.in.flight.requests.per.connection",
            ),
            ("bufer.memory", "buffer.memory"),
        ] {
            assert_eq!(nearest(typed, java::table()), Some(meant), "{typed}");
        }
        assert_eq!(nearest("colour.of.the.sky", java::table()), None);
    }

    #[test]
    fn secrets_are_hidden_and_nothing_else_is() {
        for key in [
            "sasl.jaas.config",
            "ssl.keystore.password",
            "ssl.key.password",
            "listener.name.x.plain.sasl.jaas.config",
            "ssl.keystore.key",
            "basic.auth.user.info",
            "sasl.oauthbearer.client.credentials.client.secret",
        ] {
            assert_eq!(shown(key, "swordfish"), MASK, "{key}");
        }
        for key in [
            "linger.ms",
            "ssl.truststore.location",
            "sasl.oauthbearer.token.endpoint.url",
        ] {
            assert_eq!(shown(key, "seen"), "seen", "{key}");
        }
    }

    #[test]
    fn a_problem_of_the_constructor_arrives_wrapped() {
        let mut problem = ConfigProblem::new("acks", "no".to_owned());
        assert_eq!(
            problem.to_string(),
            "org.apache.kafka.common.config.ConfigException: no"
        );
        problem.error = ConfigError::Exception {
            class: ExceptionClass::Config,
            raised_in: RaisedIn::Constructor,
        };
        assert_eq!(
            problem.to_string(),
            "org.apache.kafka.common.KafkaException: Failed to construct kafka producer\n\
             Caused by: org.apache.kafka.common.config.ConfigException: no"
        );
    }
}
