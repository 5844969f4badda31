//! What a Java producer runs with.
//!
//! Invariant: [`JavaProducerSettings::defaults`] equals what an empty configuration yields for
//! that version; a test of `config::java` holds the two together.

use std::sync::Arc;

use super::super::backoff::ExponentialBackoff;
use super::super::custom_partitioner::CustomPartitioner;
use super::super::hash::murmur2_partition;
use super::super::version::KafkaVersion;

/// The effective settings of one Java producer.
///
/// Source: `ProducerConfig` after `postProcessParsedConfig`, and the `KafkaProducer` constructor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaProducerSettings {
    /// The client's release, which decides behaviour beyond these values.
    pub version: KafkaVersion,
    /// `client.id`; nothing where the client numbers itself (`producer-1` …).
    pub client_id: Option<String>,
    /// `client.rack`, since 4.4; nothing where it is empty.
    pub client_rack: Option<String>,
    /// `acks`.
    pub acks: Acks,
    /// Whether the producer is idempotent in the end (`enable.idempotence` and its conflicts).
    pub idempotence: bool,
    /// `transactional.id`.
    pub transactional_id: Option<String>,
    /// `transaction.timeout.ms`.
    pub transaction_timeout_ms: u64,
    /// `max.in.flight.requests.per.connection`, at least 1.
    pub max_in_flight: u32,
    /// `retries`: how often a batch is sent again; attempts are one more.
    pub retries: u32,
    /// `retry.backoff.ms` as configured: also the fixed pause before repeated transactional
    /// requests.
    pub retry_backoff_ms: u64,
    /// The growing wait before a batch or a metadata request is sent again; constant before 3.7.
    pub retry_backoff: ExponentialBackoff,
    /// `delivery.timeout.ms`, raised to `linger.ms + request.timeout.ms` where it was not set.
    pub delivery_timeout_ms: u64,
    /// `request.timeout.ms`.
    pub request_timeout_ms: u64,
    /// `max.block.ms`.
    pub max_block_ms: u64,
    /// `linger.ms`, at most 2,147,483,647.
    pub linger_ms: u64,
    /// `batch.size` in bytes, at least 1: 0 counts as 1 everywhere.
    pub batch_size: u32,
    /// `buffer.memory` in bytes.
    pub buffer_memory: u64,
    /// `max.request.size` in bytes.
    pub max_request_size: u32,
    /// `compression.type` with its level.
    pub compression: Compression,
    /// How keyless records find a partition.
    pub partitioner: PartitionerSettings,
    /// How long metadata is believed.
    pub metadata: MetadataSettings,
    /// The growing wait before a node is connected to again (`reconnect.backoff.ms`, `.max.ms`).
    pub reconnect_backoff: ExponentialBackoff,
    /// The growing limit on connecting (`socket.connection.setup.timeout.ms`, `.max.ms`);
    /// nothing before 2.7, where only the operating system ended an attempt.
    pub connection_setup_timeout: Option<ExponentialBackoff>,
    /// `connections.max.idle.ms`; negative settings count as never, which is `u64::MAX`.
    pub connections_max_idle_ms: u64,
    /// The windows of the client's own metrics.
    pub metrics: MetricsSettings,
}

/// Which acknowledgement a producer waits for (`acks`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Acks {
    /// `0`: none; the request counts as delivered once it is on the wire.
    None,
    /// `1`: the leader's own append.
    Leader,
    /// `all` or `-1`: the append of every in-sync replica.
    All,
}

impl Acks {
    /// The number on the wire: 0, 1 or −1.
    pub const fn code(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Leader => 1,
            Self::All => -1,
        }
    }
}

/// A codec (`compression.type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompressionType {
    /// No compression.
    None,
    /// Deflate.
    Gzip,
    /// Snappy, which has no levels.
    Snappy,
    /// LZ4.
    Lz4,
    /// Zstandard, since 2.1.
    Zstd,
}

impl CompressionType {
    /// Every codec.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The name in a configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// The codec with this name, case-sensitive as the client compares.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }
}

/// A codec with its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The codec.
    pub codec: CompressionType,
    /// `compression.{gzip,lz4,zstd}.level`; nothing for codecs without levels and before 3.8,
    /// where the codec's library chose.
    pub level: Option<i32>,
}

