//! What coordinators answer, and what it means: go on, ask again, abort, or nothing can be done.
//!
//! Source: `rd_kafka_txn_handle_FindCoordinator`, `…_AddPartitionsToTxn`, `…_AddOffsetsToTxn`,
//! `…_TxnOffsetCommit`, `…_EndTxn`, `rd_kafka_idemp_request_pid_failed`,
//! `rd_kafka_idemp_check_error`.

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::transaction::TransactionResult;
use crate::sim::context::Context;
use crate::sim::exception::Remedy;
use crate::sim::ids::BrokerIndex;
use crate::sim::producer::rdkafka::idempotence::{RETRY_INTERVAL, State as IdState};
use crate::sim::producer::rdkafka::retry::{Lost, backoff_us};
use crate::sim::producer::rdkafka::transaction::calls::AT_ONCE;
use crate::sim::producer::rdkafka::transaction::state::{State, normalized};
use crate::sim::producer::rdkafka::transaction::{Bump, Membership, QuestionKind, Timed};
use crate::sim::producer::rdkafka::{Rdkafka, exception_for};
use crate::sim::request::RequestId;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::transactions::ask::{CoordinatorKey, TxnAnswer, TxnAsk};

/// While the transaction before is completed, its partitions are asked for again after this.
const CONCURRENT_INTERVAL: SimSpan = SimSpan::from_millis(20);
/// After a request to the coordinator was lost, who coordinates is asked after this.
const REFRESH_INTERVAL: SimSpan = SimSpan::from_millis(50);

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Coordinator,
    ProducerId,
    Partitions,
    Question(QuestionKind),
    Nothing,
}

impl About {
    fn of(ask: &TxnAsk) -> Self {
        match ask {
            TxnAsk::Produce(..) => Self::Nothing,
            TxnAsk::FindCoordinator(CoordinatorKey::Transaction(_)) => Self::Coordinator,
            TxnAsk::FindCoordinator(CoordinatorKey::Group(_)) => {
                Self::Question(QuestionKind::FindGroupCoordinator)
            }
            TxnAsk::InitProducerId { .. } => Self::ProducerId,
            TxnAsk::AddPartitions(..) => Self::Partitions,
            TxnAsk::AddOffsets(..) => Self::Question(QuestionKind::AddOffsets),
            TxnAsk::CommitOffsets { .. } => Self::Question(QuestionKind::CommitOffsets),
            TxnAsk::EndTxn { result, .. } => Self::Question(QuestionKind::EndTxn(*result)),
        }
    }
}

/// An answer, or why there is none.
type Answer = Result<TxnAnswer, RdkafkaError>;

/// What an error makes of what was asked.
enum Verdict {
    Retry(SimSpan),
    Abort(Bump),
    Fatal,
}

impl Rdkafka {
    /// A transactional request was answered.
    pub(in crate::sim::producer::rdkafka) fn transactional_came(
        &mut self,
        ctx: &mut Context<'_>,
        id: RequestId,
    ) {
        let Some(transact) = ctx.requests.get(id).transaction.as_deref() else {
            return;
        };
        let answer = match transact.answer {
            TxnAnswer::Error(error) => Err(RdkafkaError::of_broker(error)),
            answer => Ok(answer),
        };
        let about = About::of(&transact.ask);
        self.heard(ctx, (about, id), answer);
    }

    /// A transactional request will not be answered.
    pub(in crate::sim::producer::rdkafka) fn transactional_lost(
        &mut self,
        ctx: &mut Context<'_>,
        id: RequestId,
        lost: Lost,
    ) {
        let Some(transact) = ctx.requests.get(id).transaction.as_deref() else {
            return;
        };
        let about = About::of(&transact.ask);
        let error = match lost {
            Lost::Transport | Lost::NeverSent => RdkafkaError::Transport,
            Lost::TimedOut => RdkafkaError::TimedOut,
            Lost::TimedOutQueue => RdkafkaError::TimedOutQueue,
        };
        self.heard(ctx, (about, id), Err(error));
    }

