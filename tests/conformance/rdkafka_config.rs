//! What librdkafka makes of 120 configurations: what it refuses, where and in which words, what it
//! warns of, and what it runs with otherwise.
//!
//! Of an accepted configuration, everything that the engine takes is compared with what the real
//! client says that it has. Case `defaults` compares the name and the default of every property,
//! with or without effect; those that depend on the build or are set by the probe are left out.
//!
//! Not compared, because the simulation accepts them without effect: the values of properties of
//! security, sockets and logs, and of consumers. Nor are the log lines of a refused configuration.

use std::collections::BTreeMap;

use kdrill::kafka::config::rdkafka::{self, Property};
use kdrill::kafka::config::{
    ConfigError, ConfigProblem, DefaultValue, Note, NoteKind, RdkafkaCall,
};
use kdrill::kafka::rdkafka_version::RdkafkaVersion;
use kdrill::kafka::settings::{
    DeliveryReports, MissingTopics, RdkafkaIdempotence, RdkafkaProducerSettings, RecoveryStrategy,
};
use serde_json::Value;

use crate::comparison::Comparison;
use crate::golden;

const MECHANISM: &str = "librdkafka's configuration: refusals, warnings, effective values";
const VERSION: RdkafkaVersion = RdkafkaVersion::new(2, 16, 0);
/// What every case sets, unless it sets the address itself.
const BASE: (&str, &str) = ("bootstrap.servers", "127.0.0.1:1");
/// Defaults of the build, of the probe, and second entries of a property that topics have too.
const NOT_COMPARED: [&str; 3] = [
    "builtin.features",
    "client.software.version",
    "metadata.broker.list",
];

type Texts = BTreeMap<String, String>;

/// Every case of the probe.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("rdkafka-config");
    let mut defaults = texts(&golden.cases["defaults"]["effective"]);
    defaults
        .retain(|name, _| !NOT_COMPARED.contains(&name.as_str()) && !name.starts_with("topic:"));
    let cases = golden.cases.iter();
    cases
        .map(|(case, real)| {
            let comparison = Comparison::new(golden.path(case), MECHANISM);
            if case == "defaults" {
                compare_texts(comparison, &defaults, &known_defaults())
            } else {
                compare_case(comparison, real, &defaults)
            }
        })
        .collect()
}

fn compare_case(comparison: Comparison, real: &Value, defaults: &Texts) -> Comparison {
    let outcome = rdkafka::validate(VERSION, &pairs(real));
    let real_verdict = real
        .get("refused")
        .map_or("accepted".to_string(), |refused| {
            refusal(refused, &log_lines(real))
        });
    let simulated_verdict = match &outcome {
        Ok(_) => "accepted".to_string(),
        Err(problems) => in_its_words(&problems[0]),
    };
    let comparison = comparison.text("verdict", real_verdict, simulated_verdict);
    match outcome {
        Ok((settings, notes)) if real.get("refused").is_none() => {
            let simulated = values(&settings);
            let mut effective = defaults.clone();
            effective.extend(texts(&real["effective"]));
            effective.retain(|name, _| simulated.contains_key(name));
            let comparison = compare_texts(comparison, &effective, &simulated);
            compare_log(comparison, &log_lines(real), &notes)
        }
        _ => comparison,
    }
}

/// What a case sets, base included.
fn pairs(real: &Value) -> Vec<(String, String)> {
    let config = texts(&real["config"]);
    let base = (BASE.0.to_string(), BASE.1.to_string());
    let base = Some(base).filter(|(name, _)| !config.contains_key(name));
    base.into_iter().chain(config).collect()
}

fn texts(object: &Value) -> Texts {
    let entries = object.as_object().expect("values by name").iter();
    entries
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_string()))
        .collect()
}

fn compare_texts(comparison: Comparison, real: &Texts, simulated: &Texts) -> Comparison {
    let lines = |texts: &Texts| -> Vec<String> {
        let lines = texts.iter().map(|(name, value)| format!("{name}={value}"));
        lines.collect()
    };
    comparison.list("effective values", &lines(real), &lines(simulated))
}

// === Refusals

