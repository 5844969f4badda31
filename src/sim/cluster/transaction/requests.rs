//! Requests of transactional producers at a broker.
//!
//! Source: `KafkaApis`, `TransactionCoordinator`.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::{
    ProducerIdAndEpoch, TransactionResult, TransactionState, TransactionVersion,
};
use crate::sim::cluster::Cluster;
use crate::sim::cluster::transaction::metadata::{Decision, Participant, TransactionMetadata};
use crate::sim::cluster::transaction::state_log::{Adder, Then};
use crate::sim::cluster::transaction::{IdPlace, Loaded};
use crate::sim::context::Context;
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::request::RequestId;
use crate::sim::transactions::ask::{CoordinatorKey, Owner, TxnAnswer, TxnAsk};

/// Bytes of an answer to a transactional request: an estimate.
const RESPONSE_BYTES: u32 = 50;

/// What an id is when somebody asks about it.
enum Known {
    /// Nobody can say now.
    Refused(ErrorCode),
    /// It is here, and a transition is under way.
    Busy(Box<TransactionMetadata>),
    /// It is here.
    Ready(IdPlace, Box<TransactionMetadata>),
    /// It was never seen.
    Unknown,
}

impl Cluster {
    /// A transactional request, of which a Produce is none here.
    pub(in crate::sim::cluster) fn on_transactional(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        id: RequestId,
    ) {
        let transaction = ctx.requests.get(id).transaction.as_ref();
        let Some(ask) = transaction.map(|transact| transact.ask.clone()) else {
            return self.reply(ctx, (at, id), TxnAnswer::Done);
        };
        match ask {
            TxnAsk::FindCoordinator(key) => self.find_coordinator(ctx, (at, id), &key),
            TxnAsk::InitProducerId {
                transactional_id,
                timeout_ms,
                current,
            } => self.init_producer_id(ctx, (at, id), &transactional_id, (timeout_ms, current)),
            TxnAsk::AddPartitions(owner, partitions) => {
                let partitions = partitions.into_iter().map(Participant::Partition);
                let partitions: Vec<_> = partitions.collect();
                self.add_by_client(ctx, (at, id), &owner, &partitions);
            }
            TxnAsk::AddOffsets(owner, group) => {
                self.add_by_client(ctx, (at, id), &owner, &[Participant::Offsets(group)]);
            }
            TxnAsk::CommitOffsets { .. } => self.commit_offsets(ctx, at, id),
            TxnAsk::EndTxn {
                owner,
                result,
                version,
            } => self.end_txn(ctx, (at, id), &owner, (result, version)),
            TxnAsk::Produce(..) => self.reply(ctx, (at, id), TxnAnswer::Done),
        }
    }

    /// Answers a transactional request.
    pub(super) fn reply(
        &mut self,
        ctx: &mut Context<'_>,
        (at, id): (BrokerIndex, RequestId),
        answer: TxnAnswer,
    ) {
        if !ctx.requests.is_live(id) {
            return;
        }
        if let Some(transact) = &mut ctx.requests.get_mut(id).transaction {
            transact.answer = answer;
        }
        self.answer(ctx, at, id, RESPONSE_BYTES);
    }

    fn refuse_transaction(
        &mut self,
        ctx: &mut Context<'_>,
        request: (BrokerIndex, RequestId),
        error: ErrorCode,
    ) {
        self.reply(ctx, request, TxnAnswer::Error(error));
    }

    fn find_coordinator(
        &mut self,
        ctx: &mut Context<'_>,
        (at, id): (BrokerIndex, RequestId),
        key: &CoordinatorKey,
    ) {
        let coordinator = match key {
            CoordinatorKey::Group(group) => self.coordinator_of(ctx.config, *group),
            CoordinatorKey::Transaction(name) => self.transaction_coordinator(at, name),
        };
        let answer = coordinator.map_or(
            TxnAnswer::Error(ErrorCode::CoordinatorNotAvailable),
            TxnAnswer::Coordinator,
        );
        self.reply(ctx, (at, id), answer);
    }

