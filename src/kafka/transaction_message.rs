//! The Java client's own words about transactions.
//!
//! Invariants: texts are verbatim, including their slips.
//!
//! The sentence that 4.3 added to a timed-out transactional call depends on the client's version.

use super::version::KafkaVersion;

/// `KafkaException` of a transactional call in an error state; its cause is the last error
/// (`TransactionManager.maybeFailWithError`).
pub const IN_ERROR_STATE: &str =
    "Cannot execute transactional method because we are in an error state";
/// `TransactionAbortedException` of batches that an abort threw away
/// (`RecordAccumulator.abortUndrainedBatches`).
pub const BATCH_ABORTED: &str = "Failing batch since transaction was aborted";
/// `TransactionAbortableException` that wraps a retriable error since 4.1
/// (`TransactionManager.transitionToAbortableErrorOrFatalError`).
pub const ABORTED_AFTER_RETRIES: &str = "Transaction Request was aborted after exhausting retries.";
/// `KafkaException` of an abort that a 4.1 coordinator answers with `TRANSACTION_ABORTABLE`.
pub const FAILED_TO_ABORT: &str = "Failed to abort transaction";
/// `IllegalStateException` of a transactional call without transactions configured.
pub const TRANSACTIONS_NOT_ENABLED: &str = "Cannot use transactional methods without enabling \
     transactions by setting the transactional.id configuration property";
/// `IllegalStateException` of a transactional operation within a plain producer.
pub const NOT_TRANSACTIONAL: &str = "Transactional method invoked on a non-transactional producer.";
/// `IllegalArgumentException` of offsets without a group (`KafkaProducer`).
pub const GROUP_METADATA_NULL: &str = "Consumer group metadata could not be null";
/// Start of the `KafkaException` of sequences whose fate is unknown
/// (`TransactionManager.maybeResolveSequences`).
const UNRESOLVED: &str = "The client hasn't received acknowledgment for some previously sent \
     messages and can no longer retry them. ";

/// What a blocked transactional call waits for, as its timeout names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AwaitedOperation {
    /// `initTransactions()`.
    InitProducerId,
    /// `sendOffsetsToTransaction()` of transaction version 1.
    AddOffsetsToTxn,
    /// `sendOffsetsToTransaction()` of transaction version 2.
    TxnOffsetCommit,
    /// `commitTransaction()`.
    Commit,
    /// `abortTransaction()`.
    Abort,
}

impl AwaitedOperation {
    /// The name in the text of the timeout.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InitProducerId => "InitProducerId",
            Self::AddOffsetsToTxn => "AddOffsetsToTxn",
            Self::TxnOffsetCommit => "TxnOffsetCommitHandler",
            Self::Commit => "EndTxn(true)",
            Self::Abort => "EndTxn(false)",
        }
    }

    /// The call of librdkafka that waits.
    pub const fn rdkafka_call(self) -> &'static str {
        match self {
            Self::InitProducerId => "init_transactions",
            Self::AddOffsetsToTxn | Self::TxnOffsetCommit => "send_offsets_to_transaction",
            Self::Commit => "commit_transaction",
            Self::Abort => "abort_transaction",
        }
    }

    /// The method that waits.
    pub const fn method(self) -> &'static str {
        match self {
            Self::InitProducerId => "initTransactions",
            Self::AddOffsetsToTxn | Self::TxnOffsetCommit => "sendOffsetsToTransaction",
            Self::Commit => "commitTransaction",
            Self::Abort => "abortTransaction",
        }
    }

    /// What 4.3 clients add to the text of the timeout (`KafkaProducer`).
    const fn explanation(self) -> &'static str {
        match self {
            Self::InitProducerId => {
                "InitTransactions timed out - did not complete coordinator discovery or receive \
                 the InitProducerId response within max.block.ms."
            }
            Self::AddOffsetsToTxn | Self::TxnOffsetCommit => {
                "SendOffsetsToTransaction timed out - did not reach the coordinator or receive \
                 the TxnOffsetCommit/AddOffsetsToTxn response within max.block.ms"
            }
            Self::Commit => {
                "CommitTransaction timed out - did not complete EndTxn with the transaction \
                 coordinator within max.block.ms"
            }
            Self::Abort => {
                "AbortTransaction timed out - did not complete EndTxn(abort) with the transaction \
                 coordinator within max.block.ms"
            }
        }
    }
}

/// `TimeoutException` of a transactional call after `max.block.ms`
/// (`TransactionalRequestResult.await`).
pub fn timeout_awaiting(
    version: KafkaVersion,
    max_block_ms: u64,
    operation: AwaitedOperation,
) -> String {
    let name = operation.name();
    let text = format!("Timeout expired after {max_block_ms}ms while awaiting {name}");
    if version.at_least(4, 3) {
        format!("{text}. {}", operation.explanation())
    } else {
        text
    }
}