    fn heard(&mut self, ctx: &mut Context<'_>, (about, id): (About, RequestId), answer: Answer) {
        let (broker, sent) = {
            let request = ctx.requests.get(id);
            (request.broker, request.sent)
        };
        if self.fatal.is_some() {
            return;
        }
        self.wake_by(ctx.now);
        match about {
            About::Nothing => {}
            About::Coordinator => self.heard_coordinator(ctx, answer),
            About::ProducerId => self.heard_producer_id(ctx, broker, answer),
            About::Partitions => self.heard_partitions(ctx, (broker, sent), answer),
            About::Question(kind) => self.heard_question(ctx, kind, answer),
        }
    }

    fn heard_coordinator(&mut self, ctx: &mut Context<'_>, answer: Answer) {
        if let Some(own) = &mut self.transactions {
            own.query = Timed::Idle;
        }
        match answer {
            Ok(TxnAnswer::Coordinator(broker)) => self.set_coordinator(Some(broker), ctx.now),
            Err(
                error @ (RdkafkaError::TransactionalIdAuthorizationFailed
                | RdkafkaError::ClusterAuthorizationFailed),
            ) => {
                let text = format!("Failed to find transaction coordinator: {}", error.text());
                self.fail_fatally(ctx, error, text);
            }
            _ => self.set_coordinator(None, ctx.now),
        }
    }

    /// Somebody coordinates, or nobody is known to (`rd_kafka_txn_coord_set`).
    fn set_coordinator(&mut self, broker: Option<BrokerIndex>, now: SimTime) {
        let Some(own) = &mut self.transactions else {
            return;
        };
        let is_new = own.coordinator != broker;
        own.coordinator = broker;
        match broker {
            None => own.schedule_query(now + RETRY_INTERVAL),
            Some(broker) if is_new => {
                own.schedule_registration(now);
                if let IdState::Wanted { at } = &mut self.producer_ids.state {
                    *at = now;
                }
                let thread = &mut self.threads[broker.index()];
                thread.want = super::super::serve::Want::Yes;
                self.wake_thread(broker, now);
            }
            Some(_) => {}
        }
    }

    fn heard_producer_id(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex, answer: Answer) {
        if self.producer_ids.state != IdState::Asked {
            return;
        }
        let error = match answer {
            Ok(TxnAnswer::Producer(given)) => return self.assign_producer_id(ctx, given),
            Ok(_) => RdkafkaError::Unknown,
            Err(error) => error,
        };
        let text = format!(
            "Failed to acquire transactional PID from broker {}: {}",
            coordinator_name(ctx, broker),
            error.text()
        );
        match error {
            RdkafkaError::UnsupportedFeature
            | RdkafkaError::InvalidTransactionTimeout
            | RdkafkaError::TransactionalIdAuthorizationFailed
            | RdkafkaError::ClusterAuthorizationFailed => {
                return self.fail_fatally(ctx, error, text);
            }
            RdkafkaError::InvalidProducerEpoch | RdkafkaError::ProducerFenced => {
                let text = format!("Producer fenced by newer instance: {text}");
                return self.fail_fatally(ctx, RdkafkaError::Fenced, text);
            }
            RdkafkaError::NotCoordinator | RdkafkaError::CoordinatorNotAvailable => {
                self.set_coordinator(None, ctx.now);
            }
            _ => {}
        }
        if let Some(own) = &mut self.transactions {
            own.init_error = Some(error);
        }
        self.producer_id_failed(ctx.now);
    }

    fn heard_partitions(
        &mut self,
        ctx: &mut Context<'_>,
        (broker, sent): (BrokerIndex, SimTime),
        answer: Answer,
    ) {
        let Some(own) = &mut self.transactions else {
            return;
        };
        if !own.state.sends() {
            return;
        }
        let asked = own.members(Membership::Asked);
        let now_they_are = if answer.is_ok() {
            Membership::In
        } else {
            Membership::Pending
        };
        for place in asked {
            own.set_membership(place, now_they_are);
        }
        let Err(error) = answer else {
            own.schedule_registration(ctx.now + AT_ONCE);
            return self.wake_all_threads(ctx.now);
        };
        if is_lost_coordinator(error) {
            self.set_coordinator(None, ctx.now);
        }
        match verdict_on_partitions(error) {
            Verdict::Retry(wait) => {
                if let Some(own) = &mut self.transactions {
                    own.schedule_registration(ctx.now + wait);
                }
            }
            Verdict::Abort(bump) => {
                let text = format!(
                    "Failed to add partition(s) to transaction on broker {}: {} (after {} ms)",
                    coordinator_name(ctx, broker),
                    error.text(),
                    ctx.now.since(sent).as_millis()
                );
                self.fail_transaction(ctx, (error, text), bump);
            }
            Verdict::Fatal => {
                let error = normalized(error);
                let text = format!("Failed to add partitions to transaction: {}", error.text());
                self.fail_fatally(ctx, error, text);
            }
        }
    }

