//! `__transaction_state`: a step counts when its record is replicated, and a new coordinator goes
//! on from what stands there.
//!
//! Source: `TransactionStateManager.appendTransactionToLog` and
//! `loadTransactionsForTxnTopicPartition`.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::NO_PRODUCER_EPOCH;
use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::Space;
use crate::sim::cluster::transaction::metadata::{Participant, TransactionMetadata};
use crate::sim::cluster::transaction::peers::PeerCallId;
use crate::sim::cluster::transaction::terminate::ask_again;
use crate::sim::cluster::transaction::{IdPlace, Loaded};
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::fact::Fact;
use crate::sim::history::{LogBatch, Stamp};
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::queue::Rank;
use crate::sim::request::RequestId;
use crate::sim::time::SimSpan;
use crate::sim::transactions::ask::TxnAnswer;
use crate::sim::view::EndedBy;

/// Bytes of a record of `__transaction_state` with its batch, and of each partition in it: with a
/// short id and topic names. An estimate.
const RECORD_BYTES: u32 = 130;
const PARTICIPANT_BYTES: u32 = 20;
/// Replicated records of an id that are remembered. The last one counts; one before it counts again
/// when a broker that has the log alone loses its tail. An id that loses all of them is unknown, as
/// it is to a broker whose disk is new.
const RECORDS_KEPT: usize = 8;
/// A Complete record that could not be written is tried again after this long.
pub(super) const COMPLETION_RETRY: SimSpan = SimSpan::from_millis(20);

/// A record that waits for its replicas.
#[derive(Clone, Debug)]
pub struct StateAppend {
    /// Its number, to recognise its timeout.
    number: u32,
    /// Who wrote it.
    at: BrokerIndex,
    partition: PartitionIndex,
    /// The high watermark that it needs.
    required_offset: u64,
    place: IdPlace,
    target: Box<TransactionMetadata>,
    then: Then,
}

/// What happens when a record is replicated, or cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The owner has its epoch.
    Initialised(RequestId),
    /// An open transaction is taken from its owner: markers go out, and who asked comes back
    /// later.
    Fenced(Option<RequestId>),
    /// Partitions take part now.
    Added(Adder),
    /// The end is decided: the owner is answered, and markers go out.
    Ended(RequestId),
    /// All markers are written.
    Completed,
    /// An open transaction is taken from its owner for the tool: markers go out, and the tool
    /// comes back later.
    Taken,
    /// The tool, which has asked so often, has its epoch.
    Terminated(u16),
}

impl Then {
    /// Who wanted the end of the transaction that the record decides.
    const fn ended_by(self) -> Option<EndedBy> {
        match self {
            Self::Ended(_) => Some(EndedBy::Owner),
            Self::Fenced(Some(_)) | Self::Taken => Some(EndedBy::NewOwner),
            Self::Fenced(None) => Some(EndedBy::Timeout),
            Self::Initialised(_) | Self::Added(_) | Self::Completed | Self::Terminated(_) => None,
        }
    }
}

/// Who adds partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adder {
    /// The owner itself.
    Client(RequestId),
    /// The leader of one of them.
    Peer(PeerCallId),
}

impl StateAppend {
    /// Whether it says that an id's transaction is complete.
    pub fn completes(&self, place: IdPlace) -> bool {
        self.place == place && self.then == Then::Completed
    }
}

impl Cluster {
    /// Writes a step of an id into its log; what follows comes when it is replicated.
    pub(super) fn write_state(
        &mut self,
        ctx: &mut Context<'_>,
        (at, place): (BrokerIndex, IdPlace),
        target: Box<TransactionMetadata>,
        then: Then,
    ) {
        let index = self.transactions.id(place).partition;
        let is_full = self.brokers[at.index()].disk.space == Space::Full;
        let partition = &mut self.partitions[index.index()];
        let refused = if is_full || !partition.is_led_by(at) {
            Some(ErrorCode::NotCoordinator)
        } else if partition.isr.len() < partition.effective_min_isr() {
            Some(ErrorCode::CoordinatorNotAvailable)
        } else {
            None
        };
        if let Some(error) = refused {
            return self.state_not_written(ctx, (at, place), then, error);
        }
        let bytes = RECORD_BYTES + PARTICIPANT_BYTES * target.participants.len() as u32;
        let batch = LogBatch::of_broker(bytes, Stamp::NONE);
        let offset = partition.extend_log(batch, ctx.now);
        partition.advance_high_watermark();
        let id = self.transactions.id_mut(place);
        id.written.push((offset, (*target).clone()));
        if let Some(loaded) = &mut id.loaded {
            loaded.pending = Some(target.state);
        }
        let timeout = SimSpan::from_millis(target.timeout_ms);
        self.transactions.appended += 1;
        let number = self.transactions.appended;
        self.transactions.appends.push(StateAppend {
            number,
            at,
            partition: index,
            required_offset: offset + 1,
            place,
            target,
            then,
        });
        let event = Event::StateAppendExpired(number);
        ctx.queue.push(ctx.now + timeout, Rank::broker(at), event);
        self.mark_dirty(index, at);
        self.serve_fetchers_of(ctx, at);
        self.look_at_state_appends(ctx, index);
    }

