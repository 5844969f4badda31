//! What batches do, as a closed enum: their normal way through the system.

use crate::sim::ids::{ConsumerIndex, GroupIndex, PartitionIndex, ProducerIndex, TopicIndex};
use crate::sim::time::SimTime;

/// One batch's normal way through the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// A leader appended a batch. A duplicate that it recognises is not appended.
    Appended(Appended),
    /// A client completed a batch successfully: its callbacks ran.
    Acknowledged(Acknowledged),
    /// A client failed a batch (a [`Fact::BatchFailed`] says why).
    Failed {
        /// Whose.
        producer: ProducerIndex,
        /// Which partition, where it was decided.
        partition: PartitionIndex,
        /// Ordinal of the first record.
        first_ordinal: u64,
        /// How many records.
        records: u32,
    },
    /// Records left the last log that held them.
    Truncated {
        /// Whose.
        producer: ProducerIndex,
        /// Which partition, where it was decided.
        partition: PartitionIndex,
        /// Ordinal of the first record.
        first_ordinal: u64,
        /// How many records.
        records: u32,
    },
    /// The application gave up records that never got an ordinal (refused and dropped).
    Refused {
        /// Whose.
        producer: ProducerIndex,
        /// To which topic.
        topic: TopicIndex,
        /// How many records.
        records: u32,
    },
    /// `poll()` returned records of one partition to an application.
    Consumed(Consumed),
    /// A process ended while its client held these.
    Abandoned {
        /// Whose.
        producer: ProducerIndex,
        /// Which partition, where it was decided.
        partition: PartitionIndex,
        /// Ordinal of the first record.
        first_ordinal: u64,
        /// How many records.
        records: u32,
    },
    /// Records that a client took and that ended before they had a partition (librdkafka only).
    Unassigned {
        /// Whose.
        producer: ProducerIndex,
        /// To which topic.
        topic: TopicIndex,
        /// How many records.
        records: u32,
        /// How they ended.
        end: UnassignedEnd,
    },
}

/// How records without a partition ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnassignedEnd {
    /// The client failed them.
    Failed,
    /// Their process ended first.
    Abandoned,
}

/// A batch at the leader. A record's identity is (producer, partition, ordinal there); ordinals
/// count the records that this producer's accumulator took for this partition, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Appended {
    /// Whose.
    pub producer: ProducerIndex,
    /// Where.
    pub partition: PartitionIndex,
    /// Ordinal of its first record.
    pub first_ordinal: u64,
    /// Records in it.
    pub records: u32,
    /// Bytes on disk, header included.
    pub bytes: u32,
    /// Offset of its first record.
    pub base_offset: u64,
    /// When.
    pub at: SimTime,
}

/// A run of records of one partition that a consumer's application was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Consumed {
    /// By whom.
    pub consumer: ConsumerIndex,
    /// In which group.
    pub group: GroupIndex,
    /// Where.
    pub partition: PartitionIndex,
    /// Offset of the first record.
    pub from_offset: u64,
    /// Offset after the last record.
    pub to_offset: u64,
    /// When `poll()` returned them.
    pub at: SimTime,
    /// When the application is done with all that this `poll()` returned, unless it is stopped.
    pub processed: SimTime,
}

/// A batch completed at the client, with the moments of its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Acknowledged {
    /// Whose.
    pub producer: ProducerIndex,
    /// Where.
    pub partition: PartitionIndex,
    /// Ordinal of its first record.
    pub first_ordinal: u64,
    /// Records in it.
    pub records: u32,
    /// Bytes of the batch, header included.
    pub bytes: u32,
    /// Batch creation (first record appended).
    pub created: SimTime,
    /// Drained by the sender (last attempt).
    pub drained: SimTime,
    /// Request reached the broker.
    pub arrived: SimTime,
    /// Leader's append was done.
    pub appended: SimTime,
    /// Broker answered (for acks=all: replication done).
    pub answered: SimTime,
    /// Response handled by the sender: callbacks ran.
    pub at: SimTime,
}
