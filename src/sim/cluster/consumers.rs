//! Requests of consumers at a broker: connections, metadata, offsets, fetches.
//!
//! Source: `KafkaApis.handleFetchRequest`, `DelayedFetch`, `ReplicaManager.fetchMessages`. Like all
//! others, a connection has one request in hand at a time: a fetch that waits for records holds up
//! what comes behind it.
//!
//! Simplification: reading takes no time at the disk, however old the records are.

use crate::kafka::error::ErrorCode;
use crate::kafka::settings::{IsolationLevel, OffsetReset, TopicCreation};
use crate::kafka::wire::API_VERSIONS_RESPONSE_BYTES;
use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::Process;
use crate::sim::consumer::{Answer, Ask, CallId, Fetch, Wire};
use crate::sim::context::Context;
use crate::sim::event::{Event, Message};
use crate::sim::history::Least;
use crate::sim::ids::{BrokerIndex, ConsumerIndex, PartitionIndex, TopicIndex};
use crate::sim::network::{Lane, Way};
use crate::sim::queue::Rank;
use crate::sim::time::SimSpan;
use crate::sim::transactions::producer_states::Hide;

use std::collections::VecDeque;

/// Bytes of a TCP segment without payload.
const SEGMENT_BYTES: u32 = 40;
/// Bytes of an answer to a fetch without records, and of each partition that has any.
const FETCH_RESPONSE_BYTES: u32 = 60;
const FETCH_RESPONSE_PARTITION_BYTES: u32 = 45;
/// Bytes of a small answer.
const SMALL_RESPONSE_BYTES: u32 = 50;
/// Bytes of a partition in an answer about offsets.
const OFFSET_BYTES: u32 = 26;

/// One connection of a consumer, at its broker.
#[derive(Clone, Debug, Default)]
pub struct WireEnd {
    generation: u32,
    state: WireState,
    pending: VecDeque<CallId>,
}

/// What a connection does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WireState {
    #[default]
    Closed,
    Idle,
    /// A request is in hand; nothing more is read.
    Muted,
}

impl Cluster {
    /// A timer of a consumer's call, or of a group, ran out.
    pub(super) fn on_consumer_timer(&mut self, ctx: &mut Context<'_>, event: Event) {
        match event {
            Event::CallHandled {
                broker,
                incarnation,
                call,
            } => self.on_call_handled(ctx, (broker, incarnation), call),
            Event::FetchExpired(call) => self.on_fetch_expired(ctx, call),
            Event::GroupSession { group, member } => self.on_group_session(ctx, group, member),
            Event::GroupRebalance { group, turn } => self.on_group_rebalance(ctx, group, turn),
            _ => {}
        }
    }

    /// The end of a consumer's connection, if it still is that one.
    fn wire_end(&mut self, wire: Wire) -> Option<&mut WireEnd> {
        let end = &mut self.brokers[wire.broker().index()].wires[wire.place()];
        let is_it = end.generation == wire.generation && end.state != WireState::Closed;
        is_it.then_some(end)
    }

    /// A consumer's request, or its wish to connect, is there.
    pub(super) fn on_call(&mut self, ctx: &mut Context<'_>, id: CallId) {
        let Some(call) = ctx.calls.get(id) else {
            return;
        };
        let wire = call.wire;
        let is_gone = matches!(
            self.brokers[wire.broker().index()].process,
            Process::Down | Process::Starting
        );
        if matches!(call.ask, Ask::Connect) {
            return self.on_wire_connect(ctx, id, wire);
        }
        let Some(end) = self.wire_end(wire) else {
            ctx.calls.take(id);
            if is_gone {
                send_reset(ctx, wire);
            }
            return;
        };
        if end.state == WireState::Muted {
            end.pending.push_back(id);
        } else {
            end.state = WireState::Muted;
            self.start_call(ctx, wire.broker(), id);
        }
    }

    fn on_wire_connect(&mut self, ctx: &mut Context<'_>, id: CallId, wire: Wire) {
        let broker = &mut self.brokers[wire.broker().index()];
        if matches!(broker.process, Process::Down | Process::Starting) {
            return transmit(ctx, id, Answer::Refused, SEGMENT_BYTES);
        }
        let end = WireEnd {
            generation: wire.generation,
            state: WireState::Idle,
            pending: VecDeque::new(),
        };
        let earlier = std::mem::replace(&mut broker.wires[wire.place()], end);
        for lost in earlier.pending {
            ctx.calls.take(lost);
        }
        let link = ctx.network.consumer(wire.consumer, wire.broker());
        ctx.network.connect((link, wire.lane()), Way::Back);
        transmit(ctx, id, Answer::Accepted, SEGMENT_BYTES);
    }

