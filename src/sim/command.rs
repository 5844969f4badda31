//! What the outside may do to the world. Names are already resolved to ids; the grammar that
//! people type is [`crate::command`]'s business.

mod groups;

use crate::kafka::error::ErrorCode;
use crate::kafka::quota::QuotaEntity;
use crate::kafka::transaction::ProducerIdAndEpoch;
use crate::sim::config::Peer;
use crate::sim::ids::{
    BrokerIndex, ConsumerIndex, GroupIndex, ProducerIndex, TopicIndex, TopicPartition,
};
use crate::sim::time::SimSpan;

pub use groups::{
    DryRun, GroupDetail, GroupScope, GroupsInquiry, OffsetTime, OffsetsInquiry, ResetOffsets,
    ResetTo, TopicFilter,
};

/// One thing that the outside does at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// A fault, or its cure, at a broker.
    Broker(BrokerIndex, BrokerFault),
    /// A fault, or its cure, between two ends.
    Link(Peer, Peer, LinkFault),
    /// The next `count` answers of a broker to producers vanish, and with them all later ones on
    /// that connection until it closes.
    SwallowResponses {
        /// Whose answers.
        broker: BrokerIndex,
        /// How many.
        count: u32,
    },
    /// The next `count` batches for a partition are answered with this error instead of appended;
    /// with one that a leader says only after it appended (`REQUEST_TIMED_OUT`,
    /// `NOT_ENOUGH_REPLICAS_AFTER_APPEND`), they are appended, too.
    Inject {
        /// Which error.
        error: ErrorCode,
        /// For which partition.
        partition: TopicPartition,
        /// How many.
        count: u32,
    },
    /// A topic gets more partitions (`kafka-topics.sh --alter`).
    AddPartitions {
        /// Which topic.
        topic: TopicIndex,
        /// How many it shall have.
        partitions: u32,
    },
    /// Somebody looks: nothing happens.
    Inquire(Inquiry),
    /// Something happens to an application process.
    Producer(ProducerIndex, ProducerFault),
    /// A client configuration changes; the application restarts its client for it.
    SetClient {
        /// Whose client.
        producer: ProducerIndex,
        /// Configuration name.
        key: String,
        /// Its value, as text.
        value: String,
    },
    /// All generated loads of a producer together send this many millionths of records per second.
    SetRate {
        /// Whose client.
        producer: ProducerIndex,
        /// Millionths of records per second.
        micro_records_per_second: u64,
    },
    /// Something happens to a consumer's process.
    Consumer(ConsumerIndex, ConsumerFault),
    /// The same happens to every member of a group.
    Group(GroupIndex, ConsumerFault),
    /// Every member of a group can process this many millionths of records per second from now on.
    SetConsumerRate {
        /// Whose members.
        group: GroupIndex,
        /// Millionths of records per second, above 0.
        micro_records_per_second: u64,
    },
    /// A limit of the bytes that producers may send to each broker, or none any more
    /// (`kafka-configs.sh --alter` of users and clients).
    SetQuota {
        /// For whom.
        entity: QuotaEntity,
        /// `producer_byte_rate` in bytes per second; nothing lifts the limit.
        producer_byte_rate: Option<u64>,
    },
    /// A topic's configuration changes (`kafka-configs.sh --alter` of a topic).
    SetTopic {
        /// Which topic.
        topic: TopicIndex,
        /// Configuration names with their values as text; what has none is the brokers' default
        /// again. The broker has checked them.
        changes: Vec<(String, Option<String>)>,
    },
    /// Somebody follows the records of a key: nothing happens.
    Follow {
        /// The key, as it was typed.
        key: String,
        /// Which of its records, from 1, in the order in which they were sent.
        record: Option<u32>,
    },
    /// Somebody asks for an election (`kafka-leader-election.sh`).
    ElectLeaders {
        /// Of which kind.
        election: ElectionType,
        /// For which partition; for all where there is none.
        partition: Option<TopicPartition>,
    },
    /// Partitions move to other brokers (`kafka-reassign-partitions.sh`).
    Reassign(Reassign),
    /// An open transaction is ended in one partition, whatever its coordinator knows
    /// (`kafka-transactions.sh abort`).
    AbortTransaction(AbortTransaction),
    /// The offsets of a group are set (`kafka-consumer-groups.sh --reset-offsets --execute`).
    ResetOffsets(ResetOffsets),
    /// A group forgets offsets (`kafka-consumer-groups.sh --delete-offsets`).
    DeleteOffsets {
        /// Which group.
        group: GroupIndex,
        /// Of which partitions.
        scope: GroupScope,
    },
    /// A group is forgotten (`kafka-consumer-groups.sh --delete`).
    DeleteGroup(GroupIndex),
    /// A transactional id is taken from its owner, and what is open is aborted
    /// (`kafka-transactions.sh forceTerminateTransaction`).
    ForceTerminate(String),
    /// A topic gets more partitions, on brokers that the operator names
    /// (`kafka-topics.sh --alter --replica-assignment`).
    PlacePartitions {
        /// Which topic.
        topic: TopicIndex,
        /// The replicas of all its partitions, those that exist included, preferred leaders first.
        replicas: Vec<Vec<BrokerIndex>>,
    },
    /// The broker that coordinates a transactional id dies.
    KillCoordinator(CoordinatorKill),
}

