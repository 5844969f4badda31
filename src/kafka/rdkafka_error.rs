//! librdkafka's errors: its own, and how it calls and words those of brokers.
//!
//! Invariants: codes, names and texts are those of `rd_kafka_err2name` and `rd_kafka_err2str`;
//! the client's own codes are below −1 and their names begin with an underscore. A broker's error
//! that the client does not know has the name and text that it then makes of the number.
//!
//! Simplification: errors that only consumers, administrators and deserializers meet are left out.

use std::fmt;

use super::error::ErrorCode;

/// Declares the client's own errors once.
macro_rules! local_errors {
    ($($variant:ident = $code:literal, $name:literal, $text:literal;)+) => {
        /// An error of the client's own (`RD_KAFKA_RESP_ERR__…`).
        ///
        /// Source: `rd_kafka_err_descs` (`rdkafka.c`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i16)]
        pub enum LocalError {
            $(#[doc = concat!("`", $name, "`: ", $text, ".")] $variant = $code,)+
        }

        impl LocalError {
            /// Every error, in ascending order of the numbers.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name, such as `_QUEUE_FULL`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The text, such as `Local: Queue full`.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

local_errors! {
    Destroyed = -197, "_DESTROY", "Local: Broker handle destroyed for termination";
    Fail = -196, "_FAIL", "Local: Communication failure with broker";
    Transport = -195, "_TRANSPORT", "Local: Broker transport failure";
    Resolve = -193, "_RESOLVE", "Local: Host resolution failure";
    MsgTimedOut = -192, "_MSG_TIMED_OUT", "Local: Message timed out";
    UnknownPartition = -190, "_UNKNOWN_PARTITION", "Local: Unknown partition";
    UnknownTopic = -188, "_UNKNOWN_TOPIC", "Local: Unknown topic";
    AllBrokersDown = -187, "_ALL_BROKERS_DOWN", "Local: All broker connections are down";
    InvalidArg = -186, "_INVALID_ARG", "Local: Invalid argument or configuration";
    TimedOut = -185, "_TIMED_OUT", "Local: Timed out";
    QueueFull = -184, "_QUEUE_FULL", "Local: Queue full";
    IsrInsufficient = -183, "_ISR_INSUFF", "Local: ISR count insufficient";
    Ssl = -181, "_SSL", "Local: SSL error";
    WaitCoordinator = -180, "_WAIT_COORD", "Local: Waiting for coordinator";
    InProgress = -178, "_IN_PROGRESS", "Local: Operation in progress";
    PreviousInProgress = -177, "_PREV_IN_PROGRESS", "Local: Previous operation in progress";
    Conflict = -173, "_CONFLICT", "Local: Conflicting use";
    State = -172, "_STATE", "Local: Erroneous state";
    NotImplemented = -170, "_NOT_IMPLEMENTED", "Local: Not implemented";
    Authentication = -169, "_AUTHENTICATION", "Local: Authentication failure";
    TimedOutQueue = -166, "_TIMED_OUT_QUEUE", "Local: Timed out in queue";
    UnsupportedFeature = -165, "_UNSUPPORTED_FEATURE",
        "Local: Required feature not supported by broker";
    WaitCache = -164, "_WAIT_CACHE", "Local: Awaiting cache update";
    Interrupted = -163, "_INTR", "Local: Operation interrupted";
    Partial = -158, "_PARTIAL", "Local: Partial response";
    NoEntry = -156, "_NOENT", "Local: No such entry";
    Retry = -153, "_RETRY", "Local: Retry operation";
    PurgeQueue = -152, "_PURGE_QUEUE", "Local: Purged in queue";
    PurgeInFlight = -151, "_PURGE_INFLIGHT", "Local: Purged in flight";
    Fatal = -150, "_FATAL", "Local: Fatal error";
    Inconsistent = -149, "_INCONSISTENT", "Local: Inconsistent state";
    GaplessGuarantee = -148, "_GAPLESS_GUARANTEE",
        "Local: Gap-less ordering would not be guaranteed if proceeding";
    UnknownBroker = -146, "_UNKNOWN_BROKER", "Local: Unknown broker";
    NotConfigured = -145, "_NOT_CONFIGURED", "Local: Functionality not configured";
    Fenced = -144, "_FENCED", "Local: This instance has been fenced by a newer instance";
    Application = -143, "_APPLICATION", "Local: Application generated error";
    NoOperation = -141, "_NOOP", "Local: No operation performed";
    InvalidDifferentRecord = -138, "_INVALID_DIFFERENT_RECORD",
        "Local: an invalid record in the same batch caused the failure of this message too";
    BrokerDestroyed = -137, "_DESTROY_BROKER", "Local: Broker handle destroyed without termination";
}

impl LocalError {
    /// The number, below −1.
    pub const fn code(self) -> i16 {
        self as i16
    }

    /// The error with this name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        let is_it = |error: &Self| error.name().eq_ignore_ascii_case(name);
        Self::ALL.iter().copied().find(is_it)
    }
}

impl fmt::Display for LocalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error as a librdkafka application meets it (`rd_kafka_resp_err_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RdkafkaError {
    /// The client's own.
    Local(LocalError),
    /// A broker's; also [`ErrorCode::MessageTooLarge`], with which the client itself refuses.
    Broker(ErrorCode),
}

impl RdkafkaError {
    /// The number.
    pub const fn code(self) -> i16 {
        match self {
            Self::Local(error) => error.code(),
            Self::Broker(error) => error.code(),
        }
    }

    /// The name (`rd_kafka_err2name`).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local(error) => error.name(),
            Self::Broker(error) => broker_name(error),
        }
    }

    /// The text (`rd_kafka_err2str`).
    pub const fn text(self) -> &'static str {
        match self {
            Self::Local(error) => error.text(),
            Self::Broker(error) => broker_text(error),
        }
    }

    /// The error with this name, in any case; brokers' also by the names of the protocol.
    pub fn from_name(name: &str) -> Option<Self> {
        let broker = || {
            let is_it = |error: &ErrorCode| broker_name(*error).eq_ignore_ascii_case(name);
            let by_own_name = ErrorCode::ALL.iter().copied().find(is_it);
            by_own_name.or_else(|| ErrorCode::from_name(name))
        };
        LocalError::from_name(name)
            .map(Self::Local)
            .or_else(|| broker().map(Self::Broker))
    }
}

impl From<LocalError> for RdkafkaError {
    fn from(error: LocalError) -> Self {
        Self::Local(error)
    }
}

impl From<ErrorCode> for RdkafkaError {
    fn from(error: ErrorCode) -> Self {
        Self::Broker(error)
    }
}

impl fmt::Display for RdkafkaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What librdkafka calls a broker's error: often by older names than the protocol's.
const fn broker_name(error: ErrorCode) -> &'static str {
    match error {
        ErrorCode::UnknownServerError => "UNKNOWN",
        ErrorCode::CorruptMessage => "INVALID_MSG",
        ErrorCode::UnknownTopicOrPartition => "UNKNOWN_TOPIC_OR_PART",
        ErrorCode::NotLeaderOrFollower => "NOT_LEADER_FOR_PARTITION",
        ErrorCode::MessageTooLarge => "MSG_SIZE_TOO_LARGE",
        ErrorCode::InvalidTopicException => "TOPIC_EXCEPTION",
        ErrorCode::DuplicateBrokerRegistration => "ERR_101?",
        ErrorCode::TransactionalIdNotFound => "ERR_105?",
        ErrorCode::IneligibleReplica => "ERR_107?",
        ErrorCode::NewLeaderElected => "ERR_108?",
        other => other.name(),
    }
}

/// What librdkafka says for a broker's error.
const fn broker_text(error: ErrorCode) -> &'static str {
    match error {
        ErrorCode::UnknownServerError => "Unknown broker error",
        ErrorCode::OffsetOutOfRange => "Broker: Offset out of range",
        ErrorCode::CorruptMessage => "Broker: Invalid message",
        ErrorCode::UnknownTopicOrPartition => "Broker: Unknown topic or partition",
        ErrorCode::LeaderNotAvailable => "Broker: Leader not available",
        ErrorCode::NotLeaderOrFollower => "Broker: Not leader for partition",
        ErrorCode::RequestTimedOut => "Broker: Request timed out",
        ErrorCode::ReplicaNotAvailable => "Broker: Replica not available",
        ErrorCode::MessageTooLarge => "Broker: Message size too large",
        ErrorCode::NetworkException => "Broker: Broker disconnected before response received",
        ErrorCode::CoordinatorLoadInProgress => "Broker: Coordinator load in progress",
        ErrorCode::CoordinatorNotAvailable => "Broker: Coordinator not available",
        ErrorCode::NotCoordinator => "Broker: Not coordinator",
        ErrorCode::InvalidTopicException => "Broker: Invalid topic",
        ErrorCode::RecordListTooLarge => {
            "Broker: Message batch larger than configured server segment size"
        }
        ErrorCode::NotEnoughReplicas => "Broker: Not enough in-sync replicas",
        ErrorCode::NotEnoughReplicasAfterAppend => {
            "Broker: Message(s) written to insufficient number of in-sync replicas"
        }
        ErrorCode::InvalidRequiredAcks => "Broker: Invalid required acks value",
        ErrorCode::IllegalGeneration => "Broker: Specified group generation id is not valid",
        ErrorCode::UnknownMemberId => "Broker: Unknown member",
        ErrorCode::RebalanceInProgress => "Broker: Group rebalance in progress",
        ErrorCode::TopicAuthorizationFailed => "Broker: Topic authorization failed",
        ErrorCode::GroupAuthorizationFailed => "Broker: Group authorization failed",
        ErrorCode::ClusterAuthorizationFailed => "Broker: Cluster authorization failed",
        ErrorCode::InvalidTimestamp => "Broker: Invalid timestamp",
        ErrorCode::UnsupportedVersion => "Broker: API version not supported",
        ErrorCode::TopicAlreadyExists => "Broker: Topic already exists",
        ErrorCode::InvalidPartitions => "Broker: Invalid number of partitions",
        ErrorCode::InvalidReplicationFactor => "Broker: Invalid replication factor",
        ErrorCode::InvalidReplicaAssignment => "Broker: Invalid replica assignment",
        ErrorCode::InvalidConfig => "Broker: Configuration is invalid",
        ErrorCode::NotController => "Broker: Not controller for cluster",
        ErrorCode::InvalidRequest => "Broker: Invalid request",
        ErrorCode::UnsupportedForMessageFormat => {
            "Broker: Message format on broker does not support request"
        }
        ErrorCode::PolicyViolation => "Broker: Policy violation",
        ErrorCode::OutOfOrderSequenceNumber => {
            "Broker: Broker received an out of order sequence number"
        }
        ErrorCode::DuplicateSequenceNumber => "Broker: Broker received a duplicate sequence number",
        ErrorCode::InvalidProducerEpoch => {
            "Broker: Producer attempted an operation with an old epoch"
        }
        ErrorCode::InvalidTxnState => {
            "Broker: Producer attempted a transactional operation in an invalid state"
        }
        ErrorCode::InvalidProducerIdMapping => {
            "Broker: Producer attempted to use a producer id which is not currently assigned to \
             its transactional id"
        }
        ErrorCode::InvalidTransactionTimeout => {
            "Broker: Transaction timeout is larger than the maximum value allowed by the \
             broker's max.transaction.timeout.ms"
        }
        ErrorCode::ConcurrentTransactions => {
            "Broker: Producer attempted to update a transaction while another concurrent \
             operation on the same transaction was ongoing"
        }
        ErrorCode::TransactionCoordinatorFenced => {
            "Broker: Indicates that the transaction coordinator sending a WriteTxnMarker is no \
             longer the current coordinator for a given producer"
        }
        ErrorCode::TransactionalIdAuthorizationFailed => {
            "Broker: Transactional Id authorization failed"
        }
        ErrorCode::OperationNotAttempted => "Broker: Operation not attempted",
        ErrorCode::KafkaStorageError => "Broker: Disk error when trying to access log file on disk",
        ErrorCode::UnknownProducerId => "Broker: Unknown Producer Id",
        ErrorCode::ReassignmentInProgress => "Broker: Partition reassignment is in progress",
        ErrorCode::ListenerNotFound => "Broker: No matching listener",
        ErrorCode::FencedLeaderEpoch => "Broker: Leader epoch is older than broker epoch",
        ErrorCode::UnknownLeaderEpoch => "Broker: Leader epoch is newer than broker epoch",
        ErrorCode::StaleBrokerEpoch => "Broker: Broker epoch has changed",
        ErrorCode::OffsetNotAvailable => "Broker: Leader high watermark is not caught up",
        ErrorCode::PreferredLeaderNotAvailable => "Broker: Preferred leader was not available",
        ErrorCode::FencedInstanceId => {
            "Broker: Static consumer fenced by other consumer with same group.instance.id"
        }
        ErrorCode::EligibleLeadersNotAvailable => {
            "Broker: Eligible partition leaders are not available"
        }
        ErrorCode::ElectionNotNeeded => "Broker: Leader election not needed for topic partition",
        ErrorCode::NoReassignmentInProgress => "Broker: No partition reassignment is in progress",
        ErrorCode::InvalidRecord => "Broker: Broker failed to validate record",
        ErrorCode::UnstableOffsetCommit => {
            "Broker: There are unstable offsets that need to be cleared"
        }
        ErrorCode::ThrottlingQuotaExceeded => "Broker: Throttling quota has been exceeded",
        ErrorCode::ProducerFenced => {
            "Broker: There is a newer producer with the same transactionalId which fences the \
             current one"
        }
        ErrorCode::InvalidUpdateVersion => "Broker: Invalid update version",
        ErrorCode::UnknownTopicId => "Broker: Unknown topic id",
        ErrorCode::InconsistentTopicId => {
            "Broker: The log's topic ID did not match the topic ID in the request"
        }
        ErrorCode::TransactionAbortable => {
            "Broker: The server encountered an error with the transaction"
        }
        ErrorCode::RebootstrapRequired => {
            "Broker: Client metadata is stale, client should rebootstrap to obtain new metadata"
        }
        ErrorCode::DuplicateBrokerRegistration => "Err-101?",
        ErrorCode::TransactionalIdNotFound => "Err-105?",
        ErrorCode::IneligibleReplica => "Err-107?",
        ErrorCode::NewLeaderElected => "Err-108?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_own_codes_ascend_below_those_of_brokers() {
        assert!(LocalError::ALL.is_sorted());
        assert!(LocalError::ALL.iter().all(|error| error.code() < -1));
        assert_eq!(LocalError::QueueFull.code(), -184);
    }

    #[test]
    fn every_error_is_found_by_its_name() {
        let locals = LocalError::ALL.iter().copied().map(RdkafkaError::Local);
        let brokers = ErrorCode::ALL.iter().copied().map(RdkafkaError::Broker);
        for error in locals.chain(brokers) {
            assert_eq!(RdkafkaError::from_name(error.name()), Some(error));
        }
        assert_eq!(RdkafkaError::from_name("TimeoutException"), None);
    }

    #[test]
    fn brokers_errors_have_the_clients_names_and_the_protocols_names_work_too() {
        let error = RdkafkaError::Broker(ErrorCode::NotLeaderOrFollower);
        assert_eq!(error.name(), "NOT_LEADER_FOR_PARTITION");
        assert_eq!(error.text(), "Broker: Not leader for partition");
        assert_eq!(
            RdkafkaError::from_name("NOT_LEADER_OR_FOLLOWER"),
            Some(error)
        );
    }

    #[test]
    fn a_full_queue_is_the_clients_own_error() {
        let error = RdkafkaError::from(LocalError::QueueFull);
        assert_eq!(
            (error.name(), error.text()),
            ("_QUEUE_FULL", "Local: Queue full")
        );
    }
}
