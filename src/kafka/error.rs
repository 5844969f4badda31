//! Error codes of the Kafka protocol: what a broker answers, and how a client reads it.
//!
//! Invariants: code, name and text are Kafka's own; whether an error is retriable follows from
//! its exception class and from nothing else, as in the client.
//!
//! Simplification: only codes that a producer, its transactions, its consumers or an operator's
//! tool can meet here are listed; "no error" is the absence of an [`ErrorCode`].

use std::fmt;

use super::exception::ExceptionClass;

/// Declares the codes once, so that no two tables can disagree.
macro_rules! error_codes {
    ($($variant:ident = $code:literal, $name:literal, $class:ident, $message:literal;)+) => {
        /// An error code of the protocol.
        ///
        /// Source: `org.apache.kafka.common.protocol.Errors`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i16)]
        pub enum ErrorCode {
            $(#[doc = concat!("`", $name, "`: ", $message)] $variant = $code,)+
        }

        impl ErrorCode {
            /// Every code, in ascending order of the numbers.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name in the protocol, such as `NOT_LEADER_OR_FOLLOWER`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The class that the client makes of this code.
            pub const fn exception(self) -> ExceptionClass {
                match self { $(Self::$variant => ExceptionClass::$class,)+ }
            }

            /// The text that the client shows when the broker sent none.
            pub const fn default_message(self) -> &'static str {
                match self { $(Self::$variant => $message,)+ }
            }
        }
    };
}

