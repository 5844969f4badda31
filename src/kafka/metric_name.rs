//! The names of the Java clients' own metrics.
//!
//! Invariants: names are those of JMX; the order is that of the documentation, and
//! `ALL[metric as usize]` is `metric`, so that a plain array can hold one figure each.
//!
//! Simplification: the metrics of authentication are left out.

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricUnit {
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Records.
    Records,
    /// Records per second.
    RecordsPerSecond,
    /// Other things than records or bytes: requests, connections, threads.
    Count,
    /// Such things per second.
    PerSecond,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
    /// Seconds.
    Seconds,
    /// A share without dimension.
    Ratio,
}

impl MetricUnit {
    /// The unit as it stands behind a figure; empty where there is none.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Bytes => "B",
            Self::BytesPerSecond => "B/s",
            Self::Records => "records",
            Self::RecordsPerSecond => "records/s",
            Self::Count | Self::Ratio => "",
            Self::PerSecond => "/s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "µs",
            Self::Nanoseconds => "ns",
            Self::Seconds => "s",
        }
    }
}

/// How a figure comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricKind {
    /// The mean over the window.
    Avg,
    /// The largest value of the window.
    Max,
    /// The amount per second of the window.
    Rate,
    /// The share of the window's time.
    Ratio,
    /// Everything since the start.
    Total,
    /// The state at this moment.
    Gauge,
}

/// Declares one group of metrics: variant, name, kind, unit, help.
macro_rules! metrics {
    ($(#[$meta:meta])* $group:ident { $($variant:ident $name:literal $kind:ident $unit:ident
        $help:literal)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $group {
            $(#[doc = concat!("`", $name, "`: ", $help)] $variant,)+
        }

        impl $group {
            /// Every metric of the group.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Every metric of the group, in the order of the documentation.
            pub const fn all() -> &'static [Self] {
                Self::ALL
            }

            /// The name in JMX.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The metric with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|metric| metric.name() == name)
            }

            /// How the figure comes about.
            pub const fn kind(self) -> MetricKind {
                match self { $(Self::$variant => MetricKind::$kind,)+ }
            }

            /// What the figure counts.
            pub const fn unit(self) -> MetricUnit {
                match self { $(Self::$variant => MetricUnit::$unit,)+ }
            }

            /// What it tells, in one sentence.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)+ }
            }
        }
    };
}

