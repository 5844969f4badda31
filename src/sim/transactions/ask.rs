//! What a transactional producer asks of brokers, and what they answer.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionResult, TransactionVersion};
use crate::sim::ids::{BrokerIndex, GroupIndex, PartitionIndex, TopicPartition};

/// The transactional part of one request: all of it but for Produce.
#[derive(Clone, Debug)]
pub struct Transact {
    /// What is asked.
    pub ask: TxnAsk,
    /// What is answered.
    pub answer: TxnAnswer,
}

/// What a transactional producer asks.
#[derive(Clone, Debug)]
pub enum TxnAsk {
    /// Records of a transaction: whose, and under which version.
    Produce(Arc<str>, TransactionVersion),
    /// `FindCoordinator`.
    FindCoordinator(CoordinatorKey),
    /// `InitProducerId`.
    InitProducerId {
        /// Whose.
        transactional_id: Arc<str>,
        /// `transaction.timeout.ms`.
        timeout_ms: u64,
        /// The producer id and epoch that the client has, when it only wants another epoch.
        current: Option<ProducerIdAndEpoch>,
    },
    /// `AddPartitionsToTxn` of version 3 or before: the client adds them.
    AddPartitions(Owner, Vec<PartitionIndex>),
    /// `AddOffsetsToTxn`.
    AddOffsets(Owner, GroupIndex),
    /// `TxnOffsetCommit`.
    CommitOffsets {
        /// Whose transaction.
        owner: Owner,
        /// Whose offsets.
        group: GroupIndex,
        /// The next offset to read of each partition.
        offsets: Vec<(TopicPartition, u64)>,
        /// Whether the coordinator of the group adds itself to the transaction.
        version: TransactionVersion,
    },
    /// `EndTxn`.
    EndTxn {
        /// Whose transaction.
        owner: Owner,
        /// How it ends.
        result: TransactionResult,
        /// Under which version it ran.
        version: TransactionVersion,
    },
}

/// Who says that it owns a transactional id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Which id.
    pub transactional_id: Arc<str>,
    /// Its producer id and epoch.
    pub producer: ProducerIdAndEpoch,
}

/// Whose coordinator is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoordinatorKey {
    /// That of a transactional id.
    Transaction(Arc<str>),
    /// That of a consumer group.
    Group(GroupIndex),
}

/// What a broker answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxnAnswer {
    /// Done, or nothing yet.
    Done,
    /// It failed.
    Error(ErrorCode),
    /// Who coordinates.
    Coordinator(BrokerIndex),
    /// The producer id and epoch to use from now on.
    Producer(ProducerIdAndEpoch),
}
