//! What happened, as closed enums.
//!
//! A [`Fact`] is notable: it comes out in order of (time, rank of the entity that it happened to,
//! that entity's own running number) and may be shown, counted and searched. A [`Flow`] is one
//! batch's normal way through the system: there are millions, they are handed over in the order of
//! each entity but not across entities, so folds over them must not depend on that order. Both
//! enter the digest, entity by entity, which needs no order between entities either.

use std::borrow::Cow;
use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::settings::Assignor;
use crate::kafka::transaction::{TransactionResult, TransactionState};
use crate::kafka::transaction_message::AwaitedOperation;
use crate::kafka::transactions_command::TransactionsAnswer;
use crate::sim::command::{Command, TransactionsInquiry};
use crate::sim::config::Peer;
use crate::sim::ids::{
    BrokerIndex, ConsumerIndex, GroupIndex, PartitionIndex, ProducerIndex, TopicIndex,
};
use crate::sim::time::{SimSpan, SimTime};

pub use crate::sim::exception::{ErrorClass, Exception, Remedy};
pub use crate::sim::flow::{Acknowledged, Appended, Consumed, Flow, UnassignedEnd};
pub use crate::sim::segments::Retention;

/// A fact with its place in the order of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamped {
    /// When.
    pub at: SimTime,
    /// Rank of the entity it happened to.
    pub rank: u32,
    /// That entity's own running number.
    pub number: u64,
    /// What.
    pub fact: Fact,
}