metrics! {
    /// A metric of the whole producer (JMX group `producer-metrics`).
    ///
    /// Source: `SenderMetricsRegistry`, `KafkaProducerMetrics`, `BufferPool`, `Selector`.
    ProducerMetric {
    RecordSendRate "record-send-rate" Rate RecordsPerSecond
        "Records put into requests per second; a retried record counts again."
    RecordSendTotal "record-send-total" Total Records
        "Records put into requests; a retried record counts again."
    RecordsPerRequestAvg "records-per-request-avg" Avg Records
        "Records in a request, on average; a ready node that yielded nothing counts as 0."
    BatchSizeAvg "batch-size-avg" Avg Bytes
        "Bytes of a closed batch with its header, compressed, on average."
    BatchSizeMax "batch-size-max" Max Bytes
        "Bytes of the largest closed batch."
    RecordSizeAvg "record-size-avg" Avg Bytes
        "The estimated size of a batch's largest record, averaged over batches."
    RecordSizeMax "record-size-max" Max Bytes
        "The estimated size of the largest record, about 15 bytes above the truth."
    CompressionRateAvg "compression-rate-avg" Avg Ratio
        "Compressed by uncompressed bytes of a batch; 1 without compression."
    RecordQueueTimeAvg "record-queue-time-avg" Avg Milliseconds
        "Time from a batch's creation to its request; a retried batch counts its whole age."
    RecordQueueTimeMax "record-queue-time-max" Max Milliseconds
        "The longest time from a batch's creation to its request."
    RequestLatencyAvg "request-latency-avg" Avg Milliseconds
        "Time from a Produce request to its answer; timeouts and disconnects do not count."
    RequestLatencyMax "request-latency-max" Max Milliseconds
        "The longest time from a Produce request to its answer."
    ProduceThrottleTimeAvg "produce-throttle-time-avg" Avg Milliseconds
        "The throttle time in a broker's answers, zeros included, on average."
    ProduceThrottleTimeMax "produce-throttle-time-max" Max Milliseconds
        "The longest throttle time in a broker's answer."
    RecordRetryRate "record-retry-rate" Rate RecordsPerSecond
        "Records queued to be sent again, per second."
    RecordRetryTotal "record-retry-total" Total Records
        "Records queued to be sent again."
    RecordErrorRate "record-error-rate" Rate RecordsPerSecond
        "Records that failed, per second: in their batch or in send() itself."
    RecordErrorTotal "record-error-total" Total Records
        "Records that failed: in their batch or in send() itself."
    BatchSplitRate "batch-split-rate" Rate PerSecond
        "Batches split because a broker found them too large, per second."
    BatchSplitTotal "batch-split-total" Total Count
        "Batches split because a broker found them too large."
    RequestsInFlight "requests-in-flight" Gauge Count
        "Requests of every kind that wait for an answer, over all nodes."
    MetadataAge "metadata-age" Gauge Seconds
        "Time since the last full update of metadata."
    BufferTotalBytes "buffer-total-bytes" Gauge Bytes
        "The size of the pool, which is buffer.memory."
    BufferAvailableBytes "buffer-available-bytes" Gauge Bytes
        "Bytes of the pool that no batch holds."
    WaitingThreads "waiting-threads" Gauge Count
        "Application threads that wait for memory in send()."
    BufferpoolWaitRatio "bufferpool-wait-ratio" Ratio Ratio
        "The share of time that threads waited for memory, recorded when each wait ends."
    BufferpoolWaitTimeNsTotal "bufferpool-wait-time-ns-total" Total Nanoseconds
        "Time that threads waited for memory."
    BufferExhaustedRate "buffer-exhausted-rate" Rate RecordsPerSecond
        "Records refused because no memory came free in time, per second."
    BufferExhaustedTotal "buffer-exhausted-total" Total Records
        "Records refused because no memory came free in time."
    FlushTimeNsTotal "flush-time-ns-total" Total Nanoseconds
        "Time spent in flush()."
    MetadataWaitTimeNsTotal "metadata-wait-time-ns-total" Total Nanoseconds
        "Time that send() waited for metadata, where it came in the end."
    TxnInitTimeNsTotal "txn-init-time-ns-total" Total Nanoseconds
        "Time spent in successful calls of initTransactions()."
    TxnBeginTimeNsTotal "txn-begin-time-ns-total" Total Nanoseconds
        "Time spent in successful calls of beginTransaction()."
    TxnSendOffsetsTimeNsTotal "txn-send-offsets-time-ns-total" Total Nanoseconds
        "Time spent in successful calls of sendOffsetsToTransaction()."
    TxnCommitTimeNsTotal "txn-commit-time-ns-total" Total Nanoseconds
        "Time spent in successful calls of commitTransaction()."
    TxnAbortTimeNsTotal "txn-abort-time-ns-total" Total Nanoseconds
        "Time spent in successful calls of abortTransaction()."
    TxnPrepareTimeNsTotal "txn-prepare-time-ns-total" Total Nanoseconds
        "Time spent in successful calls of prepareTransaction(), since 4.1."
    ConnectionCount "connection-count" Gauge Count
        "Connections that are open or being opened."
    ConnectionCreationRate "connection-creation-rate" Rate PerSecond
        "Connections opened per second."
    ConnectionCreationTotal "connection-creation-total" Total Count
        "Connections opened."
    ConnectionCloseRate "connection-close-rate" Rate PerSecond
        "Connections closed per second."
    ConnectionCloseTotal "connection-close-total" Total Count
        "Connections closed."
    NetworkIoRate "network-io-rate" Rate PerSecond
        "Reads and writes on all connections per second."
    NetworkIoTotal "network-io-total" Total Count
        "Reads and writes on all connections."
    OutgoingByteRate "outgoing-byte-rate" Rate BytesPerSecond
        "Bytes sent to all nodes per second, frames included."
    OutgoingByteTotal "outgoing-byte-total" Total Bytes
        "Bytes sent to all nodes, frames included."
    IncomingByteRate "incoming-byte-rate" Rate BytesPerSecond
        "Bytes received from all nodes per second, frames included."
    IncomingByteTotal "incoming-byte-total" Total Bytes
        "Bytes received from all nodes, frames included."
    RequestRate "request-rate" Rate PerSecond
        "Requests of every kind fully sent, per second."
    RequestTotal "request-total" Total Count
        "Requests of every kind fully sent."
    ResponseRate "response-rate" Rate PerSecond
        "Answers of every kind received, per second."
    ResponseTotal "response-total" Total Count
        "Answers of every kind received."
    RequestSizeAvg "request-size-avg" Avg Bytes
        "Bytes of a request with its frame, on average."
    RequestSizeMax "request-size-max" Max Bytes
        "Bytes of the largest request with its frame."
    SelectRate "select-rate" Rate PerSecond
        "How often the sender thread looked for something to do, per second."
    SelectTotal "select-total" Total Count
        "How often the sender thread looked for something to do."
    IoWaitTimeNsAvg "io-wait-time-ns-avg" Avg Nanoseconds
        "Time that the sender thread waited for a ready socket, on average."
    IoWaitRatio "io-wait-ratio" Ratio Ratio
        "The share of time that the sender thread waited."
    IoWaitTimeNsTotal "io-wait-time-ns-total" Total Nanoseconds
        "Time that the sender thread waited."
    IoTimeNsAvg "io-time-ns-avg" Avg Nanoseconds
        "Time of one round of reads and writes, on average."
    IoRatio "io-ratio" Ratio Ratio
        "The share of time that the sender thread read and wrote."
    IoTimeNsTotal "io-time-ns-total" Total Nanoseconds
        "Time that the sender thread read and wrote."
    }
}

