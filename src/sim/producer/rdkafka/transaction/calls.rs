//! The application's side: `init_transactions()`, `begin_transaction()`,
//! `send_offsets_to_transaction()`, and what happens when the time of a call is over.
//!
//! One call at a time; one whose time was over goes on by itself, and only the same call can
//! follow, which takes it up again (`rd_kafka_txn_curr_api_begin`).

use std::sync::Arc;

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::transaction::TransactionResult;
use crate::kafka::transaction_message::AwaitedOperation;
use crate::sim::config::Call;
use crate::sim::context::Context;
use crate::sim::exception::Remedy;
use crate::sim::fact::Exception;
use crate::sim::ids::{GroupIndex, TopicPartition};
use crate::sim::producer::client::Closing;
use crate::sim::producer::rdkafka::idempotence::State as IdState;
use crate::sim::producer::rdkafka::transaction::state::{State, normalized};
use crate::sim::producer::rdkafka::transaction::{
    ApiCall, Caller, Question, QuestionKind, SentOffsets, Stage, Timed, Transactions,
};
use crate::sim::producer::rdkafka::{Rdkafka, exception, exception_for};
use crate::sim::producer::transaction::{Outcome, Transacted};
use crate::sim::time::{SimSpan, SimTime};

/// What an immediate timer of librdkafka takes.
pub(super) const AT_ONCE: SimSpan = SimSpan::from_millis(1);

const NOT_CONFIGURED: &str = "The Transactional API requires transactional.id to be configured";
const NOT_FINISHED: &str = "Timed out waiting for operation to finish, retry call to resume";

impl Rdkafka {
    /// A transactional call of the application.
    pub(in crate::sim::producer::rdkafka) fn transact(
        &mut self,
        ctx: &mut Context<'_>,
        call: &Call,
    ) -> Transacted {
        let (call, timeout) = match call {
            Call::Within(call, timeout) => (&**call, Some(*timeout)),
            call => (call, None),
        };
        if self.closing != Closing::No {
            return Transacted::Threw(exception(RdkafkaError::State));
        }
        let begun = self.begin_call(ctx, call, timeout);
        match begun {
            Err(error) => Transacted::Threw(error),
            Ok(None) => Transacted::Returned,
            Ok(Some((operation, deadline))) => {
                self.wake_by(ctx.now);
                match self.transacted() {
                    Some(Ok(())) => Transacted::Returned,
                    Some(Err(error)) => Transacted::Threw(error),
                    None => Transacted::Waits(operation, deadline),
                }
            }
        }
    }

    fn begin_call(
        &mut self,
        ctx: &mut Context<'_>,
        call: &Call,
        timeout: Option<SimSpan>,
    ) -> Result<Option<(AwaitedOperation, SimTime)>, Arc<Exception>> {
        let Some(own) = &mut self.transactions else {
            let error = RdkafkaError::NotConfigured;
            return Err(exception_for(error, NOT_CONFIGURED, Remedy::None));
        };
        let whole = SimSpan::from_millis(own.timeout_ms);
        let now = ctx.now;
        let until = |span: Option<SimSpan>| span.map_or(SimTime::NEVER, |span| now + span);
        match call {
            Call::InitTransactions => {
                let operation = AwaitedOperation::InitProducerId;
                own.check_conflict(operation)?;
                self.init_transactions(ctx)?;
                Ok(Some((operation, until(timeout.or(Some(whole.times(2)))))))
            }
            Call::BeginTransaction => {
                own.check_idle()?;
                self.begin_transaction(ctx)?;
                Ok(None)
            }
            Call::SendOffsets(group, offsets) => {
                let operation = AwaitedOperation::AddOffsetsToTxn;
                own.check_conflict(operation)?;
                let deadline = ctx.now + timeout.map_or(whole, |span| span.min(whole));
                own.send_offsets((*group, offsets), ctx.now, deadline)?;
                Ok((!offsets.is_empty()).then_some((operation, SimTime::NEVER)))
            }
            Call::CommitTransaction => {
                let operation = AwaitedOperation::Commit;
                own.check_conflict(operation)?;
                let deadline = until(timeout);
                self.end_transaction(ctx, TransactionResult::Commit)?;
                Ok(Some((operation, deadline)))
            }
            Call::AbortTransaction => {
                let operation = AwaitedOperation::Abort;
                own.check_conflict(operation)?;
                let deadline = until(timeout);
                self.end_transaction(ctx, TransactionResult::Abort)?;
                Ok(Some((operation, deadline)))
            }
            _ => Ok(None),
        }
    }

    fn init_transactions(&mut self, ctx: &mut Context<'_>) -> Outcome {
        let Some(own) = &mut self.transactions else {
            return Ok(());
        };
        if own.resume() {
            return Ok(());
        }
        own.require(&[State::Init, State::WaitPid, State::ReadyNotAcked])?;
        own.call = Some(ApiCall::new(
            AwaitedOperation::InitProducerId,
            Stage::Asking,
        ));
        if own.state == State::ReadyNotAcked {
            self.end_call(Ok(()));
            return Ok(());
        }
        own.state = State::WaitPid;
        own.init_error = None;
        let at = ctx.now + AT_ONCE;
        self.producer_ids.set(IdState::Wanted { at }, ctx.now);
        self.wake_by(at);
        Ok(())
    }