    /// A consumer closed its end.
    pub(super) fn on_wire_closed(&mut self, ctx: &mut Context<'_>, wire: Wire) {
        if let Some(end) = self.wire_end(wire) {
            end.state = WireState::Closed;
            for id in std::mem::take(&mut end.pending) {
                ctx.calls.take(id);
            }
        }
    }

    /// Resets the connections of some consumers at a broker.
    pub fn reset_wires(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        whose: impl Fn(ConsumerIndex) -> bool,
    ) {
        for wire in self.close_wires(ctx, at, whose) {
            send_reset(ctx, wire);
        }
    }

    /// Closes a broker's ends of the connections of some consumers, and returns which they were;
    /// nobody is told.
    pub fn close_wires(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        whose: impl Fn(ConsumerIndex) -> bool,
    ) -> Vec<Wire> {
        let mut closed = Vec::new();
        let ends = &mut self.brokers[at.index()].wires;
        for (place, end) in ends.iter_mut().enumerate() {
            let consumer = ConsumerIndex((place / 2) as u16);
            if end.state == WireState::Closed || !whose(consumer) {
                continue;
            }
            end.state = WireState::Closed;
            for id in std::mem::take(&mut end.pending) {
                ctx.calls.take(id);
            }
            let lane = if place % 2 == 0 {
                Lane::Regular
            } else {
                Lane::Bootstrap
            };
            closed.push(Wire::new(consumer, (at, lane), end.generation));
        }
        closed
    }

    /// A broker's process is gone: what it owed to consumers is lost.
    pub(super) fn drop_calls(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        self.drop_group_calls(ctx, at);
        for index in self.brokers[at.index()].replica_of.clone() {
            let is_led = self.partitions[index.index()].is_led_by(at);
            if is_led {
                for id in std::mem::take(&mut self.partitions[index.index()].readers) {
                    ctx.calls.take(id);
                }
            }
        }
        self.reset_wires(ctx, at, |_| true);
    }

    /// A handler takes the request; it takes no time unless the broker is slowed down.
    fn start_call(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, id: CallId) {
        let broker = &self.brokers[at.index()];
        if broker.slowed_by == SimSpan::ZERO {
            return self.handle_call(ctx, id);
        }
        let event = Event::CallHandled {
            broker: at,
            incarnation: broker.incarnation,
            call: id,
        };
        ctx.queue
            .push(ctx.now + broker.slowed_by, Rank::broker(at), event);
    }

    /// A broker that was slowed down gets to a request.
    pub(super) fn on_call_handled(
        &mut self,
        ctx: &mut Context<'_>,
        (at, incarnation): (BrokerIndex, u32),
        id: CallId,
    ) {
        let broker = &mut self.brokers[at.index()];
        if broker.incarnation != incarnation {
            ctx.calls.take(id);
        } else if broker.process == Process::Paused {
            broker.stalled_calls.push(id);
        } else {
            self.handle_call(ctx, id);
        }
    }

    /// A request takes effect.
    pub(super) fn handle_call(&mut self, ctx: &mut Context<'_>, id: CallId) {
        let Some(call) = ctx.calls.get_mut(id) else {
            return;
        };
        let at = call.wire.broker();
        if let Ask::Fetch(fetch) = &mut call.ask {
            let mut fetch = Fetch {
                limits: fetch.limits,
                parts: std::mem::take(&mut fetch.parts),
                hidden: Vec::new(),
            };
            return self.on_consumer_fetch(ctx, (at, id), &mut fetch);
        }
        match std::mem::replace(&mut call.ask, Ask::ApiVersions) {
            Ask::Metadata(topics, creation) => self.tell_metadata(ctx, id, &topics, creation),
            Ask::FindCoordinator(group) => {
                let coordinator = self.coordinator_of(ctx.config, group);
                let answer = Answer::Coordinator(coordinator);
                self.answer_call(ctx, id, answer, SMALL_RESPONSE_BYTES);
            }
            Ask::ListOffsets(reset, partitions) => {
                self.tell_offsets(ctx, (at, id), reset, &partitions);
            }
            Ask::ApiVersions | Ask::Connect | Ask::Fetch(_) => {
                self.answer_call(ctx, id, Answer::Nothing, API_VERSIONS_RESPONSE_BYTES);
            }
            ask => self.on_group_request(ctx, at, (id, ask)),
        }
    }

    fn tell_metadata(
        &mut self,
        ctx: &mut Context<'_>,
        id: CallId,
        topics: &[TopicIndex],
        creation: TopicCreation,
    ) {
        let Some(at) = ctx.calls.get(id).map(|call| call.wire.broker()) else {
            return;
        };
        let image = self.brokers[at.index()].image.clone();
        let bytes = self.metadata_bytes(ctx.config, &image, topics);
        if creation == TopicCreation::Allowed {
            self.auto_create(ctx, topics);
        }
        self.answer_call(ctx, id, Answer::Metadata(image), bytes);
    }