    /// The high watermark of a partition of `__transaction_state` moved, or its leader is gone.
    pub(super) fn look_at_state_appends(&mut self, ctx: &mut Context<'_>, index: PartitionIndex) {
        let partition = &self.partitions[index.index()];
        let (high_watermark, serving) = (partition.high_watermark, partition.serving);
        let mut done = Vec::new();
        self.transactions.appends.retain(|append| {
            if append.partition != index {
                return true;
            }
            let is_led = serving.is_some_and(|(leader, _)| leader == append.at);
            let is_committed = append.required_offset <= high_watermark;
            if is_led && !is_committed {
                return true;
            }
            done.push((append.clone(), is_led && is_committed));
            false
        });
        for (append, is_committed) in done {
            let place = (append.at, append.place);
            if is_committed {
                self.state_written(ctx, place, &append.target, append.then);
            } else {
                self.state_not_written(ctx, place, append.then, ErrorCode::NotCoordinator);
            }
        }
    }

    /// A record was not replicated in time: it may be later, but nobody waits for it.
    pub(in crate::sim::cluster) fn on_state_append_expired(
        &mut self,
        ctx: &mut Context<'_>,
        number: u32,
    ) {
        let appends = &mut self.transactions.appends;
        let Some(at) = appends.iter().position(|append| append.number == number) else {
            return;
        };
        let append = appends.remove(at);
        let place = (append.at, append.place);
        let error = ErrorCode::CoordinatorNotAvailable;
        self.state_not_written(ctx, place, append.then, error);
    }

    fn state_written(
        &mut self,
        ctx: &mut Context<'_>,
        (at, place): (BrokerIndex, IdPlace),
        target: &TransactionMetadata,
        then: Then,
    ) {
        let index = self.transactions.id(place).partition;
        let high_watermark = self.partitions[index.index()].high_watermark;
        let id = self.transactions.id_mut(place);
        let replicated = id
            .written
            .partition_point(|(offset, _)| *offset < high_watermark);
        id.written.drain(..replicated.saturating_sub(RECORDS_KEPT));
        id.loaded = Some(Loaded {
            metadata: target.clone(),
            pending: None,
        });
        self.transactions.note_step(place, ctx.now, then.ended_by());
        self.say_transaction(ctx, at, place);
        match then {
            Then::Initialised(request) => {
                let answer = TxnAnswer::Producer(target.producer());
                self.reply(ctx, (at, request), answer);
            }
            Then::Fenced(request) => {
                if let Some(request) = request {
                    let answer = TxnAnswer::Error(ErrorCode::ConcurrentTransactions);
                    self.reply(ctx, (at, request), answer);
                }
                self.begin_completion(ctx, at, place);
            }
            Then::Added(adder) => self.added(ctx, at, adder, None),
            Then::Ended(request) => {
                let answer = TxnAnswer::Producer(target.after_end());
                self.reply(ctx, (at, request), answer);
                self.begin_completion(ctx, at, place);
            }
            Then::Completed => self.forget_completion(place),
            Then::Taken => self.begin_completion(ctx, at, place),
            Then::Terminated(_) => {}
        }
    }

