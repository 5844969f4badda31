//! Carrying a decision out: a marker into every partition of the transaction, each on its own
//! clock, and a Complete record when all of them have theirs.
//!
//! Source: `TransactionMarkerChannelManager`, `TransactionMarkerRequestCompletionHandler`,
//! `KafkaApis.handleWriteTxnMarkersRequest`. One request a pair of brokers is under way, with the
//! markers of many transactions.
//!
//! Simplification: what failed is sent again after [`MARKER_RETRY`], where Kafka does so at once.

use std::collections::BTreeMap;

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionResult, TransactionVersion};
use crate::sim::cluster::Cluster;
use crate::sim::cluster::transaction::metadata::Participant;
use crate::sim::cluster::transaction::peers::{PeerAsk, PeerCallId};
use crate::sim::cluster::transaction::state_log::Then;
use crate::sim::cluster::transaction::{IdPlace, Transactions};
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::queue::Rank;
use crate::sim::time::SimSpan;
use crate::sim::transactions::producer_states::Marker;

/// A marker that could not be written is sent again after this long.
const MARKER_RETRY: SimSpan = SimSpan::from_millis(10);

/// A decision that is being carried out.
#[derive(Clone, Debug)]
pub struct Completion {
    place: IdPlace,
    /// The coordinator.
    pub at: BrokerIndex,
    /// Who still lacks its marker.
    left: BTreeMap<Participant, MarkerStage>,
}

/// How far one marker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkerStage {
    /// It waits for its leader, or for another try.
    Waiting,
    /// It is on its way.
    Sent,
}

impl Transactions {
    /// Who still lacks the marker of a transaction that is being ended; nothing if none is.
    pub(super) fn participants_left(&self, place: IdPlace) -> Option<Vec<Participant>> {
        let mut completions = self.completions.iter();
        let found = completions.find(|completion| completion.place == place)?;
        Some(found.left.keys().copied().collect())
    }
}

/// Markers from one broker for another.
#[derive(Clone, Debug, Default)]
pub struct MarkerQueue {
    waiting: Vec<MarkerOrder>,
    in_flight: u32,
}

/// One marker to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerOrder {
    place: IdPlace,
    participant: Participant,
    producer: ProducerIdAndEpoch,
    result: TransactionResult,
    coordinator_epoch: u32,
    version: TransactionVersion,
}

/// What a control record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlRecord {
    /// Whose, with the epoch that it carries.
    pub producer: ProducerIdAndEpoch,
    /// How the transaction ends.
    pub result: TransactionResult,
    /// The epoch of the coordinator that wants it.
    pub coordinator_epoch: u32,
    /// Under which version the transaction ran.
    pub version: TransactionVersion,
}

impl MarkerOrder {
    fn control_record(&self) -> ControlRecord {
        ControlRecord {
            producer: self.producer,
            result: self.result,
            coordinator_epoch: self.coordinator_epoch,
            version: self.version,
        }
    }
}

/// A marker that waits for its replicas.
#[derive(Clone, Copy, Debug)]
pub struct MarkerWait {
    partition: PartitionIndex,
    required_offset: u64,
    /// The call that it belongs to.
    pub call: PeerCallId,
    at: BrokerIndex,
}

impl Cluster {
    /// A decision is written: markers go out to all who take part.
    pub(super) fn begin_completion(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        place: IdPlace,
    ) {
        let Some(loaded) = &mut self.transactions.id_mut(place).loaded else {
            return;
        };
        loaded.pending = Some(loaded.metadata.complete(ctx.now).state);
        let participants = loaded.metadata.participants.iter();
        let left = participants.map(|&p| (p, MarkerStage::Waiting)).collect();
        let completions = &mut self.transactions.completions;
        completions.retain(|completion| completion.place != place);
        completions.push(Completion { place, at, left });
        self.go_on_completing(ctx, place);
    }

    /// Sends what waits, or writes that everything is done.
    pub(in crate::sim::cluster) fn go_on_completing(
        &mut self,
        ctx: &mut Context<'_>,
        place: IdPlace,
    ) {
        let completions = &self.transactions.completions;
        let Some(completion) = completions.iter().find(|known| known.place == place) else {
            return;
        };
        let at = completion.at;
        let index = self.transactions.id(place).partition;
        if !self.partitions[index.index()].is_led_by(at) {
            // Somebody else goes on.
            self.forget_completion(place);
            return;
        }
        if !self.brokers[at.index()].is_serving() {
            return Self::complete_later(ctx, at, place);
        }
        if completion.left.is_empty() {
            return self.complete(ctx, at, place);
        }
        let waiting = completion.left.iter();
        let waiting = waiting.filter(|(_, stage)| **stage == MarkerStage::Waiting);
        let waiting: Vec<Participant> = waiting.map(|(participant, _)| *participant).collect();
        let mut has_leaderless = false;
        for participant in waiting {
            match self.leader_of(ctx, at, participant) {
                Some(leader) => self.order_marker(ctx, (at, leader), place, participant),
                None => has_leaderless = true,
            }
        }
        if has_leaderless {
            Self::complete_later(ctx, at, place);
        }
    }