    /// `ListOffsets`: the first offset kept, or the one after the last that is committed.
    fn tell_offsets(
        &mut self,
        ctx: &mut Context<'_>,
        (at, id): (BrokerIndex, CallId),
        reset: OffsetReset,
        partitions: &[PartitionIndex],
    ) {
        let consumer = ctx.calls.get(id).map(|call| call.wire.consumer);
        let isolation = consumer.map_or(IsolationLevel::ReadUncommitted, |consumer| {
            let settings = &ctx.config.consumers[consumer.index()].settings;
            settings.fetch.isolation
        });
        let offsets = partitions
            .iter()
            .map(|&index| {
                let partition = &self.partitions[index.index()];
                let offset = match partition.readable_by(at, isolation) {
                    None => Err(ErrorCode::NotLeaderOrFollower),
                    Some(_) if reset == OffsetReset::Earliest => {
                        Ok(Some(partition.log.start_offset()))
                    }
                    Some(end) => Ok(Some(end)),
                };
                (index, offset)
            })
            .collect();
        let bytes = SMALL_RESPONSE_BYTES + OFFSET_BYTES * partitions.len() as u32;
        self.answer_call(ctx, id, Answer::Offsets(offsets), bytes);
    }

    /// A fetch is answered at once if it finds enough or must not wait, or else waits.
    fn on_consumer_fetch(
        &mut self,
        ctx: &mut Context<'_>,
        (at, id): (BrokerIndex, CallId),
        fetch: &mut Fetch,
    ) {
        let bytes = self.read(at, fetch);
        let is_refused = fetch.parts.iter().any(|part| part.error.is_some());
        let is_enough = bytes >= u64::from(fetch.limits.min_bytes);
        if is_enough || is_refused || fetch.limits.max_wait_ms == 0 {
            return answer_fetch(self, ctx, id, fetch);
        }
        for part in &fetch.parts {
            self.partitions[part.partition.index()].readers.push(id);
        }
        let expires = ctx.now + SimSpan::from_millis(fetch.limits.max_wait_ms);
        put_back(ctx, id, fetch);
        ctx.queue
            .push(expires, Rank::broker(at), Event::FetchExpired(id));
    }

    /// Fills a fetch with what there is within its limits, and what of it is hidden; says how many
    /// bytes that are. The first partition that has records gets a batch, however large.
    fn read(&self, at: BrokerIndex, fetch: &mut Fetch) -> u64 {
        let mut total = 0;
        for part in &mut fetch.parts {
            let partition = &self.partitions[part.partition.index()];
            let log = &partition.log;
            (part.to, part.bytes, part.error) = (part.from, 0, None);
            part.decompression = SimSpan::ZERO;
            part.high_watermark = partition.high_watermark;
            let isolation = fetch.limits.isolation;
            let Some(readable_end) = partition.readable_by(at, isolation) else {
                part.error = Some(ErrorCode::NotLeaderOrFollower);
                continue;
            };
            part.high_watermark = readable_end;
            if part.from < log.start_offset() || part.from > log.end_offset() {
                part.error = Some(ErrorCode::OffsetOutOfRange);
                continue;
            }
            let room = u64::from(fetch.limits.max_bytes).saturating_sub(total);
            if room == 0 {
                continue;
            }
            let limit = room.min(u64::from(fetch.limits.max_partition_bytes));
            let least = if total == 0 {
                Least::OneBatch
            } else {
                Least::Nothing
            };
            let reach = (part.from, readable_end);
            (part.to, part.bytes) = log.read(reach, limit, least);
            part.decompression = partition.decompression_time(part.bytes);
            total += part.bytes;
            if partition.transactions().is_some() {
                let hide = match fetch.limits.isolation {
                    IsolationLevel::ReadUncommitted => Hide::Markers,
                    IsolationLevel::ReadCommitted => Hide::MarkersAndAborted,
                };
                let hidden = partition.hidden(part.from, part.to, hide).into_iter();
                let hidden = hidden.map(|(from, to)| (part.partition, from, to));
                fetch.hidden.extend(hidden);
            }
        }
        total
    }

