//! What the main thread asks for transactions: who coordinates, that partitions take part, and what
//! a call wants.
//!
//! Source: `rd_kafka_txn_coord_query`, `rd_kafka_txn_register_partitions`, `rd_kafka_coord_req`,
//! `rd_kafka_idemp_pid_fsm`.

use std::sync::Arc;

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::transaction::TransactionVersion;
use crate::kafka::wire::{end_txn_request_bytes, init_producer_id_request_bytes};
use crate::sim::context::Context;
use crate::sim::ids::BrokerIndex;
use crate::sim::producer::rdkafka::Rdkafka;
use crate::sim::producer::rdkafka::idempotence::{RETRY_INTERVAL, State as IdState};
use crate::sim::producer::rdkafka::serve::{Outgoing, Want};
use crate::sim::producer::rdkafka::transaction::{Membership, QuestionKind, Timed, Transactions};
use crate::sim::request::ApiKey;
use crate::sim::time::SimTime;
use crate::sim::transactions::ask::{CoordinatorKey, Owner, Transact, TxnAnswer, TxnAsk};
use crate::sim::view::ConnectionState;

/// Bytes of a transactional request without the strings in it: an estimate.
const REQUEST_BYTES: u32 = 40;

impl Rdkafka {
    /// Does what is due; says when something is due again.
    pub(in crate::sim::producer::rdkafka) fn serve_transaction(
        &mut self,
        ctx: &mut Context<'_>,
    ) -> SimTime {
        if self.transactions.is_none() {
            return SimTime::NEVER;
        }
        self.finish_flush(ctx);
        if self.fatal.is_some() {
            return SimTime::NEVER;
        }
        let query = self.serve_query(ctx);
        let registration = self.serve_registration(ctx);
        query.min(registration).min(self.serve_question(ctx))
    }

    fn serve_query(&mut self, ctx: &mut Context<'_>) -> SimTime {
        let Some(own) = &self.transactions else {
            return SimTime::NEVER;
        };
        let at = match own.query {
            Timed::At(at) => at,
            Timed::Idle | Timed::Asked => return SimTime::NEVER,
        };
        if at > ctx.now {
            return at;
        }
        let key = CoordinatorKey::Transaction(own.id());
        let stage = match self.usable_broker(ctx.now) {
            Some(broker) => {
                self.ask(ctx, broker, TxnAsk::FindCoordinator(key));
                Timed::Asked
            }
            None => Timed::At(ctx.now + RETRY_INTERVAL),
        };
        if let Some(own) = &mut self.transactions {
            own.query = stage;
        }
        match stage {
            Timed::At(at) => at,
            Timed::Idle | Timed::Asked => SimTime::NEVER,
        }
    }

    fn serve_registration(&mut self, ctx: &mut Context<'_>) -> SimTime {
        let Some(own) = &mut self.transactions else {
            return SimTime::NEVER;
        };
        match own.registration {
            Timed::At(at) if at <= ctx.now => own.registration = Timed::Idle,
            Timed::At(at) => return at,
            Timed::Idle | Timed::Asked => return SimTime::NEVER,
        }
        let pending = own.members(Membership::Pending);
        let may_ask =
            own.state.sends() && !pending.is_empty() && own.members(Membership::Asked).is_empty();
        if !may_ask {
            return SimTime::NEVER;
        }
        let (Some(broker), Some(owner)) = (self.coordinator_up(ctx.now), self.owner()) else {
            // Its connection, when it stands, brings it up again.
            return SimTime::NEVER;
        };
        let places = pending.iter();
        let partitions = places.map(|&place| self.toppars[place as usize].partition);
        let ask = TxnAsk::AddPartitions(owner, partitions.collect());
        self.ask(ctx, broker, ask);
        if let Some(own) = &mut self.transactions {
            for place in pending {
                own.set_membership(place, Membership::Asked);
            }
            own.known += 1;
        }
        SimTime::NEVER
    }

    fn serve_question(&mut self, ctx: &mut Context<'_>) -> SimTime {
        let Some(question) = self.transactions.as_ref().and_then(|own| own.question) else {
            return SimTime::NEVER;
        };
        let at = match question.stage {
            Timed::At(at) => at,
            Timed::Idle | Timed::Asked => return SimTime::NEVER,
        };
        if at > ctx.now {
            return at;
        }
        let deadline = self.offsets_deadline(question.kind);
        if deadline <= ctx.now {
            self.heard_question(ctx, question.kind, Err(RdkafkaError::TimedOutQueue));
            return SimTime::NEVER;
        }
        let Some((broker, ask)) = self.addressed(ctx, question.kind) else {
            return deadline;
        };
        self.ask(ctx, broker, ask);
        if let Some(own) = &mut self.transactions {
            own.known += u32::from(question.kind == QuestionKind::AddOffsets);
            if let Some(question) = &mut own.question {
                question.stage = Timed::Asked;
            }
        }
        SimTime::NEVER
    }

    /// Until when offsets may be sent; without limit for everything else.
    pub(super) fn offsets_deadline(&self, kind: QuestionKind) -> SimTime {
        let own = self.transactions.as_ref();
        let sent = own.and_then(|own| own.offsets.as_ref());
        match kind {
            QuestionKind::EndTxn(_) => SimTime::NEVER,
            _ => sent.map_or(SimTime::NEVER, |sent| sent.deadline),
        }
    }

