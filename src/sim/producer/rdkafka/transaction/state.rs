//! The states of a transactional client, and the errors that end transactions.
//!
//! Source: `rd_kafka_txn_state_t`, `rd_kafka_txn_require_states0`, `rd_kafka_txn_set_fatal_error`,
//! `rd_kafka_txn_set_abortable_error0`.

use std::sync::Arc;

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::sim::context::Context;
use crate::sim::exception::Remedy;
use crate::sim::fact::Fact;
use crate::sim::producer::rdkafka::idempotence::State as IdState;
use crate::sim::producer::rdkafka::transaction::{Bump, Caller, Stage, Transactions};
use crate::sim::producer::rdkafka::{Rdkafka, Woken, exception_for};
use crate::sim::producer::transaction::Outcome;

/// `rd_kafka_txn_state_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `init_transactions()` was not called.
    Init,
    /// It asks for its producer id.
    WaitPid,
    /// It has one, and the application does not know.
    ReadyNotAcked,
    /// A transaction can begin.
    Ready,
    /// One is open.
    InTransaction,
    /// Its messages are being delivered.
    BeginCommit,
    /// The coordinator is asked to commit.
    CommittingTransaction,
    /// It is committed, and the application does not know.
    CommitNotAcked,
    /// What is left of it is thrown away.
    BeginAbort,
    /// The coordinator is asked to abort.
    AbortingTransaction,
    /// It is aborted, and the application does not know.
    AbortedNotAcked,
    /// It can only be aborted.
    AbortableError,
    /// Nothing can be done with this client.
    FatalError,
}

impl State {
    /// The name, as in statistics and messages (`rd_kafka_txn_state2str`).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Init => "Init",
            Self::WaitPid => "WaitPID",
            Self::ReadyNotAcked => "ReadyNotAcked",
            Self::Ready => "Ready",
            Self::InTransaction => "InTransaction",
            Self::BeginCommit => "BeginCommit",
            Self::CommittingTransaction => "CommittingTransaction",
            Self::CommitNotAcked => "CommitNotAcked",
            Self::BeginAbort => "BeginAbort",
            Self::AbortingTransaction => "AbortingTransaction",
            Self::AbortedNotAcked => "AbortedNotAcked",
            Self::AbortableError => "AbortableError",
            Self::FatalError => "FatalError",
        }
    }

    /// Whether `produce()` takes messages in it (`txn_may_enq`).
    pub const fn takes(self) -> bool {
        matches!(self, Self::InTransaction)
    }

    /// Whether messages may be sent in it.
    pub const fn sends(self) -> bool {
        matches!(self, Self::InTransaction | Self::BeginCommit)
    }

    /// Whether what comes back from brokers is not sent again: its transaction is lost.
    pub const fn gives_up(self) -> bool {
        matches!(
            self,
            Self::BeginAbort | Self::AbortingTransaction | Self::AbortableError | Self::FatalError
        )
    }
}

impl Transactions {
    /// Fails unless the state is one of these, with the error that led to it where one did.
    pub(super) fn require(&self, states: &[State]) -> Outcome {
        if states.contains(&self.state) {
            return Ok(());
        }
        let stored = self
            .error
            .clone()
            .filter(|_| matches!(self.state, State::FatalError | State::AbortableError));
        Err(stored.unwrap_or_else(|| {
            let text = format!("Operation not valid in state {}", self.state.name());
            exception_for(RdkafkaError::State, text, Remedy::None)
        }))
    }
}

impl Rdkafka {
    /// Its transactional state, if it has transactions.
    pub(in crate::sim::producer::rdkafka) fn transaction_state(&self) -> Option<State> {
        self.transactions.as_ref().map(|own| own.state)
    }

    /// The present transaction can only be aborted: what waits is thrown away. A later error of the
    /// same transaction is not heard.
    pub(in crate::sim::producer::rdkafka) fn fail_transaction(
        &mut self,
        ctx: &mut Context<'_>,
        (error, text): (RdkafkaError, String),
        bump: Bump,
    ) {
        let Some(own) = &mut self.transactions else {
            return;
        };
        if self.fatal.is_some() {
            return;
        }
        if bump == Bump::AfterAbort {
            own.bump = bump;
            if let IdState::Assigned { producer_id, epoch } = self.producer_ids.state {
                let state = IdState::WaitTxnAbort { producer_id, epoch };
                self.producer_ids.set(state, ctx.now);
            }
        }
        let may_fail = matches!(
            own.state,
            State::InTransaction
                | State::BeginCommit
                | State::CommittingTransaction
                | State::AbortableError
                | State::BeginAbort
        );
        if own.error.is_some() || !may_fail || own.state == State::AbortableError {
            return;
        }
        let failed = exception_for(error, text, Remedy::Abort);
        own.error = Some(Arc::clone(&failed));
        if own.state != State::BeginAbort {
            own.state = State::AbortableError;
        }
        let fact = Fact::TransactionFailed {
            producer: self.me,
            exception: failed,
        };
        ctx.fact(self.rank, fact);
        self.purge_transaction(ctx);
    }

    /// Nothing can be done with this client any more; a call that waits is told.
    pub(in crate::sim::producer::rdkafka) fn fail_fatally(
        &mut self,
        ctx: &mut Context<'_>,
        error: RdkafkaError,
        text: String,
    ) {
        if self.fatal.is_some() {
            return;
        }
        self.fail_for_good(ctx, error, text);
        if self.transactions.is_none() {
            return;
        }
        let fatal = self.fatal.clone();
        if let (Some(own), Some(fatal)) = (&mut self.transactions, fatal) {
            own.state = State::FatalError;
            own.error = Some(Arc::clone(&fatal));
            own.question = None;
            self.end_call(Err(fatal));
        }
        self.purge_transaction(ctx);
    }

    /// It is known what a call gives.
    pub(super) fn end_call(&mut self, outcome: Outcome) {
        let Some(own) = &mut self.transactions else {
            return;
        };
        let Some(call) = &mut own.call else {
            return;
        };
        // An error that was stored before counts.
        call.outcome.get_or_insert(outcome);
        if call.caller == Caller::Waits && call.stage == Stage::Asking {
            self.say(Woken::Transaction);
        }
    }
}

/// What an error means for the names of brokers that fence.
pub(super) const fn normalized(error: RdkafkaError) -> RdkafkaError {
    match error {
        RdkafkaError::InvalidProducerEpoch | RdkafkaError::ProducerFenced => RdkafkaError::Fenced,
        other => other,
    }
}
