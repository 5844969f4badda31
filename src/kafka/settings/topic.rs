//! What a topic runs with.

use super::producer::{Compression, CompressionType};

/// The effective settings of one topic: its own, or the brokers' defaults for it.
///
/// Source: `LogConfig`, `TopicConfig`.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicSettings {
    /// `min.insync.replicas`, at least 1.
    pub min_insync_replicas: u32,
    /// `unclean.leader.election.enable`.
    pub unclean_leader_election: bool,
    /// `max.message.bytes` (broker: `message.max.bytes`): the largest batch, in bytes.
    pub max_message_bytes: u32,
    /// `cleanup.policy`.
    pub cleanup_policy: CleanupPolicy,
    /// `retention.ms`; nothing for −1, which is for ever.
    pub retention_ms: Option<u64>,
    /// `retention.bytes` of one partition; nothing for −1, which is no limit.
    pub retention_bytes: Option<u64>,
    /// `segment.bytes`.
    pub segment_bytes: u32,
    /// `segment.ms`.
    pub segment_ms: u64,
    /// `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`: how far a timestamp may lie in the past.
    pub timestamp_before_max_ms: u64,
    /// `message.timestamp.after.max.ms`: how far a timestamp may lie in the future.
    pub timestamp_after_max_ms: u64,
    /// `min.cleanable.dirty.ratio`, 0 to 1.
    pub min_cleanable_dirty_ratio: f64,
    /// `delete.retention.ms`: how long a tombstone outlives its cleaning.
    pub delete_retention_ms: u64,
    /// `min.compaction.lag.ms`.
    pub min_compaction_lag_ms: u64,
    /// `max.compaction.lag.ms`.
    pub max_compaction_lag_ms: u64,
    /// `compression.type` with `compression.{gzip,lz4,zstd}.level`: how batches are stored.
    pub compression: StoredCompression,
}

/// How a leader stores batches (`compression.type` of a topic).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredCompression {
    /// `producer`: as they come.
    AsSent,
    /// By this codec, `uncompressed` among them; a batch that comes with it already stays as it is,
    /// whatever its level.
    With(Compression),
}

/// What becomes of old data (`cleanup.policy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CleanupPolicy {
    /// `delete`: old segments go.
    Delete,
    /// `compact`: the latest record of each key stays.
    Compact,
    /// `compact,delete`: both.
    CompactAndDelete,
    /// An empty list, since 4.2: nothing goes.
    Keep,
}

impl CleanupPolicy {
    /// Whether records with a key that came again are removed.
    pub const fn compacts(self) -> bool {
        matches!(self, Self::Compact | Self::CompactAndDelete)
    }

    /// Whether old segments are removed.
    pub const fn deletes(self) -> bool {
        matches!(self, Self::Delete | Self::CompactAndDelete)
    }
}

/// Whose clock stamps a record (`message.timestamp.type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimestampType {
    /// `CreateTime`: the producer's.
    CreateTime,
    /// `LogAppendTime`: the leader's.
    LogAppendTime,
}

impl StoredCompression {
    /// The codec of a batch in the log that was sent with this one.
    pub const fn of_batch(self, sent: CompressionType) -> CompressionType {
        match self {
            Self::AsSent => sent,
            Self::With(compression) => compression.codec,
        }
    }
}

impl TopicSettings {
    /// What a topic of a 4.x cluster runs with when nothing was configured.
    pub const fn defaults() -> Self {
        Self {
            min_insync_replicas: 1,
            unclean_leader_election: false,
            max_message_bytes: 1_048_588,
            cleanup_policy: CleanupPolicy::Delete,
            retention_ms: Some(604_800_000),
            retention_bytes: None,
            segment_bytes: 1_073_741_824,
            segment_ms: 604_800_000,
            timestamp_type: TimestampType::CreateTime,
            timestamp_before_max_ms: i64::MAX as u64,
            timestamp_after_max_ms: 3_600_000,
            min_cleanable_dirty_ratio: 0.5,
            delete_retention_ms: 86_400_000,
            min_compaction_lag_ms: 0,
            max_compaction_lag_ms: i64::MAX as u64,
            compression: StoredCompression::AsSent,
        }
    }
}
