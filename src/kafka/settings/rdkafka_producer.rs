//! What a librdkafka producer runs with.
//!
//! Invariants: where the configuration has a number that stands for "no limit" or "never", the
//! type here says so; times are milliseconds except [`RdkafkaProducerSettings::linger_us`];
//! [`RdkafkaProducerSettings::defaults`] equals what an empty configuration yields.

use super::super::rdkafka_partitioner::RdkafkaPartitioner;
use super::super::rdkafka_version::RdkafkaVersion;
use super::producer::{Acks, Compression, CompressionType, RecoveryStrategy};

/// The effective settings of one librdkafka producer.
///
/// Topic properties are here too: they are those of the default topic configuration.
///
/// Source: librdkafka `CONFIGURATION.md`, and `rd_kafka_conf_finalize`,
/// `rd_kafka_topic_conf_finalize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RdkafkaProducerSettings {
    /// The client's release, which decides behaviour beyond these values.
    pub version: RdkafkaVersion,
    /// `client.id`; its length counts in every request.
    pub client_id: String,
    /// What may wait for sending, for an answer or for `poll()`, over all topics.
    pub queue: RdkafkaQueueSettings,
    /// `queue.buffering.max.ms` (`linger.ms`) in microseconds, truncated: 0 to 900,000,000.
    /// Counted from the `produce()` of a partition's oldest waiting message.
    pub linger_us: u64,
    /// `batch.num.messages`: messages of one batch, 1 to 1,000,000.
    pub batch_messages_max: u32,
    /// `batch.size`: uncompressed bytes of one batch with its request, 1 to 2,147,483,647.
    pub batch_size_bytes: u32,
    /// `message.max.bytes`: the largest message, and another limit on a batch; 1,000 to
    /// 1,000,000,000.
    pub message_max_bytes: u32,
    /// `queue.buffering.backpressure.threshold`: requests of one broker that may wait for its
    /// socket before batches stop being built; 1 to 1,000,000.
    pub backpressure_requests_max: u32,
    /// `max.in.flight.requests.per.connection`: 1 to 1,000,000, of every kind of request.
    pub max_in_flight: u32,
    /// `message.send.max.retries` (`retries`): how often a message is sent again.
    pub retries: u32,
    /// `retry.backoff.ms`: the first wait before a retry, 1 to 300,000.
    pub retry_backoff_ms: u64,
    /// `retry.backoff.max.ms`: the longest, jitter included, 1 to 300,000. It may be below
    /// [`Self::retry_backoff_ms`]; then every wait is this.
    pub retry_backoff_max_ms: u64,
    /// `sticky.partitioning.linger.ms`: how long keyless messages stay with a partition, up to
    /// 900,000; 0 draws a partition for each. Twice the linger where it was not set.
    pub sticky_linger_ms: u64,
    /// Whether the application has a delivery-report callback (`dr_msg_cb`), and
    /// `delivery.report.only.error`.
    pub delivery_reports: DeliveryReports,
    /// `compression.codec` with `compression.level`; the level is nothing for the codec's own.
    pub compression: Compression,
    /// `enable.idempotence` and `enable.gapless.guarantee`.
    pub idempotence: RdkafkaIdempotence,
    /// `transactional.id`.
    pub transactional_id: Option<String>,
    /// `transaction.timeout.ms`: 1,000 to 2,147,483,647.
    pub transaction_timeout_ms: u64,
    /// `request.required.acks` (`acks`).
    pub acks: RequiredAcks,
    /// `request.timeout.ms`: how long the broker waits for its replicas, 1 to 900,000. The client
    /// itself measures `socket.timeout.ms`.
    pub request_timeout_ms: u64,
    /// `message.timeout.ms` (`delivery.timeout.ms`), counted from `produce()`; nothing is never.
    pub message_timeout_ms: Option<u64>,
    /// `partitioner`.
    pub partitioner: RdkafkaPartitioner,
    /// `queuing.strategy`.
    pub queuing: QueuingStrategy,
    /// How connections are made, kept and given up.
    pub connections: RdkafkaConnectionSettings,
    /// How metadata is asked for and believed.
    pub metadata: RdkafkaMetadataSettings,
    /// `statistics.interval.ms`, up to 86,400,000; nothing is never.
    pub statistics_interval_ms: Option<u64>,
}

/// What may wait in a client, over all its topics and partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RdkafkaQueueSettings {
    /// `queue.buffering.max.messages`; nothing is no limit on their number.
    pub messages_max: Option<u32>,
    /// `queue.buffering.max.kbytes` in bytes (1,024 to a unit). Only values count: no key, no
    /// header, no overhead.
    pub value_bytes_max: u64,
}

/// Which messages the application hears of: whether it has a delivery-report callback
/// (`dr_msg_cb`), and `delivery.report.only.error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeliveryReports {
    /// All: a message keeps its place in the queue until `poll()` has served its report.
    All,
    /// Those that failed; delivered ones give up their places at once.
    OnlyErrors,
    /// None, without a callback: every message gives up its place when its fate is known.
    None,
}

/// Whether the broker can tell a repeated message from a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RdkafkaIdempotence {
    /// `enable.idempotence=false`.
    Off,
    /// `enable.idempotence=true`: a batch that fails for good leaves a gap, and the client goes
    /// on with the next epoch.
    On,
    /// With `enable.gapless.guarantee=true`: such a failure is fatal (`_GAPLESS_GUARANTEE`).
    Gapless,
}

