//! What a transactional client asks, most urgent first, one request at a time.

use std::sync::Arc;

use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionResult, TransactionVersion};
use crate::sim::ids::BrokerIndex;
use crate::sim::producer::connections::Slot;
use crate::sim::producer::transaction::state::State;
use crate::sim::producer::transaction::{Membership, Started, TransactionManager};
use crate::sim::time::SimTime;

/// A request that is to be sent (`TxnRequestHandler`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxnRequest {
    /// What is asked.
    pub kind: TxnRequestKind,
    /// Whether the thread sleeps before it.
    pub attempt: Attempt,
    /// Whether a call waits for its outcome.
    pub is_for: For,
}

/// Whether a request was tried before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    First,
    Again,
}

/// For whom a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// The call that waits.
    Call,
    /// The client itself.
    Client,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxnRequestKind {
    FindCoordinator(CoordinatorType),
    /// With producer id and epoch when the client has them and wants another epoch.
    InitProducerId(Option<ProducerIdAndEpoch>),
    /// Of these queues; how long the thread sleeps before another try.
    AddPartitions {
        queues: Vec<u32>,
        backoff_ms: u64,
    },
    AddOffsets,
    CommitOffsets,
    EndTxn {
        result: TransactionResult,
        producer: ProducerIdAndEpoch,
        version: TransactionVersion,
    },
}

/// Whose coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoordinatorType {
    Transaction,
    Group,
}

/// Where the request that is being asked stands.
#[derive(Clone, Debug)]
pub enum Current {
    /// The thread waits until its node is ready, up to a moment.
    AwaitingNode(TxnRequest, Slot, SimTime),
    /// The thread sleeps before it sends a request again.
    Sleeping(TxnRequest, Slot, SimTime),
    /// The thread sleeps because nobody can be asked.
    Pausing(SimTime),
    /// It is on its way.
    InFlight(TxnRequest),
}

/// What comes next.
pub enum Next {
    Request(TxnRequest),
    /// One was given up because of an error; there may be more.
    GivenUp,
    Nothing,
}

impl TxnRequest {
    pub fn new(kind: TxnRequestKind, is_for: For) -> Self {
        Self {
            kind,
            attempt: Attempt::First,
            is_for,
        }
    }

    /// `Priority`.
    fn priority(&self) -> u8 {
        match self.kind {
            TxnRequestKind::FindCoordinator(_) => 0,
            TxnRequestKind::InitProducerId(None) => 1,
            TxnRequestKind::AddPartitions { .. }
            | TxnRequestKind::AddOffsets
            | TxnRequestKind::CommitOffsets => 2,
            TxnRequestKind::EndTxn { .. } => 3,
            TxnRequestKind::InitProducerId(Some(_)) => 4,
        }
    }

    /// Who has to be asked; anybody, where nothing is said.
    pub fn coordinator(&self) -> Option<CoordinatorType> {
        match self.kind {
            TxnRequestKind::FindCoordinator(_) => None,
            TxnRequestKind::CommitOffsets => Some(CoordinatorType::Group),
            _ => Some(CoordinatorType::Transaction),
        }
    }
}

impl TransactionManager {
    pub(super) fn enqueue(&mut self, request: TxnRequest) {
        let priority = request.priority();
        let place = self
            .pending
            .partition_point(|other| other.priority() <= priority);
        self.pending.insert(place, request);
    }

    /// The same again, after a sleep.
    pub(super) fn reenqueue(&mut self, mut request: TxnRequest) {
        request.attempt = Attempt::Again;
        self.enqueue(request);
    }

    /// Nobody is known to coordinate any more.
    pub(super) fn look_up(&mut self, who: CoordinatorType) {
        match who {
            CoordinatorType::Transaction => self.coordinator = None,
            CoordinatorType::Group => self.group_coordinator = None,
        }
        let kind = TxnRequestKind::FindCoordinator(who);
        self.enqueue(TxnRequest::new(kind, For::Client));
    }

    pub(super) fn known_coordinator(&self, who: CoordinatorType) -> Option<BrokerIndex> {
        match who {
            CoordinatorType::Transaction => self.coordinator,
            CoordinatorType::Group => self.group_coordinator,
        }
    }

    /// Tells the coordinator of all partitions that are new to the transaction, in one request.
    pub(super) fn enqueue_new_partitions(&mut self) {
        let queues = self.members(Membership::New);
        if queues.is_empty() {
            return;
        }
        for &queue in &queues {
            self.set_membership(queue, Membership::Pending);
        }
        // Partitions that are still being added go along.
        let queues = self.members(Membership::Pending);
        let kind = TxnRequestKind::AddPartitions {
            queues,
            backoff_ms: self.retry_backoff_ms,
        };
        self.enqueue(TxnRequest::new(kind, For::Client));
    }

    /// The next request, if it may be sent now (`nextRequest`).
    pub(super) fn next_request(&mut self, has_incomplete_batches: bool) -> Next {
        self.enqueue_new_partitions();
        let Some(first) = self.pending.first() else {
            return Next::Nothing;
        };
        let is_end = matches!(first.kind, TxnRequestKind::EndTxn { .. });
        if is_end && has_incomplete_batches {
            return Next::Nothing;
        }
        let request = self.pending.remove(0);
        if let Some(error) = self.last_error.clone().filter(|_| self.has_error()) {
            let finds = matches!(request.kind, TxnRequestKind::FindCoordinator(_));
            if !finds || self.state == State::FatalError {
                if request.is_for == For::Call {
                    self.finish(Err(error));
                }
                return Next::GivenUp;
            }
        }
        if is_end && self.started == Started::No {
            // Nobody has heard of this transaction.
            self.reset();
            if request.is_for == For::Call {
                self.finish(Ok(()));
            }
            return Next::GivenUp;
        }
        Next::Request(request)
    }

    /// The id in a request.
    pub(super) fn id(&self) -> Arc<str> {
        Arc::clone(&self.transactional_id)
    }
}
