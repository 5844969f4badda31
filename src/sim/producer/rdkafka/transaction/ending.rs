//! How a transaction ends: `commit_transaction()` delivers what is queued and asks for the commit;
//! `abort_transaction()` throws away what is queued, waits for what is in flight, and asks for the
//! abort, and for another epoch where the sequences are no longer certain.

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::transaction::TransactionResult;
use crate::kafka::transaction_message::AwaitedOperation;
use crate::sim::context::Context;
use crate::sim::exception::Remedy;
use crate::sim::producer::rdkafka::idempotence::State as IdState;
use crate::sim::producer::rdkafka::transaction::state::State;
use crate::sim::producer::rdkafka::transaction::{
    ApiCall, Bump, Caller, Membership, Question, QuestionKind, Stage, Timed, Transactions,
};
use crate::sim::producer::rdkafka::{Rdkafka, exception_for};
use crate::sim::producer::transaction::Outcome;

impl Rdkafka {
    /// `commit_transaction()` or `abort_transaction()` begins, or is taken up again.
    pub(super) fn end_transaction(
        &mut self,
        ctx: &mut Context<'_>,
        result: TransactionResult,
    ) -> Outcome {
        let Some(own) = &mut self.transactions else {
            return Ok(());
        };
        let was_open = matches!(own.state, State::InTransaction | State::AbortableError);
        let operation = match result {
            TransactionResult::Commit => {
                own.begin_commit()?;
                AwaitedOperation::Commit
            }
            TransactionResult::Abort => {
                own.begin_abort()?;
                AwaitedOperation::Abort
            }
        };
        if own.resume() {
            if let Some(call) = &mut own.call {
                call.stage = Stage::Flushing(result);
            }
        } else {
            own.call = Some(ApiCall::new(operation, Stage::Flushing(result)));
        }
        if result == TransactionResult::Abort && was_open {
            self.purge_transaction(ctx);
        }
        self.flushes += 1;
        self.hurry(ctx.now);
        self.finish_flush(ctx);
        Ok(())
    }

    /// The flush of a call is over when no message is left: the transaction can end.
    pub(super) fn finish_flush(&mut self, ctx: &mut Context<'_>) {
        if !self.is_empty() {
            return;
        }
        let own = self.transactions.as_mut();
        let Some(call) = own.and_then(|own| own.call.as_mut()) else {
            return;
        };
        let Stage::Flushing(result) = call.stage else {
            return;
        };
        if call.caller == Caller::Gone {
            return;
        }
        call.stage = Stage::Asking;
        let outcome = call.outcome.take();
        self.flushes -= 1;
        if let Some(outcome) = outcome {
            return self.end_call(outcome);
        }
        match result {
            TransactionResult::Commit => self.ask_to_commit(ctx),
            TransactionResult::Abort => self.ask_to_abort(ctx),
        }
    }

    fn ask_to_commit(&mut self, ctx: &mut Context<'_>) {
        let Some(own) = &mut self.transactions else {
            return;
        };
        match own.state {
            State::CommitNotAcked => return self.end_call(Ok(())),
            State::CommittingTransaction => return,
            _ => {}
        }
        if let Err(error) = own.require(&[State::BeginCommit]) {
            return self.end_call(Err(error));
        }
        if own.failed > 0 {
            let error = RdkafkaError::Inconsistent;
            let text = format!(
                "{} message(s) failed delivery (see individual delivery reports)",
                own.failed
            );
            self.fail_transaction(ctx, (error, text.clone()), Bump::No);
            return self.end_call(Err(exception_for(error, text, Remedy::Abort)));
        }
        if own.known == 0 {
            return self.ended(ctx, TransactionResult::Commit);
        }
        own.state = State::CommittingTransaction;
        own.ask_end(TransactionResult::Commit, ctx);
        self.wake_by(ctx.now);
    }

    fn ask_to_abort(&mut self, ctx: &mut Context<'_>) {
        let is_certain = matches!(
            self.producer_ids.state,
            IdState::Assigned { .. } | IdState::WaitTxnAbort { .. }
        );
        let Some(own) = &mut self.transactions else {
            return;
        };
        match own.state {
            State::AbortedNotAcked => return self.end_call(Ok(())),
            State::AbortingTransaction => return,
            _ => {}
        }
        if let Err(error) = own.require(&[State::BeginAbort]) {
            return self.end_call(Err(error));
        }
        if own.known == 0 {
            return self.ended(ctx, TransactionResult::Abort);
        }
        // Otherwise another epoch is on its way, and ends this call.
        if is_certain {
            own.state = State::AbortingTransaction;
            own.ask_end(TransactionResult::Abort, ctx);
            self.wake_by(ctx.now);
        }
    }

    /// The coordinator has ended it, or never knew of it (`rd_kafka_txn_endtxn_complete`).
    pub(super) fn ended(&mut self, ctx: &mut Context<'_>, result: TransactionResult) {
        let Some(own) = &mut self.transactions else {
            return;
        };
        if own.bump == Bump::AfterAbort {
            if let IdState::WaitTxnAbort { producer_id, epoch }
            | IdState::Assigned { producer_id, epoch } = self.producer_ids.state
            {
                let state = IdState::DrainBump { producer_id, epoch };
                self.producer_ids.set(state, ctx.now);
            }
            self.wake_by(ctx.now);
            return;
        }
        own.state = match result {
            TransactionResult::Commit => State::CommitNotAcked,
            TransactionResult::Abort => State::AbortedNotAcked,
        };
        self.end_call(Ok(()));
    }

    /// A producer id or an epoch was given (`rd_kafka_txn_idemp_state_change`).
    pub(in crate::sim::producer::rdkafka) fn producer_id_assigned(&mut self, now: (i64, i16)) {
        let Some(own) = &mut self.transactions else {
            return;
        };
        own.latest = Some(now);
        own.init_error = None;
        match own.state {
            State::WaitPid => own.state = State::ReadyNotAcked,
            State::BeginAbort | State::AbortingTransaction => own.state = State::AbortedNotAcked,
            _ => return,
        }
        own.bump = Bump::No;
        self.end_call(Ok(()));
    }
}

impl Transactions {
    fn begin_commit(&mut self) -> Outcome {
        self.require(&[
            State::InTransaction,
            State::BeginCommit,
            State::CommittingTransaction,
            State::CommitNotAcked,
        ])?;
        if self.state == State::InTransaction {
            self.state = State::BeginCommit;
        }
        Ok(())
    }

    fn begin_abort(&mut self) -> Outcome {
        self.require(&[
            State::InTransaction,
            State::BeginAbort,
            State::AbortingTransaction,
            State::AbortableError,
            State::AbortedNotAcked,
        ])?;
        if matches!(self.state, State::InTransaction | State::AbortableError) {
            self.state = State::BeginAbort;
            for membership in [Membership::Pending, Membership::Asked] {
                for place in self.members(membership) {
                    self.set_membership(place, Membership::Out);
                }
            }
        }
        Ok(())
    }

    fn ask_end(&mut self, result: TransactionResult, ctx: &Context<'_>) {
        self.question = Some(Question {
            kind: QuestionKind::EndTxn(result),
            stage: Timed::At(ctx.now),
            retries: 0,
        });
    }

    /// The application knows that it is over (`rd_kafka_txn_complete`).
    pub(super) fn complete(&mut self) {
        self.state = State::Ready;
        self.memberships.fill(Membership::Out);
        (self.known, self.bump) = (0, Bump::No);
        (self.question, self.error) = (None, None);
    }
}