    /// The high watermark of a partition moved, or its leader is gone: waiting fetches may be done.
    pub(super) fn wake_readers(&mut self, ctx: &mut Context<'_>, index: PartitionIndex) {
        if self.partitions[index.index()].readers.is_empty() {
            return;
        }
        for id in self.partitions[index.index()].readers.clone() {
            let Some(call) = ctx.calls.get_mut(id) else {
                self.forget_reader(id, index);
                continue;
            };
            let at = call.wire.broker();
            let Ask::Fetch(fetch) = &mut call.ask else {
                continue;
            };
            let mut fetch = Fetch {
                limits: fetch.limits,
                parts: std::mem::take(&mut fetch.parts),
                hidden: Vec::new(),
            };
            let bytes = self.read(at, &mut fetch);
            let is_refused = fetch.parts.iter().any(|part| part.error.is_some());
            if is_refused || bytes >= u64::from(fetch.limits.min_bytes) {
                self.forget_fetch(id, &fetch);
                answer_fetch(self, ctx, id, &mut fetch);
            } else {
                put_back(ctx, id, &mut fetch);
            }
        }
    }

    fn forget_reader(&mut self, id: CallId, index: PartitionIndex) {
        let readers = &mut self.partitions[index.index()].readers;
        readers.retain(|&reader| reader != id);
    }

    fn forget_fetch(&mut self, id: CallId, fetch: &Fetch) {
        for part in &fetch.parts {
            self.forget_reader(id, part.partition);
        }
    }

    /// `fetch.max.wait.ms` is over: the fetch gets what there is.
    pub(super) fn on_fetch_expired(&mut self, ctx: &mut Context<'_>, id: CallId) {
        let Some(call) = ctx.calls.get_mut(id) else {
            return;
        };
        let at = call.wire.broker();
        let Ask::Fetch(fetch) = &mut call.ask else {
            return;
        };
        let is_waiting = fetch.parts.first().is_some_and(|part| {
            let readers = &self.partitions[part.partition.index()].readers;
            readers.contains(&id)
        });
        if !is_waiting {
            return;
        }
        if !self.brokers[at.index()].is_serving() {
            let later = ctx.now + SimSpan::from_millis(fetch.limits.max_wait_ms.max(1));
            return ctx
                .queue
                .push(later, Rank::broker(at), Event::FetchExpired(id));
        }
        let mut fetch = Fetch {
            limits: fetch.limits,
            parts: std::mem::take(&mut fetch.parts),
            hidden: Vec::new(),
        };
        self.read(at, &mut fetch);
        self.forget_fetch(id, &fetch);
        answer_fetch(self, ctx, id, &mut fetch);
    }

    /// Answers a consumer and reads its connection's next request.
    pub(super) fn answer_call(
        &mut self,
        ctx: &mut Context<'_>,
        id: CallId,
        answer: Answer,
        bytes: u32,
    ) {
        let Some(wire) = ctx.calls.get(id).map(|call| call.wire) else {
            return;
        };
        let Some(end) = self.wire_end(wire) else {
            ctx.calls.take(id);
            return;
        };
        end.state = WireState::Idle;
        let next = end.pending.pop_front();
        if next.is_some() {
            end.state = WireState::Muted;
        }
        transmit(ctx, id, answer, bytes);
        if let Some(next) = next {
            self.start_call(ctx, wire.broker(), next);
        }
    }
}

fn answer_fetch(cluster: &mut Cluster, ctx: &mut Context<'_>, id: CallId, fetch: &mut Fetch) {
    let mut bytes = u64::from(FETCH_RESPONSE_BYTES);
    for part in &fetch.parts {
        if part.to > part.from || part.error.is_some() {
            bytes += part.bytes + u64::from(FETCH_RESPONSE_PARTITION_BYTES);
        }
    }
    put_back(ctx, id, fetch);
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    cluster.answer_call(ctx, id, Answer::Nothing, bytes);
}

/// Gives a fetch that was looked at back to its call.
fn put_back(ctx: &mut Context<'_>, id: CallId, fetch: &mut Fetch) {
    if let Some(call) = ctx.calls.get_mut(id)
        && let Ask::Fetch(kept) = &mut call.ask
    {
        kept.parts = std::mem::take(&mut fetch.parts);
        kept.hidden = std::mem::take(&mut fetch.hidden);
    }
}

/// Sends an answer.
fn transmit(ctx: &mut Context<'_>, id: CallId, answer: Answer, bytes: u32) {
    let Some(call) = ctx.calls.get_mut(id) else {
        return;
    };
    call.answer = answer;
    let wire = call.wire;
    deliver(ctx, wire, Message::Answer(id), bytes);
}

fn send_reset(ctx: &mut Context<'_>, wire: Wire) {
    deliver(ctx, wire, Message::WireReset(wire), SEGMENT_BYTES);
}

fn deliver(ctx: &mut Context<'_>, wire: Wire, message: Message, bytes: u32) {
    let link = ctx.network.consumer(wire.consumer, wire.broker());
    let transit = ctx
        .network
        .transmit((link, wire.lane()), Way::Back, ctx.now, bytes);
    let rank = Rank::broker(wire.broker());
    ctx.queue
        .push(transit.arrives, rank, Event::Deliver(message));
}