    fn begin_transaction(&mut self, ctx: &mut Context<'_>) -> Outcome {
        let Some(own) = &mut self.transactions else {
            return Ok(());
        };
        own.require(&[State::Ready])?;
        own.state = State::InTransaction;
        (own.error, own.failed) = (None, 0);
        self.wake_all_threads(ctx.now);
        Ok(())
    }

    /// What became of the call that waits, once that is known. A call that can be made again stays.
    pub(in crate::sim::producer::rdkafka) fn transacted(&mut self) -> Option<Outcome> {
        let own = self.transactions.as_mut()?;
        let call = own.call.as_mut()?;
        if call.caller == Caller::Gone || call.stage != Stage::Asking {
            return None;
        }
        let outcome = call.outcome.take()?;
        let is_resumable = matches!(&outcome, Err(error) if error.remedy == Remedy::Retry)
            && call.operation != AwaitedOperation::AddOffsetsToTxn;
        if is_resumable {
            call.caller = Caller::Gone;
        } else {
            own.call = None;
        }
        if outcome.is_ok() {
            own.acknowledge();
        }
        Some(outcome)
    }

    /// The time of a call is over.
    pub(in crate::sim::producer::rdkafka) fn call_timed_out(&mut self) -> Arc<Exception> {
        let timed_out = RdkafkaError::TimedOut;
        let left = self.queue.messages + self.reports.operations();
        let Some(own) = &mut self.transactions else {
            return exception(timed_out);
        };
        let init_error = own.init_error.map(normalized);
        let Some(call) = &mut own.call else {
            return exception(timed_out);
        };
        call.caller = Caller::Gone;
        if let Stage::Flushing(_) = call.stage {
            self.flushes -= 1;
            let text = format!(
                "Failed to flush all outstanding messages within the API timeout: {left} \
                 message(s) remaining"
            );
            return exception_for(timed_out, text, Remedy::Retry);
        }
        let is_init = call.operation == AwaitedOperation::InitProducerId;
        match init_error.filter(|error| is_init && *error != timed_out) {
            Some(error) => {
                let text = format!("Failed to initialize Producer ID: {}", error.text());
                exception_for(error, text, Remedy::Retry)
            }
            None => exception_for(timed_out, NOT_FINISHED, Remedy::Retry),
        }
    }
}

impl ApiCall {
    pub(super) fn new(operation: AwaitedOperation, stage: Stage) -> Self {
        Self {
            operation,
            caller: Caller::Waits,
            stage,
            outcome: None,
        }
    }
}

impl Transactions {
    fn check_idle(&self) -> Outcome {
        let Some(call) = &self.call else {
            return Ok(());
        };
        let name = call.operation.rdkafka_call();
        let text = format!("Conflicting {name} API call is already in progress");
        Err(exception_for(RdkafkaError::Conflict, text, Remedy::Retry))
    }

    fn check_conflict(&self, operation: AwaitedOperation) -> Outcome {
        match &self.call {
            Some(call) if call.operation != operation => self.check_idle(),
            Some(call) if call.caller == Caller::Waits => {
                let name = operation.rdkafka_call();
                let text = format!("Simultaneous {name} API calls not allowed");
                let error = RdkafkaError::PrevInProgress;
                Err(exception_for(error, text, Remedy::Retry))
            }
            _ => Ok(()),
        }
    }

    /// Takes up a call whose time was over; says whether there was one.
    pub(super) fn resume(&mut self) -> bool {
        let Some(call) = &mut self.call else {
            return false;
        };
        call.caller = Caller::Waits;
        true
    }

    /// The application knows now that the work is done.
    fn acknowledge(&mut self) {
        match self.state {
            State::ReadyNotAcked => self.state = State::Ready,
            State::CommitNotAcked | State::AbortedNotAcked => self.complete(),
            _ => {}
        }
    }

    fn send_offsets(
        &mut self,
        (group, offsets): (GroupIndex, &[(TopicPartition, u64)]),
        now: SimTime,
        deadline: SimTime,
    ) -> Outcome {
        if offsets.is_empty() {
            return Ok(());
        }
        self.require(&[State::InTransaction])?;
        if self.offsets.as_ref().is_none_or(|sent| sent.group != group) {
            self.group_coordinator = None;
        }
        self.offsets = Some(SentOffsets {
            group,
            offsets: offsets.to_vec(),
            deadline,
        });
        self.question = Some(Question {
            kind: QuestionKind::AddOffsets,
            stage: Timed::At(now),
            retries: 0,
        });
        self.call = Some(ApiCall::new(
            AwaitedOperation::AddOffsetsToTxn,
            Stage::Asking,
        ));
        Ok(())
    }
}