    /// A decision is carried out, or somebody else carries it out.
    pub(super) fn forget_completion(&mut self, place: IdPlace) {
        let completions = &mut self.transactions.completions;
        completions.retain(|completion| completion.place != place);
    }

    fn complete_later(ctx: &mut Context<'_>, at: BrokerIndex, place: IdPlace) {
        let event = Event::TransactionCompletion(place);
        let later = ctx.now + MARKER_RETRY;
        ctx.queue.push(later, Rank::broker(at), event);
    }

    /// Everybody has its marker.
    fn complete(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, place: IdPlace) {
        let appends = &self.transactions.appends;
        let is_writing = appends.iter().any(|append| append.completes(place));
        let Some(loaded) = &self.transactions.id(place).loaded else {
            return;
        };
        if is_writing || loaded.metadata.state.prepared().is_none() {
            return;
        }
        let target = Box::new(loaded.metadata.complete(ctx.now));
        self.write_state(ctx, (at, place), target, Then::Completed);
    }

    fn leader_of(
        &self,
        ctx: &Context<'_>,
        at: BrokerIndex,
        participant: Participant,
    ) -> Option<BrokerIndex> {
        match participant {
            Participant::Partition(index) => self.brokers[at.index()].image.find(index)?.leader,
            Participant::Offsets(group) => self.coordinator_of(ctx.config, group),
        }
    }

    fn order_marker(
        &mut self,
        ctx: &mut Context<'_>,
        (at, leader): (BrokerIndex, BrokerIndex),
        place: IdPlace,
        participant: Participant,
    ) {
        let id = self.transactions.id(place);
        let epoch = self.partitions[id.partition.index()].serving;
        let Some(loaded) = &id.loaded else { return };
        let metadata = &loaded.metadata;
        let Some(result) = metadata.state.prepared() else {
            return;
        };
        let order = MarkerOrder {
            place,
            participant,
            producer: metadata.producer(),
            result,
            coordinator_epoch: epoch.map_or(0, |(_, epoch)| epoch),
            version: metadata.version,
        };
        let completions = self.transactions.completions.iter_mut();
        for completion in completions.filter(|known| known.place == place) {
            completion.left.insert(participant, MarkerStage::Sent);
        }
        let queue = self.transactions.queues.entry((at, leader)).or_default();
        queue.waiting.push(order);
        self.send_markers(ctx, (at, leader));
    }

    /// Sends what waits for a broker, unless a request is under way.
    fn send_markers(&mut self, ctx: &mut Context<'_>, ends: (BrokerIndex, BrokerIndex)) {
        let queue = self.transactions.queues.entry(ends).or_default();
        if queue.in_flight > 0 || queue.waiting.is_empty() {
            return;
        }
        queue.in_flight = 1;
        let orders = std::mem::take(&mut queue.waiting);
        self.ask_peer(ctx, ends, PeerAsk::Markers(orders));
    }

    /// `WriteTxnMarkers` reaches a leader.
    pub(super) fn write_markers(
        &mut self,
        ctx: &mut Context<'_>,
        (at, call): (BrokerIndex, PeerCallId),
        orders: &[MarkerOrder],
    ) {
        let answers: Vec<_> = orders
            .iter()
            .map(|order| self.write_marker(ctx, (at, call), order).err())
            .collect();
        if let Some(kept) = self.transactions.peers.get_mut(call) {
            kept.answers.clone_from(&answers);
        }
        self.serve_fetchers_of(ctx, at);
        let partitions = orders.iter().filter_map(|order| match order.participant {
            Participant::Partition(index) => Some(index),
            Participant::Offsets(_) => None,
        });
        for index in partitions {
            self.check_purgatory(ctx, index);
        }
        self.answer_written_markers(ctx, call);
    }

    fn write_marker(
        &mut self,
        ctx: &mut Context<'_>,
        (at, call): (BrokerIndex, PeerCallId),
        order: &MarkerOrder,
    ) -> Result<(), ErrorCode> {
        let index = match order.participant {
            Participant::Partition(index) => index,
            Participant::Offsets(group) => {
                return self.end_offsets(ctx, at, (group, order.producer), order.result);
            }
        };
        let control = order.control_record();
        self.check_control_record((at, index), &control)?;
        let offset = self.write_control_record(ctx, (at, index), &control);
        self.transactions.marker_waits.push(MarkerWait {
            partition: index,
            required_offset: offset + 1,
            call,
            at,
        });
        Ok(())
    }

