//! The transactional producer of librdkafka: its state, what it has to ask its coordinator, and the
//! call that waits.
//!
//! `state` has the states and the errors, `calls` the application's side, `ending` how a
//! transaction ends, `ask` what is asked and when, `answers` what comes back, and `purge` what
//! becomes of messages whose transaction cannot be committed any more. Transactions run by
//! version 1: the client tells the coordinator of every partition before it sends to it.
//!
//! Source: `rdkafka_txnmgr.c`, `rdkafka_txnmgr.h`, `rdkafka_idempotence.c`.
//!
//! Simplifications: the logical broker `TxnCoordinator` shares the connection of the broker that
//! coordinates; a call that is resumed does not ask again for what is under way.

mod answers;
mod ask;
mod calls;
mod ending;
mod purge;
mod state;

use std::sync::Arc;

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::settings::RdkafkaProducerSettings;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionResult};
use crate::kafka::transaction_message::AwaitedOperation;
use crate::sim::fact::Exception;
use crate::sim::ids::{BrokerIndex, GroupIndex, ProducerIndex, TopicPartition};
use crate::sim::producer::transaction::Outcome;
use crate::sim::time::SimTime;
use crate::sim::view::TransactionalClientView;

pub use state::State;

/// The transactions of one client.
#[derive(Clone, Debug)]
pub struct Transactions {
    /// `transactional.id`.
    id: Arc<str>,
    /// `transaction.timeout.ms`.
    timeout_ms: u64,
    state: State,
    /// The first error of the present transaction, or the fatal one (`txn_err`).
    error: Option<Arc<Exception>>,
    /// The call under way, or the one that is to be resumed (`txn_curr_api`).
    call: Option<ApiCall>,
    /// Producer id and epoch, once there are any.
    latest: Option<ProducerIdAndEpoch>,
    /// Why no producer id was given lately (`txn_init_err`).
    init_error: Option<RdkafkaError>,
    coordinator: Option<BrokerIndex>,
    /// The question who coordinates.
    query: Timed,
    /// The request that tells the coordinator of pending partitions.
    registration: Timed,
    /// By a partition's place: whether it takes part.
    memberships: Vec<Membership>,
    /// Requests after which the coordinator may know of this transaction (`txn_req_cnt`).
    known: u32,
    /// Messages of this transaction that failed (`txn_dr_fails`).
    failed: u64,
    /// Whether the epoch is bumped when the transaction has been aborted.
    bump: Bump,
    /// What the call asks: offsets, or the end.
    question: Option<Question>,
    /// Whose offsets are sent, which, and until when.
    offsets: Option<SentOffsets>,
    group_coordinator: Option<BrokerIndex>,
}

/// Offsets on their way into a transaction.
#[derive(Clone, Debug)]
struct SentOffsets {
    group: GroupIndex,
    offsets: Vec<(TopicPartition, u64)>,
    deadline: SimTime,
}

/// A request of the main thread with a timer of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timed {
    /// Nothing to ask.
    Idle,
    /// To be asked at this moment.
    At(SimTime),
    /// On its way.
    Asked,
}

/// What a call asks, one request at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Question {
    kind: QuestionKind,
    stage: Timed,
    /// How often it was tried again.
    retries: u32,
}

/// What a call asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuestionKind {
    /// `AddOffsetsToTxn`, of the coordinator.
    AddOffsets,
    /// `FindCoordinator`, of anybody.
    FindGroupCoordinator,
    /// `TxnOffsetCommit`, of the group's coordinator.
    CommitOffsets,
    /// `EndTxn`, of the coordinator.
    EndTxn(TransactionResult),
}

/// Whether a partition takes part in the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Membership {
    /// No.
    Out,
    /// There are messages for it; the coordinator was not told (`txn_pending_rktps`).
    Pending,
    /// The coordinator is being told (`txn_waitresp_rktps`).
    Asked,
    /// Yes (`RD_KAFKA_TOPPAR_F_IN_TXN`).
    In,
}

/// Whether an abort needs another epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bump {
    /// It does not.
    No,
    /// It does (`txn_requires_epoch_bump`).
    AfterAbort,
}

/// A call of the application.
#[derive(Clone, Debug)]
struct ApiCall {
    operation: AwaitedOperation,
    caller: Caller,
    stage: Stage,
    outcome: Option<Outcome>,
}

/// Whether somebody waits for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    /// A thread is in it.
    Waits,
    /// Its time was over; the same call takes it up again.
    Gone,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It waits for an answer.
    Asking,
    /// It waits until no message is left, and then ends the transaction.
    Flushing(TransactionResult),
}

impl Transactions {
    /// Those of a client that was just made; nothing without `transactional.id`.
    pub fn new(settings: &RdkafkaProducerSettings) -> Option<Box<Self>> {
        let id = settings.transactional_id.as_deref()?;
        Some(Box::new(Self {
            id: id.into(),
            timeout_ms: settings.transaction_timeout_ms,
            state: State::Init,
            error: None,
            call: None,
            latest: None,
            init_error: None,
            coordinator: None,
            query: Timed::Idle,
            registration: Timed::Idle,
            memberships: Vec::new(),
            known: 0,
            failed: 0,
            bump: Bump::No,
            question: None,
            offsets: None,
            group_coordinator: None,
        }))
    }

    /// What can be seen of it.
    pub fn view(&self, producer: ProducerIndex) -> TransactionalClientView {
        TransactionalClientView {
            producer,
            transactional_id: Arc::clone(&self.id),
            state: self.state.name(),
            owns: self.latest,
        }
    }

    /// The id, as Produce requests carry it.
    pub fn id(&self) -> Arc<str> {
        Arc::clone(&self.id)
    }

    /// Whether messages of a partition may be sent (`rd_kafka_txn_may_send_msg`,
    /// `rd_kafka_txn_toppar_may_send_msg`).
    pub fn lets_pass(&self, place: u32) -> bool {
        self.state.sends() && self.membership(place) == Membership::In
    }

    fn membership(&self, place: u32) -> Membership {
        let known = self.memberships.get(place as usize);
        known.copied().unwrap_or(Membership::Out)
    }

    fn set_membership(&mut self, place: u32, membership: Membership) {
        let place = place as usize;
        if self.memberships.len() <= place {
            self.memberships.resize(place + 1, Membership::Out);
        }
        self.memberships[place] = membership;
    }

    fn members(&self, membership: Membership) -> Vec<u32> {
        let all = (0..).zip(&self.memberships);
        let own = all.filter(|(_, known)| **known == membership);
        own.map(|(place, _)| place).collect()
    }

    /// A message for a partition was taken (`rd_kafka_txn_add_partition`).
    pub fn join(&mut self, place: u32, at: SimTime) -> bool {
        if self.membership(place) != Membership::Out {
            return false;
        }
        self.set_membership(place, Membership::Pending);
        self.schedule_registration(at);
        true
    }

    /// The timer is not started again while it runs.
    fn schedule_registration(&mut self, at: SimTime) {
        if self.registration == Timed::Idle {
            self.registration = Timed::At(at);
        }
    }

    fn schedule_query(&mut self, at: SimTime) {
        if self.query == Timed::Idle {
            self.query = Timed::At(at);
        }
    }

    /// A message failed (`rd_kafka_dr_msgq`).
    pub fn count_failed(&mut self, messages: u64) {
        self.failed += messages;
    }
}
