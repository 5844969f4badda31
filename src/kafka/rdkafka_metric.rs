//! The names of librdkafka's statistics, as far as a producer has them.
//!
//! Invariants: names are the paths of the statistics JSON from the object on that they belong to
//! (the client, one of `brokers`, of `topics`, of a topic's `partitions`).
//!
//! Simplifications: figures that are constant here or describe memory are left out (`simple_cnt`,
//! `metadata_cache_cnt`, `buf_grow`, `zbuf_grow`, `rxpartial`), and those of consumers.
//!
//! Source: `STATISTICS.md`, `rd_kafka_stats_emit_all`.

use super::metric_name::MetricUnit;

/// Declares one group: variant, name, unit, help.
macro_rules! figures {
    ($(#[$meta:meta])* $group:ident { $($variant:ident $name:literal $unit:ident $help:literal)+ }
        windows { $($window:ident $window_name:literal $window_unit:ident $window_help:literal)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $group {
            $(#[doc = concat!("`", $name, "`: ", $help)] $variant,)+
            $(#[doc = concat!("`", $window_name, ".*`: ", $window_help)] $window(WindowField),)*
        }

        impl $group {
            /// Every figure of the group, a window with every field.
            pub fn all() -> impl Iterator<Item = Self> {
                let windows: &[fn(WindowField) -> Self] = &[$(Self::$window,)*];
                let fields = windows
                    .iter()
                    .flat_map(|window| WindowField::ALL.iter().map(move |&field| window(field)));
                [$(Self::$variant,)+].into_iter().chain(fields)
            }

            /// The path within its object.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    $(Self::$window(field) => match field {
                        WindowField::Min => concat!($window_name, ".min"),
                        WindowField::Max => concat!($window_name, ".max"),
                        WindowField::Avg => concat!($window_name, ".avg"),
                        WindowField::Sum => concat!($window_name, ".sum"),
                        WindowField::Cnt => concat!($window_name, ".cnt"),
                        WindowField::Stddev => concat!($window_name, ".stddev"),
                        WindowField::P50 => concat!($window_name, ".p50"),
                        WindowField::P75 => concat!($window_name, ".p75"),
                        WindowField::P90 => concat!($window_name, ".p90"),
                        WindowField::P95 => concat!($window_name, ".p95"),
                        WindowField::P99 => concat!($window_name, ".p99"),
                        WindowField::P9999 => concat!($window_name, ".p99_99"),
                    },)*
                }
            }

            /// The figure of this path.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::all().find(|figure| figure.name() == name)
            }

            /// What the figure counts.
            pub const fn unit(self) -> MetricUnit {
                match self {
                    $(Self::$variant => MetricUnit::$unit,)+
                    $(Self::$window(WindowField::Cnt) => MetricUnit::Count,
                    Self::$window(_) => MetricUnit::$window_unit,)*
                }
            }

            /// What it tells, in one sentence.
            pub const fn help(self) -> &'static str {
                match self {
                    $(Self::$variant => $help,)+
                    $(Self::$window(_) => $window_help,)*
                }
            }
        }
    };
}

/// One figure of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WindowField {
    /// The smallest value, 0 for none.
    Min,
    /// The largest value.
    Max,
    /// The mean.
    Avg,
    /// The sum.
    Sum,
    /// How many values.
    Cnt,
    /// The standard deviation.
    Stddev,
    /// The median.
    P50,
    /// The 75th percentile.
    P75,
    /// The 90th percentile.
    P90,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The 99.99th percentile.
    P9999,
}

impl WindowField {
    /// All of them, in the order of the statistics.
    pub const ALL: &[Self] = &[
        Self::Min,
        Self::Max,
        Self::Avg,
        Self::Sum,
        Self::Cnt,
        Self::Stddev,
        Self::P50,
        Self::P75,
        Self::P90,
        Self::P95,
        Self::P99,
        Self::P9999,
    ];
}

figures! {
    /// A figure of the whole client.
    RdkafkaMetric {
    MsgCnt "msg_cnt" Records
        "Messages queued, in flight, or reported and not yet polled."
    MsgSize "msg_size" Bytes
        "Bytes of the values of those messages."
    MsgMax "msg_max" Records
        "queue.buffering.max.messages; 0 is no limit."
    MsgSizeMax "msg_size_max" Bytes
        "queue.buffering.max.kbytes, in bytes."
    Replyq "replyq" Count
        "Operations that wait for poll()."
    Tx "tx" Count
        "Requests written to all brokers."
    TxBytes "tx_bytes" Bytes
        "Bytes written to all brokers."
    Rx "rx" Count
        "Answers read from all brokers."
    RxBytes "rx_bytes" Bytes
        "Bytes read from all brokers."
    Txmsgs "txmsgs" Records
        "Messages put into requests; a retried message counts again."
    TxmsgBytes "txmsg_bytes" Bytes
        "Bytes of their keys and values."
    Age "age" Microseconds
        "Time since the client was made."
    EosIdempStateage "eos.idemp_stateage" Milliseconds
        "Time since the producer id is in its state."
    EosProducerId "eos.producer_id" Count
        "The producer id, -1 before it is assigned."
    EosProducerEpoch "eos.producer_epoch" Count
        "Its epoch, -1 before it is assigned."
    EosEpochCnt "eos.epoch_cnt" Count
        "How often an id or an epoch was assigned."
    FatalCnt "fatal.cnt" Count
        "Fatal errors."
    }
    windows {}
}

