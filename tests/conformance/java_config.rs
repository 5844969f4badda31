//! What the Java client makes of 160 configurations: what it refuses, in which words, and what it
//! runs with otherwise.
//!
//! Of an accepted configuration, everything that the engine takes is compared with what the real
//! client takes from its effective values; [`as_used`] says where the client itself departs from
//! them. Case `defaults` compares the name and the default of every key, with or without effect.
//!
//! Not compared, because the simulation accepts them without effect: the values of
//! `bootstrap.servers`, `client.dns.lookup`, `config.providers`, `enable.metrics.push`,
//! `interceptor.classes`, `key.serializer`, `metric.reporters`, `metrics.recording.level`,
//! `receive.buffer.bytes`, `send.buffer.bytes`, `transaction.two.phase.commit.enable`,
//! `value.serializer`, of `sasl.*`, `security.*` and `ssl.*`, and the level of a codec that is not
//! in use. Nor are the log lines of a refused configuration.

use std::collections::BTreeMap;

use kdrill::kafka::config::{DefaultValue, Modelling, Note, NoteKind, java};
use kdrill::kafka::settings::{JavaProducerSettings, PartitionerClass, RecoveryStrategy};
use kdrill::kafka::version::KafkaVersion;
use serde_json::Value;

use crate::comparison::Comparison;
use crate::golden;

const MECHANISM: &str = "client configuration: refusals, effective values, silent changes";
const VERSION: KafkaVersion = KafkaVersion::new(4, 3, 1);
/// What every case sets, unless it leaves the name out.
const BASE: [(&str, &str); 4] = [
    ("bootstrap.servers", "127.0.0.1:1"),
    ("client.id", "probe"),
    (
        "key.serializer",
        "org.apache.kafka.common.serialization.StringSerializer",
    ),
    (
        "value.serializer",
        "org.apache.kafka.common.serialization.StringSerializer",
    ),
];
/// Java's `Integer.MAX_VALUE`.
const INT_MAX: i64 = i32::MAX as i64;

type Texts = BTreeMap<String, String>;

/// Every case of the probe.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("java-config");
    let defaults = texts(&golden.cases["defaults"]["effective"]);
    let cases = golden.cases.iter();
    cases
        .map(|(case, real)| {
            let comparison = Comparison::new(golden.path(case), MECHANISM);
            if case == "defaults" {
                compare_defaults(comparison, &defaults)
            } else {
                compare_case(comparison, real, &defaults)
            }
        })
        .collect()
}

fn compare_case(comparison: Comparison, real: &Value, defaults: &Texts) -> Comparison {
    let outcome = java::validate(VERSION, &pairs(real));
    let real_refusal = real
        .get("exception")
        .map_or("accepted".to_string(), stack_trace);
    let simulated_refusal = match &outcome {
        Ok(_) => "accepted".to_string(),
        Err(problems) => problems[0].to_string(),
    };
    let comparison = comparison.text("verdict", real_refusal, simulated_refusal);
    match outcome {
        Ok((settings, notes)) if real.get("exception").is_none() => {
            let real_values = as_used(real, defaults);
            let values = compare_texts(comparison, &real_values, &values(&settings));
            compare_log(values, real, &real_values, &notes)
        }
        _ => comparison,
    }
}

/// What a case sets, base included.
fn pairs(real: &Value) -> Vec<(String, String)> {
    let configs = real["configs"].as_object().expect("configs");
    let base = BASE.iter().filter(|(name, _)| !configs.contains_key(*name));
    let base = base.map(|(name, value)| ((*name).to_string(), (*value).to_string()));
    let set = configs
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_string())));
    base.chain(set).collect()
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

/// The exception with its causes, as a stack trace prints them.
fn stack_trace(exception: &Value) -> String {
    let part = |name: &str| exception[name].as_str().unwrap_or_default();
    let own = format!("{}: {}", part("class"), part("text"));
    match exception.get("cause") {
        Some(cause) => format!("{own}\nCaused by: {}", stack_trace(cause)),
        None => own,
    }
}

// === Effective values