/// The rule by which records without explicit partition are placed (`partitioner.class`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartitionerClass {
    /// Keys hashed; keyless records stick by bytes and follow load (KIP-794, since 3.3).
    BuiltIn,
    /// Keys hashed; keyless records stick until a batch is full (KIP-480): `DefaultPartitioner`
    /// of 2.4 to 3.9, the default up to 3.2.
    StickyByBatch,
    /// The same without looking at keys: `UniformStickyPartitioner` of 2.4 to 3.9.
    UniformSticky,
    /// Keys hashed; keyless records go round: `DefaultPartitioner` up to 2.3.
    KeylessRoundRobin,
    /// All records go round, whatever their keys: `RoundRobinPartitioner`, since 2.4.
    RoundRobin,
    /// A class of the application decides about all records.
    Custom(Arc<CustomPartitioner>),
}

/// How records without explicit partition are placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionerSettings {
    /// `partitioner.class`.
    pub class: PartitionerClass,
    /// `partitioner.ignore.keys`: keyed records take the sticky path too.
    pub ignore_keys: bool,
    /// `partitioner.adaptive.partitioning.enable`: shorter queues get more records. Only
    /// [`PartitionerClass::BuiltIn`] can.
    pub adaptive: bool,
    /// `partitioner.availability.timeout.ms`; 0 is off.
    pub availability_timeout_ms: u64,
    /// `client.rack` where `partitioner.rack.aware` prefers leaders there (KIP-1123, since 4.4).
    pub preferred_rack: Option<String>,
}

/// What a client does when it can reach none of the brokers that it knows
/// (`metadata.recovery.strategy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecoveryStrategy {
    /// It keeps what it knows and tries again.
    None,
    /// It forgets everything and starts from `bootstrap.servers` (KIP-899).
    Rebootstrap,
}

/// How long metadata is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataSettings {
    /// `metadata.max.age.ms`.
    pub max_age_ms: u64,
    /// `metadata.max.idle.ms`; before 2.5 the same 5 minutes, fixed.
    pub max_idle_ms: u64,
    /// `metadata.recovery.strategy`.
    pub recovery: RecoveryStrategy,
    /// `metadata.recovery.rebootstrap.trigger.ms`; nothing before 4.0.
    pub rebootstrap_trigger_ms: Option<u64>,
}

/// The windows of the client's own metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricsSettings {
    /// `metrics.num.samples`, at least 1.
    pub num_samples: u32,
    /// `metrics.sample.window.ms`.
    pub sample_window_ms: u64,
}

impl JavaProducerSettings {
    /// What a producer of this version runs with when nothing was configured.
    pub fn defaults(version: KafkaVersion) -> Self {
        Self {
            version,
            client_id: None,
            client_rack: None,
            acks: if version.at_least(3, 0) {
                Acks::All
            } else {
                Acks::Leader
            },
            idempotence: version.is_idempotent_by_default(),
            transactional_id: None,
            transaction_timeout_ms: 60_000,
            max_in_flight: 5,
            retries: i32::MAX as u32,
            retry_backoff_ms: 100,
            retry_backoff: ExponentialBackoff::for_retries(version, 100, 1000),
            delivery_timeout_ms: 120_000,
            request_timeout_ms: 30_000,
            max_block_ms: 60_000,
            linger_ms: if version.at_least(4, 0) { 5 } else { 0 },
            batch_size: 16_384,
            buffer_memory: 33_554_432,
            max_request_size: 1_048_576,
            compression: Compression {
                codec: CompressionType::None,
                level: None,
            },
            partitioner: PartitionerSettings::defaults(version),
            metadata: MetadataSettings::defaults(version),
            reconnect_backoff: ExponentialBackoff::new(50, 1000),
            connection_setup_timeout: connection_setup_timeout(version),
            connections_max_idle_ms: 540_000,
            metrics: MetricsSettings {
                num_samples: 2,
                sample_window_ms: 30_000,
            },
        }
    }
}

