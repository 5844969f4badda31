//! `TransactionManager` of a transactional producer: its state, what it still has to ask its
//! coordinator, and what a call waits for.
//!
//! `state` has the states and which may follow which, `calls` the application's side, `requests`
//! the queue of what is to be asked, `serve` the sender thread's part, and `responses` what answers
//! mean. Producer id, epoch and sequences are in `idempotence`.

mod calls;
mod requests;
mod responses;
mod serve;
mod state;

use std::sync::Arc;

use crate::kafka::settings::JavaProducerSettings;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionVersion};
use crate::kafka::transaction_message::AwaitedOperation;
use crate::kafka::version::KafkaVersion;
use crate::sim::fact::Exception;
use crate::sim::ids::{BrokerIndex, GroupIndex, ProducerIndex, TopicPartition};
use crate::sim::producer::transaction::requests::{Current, TxnRequest};
use crate::sim::view::TransactionalClientView;

pub use calls::Transacted;
pub use serve::Serving;
pub use state::State;

/// What became of a call.
pub type Outcome = Result<(), Arc<Exception>>;

/// The transactions of one client.
#[derive(Clone, Debug)]
pub struct TransactionManager {
    transactional_id: Arc<str>,
    client: KafkaVersion,
    /// What client and cluster agree on.
    version: TransactionVersion,
    timeout_ms: u64,
    retry_backoff_ms: u64,
    state: State,
    last_error: Option<Arc<Exception>>,
    /// Producer id and epoch, once there are any; the same as in `idempotence`.
    producer: Option<ProducerIdAndEpoch>,
    /// By queue: whether its partition takes part in the transaction.
    memberships: Vec<Membership>,
    /// Whether the coordinator knows, or will have to know, of this transaction.
    started: Started,
    /// Whether the client asks for another epoch when this transaction has ended.
    epoch_bump: EpochBump,
    /// What is still to be asked, the first of the most urgent ones first.
    pending: Vec<TxnRequest>,
    /// What is being asked.
    current: Option<Current>,
    coordinator: Option<BrokerIndex>,
    /// Of the group whose offsets were sent last.
    group_coordinator: Option<BrokerIndex>,
    /// Offsets that are not committed yet.
    offsets: Option<(GroupIndex, Vec<(TopicPartition, u64)>)>,
    /// The call that waits, or that gave up waiting.
    awaited: Option<Awaited>,
}

/// Whether a partition takes part in the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Membership {
    Out,
    /// Records are there for it; the coordinator was not told.
    New,
    /// The coordinator is being told.
    Pending,
    In,
}

/// Whether a transaction has to be ended at its coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Started {
    No,
    Yes,
}

/// Whether the client itself asks for another epoch (version 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EpochBump {
    No,
    AfterEnd,
}

/// A call that needs the coordinator.
#[derive(Clone, Debug)]
struct Awaited {
    operation: AwaitedOperation,
    outcome: Option<Outcome>,
}

impl TransactionManager {
    /// The transactions of a client that was just constructed; nothing for one without
    /// `transactional.id`.
    pub fn new(settings: &JavaProducerSettings, version: TransactionVersion) -> Option<Box<Self>> {
        let transactional_id = settings.transactional_id.as_deref()?;
        Some(Box::new(Self {
            transactional_id: transactional_id.into(),
            client: settings.version,
            version: version.of_client(settings.version),
            timeout_ms: settings.transaction_timeout_ms,
            retry_backoff_ms: settings.retry_backoff_ms,
            state: State::Uninitialized,
            last_error: None,
            producer: None,
            memberships: Vec::new(),
            started: Started::No,
            epoch_bump: EpochBump::No,
            pending: Vec::new(),
            current: None,
            coordinator: None,
            group_coordinator: None,
            offsets: None,
            awaited: None,
        }))
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.state
    }

    /// What can be seen of it.
    pub fn view(&self, producer: ProducerIndex) -> TransactionalClientView {
        TransactionalClientView {
            producer,
            transactional_id: Arc::clone(&self.transactional_id),
            state: self.state.name(),
            owns: self.producer,
        }
    }

    /// What its Produce requests say.
    pub fn produces(&self) -> (Arc<str>, TransactionVersion) {
        (Arc::clone(&self.transactional_id), self.version)
    }

    /// Whether batches of a queue may be drained (`isSendToPartitionAllowed`).
    pub fn lets_pass(&self, queue: u32) -> bool {
        self.state != State::FatalError && self.membership(queue) == Membership::In
    }

    fn membership(&self, queue: u32) -> Membership {
        let known = self.memberships.get(queue as usize);
        known.copied().unwrap_or(Membership::Out)
    }

    fn set_membership(&mut self, queue: u32, membership: Membership) {
        let place = queue as usize;
        if self.memberships.len() <= place {
            self.memberships.resize(place + 1, Membership::Out);
        }
        self.memberships[place] = membership;
    }

    /// All queues of one kind.
    fn members(&self, membership: Membership) -> Vec<u32> {
        let all = (0..).zip(&self.memberships);
        let own = all.filter(|(_, known)| **known == membership);
        own.map(|(queue, _)| queue).collect()
    }

    /// Whether a commit or an abort is under way (`isCompleting`): linger is over then.
    pub fn is_completing(&self) -> bool {
        matches!(
            self.state,
            State::CommittingTransaction | State::AbortingTransaction
        )
    }

    /// Whether a transaction is open (`hasOngoingTransaction`).
    pub fn is_ongoing(&self) -> bool {
        let is_open = matches!(self.state, State::InTransaction | State::AbortableError);
        is_open || self.is_completing()
    }

    /// Whether anything is to be asked, or being asked.
    pub fn is_asking(&self) -> bool {
        self.state != State::FatalError && (!self.pending.is_empty() || self.current.is_some())
    }

    /// The transaction is over (`resetTransactionState`).
    fn reset(&mut self) {
        self.state = match self.epoch_bump {
            EpochBump::AfterEnd => State::Initializing,
            EpochBump::No => State::Ready,
        };
        self.last_error = None;
        self.epoch_bump = EpochBump::No;
        self.started = Started::No;
        self.memberships.fill(Membership::Out);
    }

    /// The awaited call is over.
    fn finish(&mut self, outcome: Outcome) {
        if let Some(awaited) = &mut self.awaited {
            awaited.outcome.get_or_insert(outcome);
        }
    }
}
