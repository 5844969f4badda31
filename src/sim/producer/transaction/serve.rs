//! The sender thread's part: what is asked next, of whom, and what it sleeps for.
//!
//! Source: `Sender.runOnce`, `maybeSendAndPollTransactionalRequest`. While a transactional request
//! is being asked the thread only polls, so no record leaves; before it asks again it sleeps for
//! `retry.backoff.ms`.
//!
//! Simplification: the thread takes what its sockets bring while it sleeps.

use std::sync::Arc;

use crate::kafka::exception::ExceptionClass;
use crate::kafka::transaction_message as message;
use crate::kafka::wire::{end_txn_request_bytes, init_producer_id_request_bytes};
use crate::sim::context::Context;
use crate::sim::fact::Exception;
use crate::sim::producer::accumulator::Queue;
use crate::sim::producer::batch::{BatchId, Stage};
use crate::sim::producer::client::{Client, Woken, exception};
use crate::sim::producer::connections::Slot;
use crate::sim::producer::network::LeastLoaded;
use crate::sim::producer::transaction::TransactionManager;
use crate::sim::producer::transaction::requests::{
    Attempt, CoordinatorType, Current, Next, TxnRequest, TxnRequestKind,
};
use crate::sim::producer::transaction::state::State;
use crate::sim::request::ApiKey;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::transactions::ask::{CoordinatorKey, Owner, Transact, TxnAnswer, TxnAsk};
use crate::sim::view::ConnectionState;

/// Steps of the thread at one moment: each asks something, or gives something up.
const STEPS_MAX: u32 = 1_000;
/// Bytes of a transactional request without the strings in it: an estimate.
const REQUEST_BYTES: u32 = 40;

/// Whether records may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serving {
    /// They may.
    Data,
    /// The thread waits for something of a transaction.
    OnlyTransaction,
}

/// What one step did.
enum Step {
    Data,
    Wait,
    Another,
}

impl Client {
    /// What the sender does about transactions before it sends records.
    pub(in crate::sim::producer) fn serve_transaction(&mut self, ctx: &mut Context<'_>) -> Serving {
        let Some(mut manager) = self.transaction.take() else {
            return Serving::Data;
        };
        let mut serving = Serving::OnlyTransaction;
        for _ in 0..STEPS_MAX {
            match self.step(ctx, &mut manager) {
                Step::Another => {}
                Step::Wait => break,
                Step::Data => {
                    serving = Serving::Data;
                    break;
                }
            }
        }
        self.put_back(manager);
        serving
    }

    /// The manager is back in its place; who waits for an outcome may have it.
    pub(in crate::sim::producer) fn put_back(&mut self, manager: Box<TransactionManager>) {
        let is_known = manager.awaited.as_ref();
        if is_known.is_some_and(|awaited| awaited.outcome.is_some()) {
            self.woken.push(Woken::Transaction);
        }
        self.transaction = Some(manager);
    }

    fn step(&mut self, ctx: &mut Context<'_>, manager: &mut TransactionManager) -> Step {
        self.resolve_sequences(manager);
        if manager.state == State::FatalError {
            if let Some(error) = manager.last_error.clone() {
                self.abort_records(ctx, &error, Which::All);
            }
            return Step::Wait;
        }
        match manager.current.take() {
            Some(Current::InFlight(request)) => {
                manager.current = Some(Current::InFlight(request));
                return Step::Wait;
            }
            Some(Current::Pausing(until)) if until > ctx.now => {
                self.sleep.wake_by(until);
                manager.current = Some(Current::Pausing(until));
                return Step::Wait;
            }
            None | Some(Current::Pausing(_)) => {}
            Some(Current::Sleeping(request, slot, until)) if until > ctx.now => {
                self.sleep.wake_by(until);
                manager.current = Some(Current::Sleeping(request, slot, until));
                return Step::Wait;
            }
            Some(Current::Sleeping(request, slot, _)) => {
                return self.send_transactional(ctx, manager, (request, slot));
            }
            Some(Current::AwaitingNode(request, slot, deadline)) => {
                return self.await_node(ctx, manager, (request, slot, deadline));
            }
        }
        if manager.state == State::AbortableError
            && let Some(error) = manager.last_error.clone()
        {
            self.abort_records(ctx, &error, Which::Undrained);
        } else if manager.state == State::AbortingTransaction {
            let class = ExceptionClass::TransactionAborted;
            let error = exception(class, message::BATCH_ABORTED);
            self.abort_records(ctx, &error, Which::Undrained);
        }
        match manager.next_request(!self.accumulator.is_empty()) {
            Next::Nothing => Step::Data,
            Next::GivenUp => Step::Another,
            Next::Request(request) => self.address(ctx, manager, request),
        }
    }