    /// An answer to what a call asks, or the reason why there is none.
    pub(super) fn heard_question(
        &mut self,
        ctx: &mut Context<'_>,
        kind: QuestionKind,
        answer: Answer,
    ) {
        let question = self.transactions.as_ref().and_then(|own| own.question);
        let Some(question) = question.filter(|question| question.kind == kind) else {
            return;
        };
        let error = match answer {
            Ok(answer) => return self.question_answered(ctx, kind, answer),
            Err(error) => error,
        };
        let lost = matches!(
            error,
            RdkafkaError::Transport | RdkafkaError::TimedOut | RdkafkaError::TimedOutQueue
        );
        if let QuestionKind::EndTxn(result) = kind {
            return self.end_failed(ctx, result, (error, question.retries, lost));
        }
        self.offsets_failed(ctx, kind, (error, question.retries, lost));
    }

    fn question_answered(&mut self, ctx: &mut Context<'_>, kind: QuestionKind, answer: TxnAnswer) {
        let Some(own) = &mut self.transactions else {
            return;
        };
        let follows = match kind {
            QuestionKind::EndTxn(result) => {
                own.question = None;
                return self.ended(ctx, result);
            }
            QuestionKind::CommitOffsets => {
                (own.question, own.offsets) = (None, None);
                return self.end_call(Ok(()));
            }
            QuestionKind::AddOffsets if own.group_coordinator.is_none() => {
                QuestionKind::FindGroupCoordinator
            }
            QuestionKind::AddOffsets => QuestionKind::CommitOffsets,
            QuestionKind::FindGroupCoordinator => {
                if let TxnAnswer::Coordinator(broker) = answer {
                    own.group_coordinator = Some(broker);
                }
                QuestionKind::CommitOffsets
            }
        };
        own.ask_next(follows, (ctx.now, 0));
    }

    fn end_failed(
        &mut self,
        ctx: &mut Context<'_>,
        result: TransactionResult,
        (error, retries, lost): (RdkafkaError, u32, bool),
    ) {
        use RdkafkaError as E;
        if is_lost_coordinator(error) {
            self.set_coordinator(None, ctx.now);
        }
        let is_retried = lost
            || is_lost_coordinator(error)
            || matches!(
                error,
                E::CoordinatorLoadInProgress | E::ConcurrentTransactions
            );
        if is_retried {
            return self.ask_again(ctx, QuestionKind::EndTxn(result), (retries, lost));
        }
        if is_fatal(error) {
            let error = normalized(error);
            let text = format!("Failed to end transaction: {}", error.text());
            return self.fail_fatally(ctx, error, text);
        }
        let needs_bump = matches!(error, E::UnknownProducerId | E::InvalidProducerIdMapping);
        let bump = if needs_bump {
            Bump::AfterAbort
        } else {
            Bump::No
        };
        let Some(own) = &mut self.transactions else {
            return;
        };
        own.question = None;
        if needs_bump && result == TransactionResult::Abort {
            // The coordinator does not know this id any more: another epoch is all that is left.
            own.bump = bump;
            return self.ended(ctx, result);
        }
        if own.state == State::AbortingTransaction {
            own.state = State::BeginAbort;
        }
        let text = format!("Failed to end transaction: {}", error.text());
        self.fail_transaction(ctx, (error, text), bump);
        let what = match result {
            TransactionResult::Commit => "commit",
            TransactionResult::Abort => "abort",
        };
        let text = format!("EndTxn {what} failed: {}", error.text());
        self.end_call(Err(exception_for(error, text, Remedy::Abort)));
    }