/// Which call refused, with which result and text; a topic's own text stands in the log only.
fn refusal(refused: &Value, log: &[&str]) -> String {
    let part = |name: &str| refused[name].as_str().unwrap_or_default();
    let text = match part("at") {
        "topic" => log
            .iter()
            .find_map(|line| line.strip_prefix("Incompatible ")?.split_once("\": "))
            .map_or("", |(_, reason)| reason),
        _ => part("text").trim_end_matches('\n'),
    };
    format!("{} {}: {text}", part("at"), part("code"))
}

fn in_its_words(problem: &ConfigProblem) -> String {
    let (at, code) = match problem.error {
        ConfigError::Rdkafka(RdkafkaCall::SetUnknown) => ("set", "UNKNOWN"),
        ConfigError::Rdkafka(RdkafkaCall::SetInvalid) => ("set", "INVALID"),
        ConfigError::Rdkafka(RdkafkaCall::New) => ("new", "_INVALID_ARG"),
        ConfigError::Rdkafka(RdkafkaCall::NewTopic) => ("topic", "_INVALID_ARG"),
        ConfigError::Exception { .. } => ("a Java client", "exception"),
    };
    format!("{at} {code}: {}", problem.text)
}

// === Effective values

/// Names and defaults of every property that has one.
fn known_defaults() -> Texts {
    let default = |property: &Property| match property.default() {
        DefaultValue::Text(text) => Some((property.key.name.to_string(), text.to_string())),
        DefaultValue::Null | DefaultValue::Required => None,
    };
    let mut defaults: Texts = rdkafka::table().filter_map(default).collect();
    defaults.retain(|name, _| !NOT_COMPARED.contains(&name.as_str()));
    defaults
}

/// What the engine takes, by the properties' names.
fn values(settings: &RdkafkaProducerSettings) -> Texts {
    let mut named = delivery(settings);
    named.extend(batches(settings));
    named.extend(connections(settings));
    named.extend(metadata(settings));
    let named = named.into_iter();
    let mut values: Texts = named
        .map(|(name, value)| (name.to_string(), value))
        .collect();
    if let Some(id) = &settings.transactional_id {
        values.insert("transactional.id".to_string(), id.clone());
    }
    values
}

