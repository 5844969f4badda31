//! The application's side: calls that change the state, and what they wait for.
//!
//! Source: `KafkaProducer`, `TransactionManager` (`beginTransaction`, `beginCommit`, …).

use std::sync::Arc;

use crate::kafka::exception::ExceptionClass;
use crate::kafka::transaction::{TransactionResult, TransactionVersion};
use crate::kafka::transaction_message as message;
use crate::kafka::transaction_message::AwaitedOperation;
use crate::sim::config::Call;
use crate::sim::context::Context;
use crate::sim::fact::Exception;
use crate::sim::ids::{GroupIndex, TopicPartition};
use crate::sim::producer::client::{Client, Closing, exception};
use crate::sim::producer::transaction::requests::{For, TxnRequest, TxnRequestKind};
use crate::sim::producer::transaction::state::State;
use crate::sim::producer::transaction::{
    Awaited, EpochBump, Membership, Outcome, Started, TransactionManager,
};
use crate::sim::time::{SimSpan, SimTime};

/// How a transactional call goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transacted {
    /// It returned.
    Returned,
    /// It threw.
    Threw(Arc<Exception>),
    /// It waits, up to this moment.
    Waits(AwaitedOperation, SimTime),
}

impl Client {
    /// A transactional call of the application.
    pub fn transact(&mut self, ctx: &Context<'_>, call: &Call) -> Transacted {
        if self.closing != Closing::No {
            let text = crate::kafka::message::PRODUCER_CLOSED;
            return Transacted::Threw(exception(ExceptionClass::IllegalState, text));
        }
        let Some(manager) = &mut self.transaction else {
            let text = if self.idempotence.is_on() {
                message::NOT_TRANSACTIONAL
            } else {
                message::TRANSACTIONS_NOT_ENABLED
            };
            return Transacted::Threw(exception(ExceptionClass::IllegalState, text));
        };
        let begun = match call {
            Call::InitTransactions => manager.init_transactions().map(Some),
            Call::BeginTransaction => manager.begin().map(|()| None),
            Call::SendOffsets(group, offsets) => manager.send_offsets(*group, offsets),
            Call::CommitTransaction => manager.end(TransactionResult::Commit).map(Some),
            Call::AbortTransaction => manager.end(TransactionResult::Abort).map(Some),
            _ => Ok(None),
        };
        let operation = match begun {
            Err(thrown) => return Transacted::Threw(thrown),
            Ok(None) => return Transacted::Returned,
            Ok(Some(operation)) => operation,
        };
        self.sleep.wake_by(ctx.now);
        match self.transacted() {
            Some(Ok(())) => Transacted::Returned,
            Some(Err(thrown)) => Transacted::Threw(thrown),
            None => {
                let max_block = SimSpan::from_millis(self.settings.max_block_ms);
                Transacted::Waits(operation, ctx.now + max_block)
            }
        }
    }

    /// What became of the call that waits, once that is known; it is over then.
    pub fn transacted(&mut self) -> Option<Outcome> {
        let manager = self.transaction.as_mut()?;
        manager.awaited.as_ref()?.outcome.as_ref()?;
        manager.awaited.take()?.outcome
    }

    /// `max.block.ms` is over for a transactional call: the operation goes on, and the same call
    /// can be made again to wait for it.
    pub fn transaction_timed_out(&mut self, operation: AwaitedOperation) -> Arc<Exception> {
        let version = self.settings.version;
        let text = message::timeout_awaiting(version, self.settings.max_block_ms, operation);
        let is_offsets = matches!(
            operation,
            AwaitedOperation::AddOffsetsToTxn | AwaitedOperation::TxnOffsetCommit
        );
        if is_offsets && let Some(manager) = &mut self.transaction {
            manager.awaited = None;
        }
        exception(ExceptionClass::Timeout, text)
    }

    /// A record was appended to a queue: its partition joins the transaction
    /// (`maybeAddPartition`).
    pub(in crate::sim::producer) fn join_transaction(
        &mut self,
        ctx: &Context<'_>,
        queue: u32,
    ) -> Outcome {
        let Some(manager) = &mut self.transaction else {
            return Ok(());
        };
        let known = &self.accumulator.queues[queue as usize];
        let topic = &ctx.config.topics[known.topic.index()].name;
        let name = || format!("{topic}-{}", known.number);
        let outcome = manager.join(queue, name);
        if manager.membership(queue) == Membership::New {
            self.sleep.wake_by(ctx.now);
        }
        outcome
    }
}

impl TransactionManager {
    /// Another call than the one that timed out is not possible (`throwIfPendingState`).
    fn check_pending(&self, attempted: &str) -> Outcome {
        let Some(awaited) = &self.awaited else {
            return Ok(());
        };
        let pending = awaited.operation.method();
        let text = message::previous_call_timed_out(attempted, pending);
        Err(exception(ExceptionClass::IllegalState, text))
    }