    /// Whom to ask, if that one can be asked, and what.
    fn addressed(
        &mut self,
        ctx: &mut Context<'_>,
        kind: QuestionKind,
    ) -> Option<(BrokerIndex, TxnAsk)> {
        let owner = self.owner()?;
        let own = self.transactions.as_ref()?;
        let group = own.offsets.as_ref().map(|sent| sent.group);
        match kind {
            QuestionKind::EndTxn(result) => {
                let version = TransactionVersion::One;
                let ask = TxnAsk::EndTxn {
                    owner,
                    result,
                    version,
                };
                Some((self.coordinator_up(ctx.now)?, ask))
            }
            QuestionKind::AddOffsets => {
                let broker = self.coordinator_up(ctx.now)?;
                Some((broker, TxnAsk::AddOffsets(owner, group?)))
            }
            QuestionKind::FindGroupCoordinator => {
                let key = CoordinatorKey::Group(group?);
                let broker = self.usable_broker(ctx.now)?;
                Some((broker, TxnAsk::FindCoordinator(key)))
            }
            QuestionKind::CommitOffsets => {
                let offsets = own.offsets.as_ref()?.offsets.clone();
                let broker = own.group_coordinator?;
                let ask = TxnAsk::CommitOffsets {
                    owner,
                    group: group?,
                    offsets,
                    version: TransactionVersion::One,
                };
                self.is_up(broker, ctx.now).then_some((broker, ask))
            }
        }
    }

    /// Who says that it owns the id; nobody without a producer id.
    fn owner(&self) -> Option<Owner> {
        let (IdState::Assigned { producer_id, epoch }
        | IdState::WaitTxnAbort { producer_id, epoch }) = self.producer_ids.state
        else {
            return None;
        };
        let own = self.transactions.as_ref()?;
        Some(Owner {
            transactional_id: own.id(),
            producer: (producer_id, epoch),
        })
    }

    /// The coordinator, if it is known and its connection stands; one is wanted otherwise.
    fn coordinator_up(&mut self, now: SimTime) -> Option<BrokerIndex> {
        let broker = self.transactions.as_ref()?.coordinator?;
        self.is_up(broker, now).then_some(broker)
    }

    fn is_up(&mut self, broker: BrokerIndex, now: SimTime) -> bool {
        let slot = self.connections.slot_of(broker);
        let state = self.connections.get(slot).state;
        if state == ConnectionState::Disconnected {
            self.threads[broker.index()].want = Want::Yes;
            self.wake_thread(broker, now);
        }
        state == ConnectionState::Ready
    }

    /// Asks for a producer id, or for another epoch, of the coordinator; says whether it could.
    pub(in crate::sim::producer::rdkafka) fn ask_for_producer_id(
        &mut self,
        ctx: &mut Context<'_>,
    ) -> bool {
        let Some(own) = &mut self.transactions else {
            return false;
        };
        if own.coordinator.is_none() {
            own.schedule_query(ctx.now);
            self.serve_query(ctx);
            return false;
        }
        let ask = TxnAsk::InitProducerId {
            transactional_id: own.id(),
            timeout_ms: own.timeout_ms,
            current: own.latest,
        };
        let Some(broker) = self.coordinator_up(ctx.now) else {
            return false;
        };
        self.ask(ctx, broker, ask);
        true
    }

    fn ask(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex, ask: TxnAsk) {
        let slot = self.connections.slot_of(broker);
        let api = ApiKey::Transactional;
        let bytes = self.bytes_of(&ask);
        let request = self.connections.open_request(ctx, slot, api);
        ctx.requests.get_mut(request).transaction = Some(Box::new(Transact {
            ask,
            answer: TxnAnswer::Done,
        }));
        let out = Outgoing {
            request,
            api,
            bytes,
            queued: ctx.now,
            deadline: self.socket_deadline(ctx.now),
        };
        self.threads[broker.index()].outbufs.push_back(out);
        self.wake_thread(broker, ctx.now);
    }

    fn bytes_of(&self, ask: &TxnAsk) -> u32 {
        let id = self.transactions.as_ref().map_or(0, |own| own.id.len());
        let (client, id) = (self.client_id.len() as u32, id as u32);
        match ask {
            TxnAsk::InitProducerId { .. } => init_producer_id_request_bytes(client, Some(id)),
            TxnAsk::EndTxn { .. } => end_txn_request_bytes(client, id),
            _ => REQUEST_BYTES + client + id,
        }
    }

    /// A connection stands: if it is the coordinator's, what waited for it goes on.
    pub(in crate::sim::producer::rdkafka) fn coordinator_may_be_up(
        &mut self,
        broker: BrokerIndex,
        now: SimTime,
    ) {
        let Some(own) = &mut self.transactions else {
            return;
        };
        if own.coordinator != Some(broker) {
            return;
        }
        own.schedule_registration(now);
        if let IdState::Wanted { at } = &mut self.producer_ids.state {
            *at = now;
        }
        self.wake_by(now);
    }

    /// A connection is gone: if it was the coordinator's, somebody else may coordinate.
    pub(in crate::sim::producer::rdkafka) fn coordinator_may_be_down(
        &mut self,
        broker: BrokerIndex,
        now: SimTime,
    ) {
        let Some(own) = &mut self.transactions else {
            return;
        };
        if own.coordinator == Some(broker) {
            let at = now + RETRY_INTERVAL;
            own.schedule_query(at);
            self.wake_by(at);
        }
    }

    /// What a Produce request says of its transaction.
    pub(in crate::sim::producer::rdkafka) fn produce_ask(&self) -> Option<Box<Transact>> {
        let own: &Transactions = self.transactions.as_deref()?;
        let id: Arc<str> = own.id();
        Some(Box::new(Transact {
            ask: TxnAsk::Produce(id, TransactionVersion::One),
            answer: TxnAnswer::Done,
        }))
    }

    /// Bytes of the id in a Produce request.
    pub(in crate::sim::producer::rdkafka) fn transactional_id_bytes(&self) -> u32 {
        let own = self.transactions.as_ref();
        own.map_or(0, |own| own.id.len() as u32)
    }
}