    /// Finds who is to be asked.
    fn address(
        &mut self,
        ctx: &mut Context<'_>,
        manager: &mut TransactionManager,
        request: TxnRequest,
    ) -> Step {
        let Some(who) = request.coordinator() else {
            return match self.least_loaded_node(ctx) {
                LeastLoaded::Node(slot) => {
                    let deadline = self.node_deadline(ctx);
                    self.await_node(ctx, manager, (request, slot, deadline))
                }
                LeastLoaded::Wait => {
                    manager.enqueue(request);
                    Step::Wait
                }
                LeastLoaded::Nobody => {
                    manager.reenqueue(request);
                    self.pause(ctx, manager);
                    Step::Wait
                }
            };
        };
        if let Some(broker) = manager.known_coordinator(who) {
            let slot = self.connections.slot_of(broker);
            let deadline = self.node_deadline(ctx);
            self.await_node(ctx, manager, (request, slot, deadline))
        } else {
            manager.look_up(who);
            manager.reenqueue(request);
            Step::Another
        }
    }

    fn node_deadline(&self, ctx: &Context<'_>) -> SimTime {
        ctx.now + SimSpan::from_millis(self.settings.request_timeout_ms)
    }

    /// Sleeps for `retry.backoff.ms`; where that is 0, the thread spins, and a millisecond stands
    /// for the time that it takes to find nobody.
    fn pause(&mut self, ctx: &Context<'_>, manager: &mut TransactionManager) {
        let until = ctx.now + SimSpan::from_millis(manager.retry_backoff_ms.max(1));
        self.sleep.wake_by(until);
        manager.current = Some(Current::Pausing(until));
    }

    /// `NetworkClientUtils.awaitReady`: connects, and waits until a request can be sent.
    fn await_node(
        &mut self,
        ctx: &mut Context<'_>,
        manager: &mut TransactionManager,
        (request, slot, deadline): (TxnRequest, Slot, SimTime),
    ) -> Step {
        let is_metadata_due = self.metadata.due_ms(&self.settings.metadata) <= ctx.now.as_millis();
        if self.approach(ctx, slot) && !is_metadata_due {
            if request.attempt == Attempt::First {
                return self.send_transactional(ctx, manager, (request, slot));
            }
            let backoff_ms = match &request.kind {
                TxnRequestKind::AddPartitions { backoff_ms, .. } => *backoff_ms,
                _ => manager.retry_backoff_ms,
            };
            let until = ctx.now + SimSpan::from_millis(backoff_ms);
            self.sleep.wake_by(until);
            manager.current = Some(Current::Sleeping(request, slot, until));
            return Step::Wait;
        }
        let state = self.connections.get(slot).state;
        if state != ConnectionState::Disconnected && ctx.now < deadline {
            self.sleep.wake_by(deadline);
            manager.current = Some(Current::AwaitingNode(request, slot, deadline));
            return Step::Wait;
        }
        // It cannot be reached: somebody else may be the coordinator by now.
        if let Some(who) = request.coordinator() {
            manager.look_up(who);
            manager.reenqueue(request);
            return Step::Another;
        }
        self.metadata.request_update();
        manager.reenqueue(request);
        self.pause(ctx, manager);
        Step::Wait
    }

    fn send_transactional(
        &mut self,
        ctx: &mut Context<'_>,
        manager: &mut TransactionManager,
        (request, slot): (TxnRequest, Slot),
    ) -> Step {
        let id = self
            .connections
            .open_request(ctx, slot, ApiKey::Transactional);
        let ask = self.body_of(manager, &request);
        let bytes = self.bytes_of(manager, &request);
        ctx.requests.get_mut(id).transaction = Some(Box::new(Transact {
            ask,
            answer: TxnAnswer::Done,
        }));
        self.transmit(ctx, slot, id, bytes);
        manager.current = Some(Current::InFlight(request));
        Step::Wait
    }

