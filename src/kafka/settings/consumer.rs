//! What a Java consumer runs with.
//!
//! Invariant: [`ConsumerSettings::defaults`] equals what an empty configuration yields for that
//! version; a test of `config::consumer` holds the two together.

use super::super::backoff::ExponentialBackoff;
use super::super::version::KafkaVersion;
use super::producer::MetricsSettings;

/// The effective settings of one Java consumer.
///
/// Source: `ConsumerConfig` after `postProcessParsedConfig`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerSettings {
    /// The client's release, which decides behaviour beyond these values.
    pub version: KafkaVersion,
    /// `client.id`; nothing where the client names itself after its group.
    pub client_id: Option<String>,
    /// `session.timeout.ms`.
    pub session_timeout_ms: u64,
    /// `heartbeat.interval.ms`, below the session's timeout.
    pub heartbeat_interval_ms: u64,
    /// `max.poll.interval.ms`, at least 1.
    pub max_poll_interval_ms: u64,
    /// `max.poll.records`, at least 1.
    pub max_poll_records: u32,
    /// The limits of one Fetch request.
    pub fetch: FetchSettings,
    /// `auto.commit.interval.ms`; nothing without `enable.auto.commit`.
    pub auto_commit_interval_ms: Option<u64>,
    /// `auto.offset.reset`.
    pub offset_reset: OffsetReset,
    /// `partition.assignment.strategy`, in order of preference.
    pub assignors: Vec<Assignor>,
    /// `metadata.max.age.ms`.
    pub metadata_max_age_ms: u64,
    /// `allow.auto.create.topics`: what its metadata requests say.
    pub topic_creation: TopicCreation,
    /// `request.timeout.ms`.
    pub request_timeout_ms: u64,
    /// The growing wait before a request is sent again; constant before 3.7.
    pub retry_backoff: ExponentialBackoff,
    /// The growing wait before a node is connected to again.
    pub reconnect_backoff: ExponentialBackoff,
    /// The growing limit on connecting.
    pub connection_setup_timeout: ExponentialBackoff,
    /// The windows of the client's own metrics.
    pub metrics: MetricsSettings,
}

/// The limits of one Fetch request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchSettings {
    /// `fetch.min.bytes`.
    pub min_bytes: u32,
    /// `fetch.max.bytes`.
    pub max_bytes: u32,
    /// `fetch.max.wait.ms`.
    pub max_wait_ms: u64,
    /// `max.partition.fetch.bytes`.
    pub max_partition_bytes: u32,
    /// `isolation.level`.
    pub isolation: IsolationLevel,
}

/// Which records of transactions a consumer sees (`isolation.level`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IsolationLevel {
    /// All of them, up to the high watermark.
    ReadUncommitted,
    /// Those of committed transactions, up to the last stable offset.
    ReadCommitted,
}

/// Where a consumer begins that has no committed offset (`auto.offset.reset`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OffsetReset {
    /// At the first offset kept.
    Earliest,
    /// At the end: what was written before is never read.
    Latest,
    /// Nowhere: `poll()` throws.
    None,
}

/// Whether asking for a topic may create it (`allow.auto.create.topics`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopicCreation {
    /// If brokers create topics at all.
    Allowed,
    /// Never.
    Forbidden,
}

/// Who gets which partitions (`partition.assignment.strategy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assignor {
    /// `RangeAssignor`: runs of neighbours, topic by topic.
    Range,
    /// `RoundRobinAssignor`: all partitions of all topics in turn.
    RoundRobin,
    /// `StickyAssignor`: balanced, and as it was.
    Sticky,
    /// `CooperativeStickyAssignor`: the same, and what stays is not given up for it.
    CooperativeSticky,
}

impl Assignor {
    /// Every assignor.
    pub const ALL: [Self; 4] = [
        Self::Range,
        Self::RoundRobin,
        Self::Sticky,
        Self::CooperativeSticky,
    ];

    /// The name in the group protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::RoundRobin => "roundrobin",
            Self::Sticky => "sticky",
            Self::CooperativeSticky => "cooperative-sticky",
        }
    }

    /// The class, with its package.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Range => "org.apache.kafka.clients.consumer.RangeAssignor",
            Self::RoundRobin => "org.apache.kafka.clients.consumer.RoundRobinAssignor",
            Self::Sticky => "org.apache.kafka.clients.consumer.StickyAssignor",
            Self::CooperativeSticky => {
                "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
            }
        }
    }

    /// Whether members keep their partitions while the group rebalances
    /// (`RebalanceProtocol.COOPERATIVE`).
    pub const fn is_cooperative(self) -> bool {
        matches!(self, Self::CooperativeSticky)
    }
}

impl ConsumerSettings {
    /// What a consumer of this version runs with when nothing was configured.
    pub fn defaults(version: KafkaVersion) -> Self {
        let assignors = if version.at_least(3, 0) {
            vec![Assignor::Range, Assignor::CooperativeSticky]
        } else {
            vec![Assignor::Range]
        };
        Self {
            version,
            client_id: None,
            session_timeout_ms: if version.at_least(3, 0) {
                45_000
            } else {
                10_000
            },
            heartbeat_interval_ms: 3000,
            max_poll_interval_ms: 300_000,
            max_poll_records: 500,
            fetch: FetchSettings {
                min_bytes: 1,
                max_bytes: 52_428_800,
                max_wait_ms: 500,
                max_partition_bytes: 1_048_576,
                isolation: IsolationLevel::ReadUncommitted,
            },
            auto_commit_interval_ms: Some(5000),
            offset_reset: OffsetReset::Latest,
            assignors,
            metadata_max_age_ms: 300_000,
            topic_creation: TopicCreation::Allowed,
            request_timeout_ms: 30_000,
            retry_backoff: ExponentialBackoff::for_retries(version, 100, 1000),
            reconnect_backoff: ExponentialBackoff::new(50, 1000),
            connection_setup_timeout: ExponentialBackoff::new(10_000, 30_000),
            metrics: MetricsSettings {
                num_samples: 2,
                sample_window_ms: 30_000,
            },
        }
    }

    /// Whether all partitions are given up before the group rebalances: as soon as one of the
    /// assignors needs it (`ConsumerCoordinator`: the highest protocol that all support).
    pub fn is_eager(&self) -> bool {
        !self
            .assignors
            .iter()
            .all(|assignor| assignor.is_cooperative())
    }
}