impl RdkafkaIdempotence {
    /// Whether messages carry producer id, epoch and sequence.
    pub const fn is_on(self) -> bool {
        !matches!(self, Self::Off)
    }
}

/// A value of `request.required.acks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredAcks {
    /// 0, 1 or −1.
    Valid(Acks),
    /// 2 to 1,000: the client sends it, and the broker refuses it (`INVALID_REQUIRED_ACKS`).
    Refused(i16),
}

impl RequiredAcks {
    /// The number on the wire.
    pub const fn code(self) -> i16 {
        match self {
            Self::Valid(acks) => acks.code(),
            Self::Refused(code) => code,
        }
    }
}

/// Which message of a partition goes first (`queuing.strategy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueuingStrategy {
    /// The oldest.
    Fifo,
    /// The newest.
    Lifo,
}

impl QueuingStrategy {
    /// The word in a configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Lifo => "lifo",
        }
    }
}

/// How connections are made, kept and given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RdkafkaConnectionSettings {
    /// `socket.timeout.ms`: how long an answer may take, 10 to 300,000 where it was set.
    pub socket_timeout_ms: u64,
    /// `socket.max.fails`: requests that may time out before the connection is closed; nothing
    /// is any number.
    pub socket_fails_max: Option<u32>,
    /// `socket.connection.setup.timeout.ms`: 1,000 to 2,147,483,647.
    pub setup_timeout_ms: u64,
    /// `reconnect.backoff.ms`: the first wait before a broker is connected to again, up to
    /// 3,600,000.
    pub reconnect_backoff_ms: u64,
    /// `reconnect.backoff.max.ms`: the longest; at least the first.
    pub reconnect_backoff_max_ms: u64,
    /// `connections.max.idle.ms`; nothing is never.
    pub idle_max_ms: Option<u64>,
}

/// How metadata is asked for and believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RdkafkaMetadataSettings {
    /// `topic.metadata.refresh.interval.ms`, up to 3,600,000; nothing is only on demand.
    pub refresh_interval_ms: Option<u64>,
    /// `metadata.max.age.ms`: how long an answer is believed, 1 to 86,400,000. Three times the
    /// refresh interval where it was not set.
    pub max_age_ms: u64,
    /// `topic.metadata.refresh.fast.interval.ms`: the first wait between questions for a lost
    /// leader, 1 to 60,000. `retry.backoff.ms` where it was not set, whatever that is.
    pub refresh_fast_interval_ms: u64,
    /// `topic.metadata.propagation.max.ms`: for how long after its first use a topic may be
    /// unknown to the cluster, up to 3,600,000.
    pub propagation_max_ms: u64,
    /// `metadata.recovery.strategy`.
    pub recovery: RecoveryStrategy,
    /// `metadata.recovery.rebootstrap.trigger.ms`: how long metadata may fail before the client
    /// starts over, up to 2,147,483,647.
    pub rebootstrap_trigger_ms: u64,
    /// `allow.auto.create.topics`.
    pub missing_topics: MissingTopics,
}

/// What a question for a topic that does not exist asks of the cluster
/// (`allow.auto.create.topics`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissingTopics {
    /// To make it, if brokers do that.
    Create,
    /// To say that it is missing.
    Report,
}

impl RdkafkaProducerSettings {
    /// What a producer of this release runs with when nothing was configured.
    pub fn defaults(version: RdkafkaVersion) -> Self {
        Self {
            version,
            client_id: "rdkafka".to_owned(),
            queue: RdkafkaQueueSettings {
                messages_max: Some(100_000),
                value_bytes_max: 1_073_741_824,
            },
            linger_us: 5_000,
            batch_messages_max: 10_000,
            batch_size_bytes: 1_000_000,
            message_max_bytes: 1_000_000,
            backpressure_requests_max: 1,
            max_in_flight: 1_000_000,
            retries: i32::MAX as u32,
            retry_backoff_ms: 100,
            retry_backoff_max_ms: 1_000,
            sticky_linger_ms: 10,
            delivery_reports: DeliveryReports::All,
            compression: Compression {
                codec: CompressionType::None,
                level: None,
            },
            idempotence: RdkafkaIdempotence::Off,
            transactional_id: None,
            transaction_timeout_ms: 60_000,
            acks: RequiredAcks::Valid(Acks::All),
            request_timeout_ms: 30_000,
            message_timeout_ms: Some(300_000),
            partitioner: RdkafkaPartitioner::ConsistentRandom,
            queuing: QueuingStrategy::Fifo,
            connections: RdkafkaConnectionSettings::DEFAULT,
            metadata: RdkafkaMetadataSettings::DEFAULT,
            statistics_interval_ms: None,
        }
    }
}

impl RdkafkaConnectionSettings {
    /// What holds when nothing was configured.
    pub const DEFAULT: Self = Self {
        socket_timeout_ms: 60_000,
        socket_fails_max: Some(1),
        setup_timeout_ms: 30_000,
        reconnect_backoff_ms: 100,
        reconnect_backoff_max_ms: 10_000,
        idle_max_ms: None,
    };
}

impl RdkafkaMetadataSettings {
    /// What holds when nothing was configured.
    pub const DEFAULT: Self = Self {
        refresh_interval_ms: Some(300_000),
        max_age_ms: 900_000,
        refresh_fast_interval_ms: 100,
        propagation_max_ms: 30_000,
        recovery: RecoveryStrategy::Rebootstrap,
        rebootstrap_trigger_ms: 300_000,
        missing_topics: MissingTopics::Create,
    };
}
