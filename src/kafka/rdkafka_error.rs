//! Error codes as librdkafka's applications see them: the client's own, which are negative, and
//! those of brokers in its words.
//!
//! Invariants: code, name (without `RD_KAFKA_RESP_ERR_`) and text are librdkafka's own.
//!
//! Simplification: only codes that a producer can meet here are listed; other codes of a broker
//! count as `UNKNOWN`.
//!
//! Source: `rdkafka.h` (`rd_kafka_resp_err_t`), `rd_kafka_err2str`.

use std::fmt;

use super::error::ErrorCode;

/// Declares the codes once.
macro_rules! rdkafka_errors {
    ($($variant:ident = $code:literal, $name:literal, $text:literal;)+) => {
        /// An error as librdkafka reports it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i16)]
        pub enum RdkafkaError {
            $(#[doc = concat!("`", $name, "`: ", $text, ".")] $variant = $code,)+
        }

        impl RdkafkaError {
            /// Every code, in ascending order of the numbers.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name, such as `_QUEUE_FULL`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The text (`rd_kafka_err2str`), such as `Local: Queue full`.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

rdkafka_errors! {
    Transport = -195, "_TRANSPORT", "Local: Broker transport failure";
    MsgTimedOut = -192, "_MSG_TIMED_OUT", "Local: Message timed out";
    UnknownPartition = -190, "_UNKNOWN_PARTITION", "Local: Unknown partition";
    UnknownTopic = -188, "_UNKNOWN_TOPIC", "Local: Unknown topic";
    AllBrokersDown = -187, "_ALL_BROKERS_DOWN", "Local: All broker connections are down";
    InvalidArg = -186, "_INVALID_ARG", "Local: Invalid argument or configuration";
    TimedOut = -185, "_TIMED_OUT", "Local: Timed out";
    QueueFull = -184, "_QUEUE_FULL", "Local: Queue full";
    Conflict = -173, "_CONFLICT", "Local: Conflicting use";
    State = -172, "_STATE", "Local: Erroneous state";
    TimedOutQueue = -166, "_TIMED_OUT_QUEUE", "Local: Timed out in queue";
    PurgeQueue = -152, "_PURGE_QUEUE", "Local: Purged in queue";
    PurgeInflight = -151, "_PURGE_INFLIGHT", "Local: Purged in flight";
    Fatal = -150, "_FATAL", "Local: Fatal error";
    Inconsistent = -149, "_INCONSISTENT", "Local: Inconsistent state";
    GaplessGuarantee = -148, "_GAPLESS_GUARANTEE",
        "Local: Gap-less ordering would not be guaranteed if proceeding";
    Fenced = -144, "_FENCED", "Local: This instance has been fenced by a newer instance";
    InvalidDifferentRecord = -138, "_INVALID_DIFFERENT_RECORD",
        "Local: Invalid or unsupported record in the same batch";
    Unknown = -1, "UNKNOWN", "Unknown broker error";
    InvalidMsg = 2, "INVALID_MSG", "Broker: Invalid message";
    UnknownTopicOrPart = 3, "UNKNOWN_TOPIC_OR_PART", "Broker: Unknown topic or partition";
    LeaderNotAvailable = 5, "LEADER_NOT_AVAILABLE", "Broker: Leader not available";
    NotLeaderForPartition = 6, "NOT_LEADER_FOR_PARTITION", "Broker: Not leader for partition";
    RequestTimedOut = 7, "REQUEST_TIMED_OUT", "Broker: Request timed out";
    ReplicaNotAvailable = 9, "REPLICA_NOT_AVAILABLE", "Broker: Replica not available";
    MsgSizeTooLarge = 10, "MSG_SIZE_TOO_LARGE", "Broker: Message size too large";
    CoordinatorLoadInProgress = 14, "COORDINATOR_LOAD_IN_PROGRESS",
        "Broker: Coordinator load in progress";
    TopicException = 17, "TOPIC_EXCEPTION", "Broker: Invalid topic";
    RecordListTooLarge = 18, "RECORD_LIST_TOO_LARGE",
        "Broker: Message batch larger than configured server segment size";
    NotEnoughReplicas = 19, "NOT_ENOUGH_REPLICAS", "Broker: Not enough in-sync replicas";
    NotEnoughReplicasAfterAppend = 20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "Broker: Message(s) written to insufficient number of in-sync replicas";
    InvalidRequiredAcks = 21, "INVALID_REQUIRED_ACKS", "Broker: Invalid required acks value";
    TopicAuthorizationFailed = 29, "TOPIC_AUTHORIZATION_FAILED",
        "Broker: Topic authorization failed";
    ClusterAuthorizationFailed = 31, "CLUSTER_AUTHORIZATION_FAILED",
        "Broker: Cluster authorization failed";
    OutOfOrderSequenceNumber = 45, "OUT_OF_ORDER_SEQUENCE_NUMBER",
        "Broker: Broker received an out of order sequence number";
    DuplicateSequenceNumber = 46, "DUPLICATE_SEQUENCE_NUMBER",
        "Broker: Broker received a duplicate sequence number";
    InvalidProducerEpoch = 47, "INVALID_PRODUCER_EPOCH",
        "Broker: Producer attempted an operation with an old epoch";
    KafkaStorageError = 56, "KAFKA_STORAGE_ERROR", "Broker: Disk error when trying to access log file on disk";
    UnknownProducerId = 59, "UNKNOWN_PRODUCER_ID", "Broker: Unknown Producer Id";
    InvalidRecord = 87, "INVALID_RECORD",
        "Broker: Broker failed to validate record";
    ProducerFenced = 90, "PRODUCER_FENCED",
        "Broker: There is a newer producer with the same transactionalId which fences the \
         current one";
}

impl RdkafkaError {
    /// The number.
    pub const fn code(self) -> i16 {
        self as i16
    }

    /// What a broker's answer is called here.
    pub fn of_broker(error: ErrorCode) -> Self {
        let code = error as i16;
        let known = Self::ALL.iter().copied();
        known
            .filter(|known| known.code() >= 0)
            .find(|known| known.code() == code)
            .unwrap_or(Self::Unknown)
    }

    /// The error of this name, with or without `RD_KAFKA_RESP_ERR_`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.strip_prefix("RD_KAFKA_RESP_ERR_").unwrap_or(name);
        Self::ALL.iter().copied().find(|error| error.name() == name)
    }
}

impl fmt::Display for RdkafkaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_found_by_its_name_and_by_that_of_the_header() {
        for &error in RdkafkaError::ALL {
            assert_eq!(RdkafkaError::from_name(error.name()), Some(error));
        }
        let full = RdkafkaError::from_name("RD_KAFKA_RESP_ERR__QUEUE_FULL");
        assert_eq!(full, Some(RdkafkaError::QueueFull));
    }

    #[test]
    fn a_brokers_answer_has_librdkafkas_name() {
        let error = RdkafkaError::of_broker(ErrorCode::NotLeaderOrFollower);
        assert_eq!(error.name(), "NOT_LEADER_FOR_PARTITION");
        assert_eq!(error.text(), "Broker: Not leader for partition");
        let other = RdkafkaError::of_broker(ErrorCode::NotController);
        assert_eq!(other, RdkafkaError::Unknown);
    }
}