impl Command {
    /// The topic that grows by this command, and how many partitions it shall have.
    pub fn growth(&self) -> Option<(TopicIndex, u32)> {
        match self {
            Self::AddPartitions { topic, partitions } => Some((*topic, *partitions)),
            Self::PlacePartitions { topic, replicas } => Some((*topic, replicas.len() as u32)),
            _ => None,
        }
    }
}

/// The death of whoever leads the partition of `__transaction_state` that an id belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CoordinatorKill {
    /// Whose coordinator.
    pub transactional_id: String,
    /// Records lost at the end of each of its logs.
    pub lose_tail_records: u64,
    /// Who that was when the command was carried out; nobody knows before.
    pub found: Option<BrokerIndex>,
}

/// What `kafka-transactions.sh abort` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AbortTransaction {
    /// In which partition.
    pub partition: TopicPartition,
    /// Which transaction.
    pub which: TransactionToAbort,
}

/// How the transaction is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransactionToAbort {
    /// `--start-offset`: the first offset of an open one.
    StartOffset(u64),
    /// `--producer-id`, `--producer-epoch`, `--coordinator-epoch`: what the marker says.
    Producer(ProducerIdAndEpoch, u32),
}

/// `--election-type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElectionType {
    /// The first replica of the assignment, if it is in sync.
    Preferred,
    /// Whoever is alive, for partitions without a leader.
    Unclean,
}

/// What `kafka-reassign-partitions.sh` does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reassign {
    /// `--execute`: begins to move partitions.
    Execute {
        /// Where to.
        plan: Vec<Placement>,
        /// `--throttle`, in bytes per second.
        throttle_bytes_per_second: Option<u64>,
        /// `--additional`.
        earlier: EarlierMoves,
    },
    /// `--verify`: looks how far they are, and lifts throttles when all are there.
    Verify {
        /// Where to.
        plan: Vec<Placement>,
        /// `--preserve-throttles`.
        throttles: Throttles,
    },
    /// `--cancel`: gives moves up.
    Cancel {
        /// Where to.
        plan: Vec<Placement>,
        /// `--preserve-throttles`.
        throttles: Throttles,
    },
}

/// Where one partition shall be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Which partition.
    pub partition: TopicPartition,
    /// On which brokers, the preferred leader first.
    pub replicas: Vec<BrokerIndex>,
}

/// Whether moves may begin while others are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EarlierMoves {
    /// There must be none.
    Forbidden,
    /// They go on.
    Continue,
}

/// What becomes of throttles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Throttles {
    /// They are lifted when nothing moves any more.
    Lifted,
    /// They stay.
    Preserved,
}