    /// A leader writes a control record; gives its offset.
    pub(super) fn write_control_record(
        &mut self,
        ctx: &mut Context<'_>,
        (at, index): (BrokerIndex, PartitionIndex),
        control: &ControlRecord,
    ) -> u64 {
        let partition = &mut self.partitions[index.index()];
        let marker = Marker {
            offset: 0,
            producer: control.producer,
            result: control.result,
            coordinator_epoch: control.coordinator_epoch,
            at: ctx.now,
        };
        let offset = partition.append_marker(marker, control.version, ctx.now);
        partition.advance_high_watermark();
        self.mark_dirty(index, at);
        let (producer_id, epoch) = control.producer;
        let fact = Fact::MarkerWritten {
            partition: index,
            offset,
            producer_id,
            epoch,
            result: control.result,
        };
        ctx.fact(Rank::broker(at), fact);
        offset
    }

    /// The high watermark of a partition moved, or its leader is gone: markers may be done.
    pub(super) fn look_at_marker_waits(&mut self, ctx: &mut Context<'_>, index: PartitionIndex) {
        let partition = &self.partitions[index.index()];
        let (high_watermark, serving) = (partition.high_watermark, partition.serving);
        let (mut done, mut lost) = (Vec::new(), Vec::new());
        self.transactions.marker_waits.retain(|wait| {
            if wait.partition != index {
                return true;
            }
            let is_led = serving.is_some_and(|(leader, _)| leader == wait.at);
            if is_led && high_watermark < wait.required_offset {
                return true;
            }
            done.push(wait.call);
            if !is_led {
                lost.push(*wait);
            }
            false
        });
        for wait in lost {
            self.refuse_marker(wait);
        }
        done.dedup();
        for call in done {
            self.answer_written_markers(ctx, call);
        }
    }

    /// A marker stands in a log whose leader is gone: nobody knows whether it stays there.
    fn refuse_marker(&mut self, wait: MarkerWait) {
        let Some(call) = self.transactions.peers.get_mut(wait.call) else {
            return;
        };
        let PeerAsk::Markers(orders) = &call.ask else {
            return;
        };
        let participant = Participant::Partition(wait.partition);
        for (order, answer) in orders.iter().zip(&mut call.answers) {
            if order.participant == participant {
                answer.get_or_insert(ErrorCode::NotLeaderOrFollower);
            }
        }
    }

    /// Answers a call once none of its markers waits for replicas.
    fn answer_written_markers(&mut self, ctx: &mut Context<'_>, call: PeerCallId) {
        let mut waits = self.transactions.marker_waits.iter();
        if waits.any(|wait| wait.call == call) {
            return;
        }
        if let Some(known) = self.transactions.peers.get(call) {
            let answers = known.answers.clone();
            self.answer_peer(ctx, call, answers);
        }
    }

    /// The answer to `WriteTxnMarkers` is back at the coordinator.
    pub(super) fn on_markers_answered(
        &mut self,
        ctx: &mut Context<'_>,
        (at, leader): (BrokerIndex, BrokerIndex),
        orders: &[MarkerOrder],
        answers: &[Option<ErrorCode>],
    ) {
        let queue = self.transactions.queues.entry((at, leader)).or_default();
        queue.in_flight = 0;
        let mut places: Vec<IdPlace> = Vec::new();
        let mut later: Vec<IdPlace> = Vec::new();
        for (order, answer) in orders.iter().zip(answers) {
            let mut completions = self.transactions.completions.iter_mut();
            let own = |known: &&mut Completion| known.place == order.place && known.at == at;
            let Some(completion) = completions.find(own) else {
                continue;
            };
            match answer {
                None => {
                    completion.left.remove(&order.participant);
                    places.push(order.place);
                }
                // Another coordinator, or owner, is further: this one stops.
                Some(ErrorCode::InvalidProducerEpoch | ErrorCode::TransactionCoordinatorFenced) => {
                }
                Some(_) => {
                    let stage = MarkerStage::Waiting;
                    completion.left.insert(order.participant, stage);
                    later.push(order.place);
                }
            }
        }
        self.send_markers(ctx, (at, leader));
        places.dedup();
        for place in places {
            let is_done = |known: &Completion| known.place == place && known.left.is_empty();
            if self.transactions.completions.iter().any(is_done) {
                self.go_on_completing(ctx, place);
            }
        }
        later.dedup();
        for place in later {
            Self::complete_later(ctx, at, place);
        }
    }
}