/// Names and defaults of every key that the client knows.
fn compare_defaults(comparison: Comparison, real: &Texts) -> Comparison {
    let known = java::table().filter(|key| key.is_known_to(VERSION));
    let simulated = known
        .map(|key| {
            let base = BASE.iter().find(|(name, _)| *name == key.name);
            let default = match (base, key.default(VERSION)) {
                (Some((_, set)), _) => set,
                (None, DefaultValue::Text("all")) => "-1",
                (None, DefaultValue::Text(text)) => text,
                (None, DefaultValue::Null | DefaultValue::Required) => "null",
            };
            (key.name.to_string(), default.to_string())
        })
        .collect();
    compare_texts(comparison, real, &simulated)
}

/// The real client's effective values of the keys with effect, as the client then uses them.
fn as_used(real: &Value, defaults: &Texts) -> Texts {
    let mut values = defaults.clone();
    values.extend(texts(&real["changed"]));
    let has_own_partitioner = values["partitioner.class"] != "null";
    let level_in_use = format!("compression.{}.level", values["compression.type"]);
    values.retain(|name, _| has_effect(name) && (!is_level(name) || *name == level_in_use));
    for (name, value) in &mut values {
        let number: Option<i64> = value.parse().ok();
        *value = match (name.as_str(), number) {
            // The accumulator's, which a raised default reaches and the effective value does not.
            ("delivery.timeout.ms", _) => real["delivery_timeout_ms"].to_string(),
            ("enable.idempotence", _) => real["idempotent"].to_string(),
            ("linger.ms", Some(ms)) => ms.min(INT_MAX).to_string(),
            ("batch.size", Some(bytes)) => bytes.max(1).to_string(),
            // A wait below zero is over at once; the broker refuses this and any timeout of 0.
            ("socket.connection.setup.timeout.ms" | "transaction.timeout.ms", Some(ms)) => {
                ms.max(0).to_string()
            }
            ("partitioner.adaptive.partitioning.enable", _) if has_own_partitioner => {
                "false".to_string()
            }
            ("metadata.recovery.strategy", _) => value.to_lowercase(),
            _ => continue,
        };
    }
    values
}

/// Whether the engine takes the key.
fn has_effect(name: &str) -> bool {
    java::find(name).is_some_and(|key| key.modelling == Modelling::Modelled)
}

fn is_level(name: &str) -> bool {
    name.rsplit('.').next() == Some("level")
}

/// What the engine takes, by the names of the configuration.
fn values(settings: &JavaProducerSettings) -> Texts {
    let or_null = |text: &Option<String>| text.clone().unwrap_or("null".to_string());
    let mut values = delivery(settings);
    values.extend([
        ("client.id", or_null(&settings.client_id)),
        ("transactional.id", or_null(&settings.transactional_id)),
        (
            "compression.type",
            settings.compression.codec.name().to_string(),
        ),
    ]);
    values.extend(partitioner(settings));
    values.extend(connections(settings));
    let named = values.into_iter();
    let mut values: Texts = named
        .map(|(name, value)| (name.to_string(), value))
        .collect();
    if let Some(level) = settings.compression.level {
        let codec = settings.compression.codec.name();
        values.insert(format!("compression.{codec}.level"), level.to_string());
    }
    values
}

