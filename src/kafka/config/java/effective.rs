//! From the values of a Java producer's configuration to what the engine takes.
//!
//! Invariant: where a value is missing, because the version does not know the key or because the
//! value was refused, the version's default holds.

use super::super::super::backoff::ExponentialBackoff;
use super::super::super::settings::{
    Acks, Compression, CompressionType, JavaProducerSettings, MetadataSettings, MetricsSettings,
    PartitionerClass, PartitionerSettings, RecoveryStrategy,
};
use super::super::super::version::KafkaVersion;
use super::super::class_names;
use super::super::values::Values;
use super::PARTITIONER_CLASS;

/// The settings before any rule about several keys.
pub(super) fn settings(version: KafkaVersion, values: &Values) -> JavaProducerSettings {
    let default = JavaProducerSettings::defaults(version);
    let ms = |name, default_ms: u64| values.clamped(name).unwrap_or(default_ms);
    let retry = backoff(values, "retry.backoff", default.retry_backoff);
    JavaProducerSettings {
        version,
        client_id: client_id(values),
        client_rack: text(values, "client.rack"),
        acks: values.text("acks").map_or(default.acks, acks),
        idempotence: values
            .flag("enable.idempotence")
            .unwrap_or(default.idempotence),
        transactional_id: text(values, "transactional.id"),
        transaction_timeout_ms: ms("transaction.timeout.ms", default.transaction_timeout_ms),
        max_in_flight: values
            .unsigned("max.in.flight.requests.per.connection")
            .unwrap_or(default.max_in_flight),
        retries: values.unsigned("retries").unwrap_or(default.retries),
        retry_backoff_ms: retry.initial_ms,
        retry_backoff: ExponentialBackoff::for_retries(version, retry.initial_ms, retry.max_ms),
        delivery_timeout_ms: ms("delivery.timeout.ms", default.delivery_timeout_ms),
        request_timeout_ms: ms("request.timeout.ms", default.request_timeout_ms),
        max_block_ms: ms("max.block.ms", default.max_block_ms),
        linger_ms: ms("linger.ms", default.linger_ms),
        batch_size: values
            .unsigned("batch.size")
            .unwrap_or(default.batch_size)
            .max(1),
        buffer_memory: values
            .unsigned("buffer.memory")
            .unwrap_or(default.buffer_memory),
        max_request_size: values
            .unsigned("max.request.size")
            .unwrap_or(default.max_request_size),
        compression: compression(values),
        partitioner: partitioner(values, &default),
        metadata: metadata(values, default.metadata),
        reconnect_backoff: backoff(values, "reconnect.backoff", default.reconnect_backoff),
        connection_setup_timeout: default
            .connection_setup_timeout
            .map(|timeout| backoff(values, "socket.connection.setup.timeout", timeout)),
        connections_max_idle_ms: values
            .unsigned("connections.max.idle.ms")
            .unwrap_or(u64::MAX),
        metrics: metrics(values, default.metrics),
    }
}

/// A text key that is neither null nor empty.
fn text(values: &Values, name: &str) -> Option<String> {
    values
        .text(name)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// `ProducerConfig.maybeOverrideClientId`: a client without a name is called after its
/// transactions.
fn client_id(values: &Values) -> Option<String> {
    if values.is_set("client.id") {
        return text(values, "client.id");
    }
    values
        .text("transactional.id")
        .map(|id| format!("producer-{id}"))
}

/// The pair of keys `PREFIX.ms` and `PREFIX.max.ms`.
fn backoff(values: &Values, prefix: &str, default: ExponentialBackoff) -> ExponentialBackoff {
    ExponentialBackoff {
        initial_ms: values
            .clamped(&format!("{prefix}.ms"))
            .unwrap_or(default.initial_ms),
        max_ms: values
            .clamped(&format!("{prefix}.max.ms"))
            .unwrap_or(default.max_ms),
    }
}

fn metrics(values: &Values, default: MetricsSettings) -> MetricsSettings {
    MetricsSettings {
        num_samples: values
            .unsigned("metrics.num.samples")
            .unwrap_or(default.num_samples),
        sample_window_ms: values
            .unsigned("metrics.sample.window.ms")
            .unwrap_or(default.sample_window_ms),
    }
}

fn acks(text: &str) -> Acks {
    match text {
        "0" => Acks::None,
        "1" => Acks::Leader,
        _ => Acks::All,
    }
}

fn compression(values: &Values) -> Compression {
    let codec = values
        .text("compression.type")
        .and_then(CompressionType::from_name)
        .unwrap_or(CompressionType::None);
    let level = values.integer(&format!("compression.{}.level", codec.name()));
    Compression {
        codec,
        level: level.and_then(|level| i32::try_from(level).ok()),
    }
}

fn partitioner(values: &Values, default: &JavaProducerSettings) -> PartitionerSettings {
    let class = values
        .text(PARTITIONER_CLASS)
        .and_then(|class| class_names::partitioner(class, default.version))
        .unwrap_or_else(|| default.partitioner.class.clone());
    let is_built_in = class == PartitionerClass::BuiltIn;
    let flag = |name| is_built_in && values.flag(name) == Some(true);
    let rack = values
        .text("client.rack")
        .filter(|_| flag("partitioner.rack.aware"));
    PartitionerSettings {
        class,
        ignore_keys: flag("partitioner.ignore.keys"),
        adaptive: flag("partitioner.adaptive.partitioning.enable"),
        availability_timeout_ms: values
            .unsigned("partitioner.availability.timeout.ms")
            .unwrap_or_default(),
        preferred_rack: rack.map(str::to_owned),
    }
}

fn metadata(values: &Values, default: MetadataSettings) -> MetadataSettings {
    let recovery = match values.text("metadata.recovery.strategy") {
        Some(text) if text.eq_ignore_ascii_case("rebootstrap") => RecoveryStrategy::Rebootstrap,
        Some(_) => RecoveryStrategy::None,
        None => default.recovery,
    };
    MetadataSettings {
        max_age_ms: values
            .unsigned("metadata.max.age.ms")
            .unwrap_or(default.max_age_ms),
        max_idle_ms: values
            .unsigned("metadata.max.idle.ms")
            .unwrap_or(default.max_idle_ms),
        recovery,
        rebootstrap_trigger_ms: values.unsigned("metadata.recovery.rebootstrap.trigger.ms"),
    }
}