    /// Who coordinates an id, as a broker's metadata says.
    pub(super) fn transaction_coordinator(
        &self,
        at: BrokerIndex,
        transactional_id: &str,
    ) -> Option<BrokerIndex> {
        let index = self.transactions.partition_of(transactional_id)?;
        let image = &self.brokers[at.index()].image;
        let leader = image.find(index)?.leader;
        leader.filter(|leader| image.unfenced[leader.index()])
    }

    fn known(&self, at: BrokerIndex, transactional_id: &str) -> Known {
        let Some(index) = self.transactions.partition_of(transactional_id) else {
            return Known::Refused(ErrorCode::CoordinatorNotAvailable);
        };
        if !self.partitions[index.index()].is_led_by(at) {
            return Known::Refused(ErrorCode::NotCoordinator);
        }
        let place = self.transactions.place_of(transactional_id);
        let loaded = place.and_then(|place| {
            let loaded = self.transactions.id(place).loaded.as_ref()?;
            Some((place, loaded))
        });
        match loaded {
            None => Known::Unknown,
            Some((_, loaded)) if loaded.pending.is_some() => {
                Known::Busy(Box::new(loaded.metadata.clone()))
            }
            Some((place, loaded)) => Known::Ready(place, Box::new(loaded.metadata.clone())),
        }
    }

    fn init_producer_id(
        &mut self,
        ctx: &mut Context<'_>,
        (at, id): (BrokerIndex, RequestId),
        transactional_id: &Arc<str>,
        (timeout_ms, current): (u64, Option<ProducerIdAndEpoch>),
    ) {
        let request = (at, id);
        let max_ms = self.brokers[at.index()]
            .settings
            .transactions
            .max_timeout_ms;
        if timeout_ms == 0 || timeout_ms > max_ms {
            let error = ErrorCode::InvalidTransactionTimeout;
            return self.refuse_transaction(ctx, request, error);
        }
        let (place, metadata) = match self.known(at, transactional_id) {
            Known::Refused(error) => return self.refuse_transaction(ctx, request, error),
            Known::Busy(_) => {
                let error = ErrorCode::ConcurrentTransactions;
                return self.refuse_transaction(ctx, request, error);
            }
            Known::Ready(place, metadata) => (place, metadata),
            Known::Unknown => {
                let Some(index) = self.transactions.partition_of(transactional_id) else {
                    return;
                };
                self.enter_id(ctx, (at, index), transactional_id, timeout_ms)
            }
        };
        let new_producer_id = || self.controller.next_producer_id(at);
        match metadata.init_producer_id(current, timeout_ms, ctx.now, new_producer_id) {
            Decision::Refuse(ErrorCode::ConcurrentTransactions)
                if metadata.state == TransactionState::Ongoing =>
            {
                self.fence_transaction(ctx, (at, place), Then::Fenced(Some(id)));
            }
            Decision::Refuse(error) => self.refuse_transaction(ctx, request, error),
            Decision::Answer => {
                self.reply(ctx, request, TxnAnswer::Producer(metadata.producer()));
            }
            Decision::Write(target) => {
                self.write_state(ctx, (at, place), target, Then::Initialised(id));
            }
        }
    }

    /// A coordinator hears of an id for the first time.
    pub(super) fn enter_id(
        &mut self,
        ctx: &Context<'_>,
        (at, home): (BrokerIndex, PartitionIndex),
        transactional_id: &Arc<str>,
        timeout_ms: u64,
    ) -> (IdPlace, Box<TransactionMetadata>) {
        let place = self.transactions.enter(transactional_id, home);
        let producer_id = self.controller.next_producer_id(at);
        let metadata = TransactionMetadata::new(producer_id, timeout_ms, ctx.now);
        self.transactions.id_mut(place).loaded = Some(Loaded {
            metadata: metadata.clone(),
            pending: None,
        });
        (place, Box::new(metadata))
    }