    fn offsets_failed(
        &mut self,
        ctx: &mut Context<'_>,
        kind: QuestionKind,
        (error, retries, lost): (RdkafkaError, u32, bool),
    ) {
        let is_adding = kind == QuestionKind::AddOffsets;
        let is_late = self.offsets_deadline(kind) <= ctx.now;
        let Some(own) = &mut self.transactions else {
            return;
        };
        if is_adding && !matches!(error, RdkafkaError::Transport | RdkafkaError::TimedOut) {
            own.known = own.known.saturating_sub(1);
        }
        let refreshes =
            lost || is_lost_coordinator(error) || error == RdkafkaError::RequestTimedOut;
        if refreshes && !is_adding {
            own.group_coordinator = None;
        }
        let is_retried = refreshes
            || matches!(
                error,
                RdkafkaError::CoordinatorLoadInProgress
                    | RdkafkaError::ConcurrentTransactions
                    | RdkafkaError::UnknownTopicOrPart
            )
            || kind == QuestionKind::FindGroupCoordinator;
        if is_retried && !is_late {
            if is_adding {
                return self.ask_again(ctx, kind, (retries, refreshes));
            }
            let again = match own.group_coordinator {
                Some(_) => QuestionKind::CommitOffsets,
                None => QuestionKind::FindGroupCoordinator,
            };
            own.ask_next(again, (ctx.now + RETRY_INTERVAL, retries + 1));
            return;
        }
        own.question = None;
        let is_forbidden = is_fatal(error)
            || error == RdkafkaError::UnsupportedForMessageFormat
            || (!is_adding && error == RdkafkaError::InvalidProducerIdMapping);
        let error = normalized(error);
        let what = if is_adding {
            "Failed to add offsets to transaction"
        } else {
            "Failed to commit offsets to transaction"
        };
        let text = format!("{what}: {}", error.text());
        if is_forbidden {
            return self.fail_fatally(ctx, error, text);
        }
        // Offsets that could not even be added in time can be sent again.
        let remedy = if is_adding && is_retried {
            Remedy::Retry
        } else {
            self.fail_transaction(ctx, (error, text.clone()), Bump::No);
            Remedy::Abort
        };
        self.end_call(Err(exception_for(error, text, remedy)));
    }

    /// The same request again, after the backoff of requests (`rd_kafka_buf_retry`).
    fn ask_again(
        &mut self,
        ctx: &Context<'_>,
        kind: QuestionKind,
        (retries, refreshes): (u32, bool),
    ) {
        let limits = (
            self.settings.retry_backoff_ms,
            self.settings.retry_backoff_max_ms,
        );
        let wait_us = backoff_us(limits, retries + 1, self.jitter_percent());
        let Some(own) = &mut self.transactions else {
            return;
        };
        if refreshes {
            own.schedule_query(ctx.now + REFRESH_INTERVAL);
        }
        let at = ctx.now + SimSpan::from_micros(wait_us);
        own.ask_next(kind, (at, retries + 1));
    }
}

impl super::Transactions {
    fn ask_next(&mut self, kind: QuestionKind, (at, retries): (SimTime, u32)) {
        self.question = Some(super::Question {
            kind,
            stage: Timed::At(at),
            retries,
        });
    }
}

fn verdict_on_partitions(error: RdkafkaError) -> Verdict {
    use RdkafkaError as E;
    match error {
        E::ConcurrentTransactions => Verdict::Retry(CONCURRENT_INTERVAL),
        E::Transport
        | E::TimedOut
        | E::TimedOutQueue
        | E::NotCoordinator
        | E::CoordinatorNotAvailable
        | E::CoordinatorLoadInProgress
        | E::UnknownTopicOrPart => Verdict::Retry(RETRY_INTERVAL),
        E::UnknownProducerId | E::InvalidProducerIdMapping => Verdict::Abort(Bump::AfterAbort),
        error if is_fatal(error) => Verdict::Fatal,
        _ => Verdict::Abort(Bump::No),
    }
}

const fn is_fatal(error: RdkafkaError) -> bool {
    use RdkafkaError as E;
    matches!(
        error,
        E::InvalidProducerEpoch
            | E::ProducerFenced
            | E::TransactionalIdAuthorizationFailed
            | E::ClusterAuthorizationFailed
            | E::InvalidTxnState
    )
}

const fn is_lost_coordinator(error: RdkafkaError) -> bool {
    matches!(
        error,
        RdkafkaError::NotCoordinator | RdkafkaError::CoordinatorNotAvailable
    )
}

/// The name of the logical broker, with the id of the one behind it.
fn coordinator_name(ctx: &Context<'_>, broker: BrokerIndex) -> String {
    let id = ctx.config.brokers[broker.index()].id;
    format!("TxnCoordinator/{id}")
}
