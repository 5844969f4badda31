//! What answers to transactional requests mean: go on, ask again, or an error that can be aborted
//! or not.
//!
//! Source: the handlers of `TransactionManager`.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::exception::ExceptionClass;
use crate::kafka::transaction::{
    NO_PRODUCER_ID, ProducerIdAndEpoch, TransactionResult, TransactionVersion,
};
use crate::kafka::transaction_message as message;
use crate::sim::context::Context;
use crate::sim::fact::{Exception, Fact};
use crate::sim::producer::client::{Client, exception};
use crate::sim::producer::transaction::requests::{
    CoordinatorType, Current, For, TxnRequest, TxnRequestKind,
};
use crate::sim::producer::transaction::state::State;
use crate::sim::producer::transaction::{Membership, Started, TransactionManager};
use crate::sim::request::RequestId;
use crate::sim::transactions::ask::TxnAnswer;

/// `retry.backoff.ms` of the first partition of a transaction while the one before is completed
/// (`ADD_PARTITIONS_RETRY_BACKOFF_MS`).
const ADD_PARTITIONS_RETRY_BACKOFF_MS: u64 = 20;

impl Client {
    /// A transactional request was answered.
    pub(in crate::sim::producer) fn on_transactional(
        &mut self,
        ctx: &mut Context<'_>,
        id: RequestId,
    ) {
        let transaction = ctx.requests.get(id).transaction.as_ref();
        let answer = transaction.map_or(TxnAnswer::Done, |transact| transact.answer);
        let Some(mut manager) = self.transaction.take() else {
            return;
        };
        match manager.current.take() {
            Some(Current::InFlight(request)) => match answer {
                TxnAnswer::Error(error) => manager.on_error(request, error),
                answer => self.on_success(ctx, &mut manager, (request, answer)),
            },
            other => manager.current = other,
        }
        self.put_back(manager);
    }

    fn on_success(
        &mut self,
        ctx: &mut Context<'_>,
        manager: &mut TransactionManager,
        (request, answer): (TxnRequest, TxnAnswer),
    ) {
        match (&request.kind, answer) {
            (TxnRequestKind::FindCoordinator(who), TxnAnswer::Coordinator(broker)) => match who {
                CoordinatorType::Transaction => manager.coordinator = Some(broker),
                CoordinatorType::Group => manager.group_coordinator = Some(broker),
            },
            (TxnRequestKind::InitProducerId(current), TxnAnswer::Producer(producer)) => {
                self.adopt(ctx, manager, producer);
                (manager.state, manager.last_error) = (State::Ready, None);
                if current.is_some() {
                    self.idempotence.reset_sequences(&mut self.accumulator);
                }
            }
            (TxnRequestKind::AddPartitions { queues, .. }, _) => {
                for &queue in queues {
                    manager.set_membership(queue, Membership::In);
                }
                manager.started = Started::Yes;
            }
            (TxnRequestKind::AddOffsets, _) => {
                manager.started = Started::Yes;
                let kind = TxnRequestKind::CommitOffsets;
                manager.enqueue(TxnRequest::new(kind, For::Call));
                return;
            }
            (TxnRequestKind::CommitOffsets, _) => manager.offsets = None,
            (TxnRequestKind::EndTxn { version, .. }, TxnAnswer::Producer(producer)) => {
                if *version == TransactionVersion::Two && producer.0 != NO_PRODUCER_ID {
                    self.adopt(ctx, manager, producer);
                    self.idempotence.reset_sequences(&mut self.accumulator);
                }
                manager.reset();
            }
            _ => {}
        }
        if request.is_for == For::Call {
            manager.finish(Ok(()));
        }
    }

    /// Another producer id or epoch. In version 2 every transaction brings an epoch, which is not
    /// worth a word.
    fn adopt(
        &mut self,
        ctx: &mut Context<'_>,
        manager: &mut TransactionManager,
        producer: ProducerIdAndEpoch,
    ) {
        let (producer_id, epoch) = producer;
        let is_news = manager.state == State::Initializing
            || manager
                .producer
                .is_none_or(|(known, _)| known != producer_id);
        manager.producer = Some(producer);
        self.idempotence.adopt(producer);
        if is_news {
            let fact = Fact::ProducerIdAssigned {
                producer: self.me,
                producer_id,
                epoch,
            };
            ctx.fact(self.rank, fact);
        }
    }
}

/// What an error makes of a transaction.
enum Verdict {
    /// The coordinator is looked up again, and the request is sent again.
    LookUp,
    /// The request is sent again.
    Retry,
    Abortable(Arc<Exception>),
    /// Abortable, and version 1 needs another epoch after it.
    AbortableWithEpoch(Arc<Exception>),
    Fatal(Arc<Exception>),
}