    /// An open transaction is aborted, because somebody else wants its id, or it took too long.
    pub(super) fn fence_transaction(
        &mut self,
        ctx: &mut Context<'_>,
        (at, place): (BrokerIndex, IdPlace),
        then: Then,
    ) {
        let version = ctx.config.transactions.version;
        let loaded = self.transactions.id(place).loaded.as_ref();
        let target = loaded.and_then(|loaded| loaded.metadata.fence(version, ctx.now));
        if let Some(target) = target {
            self.write_state(ctx, (at, place), Box::new(target), then);
        }
    }

    fn add_by_client(
        &mut self,
        ctx: &mut Context<'_>,
        (at, id): (BrokerIndex, RequestId),
        owner: &Owner,
        participants: &[Participant],
    ) {
        let adder = Adder::Client(id);
        let outcome = self.add_participants(
            ctx,
            (at, adder),
            owner,
            (participants, TransactionVersion::One),
        );
        if let Some(outcome) = outcome {
            let answer = outcome.map_or_else(TxnAnswer::Error, |()| TxnAnswer::Done);
            self.reply(ctx, (at, id), answer);
        }
    }

    /// More takes part in a transaction; nothing is said while that is being written.
    pub(super) fn add_participants(
        &mut self,
        ctx: &mut Context<'_>,
        (at, adder): (BrokerIndex, Adder),
        owner: &Owner,
        (participants, version): (&[Participant], TransactionVersion),
    ) -> Option<Result<(), ErrorCode>> {
        let (place, metadata) = match self.known_owner(at, owner) {
            Ok(known) => known,
            Err(error) => return Some(Err(error)),
        };
        match metadata.add(owner.producer, participants, version, ctx.now) {
            Decision::Refuse(error) => Some(Err(error)),
            Decision::Answer => Some(Ok(())),
            Decision::Write(target) => {
                self.write_state(ctx, (at, place), target, Then::Added(adder));
                None
            }
        }
    }

    /// Whether somebody takes part in a transaction.
    pub(super) fn verify_participant(
        &self,
        at: BrokerIndex,
        owner: &Owner,
        participant: Participant,
    ) -> Result<(), ErrorCode> {
        let metadata = match self.known(at, &owner.transactional_id) {
            // More partitions may be on their way into the log: these are there.
            Known::Ready(_, metadata) | Known::Busy(metadata) => metadata,
            Known::Refused(error) => return Err(error),
            Known::Unknown => return Err(ErrorCode::InvalidProducerIdMapping),
        };
        match metadata.verify(owner.producer, participant) {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }

    fn known_owner(
        &self,
        at: BrokerIndex,
        owner: &Owner,
    ) -> Result<(IdPlace, Box<TransactionMetadata>), ErrorCode> {
        match self.known(at, &owner.transactional_id) {
            Known::Refused(error) => Err(error),
            Known::Unknown => Err(ErrorCode::InvalidProducerIdMapping),
            Known::Busy(_) => Err(ErrorCode::ConcurrentTransactions),
            Known::Ready(place, metadata) => Ok((place, metadata)),
        }
    }

    fn end_txn(
        &mut self,
        ctx: &mut Context<'_>,
        (at, id): (BrokerIndex, RequestId),
        owner: &Owner,
        how: (TransactionResult, TransactionVersion),
    ) {
        let (place, metadata) = match self.known_owner(at, owner) {
            Ok(known) => known,
            Err(error) => return self.refuse_transaction(ctx, (at, id), error),
        };
        let new_producer_id = || self.controller.next_producer_id(at);
        match metadata.end(owner.producer, how, ctx.now, new_producer_id) {
            Decision::Refuse(error) => self.refuse_transaction(ctx, (at, id), error),
            Decision::Answer => {
                let answer = TxnAnswer::Producer(metadata.producer());
                self.reply(ctx, (at, id), answer);
            }
            Decision::Write(target) => {
                self.write_state(ctx, (at, place), target, Then::Ended(id));
            }
        }
    }
}