error_codes! {
    UnknownServerError = -1, "UNKNOWN_SERVER_ERROR", UnknownServer,
        "The server experienced an unexpected error when processing the request.";
    OffsetOutOfRange = 1, "OFFSET_OUT_OF_RANGE", OffsetOutOfRange,
        "The requested offset is not within the range of offsets maintained by the server.";
    CorruptMessage = 2, "CORRUPT_MESSAGE", CorruptRecord,
        "This message has failed its CRC checksum, exceeds the valid size, has a null key for \
         a compacted topic, or is otherwise corrupt.";
    UnknownTopicOrPartition = 3, "UNKNOWN_TOPIC_OR_PARTITION", UnknownTopicOrPartition,
        "This server does not host this topic-partition.";
    LeaderNotAvailable = 5, "LEADER_NOT_AVAILABLE", LeaderNotAvailable,
        "There is no leader for this topic-partition as we are in the middle of a leadership \
         election.";
    NotLeaderOrFollower = 6, "NOT_LEADER_OR_FOLLOWER", NotLeaderOrFollower,
        "For requests intended only for the leader, this error indicates that the broker is \
         not the current leader. For requests intended for any replica, this error indicates \
         that the broker is not a replica of the topic partition.";
    RequestTimedOut = 7, "REQUEST_TIMED_OUT", Timeout,
        "The request timed out.";
    ReplicaNotAvailable = 9, "REPLICA_NOT_AVAILABLE", ReplicaNotAvailable,
        "The replica is not available for the requested topic-partition. Produce/Fetch \
         requests and other requests intended only for the leader or follower return \
         NOT_LEADER_OR_FOLLOWER if the broker is not a replica of the topic-partition.";
    MessageTooLarge = 10, "MESSAGE_TOO_LARGE", RecordTooLarge,
        "The request included a message larger than the max message size the server will \
         accept.";
    NetworkException = 13, "NETWORK_EXCEPTION", Network,
        "The server disconnected before a response was received.";
    CoordinatorLoadInProgress = 14, "COORDINATOR_LOAD_IN_PROGRESS", CoordinatorLoadInProgress,
        "The coordinator is loading and hence can't process requests.";
    CoordinatorNotAvailable = 15, "COORDINATOR_NOT_AVAILABLE", CoordinatorNotAvailable,
        "The coordinator is not available.";
    NotCoordinator = 16, "NOT_COORDINATOR", NotCoordinator,
        "This is not the correct coordinator.";
    InvalidTopicException = 17, "INVALID_TOPIC_EXCEPTION", InvalidTopic,
        "The request attempted to perform an operation on an invalid topic.";
    RecordListTooLarge = 18, "RECORD_LIST_TOO_LARGE", RecordBatchTooLarge,
        "The request included message batch larger than the configured segment size on the \
         server.";
    NotEnoughReplicas = 19, "NOT_ENOUGH_REPLICAS", NotEnoughReplicas,
        "Messages are rejected since there are fewer in-sync replicas than required.";
    NotEnoughReplicasAfterAppend = 20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        NotEnoughReplicasAfterAppend,
        "Messages are written to the log, but to fewer in-sync replicas than required.";
    InvalidRequiredAcks = 21, "INVALID_REQUIRED_ACKS", InvalidRequiredAcks,
        "Produce request specified an invalid value for required acks.";
    IllegalGeneration = 22, "ILLEGAL_GENERATION", IllegalGeneration,
        "Specified group generation id is not valid.";
    UnknownMemberId = 25, "UNKNOWN_MEMBER_ID", UnknownMemberId,
        "The coordinator is not aware of this member.";
    RebalanceInProgress = 27, "REBALANCE_IN_PROGRESS", RebalanceInProgress,
        "The group is rebalancing, so a rejoin is needed.";
    TopicAuthorizationFailed = 29, "TOPIC_AUTHORIZATION_FAILED", TopicAuthorization,
        "Topic authorization failed.";
    GroupAuthorizationFailed = 30, "GROUP_AUTHORIZATION_FAILED", GroupAuthorization,
        "Group authorization failed.";
    ClusterAuthorizationFailed = 31, "CLUSTER_AUTHORIZATION_FAILED", ClusterAuthorization,
        "Cluster authorization failed.";
    InvalidTimestamp = 32, "INVALID_TIMESTAMP", InvalidTimestamp,
        "The timestamp of the message is out of acceptable range.";
    UnsupportedVersion = 35, "UNSUPPORTED_VERSION", UnsupportedVersion,
        "The version of API is not supported.";
    TopicAlreadyExists = 36, "TOPIC_ALREADY_EXISTS", TopicExists,
        "Topic with this name already exists.";
    InvalidPartitions = 37, "INVALID_PARTITIONS", InvalidPartitions,
        "Number of partitions is below 1.";
    InvalidReplicationFactor = 38, "INVALID_REPLICATION_FACTOR", InvalidReplicationFactor,
        "Replication factor is below 1 or larger than the number of available brokers.";
    InvalidReplicaAssignment = 39, "INVALID_REPLICA_ASSIGNMENT", InvalidReplicaAssignment,
        "Replica assignment is invalid.";
    InvalidConfig = 40, "INVALID_CONFIG", InvalidConfiguration,
        "Configuration is invalid.";
    NotController = 41, "NOT_CONTROLLER", NotController,
        "This is not the correct controller for this cluster.";
    InvalidRequest = 42, "INVALID_REQUEST", InvalidRequest,
        "This most likely occurs because of a request being malformed by the client library \
         or the message was sent to an incompatible broker. See the broker logs for more \
         details.";
    UnsupportedForMessageFormat = 43, "UNSUPPORTED_FOR_MESSAGE_FORMAT", UnsupportedForMessageFormat,
        "The message format version on the broker does not support the request.";
    PolicyViolation = 44, "POLICY_VIOLATION", PolicyViolation,
        "Request parameters do not satisfy the configured policy.";
    OutOfOrderSequenceNumber = 45, "OUT_OF_ORDER_SEQUENCE_NUMBER", OutOfOrderSequence,
        "The broker received an out of order sequence number.";
    DuplicateSequenceNumber = 46, "DUPLICATE_SEQUENCE_NUMBER", DuplicateSequence,
        "The broker received a duplicate sequence number.";
    InvalidProducerEpoch = 47, "INVALID_PRODUCER_EPOCH", InvalidProducerEpoch,
        "Producer attempted to produce with an old epoch.";
    InvalidTxnState = 48, "INVALID_TXN_STATE", InvalidTxnState,
        "The producer attempted a transactional operation in an invalid state.";
    InvalidProducerIdMapping = 49, "INVALID_PRODUCER_ID_MAPPING", InvalidPidMapping,
        "The producer attempted to use a producer id which is not currently assigned to its \
         transactional id.";
    InvalidTransactionTimeout = 50, "INVALID_TRANSACTION_TIMEOUT", InvalidTxnTimeout,
        "The transaction timeout is larger than the maximum value allowed by the broker (as \
         configured by transaction.max.timeout.ms).";
    ConcurrentTransactions = 51, "CONCURRENT_TRANSACTIONS", ConcurrentTransactions,
        "The producer attempted to update a transaction while another concurrent operation on \
         the same transaction was ongoing.";
    TransactionCoordinatorFenced = 52, "TRANSACTION_COORDINATOR_FENCED",
        TransactionCoordinatorFenced,
        "Indicates that the transaction coordinator sending a WriteTxnMarker is no longer the \
         current coordinator for a given producer.";
    TransactionalIdAuthorizationFailed = 53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        TransactionalIdAuthorization,
        "Transactional Id authorization failed.";
    OperationNotAttempted = 55, "OPERATION_NOT_ATTEMPTED", OperationNotAttempted,
        "The broker did not attempt to execute this operation. This may happen for batched \
         RPCs where some operations in the batch failed, causing the broker to respond \
         without trying the rest.";
    KafkaStorageError = 56, "KAFKA_STORAGE_ERROR", KafkaStorage,
        "Disk error when trying to access log file on the disk.";
    UnknownProducerId = 59, "UNKNOWN_PRODUCER_ID", UnknownProducerId,
        "This exception is raised by the broker if it could not locate the producer metadata \
         associated with the producerId in question. This could happen if, for instance, the \
         producer's records were deleted because their retention time had elapsed. Once the \
         last records of the producerId are removed, the producer's metadata is removed from \
         the broker, and future appends by the producer will return this exception.";
    ReassignmentInProgress = 60, "REASSIGNMENT_IN_PROGRESS", ReassignmentInProgress,
        "A partition reassignment is in progress.";
    ListenerNotFound = 72, "LISTENER_NOT_FOUND", ListenerNotFound,
        "There is no listener on the leader broker that matches the listener on which \
         metadata request was processed.";
    FencedLeaderEpoch = 74, "FENCED_LEADER_EPOCH", FencedLeaderEpoch,
        "The leader epoch in the request is older than the epoch on the broker.";
    UnknownLeaderEpoch = 75, "UNKNOWN_LEADER_EPOCH", UnknownLeaderEpoch,
        "The leader epoch in the request is newer than the epoch on the broker.";
    StaleBrokerEpoch = 77, "STALE_BROKER_EPOCH", StaleBrokerEpoch,
        "Broker epoch has changed.";
    OffsetNotAvailable = 78, "OFFSET_NOT_AVAILABLE", OffsetNotAvailable,
        "The leader high watermark has not caught up from a recent leader election so the \
         offsets cannot be guaranteed to be monotonically increasing.";
    PreferredLeaderNotAvailable = 80, "PREFERRED_LEADER_NOT_AVAILABLE", PreferredLeaderNotAvailable,
        "The preferred leader was not available.";
    FencedInstanceId = 82, "FENCED_INSTANCE_ID", FencedInstanceId,
        "The broker rejected this static consumer since another consumer with the same \
         group.instance.id has registered with a different member.id.";
    EligibleLeadersNotAvailable = 83, "ELIGIBLE_LEADERS_NOT_AVAILABLE", EligibleLeadersNotAvailable,
        "Eligible topic partition leaders are not available.";
    ElectionNotNeeded = 84, "ELECTION_NOT_NEEDED", ElectionNotNeeded,
        "Leader election not needed for topic partition.";
    NoReassignmentInProgress = 85, "NO_REASSIGNMENT_IN_PROGRESS", NoReassignmentInProgress,
        "No partition reassignment is in progress.";
    InvalidRecord = 87, "INVALID_RECORD", InvalidRecord,
        "This record has failed the validation on broker and hence will be rejected.";
    UnstableOffsetCommit = 88, "UNSTABLE_OFFSET_COMMIT", UnstableOffsetCommit,
        "There are unstable offsets that need to be cleared.";
    ThrottlingQuotaExceeded = 89, "THROTTLING_QUOTA_EXCEEDED", ThrottlingQuotaExceeded,
        "The throttling quota has been exceeded.";
    ProducerFenced = 90, "PRODUCER_FENCED", ProducerFenced,
        "There is a newer producer with the same transactionalId which fences the current \
         one.";
    InvalidUpdateVersion = 95, "INVALID_UPDATE_VERSION", InvalidUpdateVersion,
        "The given update version was invalid.";
    UnknownTopicId = 100, "UNKNOWN_TOPIC_ID", UnknownTopicId,
        "This server does not host this topic ID.";
    DuplicateBrokerRegistration = 101, "DUPLICATE_BROKER_REGISTRATION", DuplicateBrokerRegistration,
        "This broker ID is already in use.";
    InconsistentTopicId = 103, "INCONSISTENT_TOPIC_ID", InconsistentTopicId,
        "The log's topic ID did not match the topic ID in the request.";
    TransactionalIdNotFound = 105, "TRANSACTIONAL_ID_NOT_FOUND", TransactionalIdNotFound,
        "The transactionalId could not be found.";
    IneligibleReplica = 107, "INELIGIBLE_REPLICA", IneligibleReplica,
        "The new ISR contains at least one ineligible replica.";
    NewLeaderElected = 108, "NEW_LEADER_ELECTED", NewLeaderElected,
        "The AlterPartition request successfully updated the partition state but the leader \
         has changed.";
    TransactionAbortable = 120, "TRANSACTION_ABORTABLE", TransactionAbortable,
        "The server encountered an error with the transaction. The client can abort the \
         transaction to continue using this transactional ID.";
    RebootstrapRequired = 129, "REBOOTSTRAP_REQUIRED", RebootstrapRequired,
        "Client metadata is stale. The client should rebootstrap to obtain new metadata.";
}