metrics! {
    /// A metric of one topic (JMX group `producer-topic-metrics`).
    ///
    /// The group appears when the topic's first batch is put into a request.
    ///
    /// Source: `SenderMetricsRegistry`.
    ProducerTopicMetric {
    RecordSendRate "record-send-rate" Rate RecordsPerSecond
        "Records put into requests per second; a retried record counts again."
    RecordSendTotal "record-send-total" Total Records
        "Records put into requests; a retried record counts again."
    ByteRate "byte-rate" Rate BytesPerSecond
        "Bytes of closed batches put into requests per second, retries included."
    ByteTotal "byte-total" Total Bytes
        "Bytes of closed batches put into requests, retries included."
    CompressionRate "compression-rate" Avg Ratio
        "Compressed by uncompressed bytes of a batch; 1 without compression."
    RecordRetryRate "record-retry-rate" Rate RecordsPerSecond
        "Records queued to be sent again, per second."
    RecordRetryTotal "record-retry-total" Total Records
        "Records queued to be sent again."
    RecordErrorRate "record-error-rate" Rate RecordsPerSecond
        "Records of failed batches per second."
    RecordErrorTotal "record-error-total" Total Records
        "Records of failed batches."
    }
}

metrics! {
    /// A metric of one connection (JMX group `producer-node-metrics`).
    ///
    /// Source: `Selector`, `SenderMetricsRegistry`.
    ProducerNodeMetric {
    RequestRate "request-rate" Rate PerSecond
        "Requests of every kind fully sent to this node, per second."
    RequestTotal "request-total" Total Count
        "Requests of every kind fully sent to this node."
    RequestSizeAvg "request-size-avg" Avg Bytes
        "Bytes of a request to this node with its frame, on average."
    RequestSizeMax "request-size-max" Max Bytes
        "Bytes of the largest request to this node with its frame."
    OutgoingByteRate "outgoing-byte-rate" Rate BytesPerSecond
        "Bytes sent to this node per second."
    OutgoingByteTotal "outgoing-byte-total" Total Bytes
        "Bytes sent to this node."
    ResponseRate "response-rate" Rate PerSecond
        "Answers of every kind received from this node, per second."
    ResponseTotal "response-total" Total Count
        "Answers of every kind received from this node."
    IncomingByteRate "incoming-byte-rate" Rate BytesPerSecond
        "Bytes received from this node per second."
    IncomingByteTotal "incoming-byte-total" Total Bytes
        "Bytes received from this node."
    RequestLatencyAvg "request-latency-avg" Avg Milliseconds
        "Time from a Produce request to this node to its answer, on average."
    RequestLatencyMax "request-latency-max" Max Milliseconds
        "The longest time from a Produce request to this node to its answer."
    }
}