    /// Whether a call waits for what an earlier one of the same kind began
    /// (`handleCachedTransactionRequestResult`).
    fn is_reattached(&self, operation: AwaitedOperation) -> Result<bool, Arc<Exception>> {
        match &self.awaited {
            None => Ok(false),
            Some(awaited) if awaited.operation.method() == operation.method() => Ok(true),
            Some(_) => self.check_pending(operation.method()).map(|()| false),
        }
    }

    fn wait_for(&mut self, operation: AwaitedOperation) {
        self.awaited = Some(Awaited {
            operation,
            outcome: None,
        });
    }

    fn init_transactions(&mut self) -> Result<AwaitedOperation, Arc<Exception>> {
        let operation = AwaitedOperation::InitProducerId;
        self.check_error()?;
        if self.is_reattached(operation)? {
            return Ok(operation);
        }
        self.move_to(State::Initializing)?;
        self.wait_for(operation);
        let kind = TxnRequestKind::InitProducerId(None);
        self.enqueue(TxnRequest::new(kind, For::Call));
        Ok(operation)
    }

    fn begin(&mut self) -> Outcome {
        self.check_pending("beginTransaction")?;
        self.check_error()?;
        self.move_to(State::InTransaction)
    }

    fn join(&mut self, queue: u32, name: impl Fn() -> String) -> Outcome {
        if self.state == State::InTransaction && self.membership(queue) != Membership::Out {
            return self.check_pending("send");
        }
        self.check_error()?;
        self.check_pending("send")?;
        let illegal = |text| Err(exception(ExceptionClass::IllegalState, text));
        if self.producer.is_none() {
            return illegal(message::cannot_add_partition_before_init(&name()));
        }
        if self.state != State::InTransaction {
            return illegal(message::cannot_add_partition(&name(), self.state.name()));
        }
        match self.version {
            TransactionVersion::Two => {
                self.set_membership(queue, Membership::In);
                self.started = Started::Yes;
            }
            TransactionVersion::One => self.set_membership(queue, Membership::New),
        }
        Ok(())
    }

    /// An empty map is nothing to do.
    fn send_offsets(
        &mut self,
        group: GroupIndex,
        offsets: &[(TopicPartition, u64)],
    ) -> Result<Option<AwaitedOperation>, Arc<Exception>> {
        if offsets.is_empty() {
            return Ok(None);
        }
        self.check_pending("sendOffsetsToTransaction")?;
        self.check_error()?;
        if self.state != State::InTransaction {
            let text = message::cannot_send_offsets(self.state.name());
            return Err(exception(ExceptionClass::IllegalState, text));
        }
        let (kind, operation) = match self.version {
            TransactionVersion::Two => {
                self.started = Started::Yes;
                (
                    TxnRequestKind::CommitOffsets,
                    AwaitedOperation::TxnOffsetCommit,
                )
            }
            TransactionVersion::One => (
                TxnRequestKind::AddOffsets,
                AwaitedOperation::AddOffsetsToTxn,
            ),
        };
        self.offsets = Some((group, offsets.to_vec()));
        self.wait_for(operation);
        self.enqueue(TxnRequest::new(kind, For::Call));
        Ok(Some(operation))
    }

    /// `commitTransaction()` and `abortTransaction()` (`beginCommit`, `beginAbort`).
    fn end(&mut self, result: TransactionResult) -> Result<AwaitedOperation, Arc<Exception>> {
        let operation = match result {
            TransactionResult::Commit => AwaitedOperation::Commit,
            TransactionResult::Abort => AwaitedOperation::Abort,
        };
        if self.is_reattached(operation)? {
            return Ok(operation);
        }
        match result {
            TransactionResult::Commit => {
                self.check_error()?;
                self.move_to(State::CommittingTransaction)?;
            }
            TransactionResult::Abort => self.begin_abort()?,
        }
        self.wait_for(operation);
        self.complete(result);
        Ok(operation)
    }

    fn begin_abort(&mut self) -> Outcome {
        if self.state != State::AbortableError {
            self.check_error()?;
        }
        self.move_to(State::AbortingTransaction)?;
        for queue in self.members(Membership::New) {
            self.set_membership(queue, Membership::Out);
        }
        Ok(())
    }

    /// `close()` aborts what is open; says whether it can.
    pub(in crate::sim::producer) fn abort_to_close(&mut self) -> bool {
        let can = self.awaited.is_none() && self.begin_abort().is_ok();
        if can {
            self.complete(TransactionResult::Abort);
        }
        can
    }

    /// `beginCompletingTransaction`.
    fn complete(&mut self, result: TransactionResult) {
        self.enqueue_new_partitions();
        let producer = self.producer.unwrap_or((-1, -1));
        let version = self.version;
        let kind = TxnRequestKind::EndTxn {
            result,
            producer,
            version,
        };
        if self.epoch_bump == EpochBump::AfterEnd {
            self.enqueue(TxnRequest::new(kind, For::Client));
            let kind = TxnRequestKind::InitProducerId(Some(producer));
            self.enqueue(TxnRequest::new(kind, For::Call));
        } else {
            self.enqueue(TxnRequest::new(kind, For::Call));
        }
    }
}