impl ErrorCode {
    /// The number on the wire.
    pub const fn code(self) -> i16 {
        self as i16
    }

    /// The error with this number.
    pub fn from_code(code: i16) -> Option<Self> {
        Self::ALL.iter().copied().find(|error| error.code() == code)
    }

    /// The error with this name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|error| error.name().eq_ignore_ascii_case(name))
    }

    /// Whether sending the same request again may succeed.
    pub fn is_retriable(self) -> bool {
        self.exception().is_retriable()
    }

    /// Whether the client asks for new metadata because of it.
    pub fn is_invalid_metadata(self) -> bool {
        self.exception().is_a(ExceptionClass::InvalidMetadata)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_ascend_and_can_be_found_by_number_and_name() {
        assert!(ErrorCode::ALL.is_sorted());
        for error in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_code(error.code()), Some(*error));
            assert_eq!(ErrorCode::from_name(error.name()), Some(*error));
        }
        assert_eq!(
            ErrorCode::from_name("not_leader_or_follower").map(ErrorCode::code),
            Some(6)
        );
        assert_eq!(ErrorCode::from_code(0), None);
    }

    #[test]
    fn exactly_the_documented_errors_of_a_produce_answer_are_retried() {
        let retriable: Vec<i16> = ErrorCode::ALL
            .iter()
            .filter(|error| error.is_retriable())
            .map(|e| e.code())
            .collect();
        assert_eq!(
            retriable,
            [
                2, 3, 5, 6, 7, 9, 13, 14, 15, 16, 19, 20, 41, 51, 56, 72, 74, 75, 78, 80, 83, 84,
                88, 89, 100, 103
            ]
        );
    }

    #[test]
    fn a_refresh_of_metadata_follows_exactly_the_errors_about_leaders_and_topics() {
        let refreshing: Vec<i16> = ErrorCode::ALL
            .iter()
            .filter(|error| error.is_invalid_metadata())
            .map(|error| error.code())
            .collect();
        assert_eq!(
            refreshing,
            [3, 5, 6, 9, 13, 56, 72, 74, 80, 83, 84, 100, 103]
        );
    }

    #[test]
    fn a_request_that_timed_out_reaches_the_application_as_a_timeout_exception() {
        assert_eq!(
            ErrorCode::RequestTimedOut.exception().simple_name(),
            "TimeoutException"
        );
        assert_eq!(
            ErrorCode::RequestTimedOut.default_message(),
            "The request timed out."
        );
    }
}
