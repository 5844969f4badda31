//! The states of a transactional client, and which may follow which.

use std::sync::Arc;

use crate::kafka::exception::ExceptionClass;
use crate::kafka::transaction::TransactionVersion;
use crate::kafka::transaction_message::{self as message, SequenceRecovery};
use crate::sim::fact::Exception;
use crate::sim::producer::client::exception;
use crate::sim::producer::transaction::{EpochBump, TransactionManager};

/// `TransactionManager.State`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `initTransactions()` was not called.
    Uninitialized,
    /// It asks for its producer id and epoch.
    Initializing,
    /// It can begin a transaction.
    Ready,
    /// One is open.
    InTransaction,
    /// It is being committed.
    CommittingTransaction,
    /// It is being aborted.
    AbortingTransaction,
    /// It can only be aborted.
    AbortableError,
    /// Nothing can be done but `close()`.
    FatalError,
}

impl State {
    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uninitialized => "UNINITIALIZED",
            Self::Initializing => "INITIALIZING",
            Self::Ready => "READY",
            Self::InTransaction => "IN_TRANSACTION",
            Self::CommittingTransaction => "COMMITTING_TRANSACTION",
            Self::AbortingTransaction => "ABORTING_TRANSACTION",
            Self::AbortableError => "ABORTABLE_ERROR",
            Self::FatalError => "FATAL_ERROR",
        }
    }

    /// Whether it may follow another one (`isTransitionValid`).
    const fn may_follow(self, source: Self) -> bool {
        use State as S;
        match self {
            S::Uninitialized => matches!(source, S::Ready | S::AbortableError),
            S::Initializing => matches!(
                source,
                S::Uninitialized | S::CommittingTransaction | S::AbortingTransaction
            ),
            S::Ready => matches!(
                source,
                S::Initializing | S::CommittingTransaction | S::AbortingTransaction
            ),
            S::InTransaction => matches!(source, S::Ready),
            S::CommittingTransaction => matches!(source, S::InTransaction),
            S::AbortingTransaction => matches!(source, S::InTransaction | S::AbortableError),
            S::AbortableError => matches!(
                source,
                S::InTransaction | S::CommittingTransaction | S::AbortableError | S::Initializing
            ),
            S::FatalError => true,
        }
    }
}

impl TransactionManager {
    /// Moves on; on the application's thread an illegal move is only thrown.
    pub(super) fn move_to(&mut self, target: State) -> Result<(), Arc<Exception>> {
        if !target.may_follow(self.state) {
            let (from, to) = (self.state.name(), target.name());
            let text = message::invalid_transition(&self.transactional_id, from, to);
            return Err(exception(ExceptionClass::IllegalState, text));
        }
        (self.state, self.last_error) = (target, None);
        Ok(())
    }

    /// Only an abort helps now (`transitionToAbortableError`); one that is under way goes on.
    pub(super) fn abortable(&mut self, error: Arc<Exception>) {
        if self.state == State::AbortingTransaction {
            return;
        }
        if State::AbortableError.may_follow(self.state) {
            (self.state, self.last_error) = (State::AbortableError, Some(error));
        }
    }

    /// Nothing helps now (`transitionToFatalError`); who waits is told.
    pub(super) fn fatal(&mut self, error: Arc<Exception>) {
        (self.state, self.last_error) = (State::FatalError, Some(Arc::clone(&error)));
        self.finish(Err(error));
    }

    /// Whether there is an error of either kind.
    pub(super) fn has_error(&self) -> bool {
        matches!(self.state, State::AbortableError | State::FatalError)
    }

    /// Why a call cannot even begin (`maybeFailWithError`).
    pub(super) fn check_error(&self) -> Result<(), Arc<Exception>> {
        let Some(error) = self.last_error.as_ref().filter(|_| self.has_error()) else {
            return Ok(());
        };
        let id = &self.transactional_id;
        let (producer_id, epoch) = self.producer.unwrap_or((-1, -1));
        let is = |class| error.class.is_java(class);
        Err(if is(ExceptionClass::ProducerFenced) {
            let text = message::fenced(id, producer_id, epoch);
            exception(ExceptionClass::ProducerFenced, text)
        } else if is(ExceptionClass::InvalidProducerEpoch) {
            let text = message::old_epoch(id, producer_id, epoch);
            exception(ExceptionClass::InvalidProducerEpoch, text)
        } else if is(ExceptionClass::IllegalState) {
            let text = message::invalid_previous_transition(id, producer_id, epoch);
            exception(ExceptionClass::IllegalState, text)
        } else {
            exception(ExceptionClass::Kafka, message::IN_ERROR_STATE)
        })
    }

    /// A batch failed for good, or `send()` ended in an exception
    /// (`maybeTransitionToErrorState`).
    pub fn on_failed(&mut self, error: &Arc<Exception>) {
        const FATAL: [ExceptionClass; 5] = [
            ExceptionClass::ClusterAuthorization,
            ExceptionClass::TransactionalIdAuthorization,
            ExceptionClass::ProducerFenced,
            ExceptionClass::UnsupportedVersion,
            ExceptionClass::InvalidPidMapping,
        ];
        if self.state == State::FatalError {
            return;
        }
        if FATAL.iter().any(|class| error.class.is_java(*class)) {
            return self.fatal(Arc::clone(error));
        }
        let is_wrapped = self.client.at_least(4, 1)
            && (error.class.is_java(ExceptionClass::Retriable)
                || error.class.is_java(ExceptionClass::InvalidTxnState));
        let error = if is_wrapped {
            exception(
                ExceptionClass::TransactionAbortable,
                message::ABORTED_AFTER_RETRIES,
            )
        } else {
            Arc::clone(error)
        };
        if !self.is_completing() {
            self.want_epoch();
        }
        self.abortable(error);
    }

    /// In version 1 the client itself asks for another epoch after an error
    /// (`needToTriggerEpochBumpFromClient`). Every broker that is simulated can give one.
    pub(super) fn want_epoch(&mut self) {
        if self.version == TransactionVersion::One && self.can_raise_epoch() {
            self.epoch_bump = EpochBump::AfterEnd;
        }
    }

    /// Clients before 2.5 (KIP-360) keep their epoch until they are initialised again.
    fn can_raise_epoch(&self) -> bool {
        self.client.at_least(2, 5)
    }

    /// Batches are lost that the broker may have: an abort and another epoch repair that, where
    /// the client can raise it, and nothing does where it cannot.
    pub(super) fn lose_sequences(&mut self) {
        let recovery = if self.can_raise_epoch() {
            SequenceRecovery::Abort
        } else {
            SequenceRecovery::None
        };
        let text = message::unresolved_sequences(recovery);
        let error = exception(ExceptionClass::Kafka, text);
        match recovery {
            SequenceRecovery::Abort => {
                self.want_epoch();
                self.abortable(error);
            }
            SequenceRecovery::None => self.fatal(error),
        }
    }
}
