//! Everything that can be sampled, as values. [`super::path`] reads and writes their names.
//!
//! Names that Kafka's own monitoring has are Kafka's; all others begin with `true-` (the truth of
//! a windowed metric) or `kdrill-`.

use crate::kafka::metric_name::{
    ConsumerMetric, ProducerMetric, ProducerNodeMetric, ProducerTopicMetric,
};
use crate::sim::fact::Node;
use crate::sim::ids::{
    BrokerIndex, ConsumerIndex, GroupIndex, ProducerIndex, TopicIndex, TopicPartition,
};
use crate::sim::view::RdkafkaFigure;

use super::ledger::LedgerField;

macro_rules! figures {
    ($(#[$doc:meta])* $type:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $type {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $type {
            /// All of them, as declared.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The last word of its path.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The figure of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|figure| figure.name() == name)
            }
        }
    };
}

figures! {
    /// What the engine knows of a producer beside its client's metrics.
    OwnFigure {
        /// Share of its threads' time in `BufferPool.allocate` since the sample before, 0 to 1.
        TrueWaitShare = "true-wait-share",
        /// `bufferpool-wait-ratio` as it would read if every unfinished wait ended now.
        TrueBufferpoolWaitRatio = "true-bufferpool-wait-ratio",
        /// Bytes of the pool in batches that still take records.
        OpenBytes = "kdrill-open-bytes",
        /// Bytes of the pool in batches that wait to be drained.
        ReadyBytes = "kdrill-ready-bytes",
        /// Bytes of the pool in batches on the wire or at a broker.
        InFlightBytes = "kdrill-in-flight-bytes",
        /// Bytes of the pool in batches that wait to be sent again.
        RetryingBytes = "kdrill-retrying-bytes",
        /// Bytes that batches really hold: the sum that tutorials do.
        WrittenBytes = "kdrill-written-bytes",
        /// Batches in the accumulator, in flight included.
        Batches = "kdrill-batches",
        /// Records in them.
        BufferedRecords = "kdrill-buffered-records",
        /// Age of the oldest batch, in ms.
        OldestBatchAgeMs = "kdrill-oldest-batch-age-ms",
        /// Threads that wait inside a client call or for the client.
        BlockedThreads = "kdrill-blocked-threads",
        /// Records of open loads that wait outside of `send()`.
        OutsideRecords = "kdrill-outside-records",
        /// Records in the application's local queue.
        SpilledRecords = "kdrill-spilled-records",
        /// Records accepted per second, over the last second.
        LoopRate = "kdrill-loop-rate",
        /// Records per second that the application tries.
        RateAsked = "kdrill-rate-asked",
        /// Records acknowledged per second, over the last second.
        AckRate = "kdrill-ack-rate",
        /// Records accepted so far.
        RecordsSent = "kdrill-records-sent",
        /// Records acknowledged so far.
        RecordsAcked = "kdrill-records-acked",
        /// Records whose callback brought an error so far.
        RecordsFailed = "kdrill-records-failed",
        /// Refusals so far; a record that is tried again counts every time.
        Refusals = "kdrill-refusals",
        /// Calls of `produce()` that ended in `_QUEUE_FULL` so far (librdkafka only).
        QueueFull = "kdrill-queue-full",
        /// Messages in flight (librdkafka only).
        InFlightMessages = "kdrill-in-flight-messages",
        /// Messages that are done and whose report waits for `poll()` (librdkafka only).
        ReportedMessages = "kdrill-reported-messages",
        /// Bytes of Produce requests to brokers of another rack so far, each attempt counted; 0
        /// where no racks are known.
        CrossRackBytes = "kdrill-cross-rack-bytes",
    }
}

figures! {
    /// What the engine knows of a consumer group beside its clients' metrics.
    GroupFigure {
        /// Records behind, over all partitions: high watermarks minus committed offsets.
        Lag = "kdrill-lag",
        /// Records behind in the partition that is furthest behind.
        LagMax = "kdrill-lag-max",
        /// Records that are written and not yet given to an application.
        Unread = "kdrill-unread",
        /// Members at the coordinator.
        Members = "kdrill-members",
        /// Members that read nothing.
        IdleMembers = "kdrill-idle-members",
        /// Its generation: one more with every rebalance.
        Generation = "kdrill-generation",
        /// Records that `poll()` returned so far, over all members and processes.
        RecordsConsumed = "kdrill-records-consumed",
        /// Records that `poll()` returned per second, over the last second.
        ConsumeRate = "kdrill-consume-rate",
        /// Records that are fetched and not yet returned by `poll()`.
        BufferedRecords = "kdrill-buffered-records",
        /// Records that it was given after a later one of their key on another partition, where
        /// records are remembered.
        OutOfOrderReads = "kdrill-out-of-order-reads",
        /// Keys of such records.
        OutOfOrderKeys = "kdrill-out-of-order-keys",
    }
}

figures! {
    /// What is known of a broker.
    BrokerFigure {
        /// Partitions that it leads.
        LeaderCount = "LeaderCount",
        /// Requests that are not answered, those in purgatory included.
        Requests = "kdrill-requests",
        /// How far its disk is behind, in ms.
        DiskBacklogMs = "kdrill-disk-backlog-ms",
        /// Bytes appended so far, as leader and as follower.
        BytesAppended = "kdrill-bytes-appended",
        /// Bytes appended per second, over the last second.
        AppendRate = "kdrill-append-rate",
        /// Produce requests answered so far.
        ProduceRequests = "kdrill-produce-requests",
        /// How long it throttled producers over their quotas so far, all together, in ms.
        ThrottledMs = "kdrill-throttled-ms",
    }
}