/// `IllegalStateException` of another call than the timed-out one
/// (`TransactionManager.handleCachedTransactionRequestResult`).
pub fn previous_call_timed_out(attempted: &str, pending: &str) -> String {
    format!(
        "Cannot attempt operation `{attempted}` because the previous call to `{pending}` timed \
         out and must be retried"
    )
}

/// `IllegalStateException` of a call that the state does not allow
/// (`TransactionManager.transitionTo`).
pub fn invalid_transition(transactional_id: &str, from: &str, to: &str) -> String {
    format!(
        "TransactionalId {transactional_id}: Invalid transition attempted from state {from} to \
         state {to}"
    )
}

/// `IllegalStateException` of a send outside a transaction; the two blanks are Kafka's
/// (`TransactionManager.maybeAddPartition`).
pub fn cannot_add_partition(topic_partition: &str, state: &str) -> String {
    format!("Cannot add partition {topic_partition} to transaction while in state  {state}")
}

/// `IllegalStateException` of a send before `initTransactions()`
/// (`TransactionManager.maybeAddPartition`).
pub fn cannot_add_partition_before_init(topic_partition: &str) -> String {
    format!(
        "Cannot add partition {topic_partition} to transaction before completing a call to \
         initTransactions"
    )
}

/// `IllegalStateException` of offsets outside a transaction
/// (`TransactionManager.sendOffsetsToTransaction`).
pub fn cannot_send_offsets(state: &str) -> String {
    format!("Cannot send offsets if a transaction is not in progress (currentState= {state})")
}

/// `ProducerFencedException` of a fenced owner's next call
/// (`TransactionManager.maybeFailWithError`).
pub fn fenced(transactional_id: &str, producer_id: i64, epoch: i16) -> String {
    let owner = owner(transactional_id, producer_id, epoch);
    format!("{owner} has been fenced by another producer with the same transactionalId")
}

/// `InvalidProducerEpochException` of the next call after a produce answer with that error
/// (`TransactionManager.maybeFailWithError`).
pub fn old_epoch(transactional_id: &str, producer_id: i64, epoch: i16) -> String {
    let owner = owner(transactional_id, producer_id, epoch);
    format!("{owner} attempted to produce with an old epoch")
}

/// `IllegalStateException` of every call after an illegal one
/// (`TransactionManager.maybeFailWithError`).
pub fn invalid_previous_transition(transactional_id: &str, producer_id: i64, epoch: i16) -> String {
    let owner = owner(transactional_id, producer_id, epoch);
    format!(
        "{owner} cannot execute transactional method because of previous invalid state \
         transition attempt"
    )
}

/// `KafkaException` of sequences whose fate is unknown, with the way on if there is one
/// (`TransactionManager.maybeResolveSequences`).
pub fn unresolved_sequences(recovery: SequenceRecovery) -> String {
    let advice = match recovery {
        SequenceRecovery::Abort => "It is safe to abort the transaction and continue.",
        SequenceRecovery::None => "It isn't safe to continue.",
    };
    format!("{UNRESOLVED}{advice}")
}

/// Whether a transactional producer can go on after sequences got lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceRecovery {
    /// The epoch can be raised: aborting is enough.
    Abort,
    /// The coordinator cannot raise epochs: the error is fatal.
    None,
}

fn owner(transactional_id: &str, producer_id: i64, epoch: i16) -> String {
    format!(
        "Producer with transactionalId '{transactional_id}' and (producerId={producer_id}, \
         epoch={epoch})"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fenced_owner_is_named_by_id_and_epoch() {
        assert_eq!(
            fenced("fares", 4001, 1),
            "Producer with transactionalId 'fares' and (producerId=4001, epoch=1) has been \
             fenced by another producer with the same transactionalId"
        );
    }

    #[test]
    fn a_blocked_commit_says_what_it_waited_for() {
        let text = |minor| {
            let version = KafkaVersion::new(4, minor, 0);
            timeout_awaiting(version, 60_000, AwaitedOperation::Commit)
        };
        let waited = "Timeout expired after 60000ms while awaiting EndTxn(true)";
        assert_eq!(text(2), waited);
        assert_eq!(
            text(3),
            format!(
                "{waited}. CommitTransaction timed out - did not complete EndTxn with the \
                 transaction coordinator within max.block.ms"
            )
        );
    }

    #[test]
    fn a_send_outside_a_transaction_has_two_blanks_before_the_state() {
        assert_eq!(
            cannot_add_partition("fares-2", "READY"),
            "Cannot add partition fares-2 to transaction while in state  READY"
        );
    }

    #[test]
    fn lost_sequences_end_in_an_abort_or_in_nothing() {
        let safe = unresolved_sequences(SequenceRecovery::Abort);
        assert!(safe.ends_with("retry them. It is safe to abort the transaction and continue."));
        let fatal = unresolved_sequences(SequenceRecovery::None);
        assert!(fatal.ends_with("retry them. It isn't safe to continue."));
    }
}
