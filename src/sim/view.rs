//! A read-only look at the engine, as plain values for screens, series and reports.
//!
//! Looking never changes anything: every method of [`View`] takes `&self` and computes what a real
//! client or broker would show at this moment.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::rdkafka_metric::{
    RdkafkaBrokerMetric, RdkafkaMetric, RdkafkaPartitionMetric, RdkafkaTopicMetric,
};
use crate::kafka::settings::Assignor;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionResult, TransactionState};
use crate::sim::fact::{BlockedOn, BrokerState, LinkState, Node};
use crate::sim::ids::{
    BrokerIndex, ConsumerIndex, GroupIndex, PartitionIndex, ProducerIndex, TopicIndex,
    TopicPartition,
};
use crate::sim::time::{SimSpan, SimTime};

pub use crate::sim::history::{Content, LogBatch, Stamp};

/// A producer's application and client.
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerView {
    /// Which.
    pub index: ProducerIndex,
    /// Whether its process and client run.
    pub state: ProcessState,
    /// Accumulator and buffer pool of a Java client.
    pub buffer: BufferView,
    /// The queue of a librdkafka client.
    pub queue: Option<QueueView>,
    /// Application threads, loads first, the script's last.
    pub threads: Vec<ThreadView>,
    /// Connections that exist, bootstrap first.
    pub connections: Vec<ConnectionView>,
    /// Producer id and epoch, once assigned.
    pub producer_id: Option<(i64, i16)>,
    /// Topics that the client has metadata for.
    pub topics_known: u32,
    /// Records per second that the application tries now, throttle included.
    pub rate_asked: f64,
    /// Counts since the start of the run.
    pub totals: ProducerTotals,
}

/// Whether an application process and its client run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// `start` is still to come.
    NotStarted,
    /// Runs.
    Running,
    /// Stopped by a command.
    Paused,
    /// The client is closed, the process goes on.
    Closed,
    /// Gone.
    Exited,
}

/// `buffer.memory` and what it holds. Every batch counts with the whole size it was allocated with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferView {
    /// `buffer.memory`.
    pub total_bytes: u64,
    /// `buffer-available-bytes`.
    pub available_bytes: u64,
    /// Batches that still take records.
    pub open_bytes: u64,
    /// Batches waiting to be drained, never sent yet.
    pub ready_bytes: u64,
    /// Batches on the wire or at the broker.
    pub in_flight_bytes: u64,
    /// Batches waiting to be sent again.
    pub retrying_bytes: u64,
    /// Bytes that batches really hold: what doing the sum by bytes would see.
    pub written_bytes: u64,
    /// Batches of all kinds.
    pub batches: u32,
    /// Records in them.
    pub records: u64,
    /// Threads in `BufferPool.allocate`.
    pub waiting_threads: u32,
    /// Age of the oldest batch.
    pub oldest_batch_age: Option<SimSpan>,
}

/// librdkafka's queue: every message from `produce()` until its report is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueView {
    /// `msg_cnt`.
    pub messages: u64,
    /// `queue.buffering.max.messages`; nothing is no limit.
    pub messages_max: Option<u32>,
    /// `msg_size`: bytes of values.
    pub value_bytes: u64,
    /// `queue.buffering.max.kbytes` in bytes.
    pub value_bytes_max: u64,
    /// Messages that wait for metadata of their topic.
    pub unassigned: u64,
    /// Messages that wait to be sent for the first time.
    pub waiting: u64,
    /// Messages in requests that are queued, written or answered not yet.
    pub in_flight: u64,
    /// Messages that wait to be sent again.
    pub retrying: u64,
    /// Messages whose fate is known and whose report waits for `poll()`.
    pub reported: u64,
    /// `replyq`: operations that wait for `poll()`.
    pub reports: u64,
    /// Calls of `produce()` that ended in `_QUEUE_FULL` so far.
    pub full: u64,
    /// Age of the oldest message that is not done.
    pub oldest_age: Option<SimSpan>,
}

/// One figure of librdkafka's statistics, with the object that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RdkafkaFigure {
    /// Of the whole client.
    Client(RdkafkaMetric),
    /// Of one of `brokers`.
    Broker(BrokerIndex, RdkafkaBrokerMetric),
    /// Of one of `topics`.
    Topic(TopicIndex, RdkafkaTopicMetric),
    /// Of one of a topic's `partitions`.
    Partition(TopicPartition, RdkafkaPartitionMetric),
}