figures! {
    /// What is known of a topic.
    TopicFigure {
        /// Records appended so far.
        RecordsIn = "kdrill-records-in",
        /// Bytes appended so far.
        BytesIn = "kdrill-bytes-in",
        /// Records appended per second, over the last second.
        RecordsInRate = "kdrill-records-in-rate",
        /// Bytes appended per second, over the last second.
        BytesInRate = "kdrill-bytes-in-rate",
        /// Batches for it in all accumulators.
        QueuedBatches = "kdrill-queued-batches",
        /// Bytes in those batches.
        QueuedBytes = "kdrill-queued-bytes",
        /// Records of its fullest partition, over the mean of all its partitions.
        MaxOverMean = "kdrill-max-over-mean",
        /// Standard deviation of its partitions' records, over their mean.
        Cv = "kdrill-cv",
        /// Records of its hottest key, over all of its records with keys, as they were sent.
        TopKeyShare = "kdrill-top-key-share",
        /// Keys with records on more than one partition, where records are remembered.
        SplitKeys = "kdrill-split-keys",
        /// Keys whose kept records are on more than one partition: a table read from the topic
        /// finds several latest values. Where records are remembered.
        KeysKeptSplit = "kdrill-keys-kept-split",
        /// Records in its logs now, where the cleaner takes some away.
        RecordsKept = "kdrill-records-kept",
    }
}

figures! {
    /// What is known of a partition.
    PartitionFigure {
        /// Records appended so far.
        RecordsIn = "kdrill-records-in",
        /// Bytes appended so far.
        BytesIn = "kdrill-bytes-in",
        /// Records appended per second, over the last second.
        RecordsInRate = "kdrill-records-in-rate",
        /// Bytes appended per second, over the last second.
        BytesInRate = "kdrill-bytes-in-rate",
        /// Batches for it in all accumulators.
        QueuedBatches = "kdrill-queued-batches",
        /// Bytes in those batches.
        QueuedBytes = "kdrill-queued-bytes",
        /// First offset kept.
        LogStartOffset = "LogStartOffset",
        /// Next offset to be written.
        LogEndOffset = "LogEndOffset",
        /// First offset that consumers may not read yet.
        HighWatermark = "kdrill-high-watermark",
        /// Records that the group furthest behind is behind here.
        Lag = "kdrill-lag",
        /// In-sync replicas.
        InSyncReplicas = "InSyncReplicasCount",
        /// Records in its log now, where the cleaner takes some away.
        RecordsKept = "kdrill-records-kept",
    }
}

/// What is sampled of a producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProducerFigure {
    /// A metric of its client.
    Client(ProducerMetric),
    /// What the engine knows beside it.
    Own(OwnFigure),
}

impl ProducerFigure {
    /// The last word of its path.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client(metric) => metric.name(),
            Self::Own(figure) => figure.name(),
        }
    }

    /// The figure of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let own = OwnFigure::from_name(name).map(Self::Own);
        own.or_else(|| ProducerMetric::from_name(name).map(Self::Client))
    }
}

/// One figure of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// `producer.NAME.METRIC`
    Producer(ProducerIndex, ProducerFigure),
    /// `producer.NAME.topic.T.METRIC`
    ProducerTopic(ProducerIndex, TopicIndex, ProducerTopicMetric),
    /// `producer.NAME.node.N.METRIC`
    ProducerNode(ProducerIndex, Node, ProducerNodeMetric),
    /// `broker.N.METRIC`
    Broker(BrokerIndex, BrokerFigure),
    /// `topic.T.METRIC`
    Topic(TopicIndex, TopicFigure),
    /// `topic.T.P.METRIC`
    Partition(TopicPartition, PartitionFigure),
    /// `consumer.GROUP.METRIC`, of the clients of all members together: sums of totals and rates,
    /// the largest of maxima, the mean of means.
    GroupClient(GroupIndex, ConsumerMetric),
    /// `consumer.GROUP.METRIC`, of the group.
    Group(GroupIndex, GroupFigure),
    /// `consumer.GROUP.N.METRIC`, of one member's client.
    Member(ConsumerIndex, ConsumerMetric),
    /// `ledger.FIELD`
    Ledger(LedgerField),
    /// `ledger.NAME.FIELD`, of one producer.
    LedgerOf(ProducerIndex, LedgerField),
    /// A figure of librdkafka's statistics: `producer.NAME.msg_cnt`,
    /// `producer.NAME.node.N.rtt.avg`, `producer.NAME.topic.T.batchcnt.avg`,
    /// `producer.NAME.topic.T.P.msgs_inflight`.
    Rdkafka(ProducerIndex, RdkafkaFigure),
}

impl Metric {
    /// A metric of a producer's client.
    pub const fn client(producer: ProducerIndex, metric: ProducerMetric) -> Self {
        Self::Producer(producer, ProducerFigure::Client(metric))
    }

    /// What the engine knows of a producer beside its client's metrics.
    pub const fn own(producer: ProducerIndex, figure: OwnFigure) -> Self {
        Self::Producer(producer, ProducerFigure::Own(figure))
    }
}
