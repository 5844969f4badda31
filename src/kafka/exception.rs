//! The classes of exceptions that a Java application meets, and how they descend.
//!
//! Invariants: the tree has one root (`RuntimeException`); a class has one name; an expectation
//! on a class also holds for its descendants, as `catch` does.
//!
//! Simplification: grouping classes that no application catches by name (the recoverable and
//! refreshing families of KIP-1050) are left out, so their children hang one step higher.

use std::fmt;

use ExceptionClass::{
    Api, Authorization, InvalidMetadata, InvalidOffset, Kafka, OutOfOrderSequence, Retriable,
    Runtime, Timeout,
};

/// Declares the classes once: variant, superclass, package where it is not the usual one.
macro_rules! exception_classes {
    ($($variant:ident < $superclass:ident $(in $package:literal)?;)+) => {
        /// A class of exceptions; the variant's name is the simple name without `Exception`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ExceptionClass {
            $(
                #[doc = concat!("`", stringify!($variant), "Exception`, a `",
                    stringify!($superclass), "Exception`.")]
                $variant,
            )+
        }

        impl ExceptionClass {
            /// Every class, ancestors before descendants.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name without its package, such as `TimeoutException`.
            pub const fn simple_name(self) -> &'static str {
                match self { $(Self::$variant => concat!(stringify!($variant), "Exception"),)+ }
            }

            /// The class that this one extends; the root stands for its own.
            const fn parent(self) -> Self {
                match self { $(Self::$variant => $superclass,)+ }
            }

            /// The Java package that the class lives in.
            pub const fn package(self) -> &'static str {
                match self {
                    $($(Self::$variant => $package,)?)+
                    _ => "org.apache.kafka.common.errors",
                }
            }
        }
    };
}

exception_classes! {
    Runtime < Runtime in "java.lang";
    IllegalArgument < Runtime in "java.lang";
    IllegalState < Runtime in "java.lang";
    Kafka < Runtime in "org.apache.kafka.common";
    Config < Kafka in "org.apache.kafka.common.config";
    Serialization < Kafka;
    Interrupt < Kafka;
    CommitFailed < Kafka in "org.apache.kafka.clients.consumer";
    Api < Kafka;
    Retriable < Api;
    InvalidMetadata < Retriable;
    Authorization < Api;
    Authentication < Api;
    Timeout < Retriable;
    BufferExhausted < Timeout in "org.apache.kafka.clients.producer";
    Disconnect < Retriable;
    CorruptRecord < Retriable;
    CoordinatorLoadInProgress < Retriable;
    CoordinatorNotAvailable < Retriable;
    NotCoordinator < Retriable;
    NotEnoughReplicas < Retriable;
    NotEnoughReplicasAfterAppend < Retriable;
    NotController < Retriable;
    ConcurrentTransactions < Retriable;
    UnknownLeaderEpoch < Retriable;
    OffsetNotAvailable < Retriable;
    UnstableOffsetCommit < Retriable;
    ThrottlingQuotaExceeded < Retriable;
    UnknownTopicOrPartition < InvalidMetadata;
    LeaderNotAvailable < InvalidMetadata;
    NotLeaderOrFollower < InvalidMetadata;
    ReplicaNotAvailable < InvalidMetadata;
    Network < InvalidMetadata;
    KafkaStorage < InvalidMetadata;
    ListenerNotFound < InvalidMetadata;
    FencedLeaderEpoch < InvalidMetadata;
    PreferredLeaderNotAvailable < InvalidMetadata;
    EligibleLeadersNotAvailable < InvalidMetadata;
    ElectionNotNeeded < InvalidMetadata;
    UnknownTopicId < InvalidMetadata;
    InconsistentTopicId < InvalidMetadata;
    TopicAuthorization < Authorization;
    GroupAuthorization < Authorization;
    ClusterAuthorization < Authorization;
    TransactionalIdAuthorization < Authorization;
    UnknownServer < Api;
    OffsetOutOfRange < Api;
    RecordTooLarge < Api;
    RecordBatchTooLarge < Api;
    InvalidTopic < Api;
    InvalidRecord < Api in "org.apache.kafka.common";
    InvalidRequiredAcks < Api;
    InvalidTimestamp < Api;
    IllegalGeneration < Api;
    UnknownMemberId < Api;
    RebalanceInProgress < Api;
    FencedInstanceId < Api;
    UnsupportedVersion < Api;
    UnsupportedForMessageFormat < Api;
    TopicExists < Api;
    InvalidPartitions < Api;
    InvalidReplicationFactor < Api;
    InvalidReplicaAssignment < Api;
    InvalidConfiguration < Api;
    InvalidRequest < Api;
    PolicyViolation < Api;
    OutOfOrderSequence < Api;
    UnknownProducerId < OutOfOrderSequence;
    DuplicateSequence < Api;
    InvalidProducerEpoch < Api;
    ProducerFenced < Api;
    InvalidTxnState < Api;
    InvalidPidMapping < Api;
    InvalidTxnTimeout < Api;
    TransactionCoordinatorFenced < Api;
    TransactionAborted < Api;
    TransactionAbortable < Api;
    TransactionalIdNotFound < Api;
    OperationNotAttempted < Api;
    ReassignmentInProgress < Api;
    NoReassignmentInProgress < Api;
    StaleBrokerEpoch < Api;
    InvalidUpdateVersion < Api;
    DuplicateBrokerRegistration < Api;
    IneligibleReplica < Api;
    NewLeaderElected < Api;
    RebootstrapRequired < Api;
    InvalidOffset < Kafka in "org.apache.kafka.clients.consumer";
    NoOffsetForPartition < InvalidOffset in "org.apache.kafka.clients.consumer";
}

