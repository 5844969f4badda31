//! Errors as librdkafka's applications see them: the client's own, whose codes are below −1 and
//! whose names begin with an underscore, and those of brokers in its words.
//!
//! Invariants: code, name (without `RD_KAFKA_RESP_ERR_`) and text are librdkafka's own.
//!
//! Simplifications: of the client's own errors, those that only consumers, administrators and
//! deserializers meet are left out; a code of a broker that the client does not know counts as
//! `UNKNOWN`.
//!
//! Source: `rdkafka.h` (`rd_kafka_resp_err_t`), `rd_kafka_err2name`, `rd_kafka_err2str`.

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

            /// The name, such as `_QUEUE_FULL` (`rd_kafka_err2name`).
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The text, such as `Local: Queue full` (`rd_kafka_err2str`).
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

rdkafka_errors! {
    Destroy = -197, "_DESTROY", "Local: Broker handle destroyed for termination";
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
    IsrInsuff = -183, "_ISR_INSUFF", "Local: ISR count insufficient";
    Ssl = -181, "_SSL", "Local: SSL error";
    WaitCoord = -180, "_WAIT_COORD", "Local: Waiting for coordinator";
    InProgress = -178, "_IN_PROGRESS", "Local: Operation in progress";
    PrevInProgress = -177, "_PREV_IN_PROGRESS", "Local: Previous operation in progress";
    Conflict = -173, "_CONFLICT", "Local: Conflicting use";
    State = -172, "_STATE", "Local: Erroneous state";
    NotImplemented = -170, "_NOT_IMPLEMENTED", "Local: Not implemented";
    Authentication = -169, "_AUTHENTICATION", "Local: Authentication failure";
    TimedOutQueue = -166, "_TIMED_OUT_QUEUE", "Local: Timed out in queue";
    UnsupportedFeature = -165, "_UNSUPPORTED_FEATURE",
        "Local: Required feature not supported by broker";
    WaitCache = -164, "_WAIT_CACHE", "Local: Awaiting cache update";
    Intr = -163, "_INTR", "Local: Operation interrupted";
    Partial = -158, "_PARTIAL", "Local: Partial response";
    Noent = -156, "_NOENT", "Local: No such entry";
    Retry = -153, "_RETRY", "Local: Retry operation";
    PurgeQueue = -152, "_PURGE_QUEUE", "Local: Purged in queue";
    PurgeInflight = -151, "_PURGE_INFLIGHT", "Local: Purged in flight";
    Fatal = -150, "_FATAL", "Local: Fatal error";
    Inconsistent = -149, "_INCONSISTENT", "Local: Inconsistent state";
    GaplessGuarantee = -148, "_GAPLESS_GUARANTEE",
        "Local: Gap-less ordering would not be guaranteed if proceeding";
    UnknownBroker = -146, "_UNKNOWN_BROKER", "Local: Unknown broker";
    NotConfigured = -145, "_NOT_CONFIGURED", "Local: Functionality not configured";
    Fenced = -144, "_FENCED", "Local: This instance has been fenced by a newer instance";
    Application = -143, "_APPLICATION", "Local: Application generated error";
    Noop = -141, "_NOOP", "Local: No operation performed";
    InvalidDifferentRecord = -138, "_INVALID_DIFFERENT_RECORD",
        "Local: an invalid record in the same batch caused the failure of this message too";
    DestroyBroker = -137, "_DESTROY_BROKER", "Local: Broker handle destroyed without termination";
    Unknown = -1, "UNKNOWN", "Unknown broker error";
    OffsetOutOfRange = 1, "OFFSET_OUT_OF_RANGE", "Broker: Offset out of range";
    InvalidMsg = 2, "INVALID_MSG", "Broker: Invalid message";
    UnknownTopicOrPart = 3, "UNKNOWN_TOPIC_OR_PART", "Broker: Unknown topic or partition";
    LeaderNotAvailable = 5, "LEADER_NOT_AVAILABLE", "Broker: Leader not available";
    NotLeaderForPartition = 6, "NOT_LEADER_FOR_PARTITION", "Broker: Not leader for partition";
    RequestTimedOut = 7, "REQUEST_TIMED_OUT", "Broker: Request timed out";
    BrokerNotAvailable = 8, "BROKER_NOT_AVAILABLE", "Broker: Broker not available";
    ReplicaNotAvailable = 9, "REPLICA_NOT_AVAILABLE", "Broker: Replica not available";
    MsgSizeTooLarge = 10, "MSG_SIZE_TOO_LARGE", "Broker: Message size too large";
    NetworkException = 13, "NETWORK_EXCEPTION",
        "Broker: Broker disconnected before response received";
    CoordinatorLoadInProgress = 14, "COORDINATOR_LOAD_IN_PROGRESS",
        "Broker: Coordinator load in progress";
    CoordinatorNotAvailable = 15, "COORDINATOR_NOT_AVAILABLE", "Broker: Coordinator not available";
    NotCoordinator = 16, "NOT_COORDINATOR", "Broker: Not coordinator";
    TopicException = 17, "TOPIC_EXCEPTION", "Broker: Invalid topic";
    RecordListTooLarge = 18, "RECORD_LIST_TOO_LARGE",
        "Broker: Message batch larger than configured server segment size";
    NotEnoughReplicas = 19, "NOT_ENOUGH_REPLICAS", "Broker: Not enough in-sync replicas";
    NotEnoughReplicasAfterAppend = 20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "Broker: Message(s) written to insufficient number of in-sync replicas";
    InvalidRequiredAcks = 21, "INVALID_REQUIRED_ACKS", "Broker: Invalid required acks value";
    IllegalGeneration = 22, "ILLEGAL_GENERATION",
        "Broker: Specified group generation id is not valid";
    UnknownMemberId = 25, "UNKNOWN_MEMBER_ID", "Broker: Unknown member";
    RebalanceInProgress = 27, "REBALANCE_IN_PROGRESS", "Broker: Group rebalance in progress";
    TopicAuthorizationFailed = 29, "TOPIC_AUTHORIZATION_FAILED",
        "Broker: Topic authorization failed";
    GroupAuthorizationFailed = 30, "GROUP_AUTHORIZATION_FAILED",
        "Broker: Group authorization failed";
    ClusterAuthorizationFailed = 31, "CLUSTER_AUTHORIZATION_FAILED",
        "Broker: Cluster authorization failed";
    InvalidTimestamp = 32, "INVALID_TIMESTAMP", "Broker: Invalid timestamp";
    UnsupportedVersion = 35, "UNSUPPORTED_VERSION", "Broker: API version not supported";
    TopicAlreadyExists = 36, "TOPIC_ALREADY_EXISTS", "Broker: Topic already exists";
    InvalidPartitions = 37, "INVALID_PARTITIONS", "Broker: Invalid number of partitions";
    InvalidReplicationFactor = 38, "INVALID_REPLICATION_FACTOR",
        "Broker: Invalid replication factor";
    InvalidReplicaAssignment = 39, "INVALID_REPLICA_ASSIGNMENT",
        "Broker: Invalid replica assignment";
    InvalidConfig = 40, "INVALID_CONFIG", "Broker: Configuration is invalid";
    NotController = 41, "NOT_CONTROLLER", "Broker: Not controller for cluster";
    InvalidRequest = 42, "INVALID_REQUEST", "Broker: Invalid request";
    UnsupportedForMessageFormat = 43, "UNSUPPORTED_FOR_MESSAGE_FORMAT",
        "Broker: Message format on broker does not support request";
    PolicyViolation = 44, "POLICY_VIOLATION", "Broker: Policy violation";
    OutOfOrderSequenceNumber = 45, "OUT_OF_ORDER_SEQUENCE_NUMBER",
        "Broker: Broker received an out of order sequence number";
    DuplicateSequenceNumber = 46, "DUPLICATE_SEQUENCE_NUMBER",
        "Broker: Broker received a duplicate sequence number";
    InvalidProducerEpoch = 47, "INVALID_PRODUCER_EPOCH",
        "Broker: Producer attempted an operation with an old epoch";
    InvalidTxnState = 48, "INVALID_TXN_STATE",
        "Broker: Producer attempted a transactional operation in an invalid state";
    InvalidProducerIdMapping = 49, "INVALID_PRODUCER_ID_MAPPING",
        "Broker: Producer attempted to use a producer id which is not currently assigned to its \
         transactional id";
    InvalidTransactionTimeout = 50, "INVALID_TRANSACTION_TIMEOUT",
        "Broker: Transaction timeout is larger than the maximum value allowed by the broker's \
         max.transaction.timeout.ms";
    ConcurrentTransactions = 51, "CONCURRENT_TRANSACTIONS",
        "Broker: Producer attempted to update a transaction while another concurrent operation \
         on the same transaction was ongoing";
    TransactionCoordinatorFenced = 52, "TRANSACTION_COORDINATOR_FENCED",
        "Broker: Indicates that the transaction coordinator sending a WriteTxnMarker is no \
         longer the current coordinator for a given producer";
    TransactionalIdAuthorizationFailed = 53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        "Broker: Transactional Id authorization failed";
    OperationNotAttempted = 55, "OPERATION_NOT_ATTEMPTED", "Broker: Operation not attempted";
    KafkaStorageError = 56, "KAFKA_STORAGE_ERROR",
        "Broker: Disk error when trying to access log file on disk";
    UnknownProducerId = 59, "UNKNOWN_PRODUCER_ID", "Broker: Unknown Producer Id";
    ReassignmentInProgress = 60, "REASSIGNMENT_IN_PROGRESS",
        "Broker: Partition reassignment is in progress";
    ListenerNotFound = 72, "LISTENER_NOT_FOUND", "Broker: No matching listener";
    FencedLeaderEpoch = 74, "FENCED_LEADER_EPOCH",
        "Broker: Leader epoch is older than broker epoch";
    UnknownLeaderEpoch = 75, "UNKNOWN_LEADER_EPOCH",
        "Broker: Leader epoch is newer than broker epoch";
    StaleBrokerEpoch = 77, "STALE_BROKER_EPOCH", "Broker: Broker epoch has changed";
    OffsetNotAvailable = 78, "OFFSET_NOT_AVAILABLE",
        "Broker: Leader high watermark is not caught up";
    PreferredLeaderNotAvailable = 80, "PREFERRED_LEADER_NOT_AVAILABLE",
        "Broker: Preferred leader was not available";
    FencedInstanceId = 82, "FENCED_INSTANCE_ID",
        "Broker: Static consumer fenced by other consumer with same group.instance.id";
    EligibleLeadersNotAvailable = 83, "ELIGIBLE_LEADERS_NOT_AVAILABLE",
        "Broker: Eligible partition leaders are not available";
    ElectionNotNeeded = 84, "ELECTION_NOT_NEEDED",
        "Broker: Leader election not needed for topic partition";
    NoReassignmentInProgress = 85, "NO_REASSIGNMENT_IN_PROGRESS",
        "Broker: No partition reassignment is in progress";
    InvalidRecord = 87, "INVALID_RECORD", "Broker: Broker failed to validate record";
    UnstableOffsetCommit = 88, "UNSTABLE_OFFSET_COMMIT",
        "Broker: There are unstable offsets that need to be cleared";
    ThrottlingQuotaExceeded = 89, "THROTTLING_QUOTA_EXCEEDED",
        "Broker: Throttling quota has been exceeded";
    ProducerFenced = 90, "PRODUCER_FENCED",
        "Broker: There is a newer producer with the same transactionalId which fences the \
         current one";
    InvalidUpdateVersion = 95, "INVALID_UPDATE_VERSION", "Broker: Invalid update version";
    UnknownTopicId = 100, "UNKNOWN_TOPIC_ID", "Broker: Unknown topic id";
    InconsistentTopicId = 103, "INCONSISTENT_TOPIC_ID",
        "Broker: The log's topic ID did not match the topic ID in the request";
    TransactionAbortable = 120, "TRANSACTION_ABORTABLE",
        "Broker: The server encountered an error with the transaction";
    RebootstrapRequired = 129, "REBOOTSTRAP_REQUIRED",
        "Broker: Client metadata is stale, client should rebootstrap to obtain new metadata";
}