/// One application thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadView {
    /// What it does now.
    pub state: ThreadState,
    /// Records of an open load that arrived and wait outside.
    pub outside: u64,
    /// Records in its spill queue.
    pub spilled: u64,
}

/// What an application thread does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// Its own work between calls.
    Working,
    /// Waits, since this moment.
    Blocked {
        /// For what.
        on: BlockedOn,
        /// Since when.
        since: SimTime,
    },
    /// Waits out a pause after a refusal, until this moment.
    Pausing {
        /// End of the pause.
        until: SimTime,
    },
    /// Has nothing more to do.
    Done,
}

/// One connection of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionView {
    /// To whom.
    pub node: Node,
    /// How far it is.
    pub state: ConnectionState,
    /// Requests without response.
    pub in_flight: u32,
    /// The link below it.
    pub link: LinkState,
    /// Whether a broker's throttle time keeps the client from sending.
    pub is_throttled: bool,
}

/// A connection's state, by `ConnectionState` of Kafka's `NetworkClient`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// TCP handshake.
    Connecting,
    /// ApiVersions under way.
    CheckingApiVersions,
    /// Usable.
    Ready,
    /// Waits out `reconnect.backoff.ms`.
    Disconnected,
}

/// Counts since the start of the run, over all clients of one producer. They are the engine's own
/// (`kdrill-`), beside the client's metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProducerTotals {
    /// Records that the accumulator took.
    pub records_sent: u64,
    /// Records acknowledged.
    pub records_acked: u64,
    /// Records whose callback brought an error.
    pub records_failed: u64,
    /// Records that `send()` refused (each refusal counts, also of a record tried again).
    pub records_refused: u64,
    /// Records that went away with their process.
    pub records_abandoned: u64,
    /// Time that its threads spent in `BufferPool.allocate`, unfinished waits included, over all
    /// threads: the truth behind `bufferpool-wait-time-ns-total`.
    pub true_wait: SimSpan,
    /// Bytes of Produce requests to brokers of another rack, each attempt counted; 0 while the
    /// producer or the broker has none.
    pub cross_rack_bytes: u64,
}

/// One broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerView {
    /// Which.
    pub index: BrokerIndex,
    /// Process and registration.
    pub state: BrokerState,
    /// Partitions that it leads.
    pub leaders: u32,
    /// Requests that arrived and are not answered, those in purgatory included.
    pub requests: u32,
    /// How far the disk is behind.
    pub disk_backlog: SimSpan,
    /// Time that a handler spends on one Produce request now, the disk's not included.
    pub request_time: SimSpan,
    /// Bytes appended so far, as leader and as follower.
    pub bytes_appended: u64,
    /// Produce requests answered so far.
    pub produce_requests: u64,
    /// How long producers over their quotas were throttled so far, all together.
    pub throttled: SimSpan,
}

/// One partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionView {
    /// Which.
    pub index: PartitionIndex,
    /// Its topic.
    pub topic: TopicIndex,
    /// Its number in the topic.
    pub number: u32,
    /// Its leader.
    pub leader: Option<BrokerIndex>,
    /// `leader epoch`.
    pub leader_epoch: u32,
    /// Who has taken office, and in which epoch: behind `leader` and `leader_epoch` while metadata
    /// is on its way.
    pub office: Option<(BrokerIndex, u32)>,
    /// In-sync replicas.
    pub isr: Vec<BrokerIndex>,
    /// In-sync replicas that acks=all needs: `min(min.insync.replicas, replicas)`.
    pub min_isr: usize,
    /// Eligible leader replicas: who left the ISR while too few remained.
    pub elr: Vec<BrokerIndex>,
    /// Who led last, while nobody does.
    pub last_known_leader: Option<BrokerIndex>,
    /// All replicas, in assignment order.
    pub replicas: Vec<BrokerIndex>,
    /// Those that a reassignment brings in.
    pub adding: Vec<BrokerIndex>,
    /// Those that it takes away.
    pub removing: Vec<BrokerIndex>,
    /// First offset kept.
    pub log_start_offset: u64,
    /// Next offset to be written (LEO of the leader).
    pub log_end_offset: u64,
    /// First offset that consumers may not read yet.
    pub high_watermark: u64,
    /// First offset of an open transaction, or the high watermark.
    pub last_stable_offset: u64,
    /// Records appended so far.
    pub records_in: u64,
    /// Records in the log now.
    pub records_kept: u64,
    /// Bytes appended so far.
    pub bytes_in: u64,
    /// Batches for it in all accumulators, in flight included.
    pub queued_batches: u32,
    /// Bytes in those batches.
    pub queued_bytes: u64,
}

