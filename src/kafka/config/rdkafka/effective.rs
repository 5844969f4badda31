//! From the values of a librdkafka producer's configuration to what the engine takes.
//!
//! Invariant: where a value is missing because it was refused, the default holds.

use super::super::super::rdkafka_partitioner::RdkafkaPartitioner;
use super::super::super::rdkafka_version::RdkafkaVersion;
use super::super::super::settings::{
    Acks, Compression, CompressionType, DeliveryReports, MissingTopics, QueuingStrategy,
    RdkafkaConnectionSettings, RdkafkaIdempotence, RdkafkaMetadataSettings,
    RdkafkaProducerSettings, RdkafkaQueueSettings, RecoveryStrategy, RequiredAcks,
};
use super::super::values::Values;
use super::ACKS;

/// Bytes in a unit of `queue.buffering.max.kbytes`.
const BYTES_PER_KBYTE: u64 = 1024;
/// Microseconds in a millisecond.
const US_PER_MS: f64 = 1000.0;

/// The settings before any rule about several properties.
pub(super) fn settings(version: RdkafkaVersion, values: &Values) -> RdkafkaProducerSettings {
    let default = RdkafkaProducerSettings::defaults(version);
    RdkafkaProducerSettings {
        version,
        client_id: values.text("client.id").unwrap_or_default().to_owned(),
        queue: RdkafkaQueueSettings {
            messages_max: limit(values, "queue.buffering.max.messages"),
            value_bytes_max: values.or_zero::<u64>("queue.buffering.max.kbytes") * BYTES_PER_KBYTE,
        },
        linger_us: values
            .double("queue.buffering.max.ms")
            .map_or(default.linger_us, linger_us),
        batch_messages_max: values.or_zero("batch.num.messages"),
        batch_size_bytes: values.or_zero("batch.size"),
        message_max_bytes: values.or_zero("message.max.bytes"),
        backpressure_requests_max: values.or_zero("queue.buffering.backpressure.threshold"),
        max_in_flight: values.or_zero("max.in.flight.requests.per.connection"),
        retries: values.or_zero("message.send.max.retries"),
        retry_backoff_ms: values.or_zero("retry.backoff.ms"),
        retry_backoff_max_ms: values.or_zero("retry.backoff.max.ms"),
        sticky_linger_ms: values.or_zero("sticky.partitioning.linger.ms"),
        delivery_reports: if values.is_true("delivery.report.only.error") {
            DeliveryReports::OnlyErrors
        } else {
            DeliveryReports::All
        },
        compression: compression(values),
        idempotence: idempotence(values),
        transactional_id: values.text("transactional.id").map(str::to_owned),
        transaction_timeout_ms: values.or_zero("transaction.timeout.ms"),
        acks: values.unsigned(ACKS).map_or(default.acks, required_acks),
        request_timeout_ms: values.or_zero("request.timeout.ms"),
        message_timeout_ms: limit(values, "message.timeout.ms"),
        partitioner: values
            .text("partitioner")
            .and_then(RdkafkaPartitioner::from_name)
            .unwrap_or(default.partitioner),
        queuing: if values.text("queuing.strategy") == Some(QueuingStrategy::Lifo.name()) {
            QueuingStrategy::Lifo
        } else {
            QueuingStrategy::Fifo
        },
        connections: connections(values),
        metadata: metadata(values),
        statistics_interval_ms: limit(values, "statistics.interval.ms"),
    }
}

/// The linger as the client uses it: whole microseconds, cut.
pub(super) fn linger_us(linger_ms: f64) -> u64 {
    (linger_ms * US_PER_MS) as u64
}

/// A number of which 0, and −1 where it is admitted, stands for "no limit" or "never".
fn limit<T: TryFrom<i64>>(values: &Values, name: &str) -> Option<T> {
    let number = values.integer(name).filter(|number| *number > 0)?;
    T::try_from(number).ok()
}

fn required_acks(code: i16) -> RequiredAcks {
    match code {
        0 => RequiredAcks::Valid(Acks::None),
        1 => RequiredAcks::Valid(Acks::Leader),
        -1 => RequiredAcks::Valid(Acks::All),
        code => RequiredAcks::Refused(code),
    }
}

fn idempotence(values: &Values) -> RdkafkaIdempotence {
    match (
        values.is_true("enable.idempotence"),
        values.is_true("enable.gapless.guarantee"),
    ) {
        (false, _) => RdkafkaIdempotence::Off,
        (true, false) => RdkafkaIdempotence::On,
        (true, true) => RdkafkaIdempotence::Gapless,
    }
}

fn compression(values: &Values) -> Compression {
    let codec = values
        .text("compression.codec")
        .and_then(CompressionType::from_name)
        .unwrap_or(CompressionType::None);
    let level = values
        .integer("compression.level")
        .and_then(|level| i32::try_from(level).ok());
    Compression {
        codec,
        level: level.filter(|level| *level != -1),
    }
}

fn connections(values: &Values) -> RdkafkaConnectionSettings {
    RdkafkaConnectionSettings {
        socket_timeout_ms: values.or_zero("socket.timeout.ms"),
        socket_fails_max: limit(values, "socket.max.fails"),
        setup_timeout_ms: values.or_zero("socket.connection.setup.timeout.ms"),
        reconnect_backoff_ms: values.or_zero("reconnect.backoff.ms"),
        reconnect_backoff_max_ms: values.or_zero("reconnect.backoff.max.ms"),
        idle_max_ms: limit(values, "connections.max.idle.ms"),
    }
}

fn metadata(values: &Values) -> RdkafkaMetadataSettings {
    RdkafkaMetadataSettings {
        refresh_interval_ms: limit(values, "topic.metadata.refresh.interval.ms"),
        max_age_ms: values.or_zero("metadata.max.age.ms"),
        refresh_fast_interval_ms: values.or_zero("topic.metadata.refresh.fast.interval.ms"),
        propagation_max_ms: values.or_zero("topic.metadata.propagation.max.ms"),
        recovery: match values.text("metadata.recovery.strategy") {
            Some("none") => RecoveryStrategy::None,
            _ => RecoveryStrategy::Rebootstrap,
        },
        rebootstrap_trigger_ms: values.or_zero("metadata.recovery.rebootstrap.trigger.ms"),
        missing_topics: if values.is_true("allow.auto.create.topics") {
            MissingTopics::Create
        } else {
            MissingTopics::Report
        },
    }
}