impl RdkafkaError {
    /// The number.
    pub const fn code(self) -> i16 {
        self as i16
    }

    /// What a broker's answer is called here.
    pub fn of_broker(error: ErrorCode) -> Self {
        let is_it = |known: &Self| known.code() == error.code();
        let known = Self::ALL.iter().copied().find(is_it);
        known.unwrap_or(Self::Unknown)
    }

    /// The error of this name, in any case, with or without `RD_KAFKA_RESP_ERR_`; those of brokers
    /// also by the protocol's names, which are often younger.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.strip_prefix("RD_KAFKA_RESP_ERR_").unwrap_or(name);
        let is_it = |error: &Self| error.name().eq_ignore_ascii_case(name);
        let own = Self::ALL.iter().copied().find(is_it);
        own.or_else(|| ErrorCode::from_name(name).map(Self::of_broker))
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
    fn the_codes_ascend_and_underscores_are_the_clients_own() {
        assert!(RdkafkaError::ALL.is_sorted());
        for error in RdkafkaError::ALL {
            assert_eq!(error.name().starts_with('_'), error.code() < -1, "{error}");
        }
        assert_eq!(RdkafkaError::QueueFull.code(), -184);
    }

    #[test]
    fn every_error_is_found_by_its_name_and_by_that_of_the_header() {
        for &error in RdkafkaError::ALL {
            assert_eq!(RdkafkaError::from_name(error.name()), Some(error));
        }
        let full = RdkafkaError::from_name("RD_KAFKA_RESP_ERR__QUEUE_FULL");
        assert_eq!(full, Some(RdkafkaError::QueueFull));
        assert_eq!(RdkafkaError::from_name("TimeoutException"), None);
    }

    #[test]
    fn a_brokers_answer_has_librdkafkas_name_and_is_found_by_the_protocols_too() {
        let error = RdkafkaError::of_broker(ErrorCode::NotLeaderOrFollower);
        assert_eq!(error.name(), "NOT_LEADER_FOR_PARTITION");
        assert_eq!(error.text(), "Broker: Not leader for partition");
        assert_eq!(
            RdkafkaError::from_name("NOT_LEADER_OR_FOLLOWER"),
            Some(error)
        );
    }

    #[test]
    fn what_the_client_does_not_know_is_unknown() {
        let unknown = RdkafkaError::of_broker(ErrorCode::NewLeaderElected);
        assert_eq!(unknown, RdkafkaError::Unknown);
    }
}