impl TransactionManager {
    /// A request was answered with an error.
    fn on_error(&mut self, mut request: TxnRequest, error: ErrorCode) {
        let verdict = verdict(&request.kind, error);
        match verdict {
            Verdict::LookUp => {
                if let Some(who) = request.coordinator() {
                    self.look_up(who);
                }
                self.reenqueue(request);
            }
            Verdict::Retry => {
                let is_first = self.members(Membership::In).is_empty();
                if let TxnRequestKind::AddPartitions { backoff_ms, .. } = &mut request.kind {
                    *backoff_ms = self.retry_backoff_ms;
                    if error == ErrorCode::ConcurrentTransactions && is_first {
                        *backoff_ms = (*backoff_ms).min(ADD_PARTITIONS_RETRY_BACKOFF_MS);
                    }
                }
                self.reenqueue(request);
            }
            Verdict::Abortable(error) => self.give_up(&request, error),
            Verdict::AbortableWithEpoch(error) => {
                self.want_epoch();
                self.give_up(&request, error);
            }
            Verdict::Fatal(error) => {
                if request.is_for == For::Call {
                    self.finish(Err(Arc::clone(&error)));
                }
                self.fatal(error);
            }
        }
    }

    fn give_up(&mut self, request: &TxnRequest, error: Arc<Exception>) {
        if let TxnRequestKind::AddPartitions { queues, .. } = &request.kind {
            for &queue in queues {
                self.set_membership(queue, Membership::Out);
            }
        }
        if request.is_for == For::Call {
            self.finish(Err(Arc::clone(&error)));
        }
        self.abortable(error);
    }
}

fn verdict(kind: &TxnRequestKind, error: ErrorCode) -> Verdict {
    use ErrorCode as E;
    let own = || exception(error.exception(), error.default_message());
    let kafka = |text: String| exception(ExceptionClass::Kafka, text);
    let is_commit_of_offsets = *kind == TxnRequestKind::CommitOffsets;
    match error {
        E::NotCoordinator | E::CoordinatorNotAvailable => match kind {
            TxnRequestKind::FindCoordinator(_) => Verdict::Retry,
            _ => Verdict::LookUp,
        },
        E::RequestTimedOut if is_commit_of_offsets => Verdict::LookUp,
        error if error.is_retriable() => Verdict::Retry,
        E::InvalidProducerEpoch | E::ProducerFenced => {
            let fenced = E::ProducerFenced;
            Verdict::Fatal(exception(fenced.exception(), fenced.default_message()))
        }
        E::TransactionAbortable => match kind {
            TxnRequestKind::EndTxn {
                result: TransactionResult::Abort,
                ..
            } => Verdict::Fatal(kafka(message::FAILED_TO_ABORT.to_owned())),
            _ => Verdict::Abortable(own()),
        },
        E::UnknownProducerId if !is_commit_of_offsets => match kind {
            TxnRequestKind::InitProducerId(_) => Verdict::Fatal(kafka(unexpected(kind, error))),
            _ => Verdict::AbortableWithEpoch(own()),
        },
        E::UnknownMemberId | E::IllegalGeneration if is_commit_of_offsets => {
            let why = error.default_message();
            let text = format!(
                "Transaction offset Commit failed due to consumer group metadata mismatch: {why}"
            );
            Verdict::Abortable(exception(ExceptionClass::CommitFailed, text))
        }
        E::FencedInstanceId | E::GroupAuthorizationFailed if is_commit_of_offsets => {
            Verdict::Abortable(own())
        }
        E::TransactionalIdAuthorizationFailed | E::ClusterAuthorizationFailed
            if matches!(kind, TxnRequestKind::InitProducerId(_)) =>
        {
            Verdict::Abortable(own())
        }
        E::TransactionalIdAuthorizationFailed => Verdict::Fatal(own()),
        E::InvalidTxnState | E::InvalidProducerIdMapping => match kind {
            TxnRequestKind::AddPartitions { .. }
            | TxnRequestKind::AddOffsets
            | TxnRequestKind::EndTxn { .. } => Verdict::Fatal(own()),
            _ => Verdict::Fatal(kafka(unexpected(kind, error))),
        },
        error => match kind {
            TxnRequestKind::AddPartitions { .. } => Verdict::Abortable(kafka(format!(
                "Could not add partitions to transaction due to errors: {error}"
            ))),
            kind => Verdict::Fatal(kafka(unexpected(kind, error))),
        },
    }
}

/// The text of an error that a handler does not know.
fn unexpected(kind: &TxnRequestKind, error: ErrorCode) -> String {
    let text = error.default_message();
    match kind {
        TxnRequestKind::InitProducerId(_) => {
            format!("Unexpected error in InitProducerIdResponse; {text}")
        }
        TxnRequestKind::AddOffsets => {
            format!("Unexpected error in AddOffsetsToTxnResponse: {text}")
        }
        TxnRequestKind::CommitOffsets => {
            format!("Unexpected error in TxnOffsetCommitResponse: {text}")
        }
        TxnRequestKind::EndTxn { .. } => format!("Unhandled error in EndTxnResponse: {text}"),
        TxnRequestKind::AddPartitions { .. } | TxnRequestKind::FindCoordinator(_) => {
            format!("Could not find a coordinator due to unexpected error: {text}")
        }
    }
}