impl PartitionView {
    /// Its name.
    pub const fn name(&self) -> TopicPartition {
        self.index.name()
    }
}

/// How often a key was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCount {
    /// The serialized key.
    pub key: Vec<u8>,
    /// The number of the partition that it goes to; none where its records go to several.
    pub partition: Option<u32>,
    /// Records so far.
    pub records: u64,
}

/// A consumer's application and client.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerView {
    /// Which.
    pub index: ConsumerIndex,
    /// Whose member.
    pub group: GroupIndex,
    /// Whether its process and client run.
    pub state: ProcessState,
    /// How far it is in its group.
    pub stage: MemberStage,
    /// The generation that it is in; -1 outside the group.
    pub generation: i32,
    /// What its application does.
    pub application: LoopState,
    /// When it last called `poll()`.
    pub last_poll: SimTime,
    /// Partitions that it reads, in order.
    pub assigned: Vec<AssignedView>,
    /// Records that are fetched and not yet returned by `poll()`.
    pub buffered_records: u64,
    /// Records per second that its application can process; `None` takes no time.
    pub rate: Option<f64>,
    /// Counts since the start of the run.
    pub totals: ConsumerTotals,
}

/// One partition of a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssignedView {
    /// Which.
    pub partition: PartitionIndex,
    /// The next offset that `poll()` returns, once known.
    pub position: Option<u64>,
}

/// What a consumer's application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopState {
    /// It is inside `poll()`.
    Polling,
    /// It processes what `poll()` returned.
    Processing {
        /// Until then.
        until: SimTime,
    },
}

/// How far a consumer is in its group, by `AbstractCoordinator.MemberState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberStage {
    /// Not a member.
    Unjoined,
    /// Commits before it joins again.
    Preparing,
    /// `JoinGroup` under way.
    Joining,
    /// `SyncGroup` under way.
    Syncing,
    /// A member with its partitions, or without any.
    Stable,
}

/// Counts of one consumer since the start of the run, over all its processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsumerTotals {
    /// Records that `poll()` returned.
    pub records: u64,
    /// Bytes in them, on disk.
    pub bytes: u64,
    /// Calls of `poll()` that returned records.
    pub polls: u64,
    /// Fetch requests answered.
    pub fetches: u64,
}

/// A group's state at its coordinator, by `ClassicGroupState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupState {
    /// No members.
    Empty,
    /// Members have to join.
    PreparingRebalance,
    /// The leader decides.
    CompletingRebalance,
    /// Everybody knows what to read.
    Stable,
}

impl GroupState {
    /// As Kafka's tools write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Stable => "Stable",
        }
    }
}

/// A consumer group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupView {
    /// Which.
    pub index: GroupIndex,
    /// Its state.
    pub state: GroupState,
    /// Its generation.
    pub generation: i32,
    /// The broker that coordinates it.
    pub coordinator: Option<BrokerIndex>,
    /// Who decides what is read by whom.
    pub assignor: Option<Assignor>,
    /// Members at the coordinator.
    pub members: u32,
    /// Members that read nothing.
    pub idle: u32,
    /// Its partitions, in order of topics and numbers: those of topics that it subscribes to and
    /// those that it has committed.
    pub partitions: Vec<GroupPartitionView>,
}

/// A member as its group's coordinator knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMemberView {
    /// Which consumer.
    pub consumer: ConsumerIndex,
    /// The number in its member id.
    pub id: u32,
    /// `client.id`.
    pub client_id: String,
    /// What it was given to read.
    pub assigned: Vec<PartitionIndex>,
}