metrics! {
    /// A metric of a consumer (JMX groups `consumer-metrics`, `consumer-fetch-manager-metrics` and
    /// `consumer-coordinator-metrics`).
    ///
    /// Source: `FetchMetricsRegistry`, `ConsumerCoordinatorMetrics`, `HeartbeatMetricsManager`,
    /// `KafkaConsumerMetrics`.
    ConsumerMetric {
    RecordsLagMax "records-lag-max" Max Records
        "The most records that poll() left unread in a partition it read from."
    RecordsConsumedRate "records-consumed-rate" Rate RecordsPerSecond
        "Records that poll() returned, per second."
    RecordsConsumedTotal "records-consumed-total" Total Records
        "Records that poll() returned."
    BytesConsumedRate "bytes-consumed-rate" Rate BytesPerSecond
        "Bytes of the records that poll() returned, per second."
    BytesConsumedTotal "bytes-consumed-total" Total Bytes
        "Bytes of the records that poll() returned."
    RecordsPerRequestAvg "records-per-request-avg" Avg Records
        "Records in a Fetch answer, on average."
    FetchSizeAvg "fetch-size-avg" Avg Bytes
        "Bytes of records in a Fetch answer, on average."
    FetchSizeMax "fetch-size-max" Max Bytes
        "The most bytes of records in a Fetch answer."
    FetchRate "fetch-rate" Rate PerSecond
        "Fetch answers per second."
    FetchTotal "fetch-total" Total Count
        "Fetch answers."
    FetchLatencyAvg "fetch-latency-avg" Avg Milliseconds
        "Time from a Fetch request to its answer, waiting for records included, on average."
    FetchLatencyMax "fetch-latency-max" Max Milliseconds
        "The longest time from a Fetch request to its answer."
    AssignedPartitions "assigned-partitions" Gauge Count
        "Partitions that the member reads."
    CommitRate "commit-rate" Rate PerSecond
        "Offset commits per second."
    CommitTotal "commit-total" Total Count
        "Offset commits."
    CommitLatencyAvg "commit-latency-avg" Avg Milliseconds
        "Time from an offset commit to its answer, on average."
    CommitLatencyMax "commit-latency-max" Max Milliseconds
        "The longest time from an offset commit to its answer."
    HeartbeatRate "heartbeat-rate" Rate PerSecond
        "Heartbeats per second."
    HeartbeatTotal "heartbeat-total" Total Count
        "Heartbeats."
    JoinRate "join-rate" Rate PerSecond
        "Times per second that the member joined its group."
    JoinTotal "join-total" Total Count
        "Times that the member joined its group."
    JoinTimeAvg "join-time-avg" Avg Milliseconds
        "How long joining took, on average."
    JoinTimeMax "join-time-max" Max Milliseconds
        "How long joining took at most."
    RebalanceTotal "rebalance-total" Total Count
        "Rebalances that the member took part in."
    RebalanceLatencyAvg "rebalance-latency-avg" Avg Milliseconds
        "How long a rebalance took the member, on average."
    RebalanceLatencyMax "rebalance-latency-max" Max Milliseconds
        "How long a rebalance took the member at most."
    LastHeartbeatSecondsAgo "last-heartbeat-seconds-ago" Gauge Seconds
        "Time since the last heartbeat was sent."
    LastPollSecondsAgo "last-poll-seconds-ago" Gauge Seconds
        "Time since the application last called poll()."
    TimeBetweenPollAvg "time-between-poll-avg" Avg Milliseconds
        "Time between two calls of poll(), on average."
    TimeBetweenPollMax "time-between-poll-max" Max Milliseconds
        "The longest time between two calls of poll()."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_metric_and_every_place_in_the_list_is_its_own() {
        for (place, metric) in ProducerMetric::all().iter().enumerate() {
            assert_eq!(ProducerMetric::from_name(metric.name()), Some(*metric));
            assert_eq!(*metric as usize, place);
        }
        for metric in ProducerTopicMetric::all() {
            assert_eq!(ProducerTopicMetric::from_name(metric.name()), Some(*metric));
        }
        for metric in ProducerNodeMetric::all() {
            assert_eq!(ProducerNodeMetric::from_name(metric.name()), Some(*metric));
        }
        for metric in ConsumerMetric::all() {
            assert_eq!(ConsumerMetric::from_name(metric.name()), Some(*metric));
        }
    }

    #[test]
    fn names_say_what_kind_of_figure_they_stand_for() {
        for metric in ProducerMetric::all() {
            let suffix = match metric.kind() {
                MetricKind::Avg => "-avg",
                MetricKind::Max => "-max",
                MetricKind::Rate => "-rate",
                MetricKind::Ratio => "-ratio",
                MetricKind::Total => "-total",
                MetricKind::Gauge => "",
            };
            assert!(metric.name().ends_with(suffix), "{}", metric.name());
        }
    }

    #[test]
    fn aliases_that_4_0_removed_are_unknown() {
        for name in [
            "bufferpool-wait-time-total",
            "iotime-total",
            "io-waittime-total",
        ] {
            assert_eq!(ProducerMetric::from_name(name), None);
        }
    }

    #[test]
    fn help_is_one_sentence() {
        for metric in ProducerMetric::all() {
            assert!(
                metric.help().ends_with('.') && metric.help().len() < 100,
                "{metric:?}"
            );
        }
    }
}