    fn state_not_written(
        &mut self,
        ctx: &mut Context<'_>,
        (at, place): (BrokerIndex, IdPlace),
        then: Then,
        error: ErrorCode,
    ) {
        let index = self.transactions.id(place).partition;
        let is_completing = then == Then::Completed;
        if let Some(loaded) = &mut self.transactions.id_mut(place).loaded
            && !is_completing
        {
            loaded.pending = None;
        }
        match then {
            Then::Initialised(request) | Then::Ended(request) | Then::Fenced(Some(request)) => {
                self.reply(ctx, (at, request), TxnAnswer::Error(error));
            }
            Then::Added(adder) => self.added(ctx, at, adder, Some(error)),
            Then::Completed if self.partitions[index.index()].is_led_by(at) => {
                let event = Event::TransactionCompletion(place);
                let later = ctx.now + COMPLETION_RETRY;
                ctx.queue.push(later, Rank::broker(at), event);
            }
            Then::Terminated(tries) => ask_again(ctx, place, tries),
            Then::Fenced(None) | Then::Completed | Then::Taken => {}
        }
    }

    fn added(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        adder: Adder,
        error: Option<ErrorCode>,
    ) {
        match adder {
            Adder::Client(request) => {
                let answer = error.map_or(TxnAnswer::Done, TxnAnswer::Error);
                self.reply(ctx, (at, request), answer);
            }
            Adder::Peer(call) => self.answer_add(ctx, call, error),
        }
    }

    fn say_transaction(&self, ctx: &mut Context<'_>, at: BrokerIndex, place: IdPlace) {
        let id = self.transactions.id(place);
        let Some(loaded) = &id.loaded else { return };
        let metadata = &loaded.metadata;
        let fact = Fact::TransactionChanged {
            transactional_id: Arc::clone(&id.name),
            state: metadata.state,
            producer_id: metadata.producer_id,
            epoch: metadata.epoch,
            partitions: metadata
                .participants
                .iter()
                .filter_map(|participant| match participant {
                    Participant::Partition(index) => Some(*index),
                    Participant::Offsets(_) => None,
                })
                .collect(),
        };
        ctx.fact(Rank::broker(at), fact);
    }

    /// A broker becomes the coordinator of the ids in a partition of `__transaction_state`: it goes
    /// on from what its log says, and sends the markers of decided transactions again to all.
    pub(in crate::sim::cluster) fn load_transactions(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        index: PartitionIndex,
    ) {
        if !self.transactions.log.contains(&index) {
            return;
        }
        let end_offset = self.partitions[index.index()].log.end_offset();
        let (mut decided, mut news) = (Vec::new(), Vec::new());
        for (place, id) in (0..).zip(&mut self.transactions.ids) {
            if id.partition != index {
                continue;
            }
            id.written.retain(|(offset, _)| *offset < end_offset);
            id.loaded = id.written.last().map(|(_, metadata)| Loaded {
                metadata: TransactionMetadata {
                    last_epoch: NO_PRODUCER_EPOCH,
                    ..metadata.clone()
                },
                pending: None,
            });
            let Some(loaded) = &id.loaded else { continue };
            let (state, producer) = (loaded.metadata.state, loaded.metadata.producer());
            if state.prepared().is_some() {
                decided.push(place);
            }
            let is_known = id.steps.back();
            if is_known.is_none_or(|step| (step.state, step.producer) != (state, producer)) {
                news.push(place);
            }
        }
        // What its predecessor wrote and did not live to tell.
        for place in news {
            self.transactions.note_step(place, ctx.now, None);
            self.say_transaction(ctx, at, place);
        }
        for place in decided {
            self.begin_completion(ctx, at, place);
        }
    }

    /// A broker is gone, and with it all that it had under way as a coordinator.
    pub(in crate::sim::cluster) fn drop_transaction_work(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
    ) {
        let mut lost = Vec::new();
        self.transactions.appends.retain(|append| {
            if append.at == at {
                lost.push((append.place, append.then));
            }
            append.at != at
        });
        for (place, then) in lost {
            match then {
                Then::Initialised(request)
                | Then::Ended(request)
                | Then::Fenced(Some(request))
                | Then::Added(Adder::Client(request)) => ctx.requests.release(request),
                Then::Terminated(tries) => ask_again(ctx, place, tries),
                Then::Fenced(None)
                | Then::Added(Adder::Peer(_))
                | Then::Completed
                | Then::Taken => {}
            }
        }
        self.transactions
            .completions
            .retain(|completion| completion.at != at);
        self.drop_verifications(ctx, at);
        self.drop_peer_calls(ctx, at);
    }
}