/// How far a group is in one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupPartitionView {
    /// Which.
    pub partition: PartitionIndex,
    /// Who reads it.
    pub owner: Option<ConsumerIndex>,
    /// The group's committed offset.
    pub committed: Option<u64>,
    /// The next offset that its owner's `poll()` returns.
    pub position: Option<u64>,
    /// First offset that consumers may not read yet.
    pub high_watermark: u64,
}

impl GroupPartitionView {
    /// Records behind: the high watermark minus the committed offset, or minus the position where
    /// nothing is committed; nothing where there is neither.
    pub fn lag(&self) -> Option<u64> {
        let offset = self.committed.or(self.position)?;
        Some(self.high_watermark.saturating_sub(offset))
    }

    /// Records that are written and not yet given to an application.
    pub fn unread(&self) -> Option<u64> {
        Some(self.high_watermark.saturating_sub(self.position?))
    }
}

impl GroupView {
    /// Records behind, over all partitions of which that is known; nothing where it is known of
    /// none.
    pub fn lag(&self) -> Option<u64> {
        self.partitions
            .iter()
            .filter_map(GroupPartitionView::lag)
            .reduce(|sum, lag| sum + lag)
    }
}

/// What an election that an operator asked for comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElectionOutcome {
    /// There is another leader.
    Elected,
    /// The right one leads already.
    NotNeeded,
    /// The first replica of the assignment may not lead.
    PreferredLeaderNotAvailable,
    /// No replica is alive.
    EligibleLeadersNotAvailable,
}

impl ElectionOutcome {
    /// The controller's error, where nobody was elected who should have been.
    pub const fn error(self) -> Option<ErrorCode> {
        match self {
            Self::Elected | Self::NotNeeded => None,
            Self::PreferredLeaderNotAvailable => Some(ErrorCode::PreferredLeaderNotAvailable),
            Self::EligibleLeadersNotAvailable => Some(ErrorCode::EligibleLeadersNotAvailable),
        }
    }
}

/// One transactional id, as its coordinator knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionView {
    /// Which.
    pub transactional_id: Arc<str>,
    /// Who coordinates it.
    pub coordinator: Option<BrokerIndex>,
    /// Its state.
    pub state: TransactionState,
    /// Its producer id and epoch.
    pub producer: ProducerIdAndEpoch,
    /// Partitions of topics in the transaction.
    pub partitions: Vec<PartitionIndex>,
    /// When the transaction began, or the last one did.
    pub started: Option<SimTime>,
    /// When it last changed.
    pub updated: SimTime,
    /// `transaction.timeout.ms` of its owner.
    pub timeout_ms: u64,
    /// What its coordinators wrote last, oldest first.
    pub steps: Vec<TransactionStep>,
}

/// A record of an id in `__transaction_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionStep {
    /// When it was replicated.
    pub at: SimTime,
    /// The state that it says.
    pub state: TransactionState,
    /// Producer id and epoch.
    pub producer: ProducerIdAndEpoch,
    /// Who wanted the end that it decides; nothing where it decides none, or where a coordinator
    /// died before it could tell.
    pub ended_by: Option<EndedBy>,
}

/// Who wants a transaction to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// Its owner: `commitTransaction()` or `abortTransaction()`.
    Owner,
    /// Another owner of the id: `initTransactions()`.
    NewOwner,
    /// The coordinator: `transaction.timeout.ms` was over.
    Timeout,
}

/// A client with a transactional id, as it sees itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionalClientView {
    /// Whose.
    pub producer: ProducerIndex,
    /// Its id.
    pub transactional_id: Arc<str>,
    /// `TransactionManager.State`, by its name.
    pub state: &'static str,
    /// The producer id and epoch that it believes in.
    pub owns: Option<ProducerIdAndEpoch>,
}

/// A transactional batch or a marker in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionalEntry {
    /// Its first offset.
    pub offset: u64,
    /// Whose, with the epoch that it carries.
    pub producer: ProducerIdAndEpoch,
    /// What it is.
    pub what: EntryKind,
}

/// What stands in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Records of a transaction.
    Records {
        /// How many.
        records: u32,
        /// Sequence of the first.
        base_sequence: i32,
        /// Bytes with header.
        bytes: u32,
    },
    /// A control record.
    Marker(TransactionResult),
}