figures! {
    /// A figure of one of `brokers`.
    RdkafkaBrokerMetric {
    Stateage "stateage" Microseconds
        "Time since the connection is in its state."
    OutbufCnt "outbuf_cnt" Count
        "Requests that are not written yet."
    OutbufMsgCnt "outbuf_msg_cnt" Records
        "Messages in them."
    WaitrespCnt "waitresp_cnt" Count
        "Requests in flight."
    WaitrespMsgCnt "waitresp_msg_cnt" Records
        "Messages in them."
    Tx "tx" Count
        "Requests written."
    Txbytes "txbytes" Bytes
        "Bytes written."
    Txretries "txretries" Count
        "Requests written again: none, since a retry is a message's."
    Txidle "txidle" Microseconds
        "Time since a request was written, -1 before the first."
    ReqTimeouts "req_timeouts" Count
        "Requests whose time was over."
    Rx "rx" Count
        "Answers read."
    Rxbytes "rxbytes" Bytes
        "Bytes read."
    Rxcorriderrs "rxcorriderrs" Count
        "Answers to requests that were given up."
    Rxidle "rxidle" Microseconds
        "Time since an answer was read, -1 before the first."
    ReqProduce "req.Produce" Count
        "Produce requests written."
    ReqMetadata "req.Metadata" Count
        "Metadata requests written."
    ReqApiVersion "req.ApiVersion" Count
        "ApiVersions requests written."
    ReqInitProducerId "req.InitProducerId" Count
        "InitProducerId requests written."
    Wakeups "wakeups" Count
        "How often the broker's thread looked for something to do."
    Connects "connects" Count
        "Attempts to connect."
    Disconnects "disconnects" Count
        "Connections that ended or could not be made."
    }
    windows {
    IntLatency "int_latency" Microseconds
        "Time from produce() into a request, a value a message."
    OutbufLatency "outbuf_latency" Microseconds
        "Time from there onto the wire, a value a request."
    Rtt "rtt" Microseconds
        "Time from there to the answer, a value a request of any kind."
    Throttle "throttle" Milliseconds
        "Throttle time in a broker's answers, a value an answer that has one."
    }
}

figures! {
    /// A figure of one of `topics`.
    RdkafkaTopicMetric {
    Age "age" Milliseconds
        "Time since the topic was first used."
    MetadataAge "metadata_age" Milliseconds
        "Time since metadata told of it."
    }
    windows {
    Batchsize "batchsize" Bytes
        "Bytes of a batch with its header."
    Batchcnt "batchcnt" Records
        "Messages in a batch."
    }
}

figures! {
    /// A figure of one of a topic's `partitions`.
    RdkafkaPartitionMetric {
    LeaderEpoch "leader_epoch" Count
        "The leader's epoch, as the client knows it."
    MsgqCnt "msgq_cnt" Records
        "Messages that its broker's thread has not taken over."
    MsgqBytes "msgq_bytes" Bytes
        "Bytes of their keys and values."
    XmitMsgqCnt "xmit_msgq_cnt" Records
        "Always 0, as in the client."
    XmitMsgqBytes "xmit_msgq_bytes" Bytes
        "Always 0, as in the client."
    Msgs "msgs" Records
        "Messages ever queued for it."
    Txmsgs "txmsgs" Records
        "Messages put into requests."
    Txbytes "txbytes" Bytes
        "Bytes of their keys and values."
    MsgsInflight "msgs_inflight" Records
        "Messages in requests that are not answered."
    NextAckSeq "next_ack_seq" Count
        "The sequence that is to be acknowledged next."
    NextErrSeq "next_err_seq" Count
        "The sequence of which an error would come next."
    AckedMsgid "acked_msgid" Count
        "Number of the last acknowledged message, from 1; 0 for none."
    }
    windows {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_leads_back_to_its_figure() {
        for metric in RdkafkaMetric::all() {
            assert_eq!(RdkafkaMetric::from_name(metric.name()), Some(metric));
        }
        for metric in RdkafkaBrokerMetric::all() {
            assert_eq!(RdkafkaBrokerMetric::from_name(metric.name()), Some(metric));
        }
        for metric in RdkafkaTopicMetric::all() {
            assert_eq!(RdkafkaTopicMetric::from_name(metric.name()), Some(metric));
        }
        for metric in RdkafkaPartitionMetric::all() {
            assert_eq!(
                RdkafkaPartitionMetric::from_name(metric.name()),
                Some(metric)
            );
        }
    }

    #[test]
    fn a_window_has_the_fields_of_the_statistics() {
        let rtt = RdkafkaBrokerMetric::Rtt(WindowField::P9999);
        assert_eq!(rtt.name(), "rtt.p99_99");
        let count = RdkafkaTopicMetric::Batchcnt(WindowField::Cnt);
        assert_eq!(
            (count.name(), count.unit()),
            ("batchcnt.cnt", MetricUnit::Count)
        );
    }
}