type Named = Vec<(&'static str, String)>;

fn delivery(settings: &JavaProducerSettings) -> Named {
    vec![
        ("acks", settings.acks.code().to_string()),
        ("batch.size", settings.batch_size.to_string()),
        ("buffer.memory", settings.buffer_memory.to_string()),
        (
            "delivery.timeout.ms",
            settings.delivery_timeout_ms.to_string(),
        ),
        ("enable.idempotence", settings.idempotence.to_string()),
        ("linger.ms", settings.linger_ms.to_string()),
        ("max.block.ms", settings.max_block_ms.to_string()),
        (
            "max.in.flight.requests.per.connection",
            settings.max_in_flight.to_string(),
        ),
        ("max.request.size", settings.max_request_size.to_string()),
        (
            "request.timeout.ms",
            settings.request_timeout_ms.to_string(),
        ),
        ("retries", settings.retries.to_string()),
        ("retry.backoff.ms", settings.retry_backoff_ms.to_string()),
        (
            "retry.backoff.max.ms",
            settings.retry_backoff.max_ms.to_string(),
        ),
        (
            "transaction.timeout.ms",
            settings.transaction_timeout_ms.to_string(),
        ),
    ]
}

fn partitioner(settings: &JavaProducerSettings) -> Named {
    let partitioner = &settings.partitioner;
    let class = match partitioner.class {
        PartitionerClass::BuiltIn => "null",
        PartitionerClass::RoundRobin => "org.apache.kafka.clients.producer.RoundRobinPartitioner",
        _ => "a partitioner that this version does not have",
    };
    vec![
        ("partitioner.class", class.to_string()),
        (
            "partitioner.ignore.keys",
            partitioner.ignore_keys.to_string(),
        ),
        (
            "partitioner.adaptive.partitioning.enable",
            partitioner.adaptive.to_string(),
        ),
        (
            "partitioner.availability.timeout.ms",
            partitioner.availability_timeout_ms.to_string(),
        ),
    ]
}

fn connections(settings: &JavaProducerSettings) -> Named {
    let JavaProducerSettings {
        metadata, metrics, ..
    } = settings;
    let strategy = match metadata.recovery {
        RecoveryStrategy::None => "none",
        RecoveryStrategy::Rebootstrap => "rebootstrap",
    };
    let trigger_ms = metadata.rebootstrap_trigger_ms;
    let mut named = vec![
        (
            "connections.max.idle.ms",
            settings.connections_max_idle_ms.to_string(),
        ),
        ("metadata.max.age.ms", metadata.max_age_ms.to_string()),
        ("metadata.max.idle.ms", metadata.max_idle_ms.to_string()),
        ("metadata.recovery.strategy", strategy.to_string()),
        (
            "metadata.recovery.rebootstrap.trigger.ms",
            trigger_ms.map_or("null".to_string(), |ms| ms.to_string()),
        ),
        ("metrics.num.samples", metrics.num_samples.to_string()),
        (
            "metrics.sample.window.ms",
            metrics.sample_window_ms.to_string(),
        ),
        (
            "reconnect.backoff.ms",
            settings.reconnect_backoff.initial_ms.to_string(),
        ),
        (
            "reconnect.backoff.max.ms",
            settings.reconnect_backoff.max_ms.to_string(),
        ),
    ];
    if let Some(setup) = settings.connection_setup_timeout {
        named.extend([
            (
                "socket.connection.setup.timeout.ms",
                setup.initial_ms.to_string(),
            ),
            (
                "socket.connection.setup.timeout.max.ms",
                setup.max_ms.to_string(),
            ),
        ]);
    }
    named
}

// === Silent changes

/// The client's log lines beside our notes; of a `linger.ms` that is cut the client says nothing.
fn compare_log(
    comparison: Comparison,
    real: &Value,
    real_values: &Texts,
    notes: &[Note],
) -> Comparison {
    let lines = real.get("log").and_then(Value::as_array);
    let lines = lines.into_iter().flatten().filter_map(Value::as_str);
    let real: Vec<_> = lines.map(|line| in_our_words(line, real_values)).collect();
    let simulated: Vec<_> = notes
        .iter()
        .filter(|note| note.kind == NoteKind::Changed)
        .map(|note| note.text.clone())
        .filter(|text| !text.starts_with("the client lingers for at most"))
        .collect();
    comparison.list("log lines", &real, &simulated)
}

/// The note that stands for a log line.
fn in_our_words(line: &str, values: &Texts) -> String {
    let quoted: Vec<&str> = line.split('\'').skip(1).step_by(2).collect();
    if let Some((_, cause)) = line.split_once("Idempotence will be disabled because ") {
        let (key, value) = cause.split_once(" is set to ").unwrap_or_default();
        let value = value.split([',', '.']).next().unwrap_or_default();
        return format!("idempotence is off because {key} is {value}");
    }
    if line.contains("Disabling exponential reconnect backoff") {
        let wait_ms = &values["reconnect.backoff.ms"];
        return format!(
            "reconnect.backoff.max.ms is not set and follows: the wait is constantly {wait_ms} ms, \
             without jitter"
        );
    }
    if let [_, first_ms, max_key, max_ms, ..] = quoted[..] {
        return format!(
            "{first_ms} ms is larger than {max_key} ({max_ms} ms): the wait is constantly \
             {max_ms} ms, without jitter"
        );
    }
    let (_, said) = line.split_once("] ").unwrap_or_default();
    let (rule, raised) = said.split_once(". Setting it to ").unwrap_or_default();
    format!(
        "{rule}; it is raised to {} ms",
        raised.trim_end_matches('.')
    )
}
