//! What transactions are made of, wherever they are looked at: versions, results, identities.

use super::version::KafkaVersion;

/// A producer id with its epoch (`ProducerIdAndEpoch`).
pub type ProducerIdAndEpoch = (i64, i16);

/// No epoch (`RecordBatch.NO_PRODUCER_EPOCH`).
pub const NO_PRODUCER_EPOCH: i16 = -1;
/// No producer id (`RecordBatch.NO_PRODUCER_ID`).
pub const NO_PRODUCER_ID: i64 = -1;

/// How transactions run (`transaction.version`, KIP-890).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionVersion {
    /// The client adds partitions, and the epoch stays.
    One,
    /// Leaders add partitions, and every transaction ends with a higher epoch.
    Two,
}

impl TransactionVersion {
    /// What a Java client of this version does in a cluster of that one: version 2 came with 4.0.
    #[must_use]
    pub fn of_client(self, client: KafkaVersion) -> Self {
        if client.at_least(4, 0) {
            self
        } else {
            Self::One
        }
    }
}

/// The topic that transaction coordinators keep their ids in (`TRANSACTION_STATE_TOPIC_NAME`).
pub const TRANSACTION_STATE_TOPIC: &str = "__transaction_state";

/// How a transaction ends (`TransactionResult`, and the type of its control records).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionResult {
    /// Nobody who reads committed records sees it.
    Abort,
    /// Everybody sees it.
    Commit,
}

impl TransactionResult {
    /// The type of its control records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abort => "ABORT",
            Self::Commit => "COMMIT",
        }
    }
}

/// A transactional id at its coordinator (`TransactionState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionState {
    /// It has an owner and no transaction.
    Empty,
    /// A transaction is open.
    Ongoing,
    /// It is decided that it is committed; markers are on their way.
    PrepareCommit,
    /// It is decided that it is aborted; markers are on their way.
    PrepareAbort,
    /// Every partition has its COMMIT.
    CompleteCommit,
    /// Every partition has its ABORT.
    CompleteAbort,
}

impl TransactionState {
    /// The name, as Kafka's tools show it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Ongoing => "Ongoing",
            Self::PrepareCommit => "PrepareCommit",
            Self::PrepareAbort => "PrepareAbort",
            Self::CompleteCommit => "CompleteCommit",
            Self::CompleteAbort => "CompleteAbort",
        }
    }

    /// The decision that is being carried out, if there is one.
    pub const fn prepared(self) -> Option<TransactionResult> {
        match self {
            Self::PrepareCommit => Some(TransactionResult::Commit),
            Self::PrepareAbort => Some(TransactionResult::Abort),
            _ => None,
        }
    }

    /// Whether nothing is open or being carried out.
    pub const fn is_settled(self) -> bool {
        matches!(
            self,
            Self::Empty | Self::CompleteCommit | Self::CompleteAbort
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_client_speaks_version_1_to_any_cluster() {
        let (old, new) = (KafkaVersion::new(3, 9, 0), KafkaVersion::new(4, 0, 0));
        let of = TransactionVersion::of_client;
        assert_eq!(of(TransactionVersion::Two, old), TransactionVersion::One);
        assert_eq!(of(TransactionVersion::Two, new), TransactionVersion::Two);
        assert_eq!(of(TransactionVersion::One, new), TransactionVersion::One);
    }
}
