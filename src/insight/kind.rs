//! Kinds of facts: the names that filters, expectations and the events pane use.

use crate::kafka::transaction::TransactionState;
use crate::sim::fact::{BrokerState, Disconnect, Fact, LinkState, MemberLoss};

/// How much a fact matters to the person who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Daily business.
    Info,
    /// Somebody acted, or something recovered.
    Notice,
    /// Something is not as it should be, and may still end well.
    Warning,
    /// Somebody lost something.
    Error,
}

impl Severity {
    /// One word for people who do not see colours.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Notice => "note",
            Self::Warning => "warn",
            Self::Error => "error",
        }
    }
}

macro_rules! fact_kinds {
    ($($variant:ident = $name:literal, $pattern:pat,)+) => {
        /// The kind of a fact.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FactKind {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl FactKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The kind of `fact`.
            pub const fn of(fact: &Fact) -> Self {
                match fact { $($pattern => Self::$variant,)+ }
            }

            /// The kind's name, as in `event = "leader-changed"`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The kind of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.name() == name)
            }
        }
    };
}

fact_kinds! {
    CommandApplied = "command-applied", Fact::CommandApplied(_),
    CommandRefused = "command-refused", Fact::CommandRefused { .. },
    PoolExhausted = "pool-exhausted", Fact::PoolExhausted { .. },
    ThreadBlocked = "thread-blocked", Fact::ThreadBlocked { .. },
    ThreadUnblocked = "thread-unblocked", Fact::ThreadUnblocked { .. },
    RecordRefused = "record-refused", Fact::RecordRefused { .. },
    BatchFailed = "batch-failed", Fact::BatchFailed { .. },
    BatchRetried = "batch-retried", Fact::BatchRetried { .. },
    BatchSplit = "batch-split", Fact::BatchSplit { .. },
    LoadThrottled = "load-throttled", Fact::LoadThrottled { .. },
    CallReturned = "call-returned", Fact::CallReturned { .. },
    ApplicationExited = "application-exited", Fact::ApplicationExited { .. },
    ClientStarted = "client-started", Fact::ClientStarted { .. },
    ClientClosed = "client-closed", Fact::ClientClosed { .. },
    Connected = "connected", Fact::Connected { .. },
    Disconnected = "disconnected", Fact::Disconnected { .. },
    MetadataUpdated = "metadata-updated", Fact::MetadataUpdated { .. },
    Rebootstrapped = "rebootstrapped", Fact::Rebootstrapped { .. },
    ProducerIdAssigned = "producer-id-assigned", Fact::ProducerIdAssigned { .. },
    ConsumerStarted = "consumer-started", Fact::ConsumerStarted { .. },
    ConsumerExited = "consumer-exited", Fact::ConsumerExited { .. },
    ConsumerFailed = "consumer-failed", Fact::ConsumerFailed { .. },
    MemberLeft = "member-left", Fact::MemberLeft { .. },
    GroupRebalancing = "group-rebalancing", Fact::GroupRebalancing { .. },
    GroupStable = "group-stable", Fact::GroupStable { .. },
    GroupEmpty = "group-empty", Fact::GroupEmpty { .. },
    PartitionsDiscovered = "partitions-discovered", Fact::PartitionsDiscovered { .. },
    OffsetReset = "offset-reset", Fact::OffsetReset { .. },
    CommitFailed = "commit-failed", Fact::CommitFailed { .. },
    BrokerChanged = "broker-changed", Fact::BrokerChanged { .. },
    PartitionsAdded = "partitions-added", Fact::PartitionsAdded { .. },
    PartitionsLearned = "partitions-learned", Fact::PartitionsLearned { .. },
    LeaderChanged = "leader-changed", Fact::LeaderChanged { .. },
    IsrChanged = "isr-changed", Fact::IsrChanged { .. },
    RecordsTruncated = "records-truncated", Fact::RecordsTruncated { .. },
    LogCleaned = "log-cleaned", Fact::LogCleaned { .. },
    SplitKey = "split-key", Fact::KeySplit { .. },
    OutOfOrderRead = "out-of-order-read", Fact::OutOfOrderRead { .. },
    LinkChanged = "link-changed", Fact::LinkChanged { .. },
    LimitReached = "limit-reached", Fact::LimitReached { .. },
    Ended = "ended", Fact::Ended,
    ClientFailed = "client-failed", Fact::ClientFailed { .. },
    UnassignedFailed = "unassigned-failed", Fact::UnassignedFailed { .. },
    SegmentsDeleted = "segments-deleted", Fact::SegmentsDeleted { .. },
    ProducerForgotten = "producer-forgotten", Fact::ProducerForgotten { .. },
    TailCut = "tail-cut", Fact::TailCut { .. },
    TransactionChanged = "transaction-changed", Fact::TransactionChanged { .. },
    MarkerWritten = "marker-written", Fact::MarkerWritten { .. },
    TransactionCallFailed = "transaction-call-failed", Fact::TransactionCallFailed { .. },
    TransactionsShown = "transactions-shown", Fact::TransactionsShown { .. },
    TransactionFailed = "transaction-failed", Fact::TransactionFailed { .. },
    ControllerChanged = "controller-changed", Fact::ControllerChanged { .. },
}