impl PartitionerSettings {
    /// The default rule of a version.
    pub fn defaults(version: KafkaVersion) -> Self {
        Self {
            class: PartitionerClass::default_of(version),
            ignore_keys: false,
            adaptive: version.at_least(3, 3),
            availability_timeout_ms: 0,
            preferred_rack: None,
        }
    }
}

impl PartitionerSettings {
    /// Where every record of this key goes among so many partitions; none where that depends on
    /// more than the key.
    pub fn partition_of(&self, key: &[u8], partitions: u32) -> Option<u32> {
        match &self.class {
            PartitionerClass::Custom(class) => {
                let destination = class.destination(Some(key));
                let is_one = destination.choices(partitions) == 1;
                is_one.then(|| destination.partition(partitions, 0))
            }
            class if class.hashes_keys() && !self.ignore_keys => {
                Some(murmur2_partition(key, partitions.max(1)))
            }
            _ => None,
        }
    }
}

impl PartitionerClass {
    /// Whether records of one key go to one partition, the client's own hash of it.
    pub const fn hashes_keys(&self) -> bool {
        match self {
            Self::BuiltIn | Self::StickyByBatch | Self::KeylessRoundRobin => true,
            Self::RoundRobin | Self::UniformSticky | Self::Custom(_) => false,
        }
    }

    /// The rule that a client of this version follows without `partitioner.class`.
    pub fn default_of(version: KafkaVersion) -> Self {
        if version.at_least(3, 3) {
            Self::BuiltIn
        } else if version.at_least(2, 4) {
            Self::StickyByBatch
        } else {
            Self::KeylessRoundRobin
        }
    }
}

impl MetadataSettings {
    /// The defaults of a version.
    pub fn defaults(version: KafkaVersion) -> Self {
        let since_4_0 = version.at_least(4, 0);
        Self {
            max_age_ms: 300_000,
            max_idle_ms: 300_000,
            recovery: if since_4_0 {
                RecoveryStrategy::Rebootstrap
            } else {
                RecoveryStrategy::None
            },
            rebootstrap_trigger_ms: since_4_0.then_some(300_000),
        }
    }
}

fn connection_setup_timeout(version: KafkaVersion) -> Option<ExponentialBackoff> {
    let max_ms = if version.at_least(2, 8) {
        30_000
    } else {
        127_000
    };
    version
        .at_least(2, 7)
        .then_some(ExponentialBackoff::new(10_000, max_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults(major: u16, minor: u16) -> JavaProducerSettings {
        JavaProducerSettings::defaults(KafkaVersion::new(major, minor, 0))
    }

    #[test]
    fn three_zero_made_producers_wait_for_all_replicas() {
        assert_eq!(defaults(2, 8).acks, Acks::Leader);
        assert_eq!(defaults(3, 0).acks, Acks::All);
    }

    #[test]
    fn four_zero_made_producers_linger_and_rebootstrap() {
        assert_eq!((defaults(3, 9).linger_ms, defaults(4, 0).linger_ms), (0, 5));
        assert_eq!(defaults(3, 9).metadata.recovery, RecoveryStrategy::None);
        assert_eq!(
            defaults(4, 0).metadata.recovery,
            RecoveryStrategy::Rebootstrap
        );
    }

    #[test]
    fn keyless_records_went_round_then_stuck_by_batch_then_by_bytes() {
        assert_eq!(
            defaults(2, 3).partitioner.class,
            PartitionerClass::KeylessRoundRobin
        );
        assert_eq!(
            defaults(2, 4).partitioner.class,
            PartitionerClass::StickyByBatch
        );
        assert_eq!(
            defaults(3, 2).partitioner.class,
            PartitionerClass::StickyByBatch
        );
        assert_eq!(defaults(3, 3).partitioner.class, PartitionerClass::BuiltIn);
    }

    #[test]
    fn connecting_had_no_limit_then_two_minutes_then_thirty_seconds() {
        assert_eq!(defaults(2, 6).connection_setup_timeout, None);
        let limit_ms = |settings: JavaProducerSettings| {
            settings
                .connection_setup_timeout
                .map(|timeout| timeout.max_ms)
        };
        assert_eq!(limit_ms(defaults(2, 7)), Some(127_000));
        assert_eq!(limit_ms(defaults(2, 8)), Some(30_000));
    }
}