/// What a tool of Kafka's shows without changing anything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Inquiry {
    /// `kafka-topics.sh --list`.
    ListTopics,
    /// `kafka-topics.sh --describe`, of one topic or of all.
    DescribeTopics(Option<TopicIndex>),
    /// `kafka-configs.sh --describe` of a topic.
    DescribeTopicConfigs(TopicIndex),
    /// `kafka-configs.sh --describe` of users or clients.
    DescribeQuotas(QuotaEntity),
    /// `kafka-reassign-partitions.sh --list`.
    ListReassignments,
    /// `kafka-transactions.sh` but for its `abort`.
    Transactions(TransactionsInquiry),
    /// `kafka-topics.sh --describe` with a filter, of one topic or of all.
    FilterTopics(Option<TopicIndex>, TopicFilter),
    /// `kafka-consumer-groups.sh` but for what changes groups.
    Groups(GroupsInquiry),
    /// `kafka-get-offsets.sh`.
    Offsets(OffsetsInquiry),
    /// `kafka-reassign-partitions.sh --generate`.
    ProposeMoves {
        /// Which topics shall move.
        topics: Vec<TopicIndex>,
        /// Over which brokers, in ascending order.
        brokers: Vec<BrokerIndex>,
    },
}

/// What `kafka-transactions.sh` shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TransactionsInquiry {
    /// `list`.
    List {
        /// `--duration-filter`: only transactions that began longer ago, in milliseconds.
        longer_than_ms: Option<u64>,
    },
    /// `describe`: one transactional id.
    Describe(String),
    /// `describe-producers`.
    DescribeProducers {
        /// Of which partition.
        partition: TopicPartition,
        /// `--broker-id`: on which replica; on the leader if none is named.
        broker: Option<BrokerIndex>,
    },
    /// `find-hanging`.
    FindHanging {
        /// Where.
        scope: HangingScope,
        /// `--max-transaction-timeout`: what is younger is not looked at, in minutes.
        max_transaction_timeout_minutes: u32,
    },
}

/// Where `find-hanging` looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HangingScope {
    /// `--broker-id`: every partition that has a replica there.
    Broker(BrokerIndex),
    /// `--topic`, and with `--broker-id` only what has a replica there.
    Topic(TopicIndex, Option<BrokerIndex>),
    /// `--topic` and `--partition`.
    Partition(TopicPartition),
}

/// What can befall a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BrokerFault {
    /// The process dies; unflushed records at the tail of each log may be lost with it.
    Kill {
        /// Records lost at the end of each of its logs.
        lose_tail_records: u64,
    },
    /// Controlled shutdown.
    Stop,
    /// The process starts (again).
    Start,
    /// The process hangs: connections stay open and nothing is answered, heartbeats included.
    Pause,
    /// The process goes on.
    Resume,
    /// The disk takes this many bytes per second from now on; `None` lifts the limit.
    DiskRate(Option<u64>),
    /// The log directory is full: appends answer `KAFKA_STORAGE_ERROR` from now on.
    DiskFull,
    /// The disk takes what it was configured to take, and has room again.
    DiskHeal,
    /// Every request takes this much longer from now on.
    Slow(SimSpan),
    /// The controller fences the broker now, and lets it in again at its next heartbeat.
    Fence,
}

/// What can befall a link. On TCP nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkFault {
    /// A black hole: what is sent is never answered, connections stay open.
    Cut,
    /// Connections are reset and new ones refused.
    Refuse,
    /// As configured again.
    Heal,
    /// One-way delay added to the configured latency.
    Delay(SimSpan),
    /// Bytes per second from now on; `None` lifts the limit.
    Limit(Option<u64>),
    /// Share of messages that arrive late by TCP's resending, in parts per million.
    Loss(u32),
    /// Clients' connections are reset at both ends at once, as by a firewall or a load balancer
    /// between them that forgot them; new ones are made as ever.
    Reset,
}

/// What can befall an application process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProducerFault {
    /// The process is stopped (a long garbage collection, a frozen pod).
    Pause,
    /// The process goes on.
    Resume,
    /// The process dies; what it buffered is gone.
    Crash,
    /// The process dies and starts again with an empty client.
    Restart,
}

/// What can befall a consumer's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConsumerFault {
    /// The process is stopped: no heartbeats, no `poll()`.
    Pause,
    /// The process goes on.
    Resume,
    /// The process dies without leaving its group.
    Crash,
    /// The process dies, if it lives, and starts again as a new member.
    Restart,
    /// `close()`: it commits and leaves its group.
    Close,
}