type Named = Vec<(&'static str, String)>;

/// A limit, of which the property says "none" by a number.
fn or<T: ToString>(limit: Option<T>, none: &str) -> String {
    limit.map_or(none.to_string(), |limit| limit.to_string())
}

fn delivery(settings: &RdkafkaProducerSettings) -> Named {
    let is_gapless = settings.idempotence == RdkafkaIdempotence::Gapless;
    let only_errors = settings.delivery_reports == DeliveryReports::OnlyErrors;
    vec![
        ("client.id", settings.client_id.clone()),
        ("request.required.acks", settings.acks.code().to_string()),
        (
            "request.timeout.ms",
            settings.request_timeout_ms.to_string(),
        ),
        ("message.timeout.ms", or(settings.message_timeout_ms, "0")),
        ("message.send.max.retries", settings.retries.to_string()),
        ("retry.backoff.ms", settings.retry_backoff_ms.to_string()),
        (
            "retry.backoff.max.ms",
            settings.retry_backoff_max_ms.to_string(),
        ),
        (
            "enable.idempotence",
            settings.idempotence.is_on().to_string(),
        ),
        ("enable.gapless.guarantee", is_gapless.to_string()),
        (
            "transaction.timeout.ms",
            settings.transaction_timeout_ms.to_string(),
        ),
        ("delivery.report.only.error", only_errors.to_string()),
        (
            "statistics.interval.ms",
            or(settings.statistics_interval_ms, "0"),
        ),
    ]
}

fn batches(settings: &RdkafkaProducerSettings) -> Named {
    let linger_ms = settings.linger_us as f64 / 1000.0;
    let kbytes = settings.queue.value_bytes_max / 1024;
    vec![
        (
            "queue.buffering.max.messages",
            or(settings.queue.messages_max, "0"),
        ),
        ("queue.buffering.max.kbytes", kbytes.to_string()),
        ("queue.buffering.max.ms", linger_ms.to_string()),
        (
            "queue.buffering.backpressure.threshold",
            settings.backpressure_requests_max.to_string(),
        ),
        (
            "sticky.partitioning.linger.ms",
            settings.sticky_linger_ms.to_string(),
        ),
        (
            "batch.num.messages",
            settings.batch_messages_max.to_string(),
        ),
        ("batch.size", settings.batch_size_bytes.to_string()),
        ("message.max.bytes", settings.message_max_bytes.to_string()),
        (
            "compression.codec",
            settings.compression.codec.name().to_string(),
        ),
        ("compression.level", or(settings.compression.level, "-1")),
        ("partitioner", settings.partitioner.name().to_string()),
        ("queuing.strategy", settings.queuing.name().to_string()),
    ]
}

fn connections(settings: &RdkafkaProducerSettings) -> Named {
    let connections = settings.connections;
    vec![
        (
            "max.in.flight.requests.per.connection",
            settings.max_in_flight.to_string(),
        ),
        (
            "socket.timeout.ms",
            connections.socket_timeout_ms.to_string(),
        ),
        ("socket.max.fails", or(connections.socket_fails_max, "0")),
        (
            "socket.connection.setup.timeout.ms",
            connections.setup_timeout_ms.to_string(),
        ),
        (
            "reconnect.backoff.ms",
            connections.reconnect_backoff_ms.to_string(),
        ),
        (
            "reconnect.backoff.max.ms",
            connections.reconnect_backoff_max_ms.to_string(),
        ),
        ("connections.max.idle.ms", or(connections.idle_max_ms, "0")),
    ]
}

fn metadata(settings: &RdkafkaProducerSettings) -> Named {
    let metadata = settings.metadata;
    let strategy = match metadata.recovery {
        RecoveryStrategy::None => "none",
        RecoveryStrategy::Rebootstrap => "rebootstrap",
    };
    let creates = metadata.missing_topics == MissingTopics::Create;
    vec![
        (
            "topic.metadata.refresh.interval.ms",
            or(metadata.refresh_interval_ms, "-1"),
        ),
        ("metadata.max.age.ms", metadata.max_age_ms.to_string()),
        (
            "topic.metadata.refresh.fast.interval.ms",
            metadata.refresh_fast_interval_ms.to_string(),
        ),
        (
            "topic.metadata.propagation.max.ms",
            metadata.propagation_max_ms.to_string(),
        ),
        ("metadata.recovery.strategy", strategy.to_string()),
        (
            "metadata.recovery.rebootstrap.trigger.ms",
            metadata.rebootstrap_trigger_ms.to_string(),
        ),
        ("allow.auto.create.topics", creates.to_string()),
    ]
}

// === Warnings

fn log_lines(real: &Value) -> Vec<&str> {
    let lines = real.get("logs").and_then(Value::as_array);
    let lines = lines.into_iter().flatten();
    lines.filter_map(Value::as_str).collect()
}

/// The client's log lines beside our notes.
fn compare_log(comparison: Comparison, real: &[&str], notes: &[Note]) -> Comparison {
    let real: Vec<_> = real.iter().map(|line| in_our_words(line)).collect();
    let simulated: Vec<_> = notes
        .iter()
        .filter(|note| note.kind == NoteKind::Warned)
        .map(|note| format!("{}: {}", note.key, note.text))
        .collect();
    comparison.list("warnings", &real, &simulated)
}

/// The note that stands for a log line.
fn in_our_words(line: &str) -> String {
    let quoted: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
    let words: Vec<&str> = line.split(' ').collect();
    if line.starts_with("No `bootstrap.servers` configured") {
        return "bootstrap.servers: no addresses: the client would never connect; the simulated \
                one does"
            .to_string();
    }
    if let [key, max_key, ..] = quoted[..]
        && line.starts_with("Configuration `")
    {
        let numbers: Vec<&str> = line
            .split("with value ")
            .skip(1)
            .filter_map(|rest| rest.split([' ', '.']).next())
            .collect();
        return format!(
            "{key}: {} ms is larger than {max_key} ({} ms), which is the wait",
            numbers[0], numbers[1]
        );
    }
    let name = words.get(2).unwrap_or(&"");
    if line.contains("is a consumer property and will be ignored by this producer") {
        return format!("{name}: a consumer property, which a producer ignores");
    }
    let standing = words.get(4).unwrap_or(&"").trim_end_matches(':');
    // The client leaves out the word between the two.
    let standing = standing.replace("deprecatedexperimental", "deprecated and experimental");
    format!("{name}: the client warns that this is {standing}")
}