impl ExceptionClass {
    /// The name with its package, as a stack trace shows it.
    pub fn qualified_name(self) -> String {
        format!("{}.{}", self.package(), self.simple_name())
    }

    /// The class that this one extends; nothing for `RuntimeException`.
    pub fn superclass(self) -> Option<Self> {
        Some(self.parent()).filter(|parent| *parent != self)
    }

    /// The class with this simple or qualified name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|class| {
            name == class.simple_name()
                || name
                    .strip_prefix(class.package())
                    .and_then(|rest| rest.strip_prefix('.'))
                    .is_some_and(|simple| simple == class.simple_name())
        })
    }

    /// Whether this is `other` or descends from it.
    pub fn is_a(self, other: Self) -> bool {
        let mut class = Some(self);
        while let Some(current) = class {
            if current == other {
                return true;
            }
            class = current.superclass();
        }
        false
    }

    /// Whether the client may send again what failed with this.
    pub fn is_retriable(self) -> bool {
        self.is_a(Retriable)
    }

    /// Whether `send()` delivers it through future and callback instead of throwing it.
    pub fn is_api_exception(self) -> bool {
        self.is_a(Api)
    }
}

impl fmt::Display for ExceptionClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.simple_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_exhaustion_is_a_timeout_that_may_be_retried() {
        let class = ExceptionClass::BufferExhausted;
        assert!(class.is_a(Timeout) && class.is_retriable() && class.is_api_exception());
        assert!(!Timeout.is_a(class));
    }

    #[test]
    fn what_send_throws_is_not_an_api_exception() {
        for class in [
            ExceptionClass::Serialization,
            Kafka,
            ExceptionClass::IllegalState,
        ] {
            assert!(!class.is_api_exception(), "{class}");
        }
    }

    #[test]
    fn every_class_descends_from_the_one_root_and_is_found_by_both_names() {
        for class in ExceptionClass::ALL {
            assert!(class.is_a(Runtime), "{class}");
            assert_eq!(ExceptionClass::from_name(class.simple_name()), Some(*class));
            assert_eq!(
                ExceptionClass::from_name(&class.qualified_name()),
                Some(*class)
            );
        }
        assert_eq!(ExceptionClass::from_name("Timeout"), None);
    }

    #[test]
    fn qualified_names_are_those_of_a_stack_trace() {
        assert_eq!(
            ExceptionClass::BufferExhausted.qualified_name(),
            "org.apache.kafka.clients.producer.BufferExhaustedException"
        );
        assert_eq!(
            Timeout.qualified_name(),
            "org.apache.kafka.common.errors.TimeoutException"
        );
    }
}