impl FactKind {
    /// How much `fact`, which is of this kind, matters.
    #[expect(clippy::too_many_lines, reason = "one list of all facts")]
    pub fn severity(self, fact: &Fact) -> Severity {
        match fact {
            Fact::RecordRefused { .. }
            | Fact::BatchFailed { .. }
            | Fact::ClientFailed { .. }
            | Fact::UnassignedFailed { .. }
            | Fact::TransactionCallFailed { .. }
            | Fact::TransactionFailed { .. }
            | Fact::RecordsTruncated { .. }
            | Fact::LimitReached { .. }
            | Fact::ConsumerFailed { .. }
            | Fact::LeaderChanged { leader: None, .. }
            | Fact::ControllerChanged { broker: None, .. }
            | Fact::LeaderChanged { unclean: true, .. }
            | Fact::BrokerChanged {
                state: BrokerState::Dead | BrokerState::Fenced,
                ..
            }
            | Fact::LinkChanged {
                state: LinkState::Cut | LinkState::Refusing,
                ..
            }
            | Fact::CallReturned {
                exception: Some(_), ..
            } => Severity::Error,
            Fact::ApplicationExited { records_lost, .. } if 0 < *records_lost => Severity::Error,
            Fact::MemberLeft { why, .. } if *why != MemberLoss::Left => Severity::Warning,
            Fact::PoolExhausted { .. }
            | Fact::ThreadBlocked { .. }
            | Fact::BatchRetried { .. }
            | Fact::BatchSplit { .. }
            | Fact::Rebootstrapped { .. }
            | Fact::CommandRefused { .. }
            | Fact::KeySplit { .. }
            | Fact::OutOfOrderRead { .. }
            | Fact::CommitFailed { .. }
            | Fact::GroupEmpty { .. }
            | Fact::TailCut { .. }
            | Fact::TransactionChanged {
                state: TransactionState::PrepareAbort,
                ..
            }
            | Fact::GroupStable { idle: 1.., .. }
            | Fact::LeaderChanged { .. }
            | Fact::ControllerChanged { .. }
            | Fact::LinkChanged {
                state: LinkState::Degraded,
                ..
            }
            | Fact::BrokerChanged {
                state: BrokerState::Paused | BrokerState::ShuttingDown | BrokerState::Starting,
                ..
            }
            | Fact::Disconnected {
                why:
                    Disconnect::Reset
                    | Disconnect::Refused
                    | Disconnect::SetupTimeout
                    | Disconnect::RequestTimeout,
                ..
            } => Severity::Warning,
            Fact::CommandApplied(_)
            | Fact::TransactionsShown { .. }
            | Fact::LoadThrottled { .. }
            | Fact::ApplicationExited { .. }
            | Fact::BrokerChanged {
                state: BrokerState::Running,
                ..
            }
            | Fact::LinkChanged {
                state: LinkState::Up,
                ..
            }
            | Fact::IsrChanged { .. }
            | Fact::PartitionsAdded { .. }
            | Fact::SegmentsDeleted { .. }
            | Fact::PartitionsLearned { .. }
            | Fact::GroupRebalancing { .. }
            | Fact::GroupStable { .. }
            | Fact::MemberLeft { .. }
            | Fact::PartitionsDiscovered { .. }
            | Fact::ConsumerExited { .. }
            | Fact::Ended => Severity::Notice,
            Fact::ThreadUnblocked { .. }
            | Fact::Disconnected {
                why: Disconnect::Idle | Disconnect::Local,
                ..
            }
            | Fact::CallReturned {
                exception: None, ..
            }
            | Fact::ConsumerStarted { .. }
            | Fact::OffsetReset { .. }
            | Fact::ClientStarted { .. }
            | Fact::ClientClosed { .. }
            | Fact::Connected { .. }
            | Fact::MetadataUpdated { .. }
            | Fact::LogCleaned { .. }
            | Fact::ProducerForgotten { .. }
            | Fact::TransactionChanged { .. }
            | Fact::MarkerWritten { .. }
            | Fact::ProducerIdAssigned { .. } => Severity::Info,
        }
    }
}

/// The kind's name, as filters and expectations write it: `leader-changed`.
pub const fn kind_name(fact: &Fact) -> &'static str {
    FactKind::of(fact).name()
}

/// How much a fact matters.
pub fn severity(fact: &Fact) -> Severity {
    FactKind::of(fact).severity(fact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_found_by_the_name_that_the_pane_shows() {
        assert!(
            FactKind::ALL
                .iter()
                .all(|kind| FactKind::from_name(kind.name()) == Some(*kind))
        );
        assert_eq!(
            FactKind::from_name("leader-changed"),
            Some(FactKind::LeaderChanged)
        );
        assert_eq!(FactKind::from_name("LeaderChanged"), None);
    }
}