    fn body_of(&self, manager: &TransactionManager, request: &TxnRequest) -> TxnAsk {
        let transactional_id = manager.id();
        let producer = manager.producer.unwrap_or((-1, -1));
        let owner = Owner {
            transactional_id: Arc::clone(&transactional_id),
            producer,
        };
        let group = manager.offsets.as_ref().map(|(group, _)| *group);
        match &request.kind {
            TxnRequestKind::FindCoordinator(who) => TxnAsk::FindCoordinator(match (who, group) {
                (CoordinatorType::Group, Some(group)) => CoordinatorKey::Group(group),
                _ => CoordinatorKey::Transaction(transactional_id),
            }),
            TxnRequestKind::InitProducerId(current) => TxnAsk::InitProducerId {
                transactional_id,
                timeout_ms: manager.timeout_ms,
                current: current.and(manager.producer),
            },
            TxnRequestKind::AddPartitions { queues, .. } => {
                let queues = queues.iter();
                let partitions =
                    queues.map(|&queue| self.accumulator.queues[queue as usize].partition);
                TxnAsk::AddPartitions(owner, partitions.collect())
            }
            TxnRequestKind::AddOffsets => match group {
                Some(group) => TxnAsk::AddOffsets(owner, group),
                None => TxnAsk::AddPartitions(owner, Vec::new()),
            },
            TxnRequestKind::CommitOffsets => match manager.offsets.clone() {
                Some((group, offsets)) => TxnAsk::CommitOffsets {
                    owner,
                    group,
                    offsets,
                    version: manager.version,
                },
                None => TxnAsk::AddPartitions(owner, Vec::new()),
            },
            TxnRequestKind::EndTxn {
                result,
                producer,
                version,
            } => TxnAsk::EndTxn {
                owner: Owner {
                    producer: *producer,
                    ..owner
                },
                result: *result,
                version: *version,
            },
        }
    }

    fn bytes_of(&self, manager: &TransactionManager, request: &TxnRequest) -> u32 {
        let (client, id) = (self.client_id.len() as u32, manager.id().len() as u32);
        match request.kind {
            TxnRequestKind::InitProducerId(_) => init_producer_id_request_bytes(client, Some(id)),
            TxnRequestKind::EndTxn { .. } => end_txn_request_bytes(client, id),
            _ => REQUEST_BYTES + client + id,
        }
    }

    /// Sequences whose fate is unknown end in an error (`maybeResolveSequences`).
    fn resolve_sequences(&mut self, manager: &mut TransactionManager) {
        if self
            .idempotence
            .resolve_in_transaction(&mut self.accumulator)
        {
            manager.lose_sequences();
        }
    }

    /// Batches fail without being sent, or whatever became of them.
    fn abort_records(&mut self, ctx: &mut Context<'_>, error: &Arc<Exception>, which: Which) {
        let mut queues = self.accumulator.queues.iter();
        let is_there = |queue: &Queue| {
            !queue.deque.is_empty() || (which == Which::All && !queue.unfinished.is_empty())
        };
        if !queues.any(is_there) {
            return;
        }
        self.accumulator.settle_all();
        let mut doomed: Vec<BatchId> = Vec::new();
        for queue in &self.accumulator.queues {
            if which == Which::All {
                doomed.extend(&queue.unfinished);
            }
            doomed.extend(&queue.deque);
        }
        for id in doomed {
            let batch = self.accumulator.batches.get(id);
            let stage = batch.stage;
            let is_spared = which == Which::Undrained && batch.base_sequence >= 0;
            // A retried batch stands in both lists.
            if is_spared || matches!(stage, Stage::Free | Stage::ExpiredInFlight) {
                continue;
            }
            self.report_failure(ctx, id, Arc::clone(error));
            if stage == Stage::InFlight {
                self.accumulator.batches.get_mut(id).stage = Stage::ExpiredInFlight;
            } else {
                self.release(id, ctx.now);
            }
        }
    }

    /// The connection of a transactional request is gone: whoever coordinates now is asked again.
    pub(in crate::sim::producer) fn lose_transactional(&mut self) {
        let Some(mut manager) = self.transaction.take() else {
            return;
        };
        match manager.current.take() {
            Some(Current::InFlight(request)) => {
                if let Some(who) = request.coordinator() {
                    manager.look_up(who);
                }
                manager.reenqueue(request);
            }
            other => manager.current = other,
        }
        self.put_back(manager);
    }
}

/// Which batches fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// Those that were never sent (`abortUndrainedBatches`).
    Undrained,
    /// All (`abortBatches`).
    All,
}