/// Something notable. New kinds come last: a kind's place is part of the digest of every run.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Fact {
    /// A command took effect.
    CommandApplied(Arc<Command>),
    /// A command had nothing to act on; why, in words.
    CommandRefused {
        /// Which command.
        command: Arc<Command>,
        /// Why not.
        reason: Cow<'static, str>,
    },

    /// A thread waits for memory, after none did for a second or more.
    PoolExhausted {
        /// Whose.
        producer: ProducerIndex,
    },
    /// An application thread has waited for a second, or any time for metadata, inside
    /// a client call or for the client; `waited` is how long so far.
    ThreadBlocked {
        /// Whose.
        producer: ProducerIndex,
        /// Which of its application threads.
        thread: u32,
        /// What for.
        on: BlockedOn,
        /// How long, in simulated time.
        waited: SimSpan,
    },
    /// It goes on; said only where [`Fact::ThreadBlocked`] was.
    ThreadUnblocked {
        /// Whose.
        producer: ProducerIndex,
        /// Which of its application threads.
        thread: u32,
        /// What for.
        on: BlockedOn,
        /// How long, in simulated time.
        waited: SimSpan,
    },
    /// `send()` ended in an exception: thrown, or in a future that is already failed.
    RecordRefused {
        /// Whose.
        producer: ProducerIndex,
        /// Which of its application threads.
        thread: u32,
        /// To which topic.
        topic: TopicIndex,
        /// Which partition, where it was decided.
        partition: Option<PartitionIndex>,
        /// What the application got.
        exception: Arc<Exception>,
    },
    /// A batch failed for good: every callback of its records gets this exception.
    BatchFailed {
        /// Whose.
        producer: ProducerIndex,
        /// Which partition, where it was decided.
        partition: PartitionIndex,
        /// How many records.
        records: u32,
        /// What the application got.
        exception: Arc<Exception>,
    },
    /// A batch went back into the accumulator.
    BatchRetried {
        /// Whose.
        producer: ProducerIndex,
        /// Which partition, where it was decided.
        partition: PartitionIndex,
        /// How many records.
        records: u32,
        /// How often it went back by now.
        attempts: u32,
        /// Why.
        error: ErrorCode,
    },
    /// A batch was split after `MESSAGE_TOO_LARGE`.
    BatchSplit {
        /// Whose.
        producer: ProducerIndex,
        /// Which partition, where it was decided.
        partition: PartitionIndex,
        /// How many records.
        records: u32,
        /// How many batches came of it.
        into: u32,
    },
    /// The load's rate factor changed by its throttle, in parts per million.
    LoadThrottled {
        /// Whose.
        producer: ProducerIndex,
        /// Which of its loads.
        load: u32,
        /// The factor, in parts per million.
        factor_ppm: u32,
    },
    /// A scripted call returned or threw.
    CallReturned {
        /// Whose.
        producer: ProducerIndex,
        /// Which call of the script, from 0.
        call: u32,
        /// What the application got.
        exception: Option<Arc<Exception>>,
    },
    /// The application's process ended; records that its client still held are gone.
    ApplicationExited {
        /// Whose.
        producer: ProducerIndex,
        /// Records that were still in the client.
        records_lost: u64,
    },
    /// The client was constructed, or constructed again.
    ClientStarted {
        /// Whose.
        producer: ProducerIndex,
        /// `client.id`.
        client_id: Arc<str>,
    },
    /// The client was closed.
    ClientClosed {
        /// Whose.
        producer: ProducerIndex,
    },

    /// A client's connection is READY.
    Connected {
        /// Whose.
        producer: ProducerIndex,
        /// With whom.
        node: Node,
    },
    /// A client's connection is gone, or could not be made.
    Disconnected {
        /// Whose.
        producer: ProducerIndex,
        /// With whom.
        node: Node,
        /// Why.
        why: Disconnect,
    },
    /// Metadata arrived and replaced what was known.
    MetadataUpdated {
        /// Whose.
        producer: ProducerIndex,
        /// Topics that the client knows now.
        topics: u32,
    },
    /// All known brokers were unusable: the client went back to `bootstrap.servers` and forgot its
    /// topics (KIP-899, KIP-1102).
    Rebootstrapped {
        /// Whose.
        producer: ProducerIndex,
    },
    /// The client has a producer id (first time, or a bumped epoch).
    ProducerIdAssigned {
        /// Whose.
        producer: ProducerIndex,
        /// The id.
        producer_id: i64,
        /// Its epoch.
        epoch: i16,
    },

    /// A consumer's process started.
    ConsumerStarted {
        /// Which.
        consumer: ConsumerIndex,
    },
    /// A consumer's process is gone.
    ConsumerExited {
        /// Which.
        consumer: ConsumerIndex,
    },
    /// `poll()` threw something that ends the application.
    ConsumerFailed {
        /// Which.
        consumer: ConsumerIndex,
        /// What the application got.
        exception: Arc<Exception>,
    },
    /// A member is no longer in its group.
    MemberLeft {
        /// Which.
        consumer: ConsumerIndex,
        /// Why.
        why: MemberLoss,
    },
    /// Everybody in a group has to join again.
    GroupRebalancing {
        /// Which group.
        group: GroupIndex,
        /// Members that it has, newcomers included.
        members: u32,
    },
    /// A group knows who reads what.
    GroupStable {
        /// Which group.
        group: GroupIndex,
        /// Which generation.
        generation: i32,
        /// Its members.
        members: u32,
        /// Members that read nothing.
        idle: u32,
        /// Who decided.
        assignor: Assignor,
    },
    /// A group has no members any more.
    GroupEmpty {
        /// Which group.
        group: GroupIndex,
    },
    /// A consumer's metadata says that a topic has another number of partitions than before.
    PartitionsDiscovered {
        /// Whose.
        consumer: ConsumerIndex,
        /// Which topic.
        topic: TopicIndex,
        /// How many now.
        partitions: u32,
    },
    /// A consumer without committed offset begins where `auto.offset.reset` says.
    OffsetReset {
        /// Which.
        consumer: ConsumerIndex,
        /// Where.
        partition: PartitionIndex,
        /// The first offset that it will read.
        offset: u64,
    },
    /// The coordinator refused a commit: what was read since the last one will be read again.
    CommitFailed {
        /// Whose.
        consumer: ConsumerIndex,
        /// Why.
        error: ErrorCode,
    },

    /// A broker's process or registration changed.
    BrokerChanged {
        /// Which broker.
        broker: BrokerIndex,
        /// What it is now.
        state: BrokerState,
    },
    /// A partition has another leader, or none.
    LeaderChanged {
        /// Which partition, where it was decided.
        partition: PartitionIndex,
        /// Who leads now.
        leader: Option<BrokerIndex>,
        /// Its epoch.
        epoch: u32,
        /// Whether records may be lost by it.
        unclean: bool,
    },
    /// A partition's in-sync replicas changed.
    IsrChanged {
        /// Which partition, where it was decided.
        partition: PartitionIndex,
        /// The members now.
        isr: Vec<BrokerIndex>,
    },
    /// Records that the partition does not have any more: its new leader lacks them, or a tail was
    /// lost with the machine that held it.
    RecordsTruncated {
        /// Which partition, where it was decided.
        partition: PartitionIndex,
        /// The first offset that is gone.
        from_offset: u64,
        /// How many records.
        records: u64,
    },
    /// A link's state changed.
    LinkChanged {
        /// One end.
        a: Peer,
        /// The other end.
        b: Peer,
        /// What it is now.
        state: LinkState,
    },

    /// A named limit of the engine was hit.
    LimitReached {
        /// Which limit.
        limit: Limit,
    },
    /// The run is over.
    Ended,

    /// A topic has more partitions (`kafka-topics.sh --alter`).
    PartitionsAdded {
        /// Which topic.
        topic: TopicIndex,
        /// How many it had.
        from: u32,
        /// How many it has now.
        to: u32,
    },
    /// A client's metadata shows more partitions of a topic that it knew: from now on its records
    /// are spread over all of them, and keys are mapped anew.
    PartitionsLearned {
        /// Whose.
        producer: ProducerIndex,
        /// Of which topic.
        topic: TopicIndex,
        /// How many it knew.
        from: u32,
        /// How many it knows now.
        to: u32,
    },
    /// The cleaner went over a compacted partition.
    LogCleaned {
        /// Which partition.
        partition: PartitionIndex,
        /// Everything before this offset was looked at.
        end_offset: u64,
        /// Records that are gone.
        removed: u64,
        /// Records that stay before that offset.
        kept: u64,
    },
    /// A key has records on one more partition than before, and not on its first: nobody reads
    /// them in the order in which they were written. Said of topics whose records are remembered.
    KeySplit {
        /// In which topic.
        topic: TopicIndex,
        /// The serialized key.
        key: Arc<[u8]>,
        /// All partitions with records of it, in the order in which it came to them.
        partitions: Vec<u32>,
    },
    /// The client can do nothing more: a fatal error of an idempotent producer.
    ClientFailed {
        /// Whose.
        producer: ProducerIndex,
        /// The error, with its reason.
        exception: Arc<Exception>,
    },
    /// Messages that had no partition yet failed (librdkafka only).
    UnassignedFailed {
        /// Whose.
        producer: ProducerIndex,
        /// To which topic.
        topic: TopicIndex,
        /// How many.
        records: u32,
        /// What the application got.
        exception: Arc<Exception>,
    },
    /// A group is given a record that was written before another one of its key which it has read
    /// already, on another partition. Said once of each key, where records are remembered.
    OutOfOrderRead {
        /// Who was given it.
        consumer: ConsumerIndex,
        /// The serialized key.
        key: Arc<[u8]>,
        /// The record's partition.
        partition: PartitionIndex,
        /// The record's offset.
        offset: u64,
        /// Where the later record is.
        overtaken_on: PartitionIndex,
        /// How much later that one was written.
        by: SimSpan,
    },
    /// Old segments of a partition are deleted: its log begins later.
    SegmentsDeleted {
        /// Which partition.
        partition: PartitionIndex,
        /// The first offset that is left.
        log_start_offset: u64,
        /// How many records are gone.
        records: u64,
        /// Which limit they were over.
        limit: Retention,
    },
    /// A partition's leader forgets a producer that has not written for
    /// `producer.id.expiration.ms`: it would take any sequence of it now, and repetitions, too.
    ProducerForgotten {
        /// Which partition.
        partition: PartitionIndex,
        /// Whom.
        producer: ProducerIndex,
    },
    /// A replica cut off the end of its log that its leader does not have.
    TailCut {
        /// Which partition.
        partition: PartitionIndex,
        /// Whose replica.
        broker: BrokerIndex,
        /// The first offset that it cut off.
        from_offset: u64,
        /// How many records.
        records: u64,
    },
    /// A step of a transactional id is in its coordinator's log.
    TransactionChanged {
        /// Which id.
        transactional_id: Arc<str>,
        /// What it is now.
        state: TransactionState,
        /// Its producer id.
        producer_id: i64,
        /// Its epoch.
        epoch: i16,
        /// The partitions of topics that take part in the transaction.
        partitions: Vec<PartitionIndex>,
    },
    /// A control record ends a transaction in one partition.
    MarkerWritten {
        /// Where.
        partition: PartitionIndex,
        /// At which offset.
        offset: u64,
        /// Whose.
        producer_id: i64,
        /// The epoch that it carries.
        epoch: i16,
        /// How the transaction ended.
        result: TransactionResult,
    },
    /// A transactional call of a generated load threw.
    TransactionCallFailed {
        /// Whose.
        producer: ProducerIndex,
        /// Which call.
        operation: AwaitedOperation,
        /// What the application got.
        exception: Arc<Exception>,
    },
    /// `kafka-transactions.sh` of the timeline showed something.
    TransactionsShown {
        /// What was asked.
        inquiry: TransactionsInquiry,
        /// What it showed.
        answer: Arc<TransactionsAnswer>,
    },
    /// A transaction of a librdkafka client can only be aborted.
    TransactionFailed {
        /// Whose.
        producer: ProducerIndex,
        /// Why.
        exception: Arc<Exception>,
    },
    /// Another broker is the active controller, or none is.
    ControllerChanged {
        /// Who decides now.
        broker: Option<BrokerIndex>,
        /// The epoch of the quorum.
        epoch: u32,
    },
}

