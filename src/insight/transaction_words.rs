//! Facts about transactions as whole sentences.

use super::names;
use crate::kafka::transaction::TransactionState;
use crate::sim::command::TransactionsInquiry;
use crate::sim::config::Config;
use crate::sim::fact::{ErrorClass, Exception, Fact};

/// What happened, in a sentence without a full stop.
pub(super) fn of_transaction(fact: &Fact, config: &Config) -> String {
    match fact {
        Fact::TransactionChanged {
            transactional_id,
            state,
            producer_id,
            epoch,
            partitions,
        } => {
            let what = match state {
                TransactionState::Empty => "has an owner",
                TransactionState::Ongoing => "has an open transaction",
                TransactionState::PrepareCommit => "commits: decided",
                TransactionState::PrepareAbort => "aborts: decided",
                TransactionState::CompleteCommit => "is committed in every partition",
                TransactionState::CompleteAbort => "is aborted in every partition",
            };
            let partitions: Vec<String> = partitions
                .iter()
                .map(|&partition| names::partition(config, partition))
                .collect();
            let members = if partitions.is_empty() {
                String::new()
            } else {
                format!(" on {}", partitions.join(", "))
            };
            format!(
                "{transactional_id} {what}{members} ({}, {producer_id}/{epoch})",
                state.name()
            )
        }
        Fact::MarkerWritten {
            partition,
            offset,
            producer_id,
            epoch,
            result,
        } => format!(
            "{}: {} {producer_id}/{epoch} at offset {offset}",
            names::partition(config, *partition),
            result.name(),
        ),
        Fact::TransactionCallFailed {
            producer,
            operation,
            exception,
        } => format!(
            "{}: {}() {} {}",
            names::producer(config, *producer),
            names::transactional_call(config, *producer, *operation),
            verb(exception),
            error(exception),
        ),
        Fact::TransactionFailed {
            producer,
            exception,
        } => format!(
            "{}: the current transaction failed: {} ({})",
            names::producer(config, *producer),
            exception.text,
            exception.class.name(),
        ),
        Fact::TransactionsShown { inquiry, answer } => {
            format!(
                "kafka-transactions.sh {}: {}",
                command(inquiry),
                answer.line()
            )
        }
        _ => String::new(),
    }
}

/// The word for what `kafka-transactions.sh` was asked.
const fn command(inquiry: &TransactionsInquiry) -> &'static str {
    match inquiry {
        TransactionsInquiry::List { .. } => "list",
        TransactionsInquiry::Describe(_) => "describe",
        TransactionsInquiry::DescribeProducers { .. } => "describe-producers",
        TransactionsInquiry::FindHanging { .. } => "find-hanging",
    }
}

/// A Java client throws, librdkafka returns.
pub(super) const fn verb(exception: &Exception) -> &'static str {
    match exception.class {
        ErrorClass::Java(_) => "threw",
        ErrorClass::Rdkafka(_) => "returned",
    }
}

/// An error with its text, and with what librdkafka says that helps.
pub(super) fn error(exception: &Exception) -> String {
    let (name, text) = (exception.class.name(), &exception.text);
    match exception.remedy.words() {
        "" => format!("{name}: {text}"),
        remedy => format!("{name} ({remedy}): {text}"),
    }
}