/// Why a member is no longer in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberLoss {
    /// It left (`close()`).
    Left,
    /// It did not say for `session.timeout.ms` that it lives.
    SessionTimeout,
    /// It did not call `poll()` for `max.poll.interval.ms`, and left by itself.
    PollInterval,
    /// It did not come back to a rebalance within `max.poll.interval.ms`.
    RebalanceTimeout,
}

/// What an application thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockedOn {
    /// `BufferPool.allocate`: this many bytes.
    Memory {
        /// How many bytes.
        bytes: u32,
    },
    /// `KafkaProducer.waitOnMetadata`: this topic.
    Metadata {
        /// To which topic.
        topic: TopicIndex,
    },
    /// Acknowledgement of its own records (`.get()`).
    Acks,
    /// `flush()`.
    Flush,
    /// `close()`.
    Close,
    /// `rd_kafka_produce()` with `RD_KAFKA_MSG_F_BLOCK`: room in the queue.
    Room,
    /// `rd_kafka_poll()`: a delivery report.
    Reports,
    /// A transactional call: its coordinator, and for a commit all records before.
    Transaction(AwaitedOperation),
}

/// A node as a client knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// An address of `bootstrap.servers`, shown as `-1`, `-2`, ….
    Bootstrap(BrokerIndex),
    /// A broker from metadata.
    Broker(BrokerIndex),
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Disconnect {
    /// The other side, or the network, reset it.
    Reset,
    /// The connect was refused.
    Refused,
    /// `socket.connection.setup.timeout.ms` passed.
    SetupTimeout,
    /// `request.timeout.ms` passed for a request on it.
    RequestTimeout,
    /// `connections.max.idle.ms` passed.
    Idle,
    /// The client closed it (rebootstrap, close).
    Local,
}

/// A broker's life, process and registration together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BrokerState {
    /// Serving.
    Running,
    /// Process hangs.
    Paused,
    /// Controlled shutdown under way.
    ShuttingDown,
    /// Process gone; the controller has not noticed yet.
    Dead,
    /// The controller has fenced it.
    Fenced,
    /// Process starting: registration, log recovery.
    Starting,
}

/// A link's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// Passes everything.
    Up,
    /// Black hole.
    Cut,
    /// Resets and refuses.
    Refusing,
    /// Passes everything, slower than configured.
    Degraded,
}

/// A named limit of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Records of an open load waiting outside (see `OUTSIDE_RECORDS_MAX`).
    OutsideQueue,
    /// Records in an application's spill queue.
    SpillQueue,
    /// Batches remembered of one partition.
    History,
    /// Events at one moment: the model does not move on.
    EventsAtOneMoment,
    /// Records remembered one by one.
    Records,
}
