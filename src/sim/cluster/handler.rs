//! Requests of clients: connections, purgatory, answers.
//!
//! Source: `SocketServer.Processor`, `KafkaApis.handleProduceRequest`, `ReplicaManager`,
//! `DelayedProduce`.

use crate::kafka::error::ErrorCode;
use crate::kafka::wire::{
    API_VERSIONS_RESPONSE_BYTES, PRODUCER_ID_RESPONSE_BYTES, TopicMetadataSize,
    metadata_response_bytes,
};
use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::{Connection, Process, Socket};
use crate::sim::config::{Config, MovedLeader};
use crate::sim::context::Context;
use crate::sim::event::{Channel, Event, Message};
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex};
use crate::sim::metadata::Image;
use crate::sim::network::Way;
use crate::sim::partition::Waiting;
use crate::sim::queue::Rank;
use crate::sim::request::{ApiKey, RequestId};
use crate::sim::time::SimSpan;

/// Bytes of a TCP segment without payload (handshake, reset): IPv4 and TCP headers.
const SEGMENT_BYTES: u32 = 40;

impl Cluster {
    /// A client wants a connection.
    pub(super) fn on_connect(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, channel: Channel) {
        let broker = &mut self.brokers[at.index()];
        if matches!(broker.process, Process::Down | Process::Starting) {
            send(ctx, at, Message::Refused(channel), SEGMENT_BYTES);
            return;
        }
        let place = broker.place(channel);
        let earlier = std::mem::take(&mut broker.connections[place].pending);
        broker.requests -= earlier.len() as u32;
        for request in earlier {
            ctx.requests.release(request);
        }
        broker.connections[place] = Connection {
            generation: channel.generation,
            state: Socket::Idle,
            pending: std::collections::VecDeque::new(),
        };
        let lane = channel.lane(ctx.config.brokers.len());
        let link = ctx.network.client(channel.producer, at);
        ctx.network.connect((link, lane), Way::Back);
        send(ctx, at, Message::Accepted(channel), SEGMENT_BYTES);
    }

    /// A client closed its end: what it sent and nobody read is gone; what is in hand goes on.
    pub(super) fn on_closed(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, channel: Channel) {
        let broker = &mut self.brokers[at.index()];
        let Some(connection) = broker.connection(channel) else {
            return;
        };
        connection.state = Socket::Closed;
        let pending = std::mem::take(&mut connection.pending);
        broker.requests -= pending.len() as u32;
        for request in pending {
            ctx.requests.release(request);
        }
    }

    /// A request is in the socket buffer.
    pub(super) fn on_request(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, id: RequestId) {
        let channel = ctx.requests.get(id).channel;
        let broker = &mut self.brokers[at.index()];
        let Some(connection) = broker.connection(channel) else {
            ctx.requests.release(id);
            if matches!(broker.process, Process::Down | Process::Starting) {
                send(ctx, at, Message::Reset(channel), SEGMENT_BYTES);
            }
            return;
        };
        ctx.requests.get_mut(id).arrived = ctx.now;
        if connection.state.is_muted() {
            connection.pending.push_back(id);
            broker.requests += 1;
            return;
        }
        connection.state = connection.state.muted();
        broker.requests += 1;
        self.start_request(ctx, at, id);
    }

    /// A handler takes the request. What it appends takes time: the handler's own, compression that
    /// its topic wants anew, and then the disk's; other requests take none unless the broker is
    /// slowed down.
    fn start_request(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, id: RequestId) {
        let mut done = ctx.now + self.brokers[at.index()].slowed_by;
        if ctx.requests.get(id).api == ApiKey::Produce {
            let (bytes, took) = self.recompress(ctx, at, id);
            let broker = &mut self.brokers[at.index()];
            done = broker.disk.write(done + broker.request_time + took, bytes);
        }
        let broker = &self.brokers[at.index()];
        let incarnation = broker.incarnation;
        let event = Event::RequestHandled {
            broker: at,
            incarnation,
            request: id,
        };
        ctx.queue.push(done, Rank::broker(at), event);
    }

    /// Handler and disk are done: the request takes effect.
    pub(super) fn on_request_handled(
        &mut self,
        ctx: &mut Context<'_>,
        (at, incarnation): (BrokerIndex, u32),
        id: RequestId,
    ) {
        let broker = &mut self.brokers[at.index()];
        if broker.incarnation != incarnation {
            ctx.requests.release(id);
            return;
        }
        if broker.process == Process::Paused {
            broker.stalled_handled.push_back(id);
            return;
        }
        match ctx.requests.get(id).api {
            ApiKey::ApiVersions => self.answer(ctx, at, id, API_VERSIONS_RESPONSE_BYTES),
            ApiKey::Metadata => self.answer_metadata(ctx, at, id),
            ApiKey::InitProducerId => {
                let producer_id = self.controller.next_producer_id(at);
                ctx.requests.get_mut(id).producer_id = (producer_id, 0);
                self.answer(ctx, at, id, PRODUCER_ID_RESPONSE_BYTES);
            }
            ApiKey::Transactional => self.on_transactional(ctx, at, id),
            ApiKey::Produce => self.handle_produce(ctx, at, id),
        }
    }

    #[cold]
    fn answer_metadata(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, id: RequestId) {
        let image = self.brokers[at.index()].image.clone();
        let topics = ctx.requests.get(id).topics.clone();
        let bytes = self.metadata_bytes(ctx.config, &image, &topics);
        self.auto_create(ctx, &topics);
        ctx.requests.get_mut(id).image = Some(image);
        self.answer(ctx, at, id, bytes);
    }

    /// Bytes of an answer about these topics.
    pub(super) fn metadata_bytes(
        &self,
        config: &Config,
        image: &Image,
        topics: &[TopicIndex],
    ) -> u32 {
        let brokers = image.unfenced.iter().filter(|&&unfenced| unfenced).count() as u32;
        let racks = config.brokers.iter().zip(&image.unfenced);
        let racks = racks.filter(|(_, unfenced)| **unfenced);
        let rack_bytes = racks.map(|(broker, _)| broker.rack.as_ref().map_or(0, String::len));
        let rack_bytes = rack_bytes.sum::<usize>() as u32;
        let topics: Vec<_> = topics
            .iter()
            .map(|&topic| {
                let known = &image.topic(topic).partitions;
                let replicas = known.first().map_or(0, |first| {
                    self.partitions[first.index()].replicas.len() as u32
                });
                let partitions = known.len() as u32;
                TopicMetadataSize {
                    name_bytes: config.topics[topic.index()].name.len() as u32,
                    partitions,
                    replica_entries: partitions * replicas * 2,
                }
            })
            .collect();
        metadata_response_bytes(brokers, &topics).saturating_add(rack_bytes)
    }

    /// The high watermark of a partition moved, or its leader is gone: requests may be done.
    pub(super) fn check_purgatory(&mut self, ctx: &mut Context<'_>, index: PartitionIndex) {
        self.wake_readers(ctx, index);
        if self.transactions.waits_for_replicas() {
            self.look_at_own_appends(ctx, index);
        }
        let partition = &mut self.partitions[index.index()];
        if partition.purgatory.is_empty() {
            return;
        }
        let leader = partition.serving.map(|(leader, _)| leader);
        let has_enough = partition.maximal_isr() >= partition.effective_min_isr();
        let high_watermark = partition.high_watermark;
        let mut purgatory = std::mem::take(&mut partition.purgatory);
        let verdict = |waiting: &Waiting, broker| {
            if leader == Some(broker) {
                committed(waiting, high_watermark, has_enough)
            } else {
                Some(End::Failed(ErrorCode::NotLeaderOrFollower))
            }
        };
        let done = leave(ctx, &mut purgatory, verdict);
        self.partitions[index.index()].purgatory = purgatory;
        for request in done {
            let at = ctx.requests.get(request).broker;
            self.answer_produce(ctx, at, request);
        }
    }

    /// The same at a leader that does not know that it was deposed.
    pub(super) fn check_stale_purgatory(
        &mut self,
        ctx: &mut Context<'_>,
        (at, index): (BrokerIndex, PartitionIndex),
    ) {
        let partition = &mut self.partitions[index.index()];
        let min_isr = partition.effective_min_isr();
        let Some(leader) = partition.stale.iter_mut().find(|l| l.broker == at) else {
            return;
        };
        let (high_watermark, has_enough) = (leader.high_watermark, leader.has_enough(min_isr));
        let done = leave(ctx, &mut leader.purgatory, |waiting, _| {
            committed(waiting, high_watermark, has_enough)
        });
        for request in done {
            self.answer_produce(ctx, at, request);
        }
    }

    /// A deposed leader hears of it: all who wait at it do, too.
    pub(super) fn end_stale_office(
        &mut self,
        ctx: &mut Context<'_>,
        (at, index): (BrokerIndex, PartitionIndex),
    ) {
        let Some(mut leader) = self.partitions[index.index()].step_down(at) else {
            return;
        };
        let refused = |_: &Waiting, _| Some(End::Failed(ErrorCode::NotLeaderOrFollower));
        let done = leave(ctx, &mut leader.purgatory, refused);
        for request in done {
            self.answer_produce(ctx, at, request);
        }
        self.wake_readers(ctx, index);
    }

    /// `timeoutMs` of an acks=all request is over: what is not replicated is reported as such and
    /// stays in the log.
    pub(super) fn on_purgatory_expired(&mut self, ctx: &mut Context<'_>, id: RequestId) {
        if !ctx.requests.is_live(id) || ctx.requests.get(id).waiting == 0 {
            return;
        }
        self.leave_purgatory(ctx, id, ErrorCode::RequestTimedOut);
        let at = ctx.requests.get(id).broker;
        self.answer_produce(ctx, at, id);
    }

    /// Takes a request out of every purgatory it waits in.
    pub(super) fn leave_purgatory(
        &mut self,
        ctx: &mut Context<'_>,
        id: RequestId,
        error: ErrorCode,
    ) {
        let request = ctx.requests.get_mut(id);
        for part in &mut request.parts {
            let partition = &mut self.partitions[part.partition.index()];
            let stale = partition.stale.iter_mut().map(|l| &mut l.purgatory);
            for purgatory in std::iter::once(&mut partition.purgatory).chain(stale) {
                let before = purgatory.len();
                purgatory.retain(|waiting| waiting.request != id);
                if purgatory.len() < before {
                    part.error = Some(error);
                }
            }
        }
        request.waiting = 0;
    }

    pub(super) fn answer_produce(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, id: RequestId) {
        let request = ctx.requests.get_mut(id);
        let image = &self.brokers[at.index()].image;
        let is_named = ctx.config.moved_leader == MovedLeader::Named;
        for part in &mut request.parts {
            if is_named && part.error == Some(ErrorCode::NotLeaderOrFollower) {
                part.current_leader = current_leader(image, at, part.partition);
            }
        }
        let bytes = request.response_bytes;
        self.answer(ctx, at, id, bytes);
    }

    /// acks=0: no response; a refusal closes the connection, which is all that the client notices.
    pub(super) fn finish_unanswered(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        id: RequestId,
        is_refused: bool,
    ) {
        let channel = ctx.requests.get(id).channel;
        if is_refused {
            self.on_closed(ctx, at, channel);
            send(ctx, at, Message::Reset(channel), SEGMENT_BYTES);
        }
        let throttle_ms = self.throttle_ms(ctx, at, id);
        ctx.requests.release(id);
        self.unmute(ctx, (at, throttle_ms), channel);
    }

    /// Sends the response and reads the connection's next request.
    pub(super) fn answer(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        id: RequestId,
        bytes: u32,
    ) {
        let throttle_ms = self.throttle_ms(ctx, at, id);
        let (channel, api) = {
            let request = ctx.requests.get_mut(id);
            request.answered = ctx.now;
            request.throttle_ms = throttle_ms;
            (request.channel, request.api)
        };
        let broker = &mut self.brokers[at.index()];
        let wants_swallow = broker.swallow > 0 && api == ApiKey::Produce;
        let Some(connection) = broker.connection(channel) else {
            broker.requests -= 1;
            ctx.requests.release(id);
            return;
        };
        if wants_swallow && !connection.state.swallows() {
            connection.state = Socket::SwallowingMuted;
            broker.swallow -= 1;
        }
        let vanishes = broker
            .connection(channel)
            .is_some_and(|c| c.state.swallows());
        if vanishes {
            ctx.requests.release(id);
        } else {
            send(ctx, at, Message::Response(id), bytes);
        }
        self.brokers[at.index()].produce_requests += u64::from(api == ApiKey::Produce);
        self.unmute(ctx, (at, throttle_ms), channel);
    }

    /// A request is done: the next one of its connection is read, at once or, from a client over
    /// its quota, when it was throttled for long enough (KIP-219).
    fn unmute(
        &mut self,
        ctx: &mut Context<'_>,
        (at, throttle_ms): (BrokerIndex, u32),
        channel: Channel,
    ) {
        self.brokers[at.index()].requests -= 1;
        if throttle_ms == 0 {
            self.read_next(ctx, at, channel);
        } else {
            let over = ctx.now + SimSpan::from_millis(u64::from(throttle_ms));
            let event = Event::ThrottleOver {
                broker: at,
                channel,
            };
            ctx.queue.push(over, Rank::broker(at), event);
        }
    }

    /// Reads a connection again.
    pub(super) fn read_next(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, channel: Channel) {
        let broker = &mut self.brokers[at.index()];
        let Some(connection) = broker.connection(channel) else {
            return;
        };
        connection.state = connection.state.unmuted();
        if let Some(next) = connection.pending.pop_front() {
            connection.state = connection.state.muted();
            self.start_request(ctx, at, next);
        }
    }
}

/// Whom a broker knows to lead a partition in its place.
fn current_leader(
    image: &Image,
    at: BrokerIndex,
    partition: PartitionIndex,
) -> Option<(BrokerIndex, u32)> {
    let state = image.find(partition)?;
    let leader = state.leader.filter(|&leader| leader != at)?;
    Some((leader, state.epoch))
}

/// How a batch in purgatory ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Its records are committed.
    Committed,
    /// With an error.
    Failed(ErrorCode),
}

/// Whether a waiting batch is done: its records are committed, and as many replicas are in sync as
/// that takes (`DelayedProduce`).
fn committed(waiting: &Waiting, high_watermark: u64, has_enough: bool) -> Option<End> {
    let is_committed = high_watermark >= waiting.required_offset;
    is_committed.then_some(if has_enough {
        End::Committed
    } else {
        End::Failed(ErrorCode::NotEnoughReplicasAfterAppend)
    })
}

/// Takes what is done out of a purgatory; gives the requests that wait for nothing else.
fn leave(
    ctx: &mut Context<'_>,
    purgatory: &mut Vec<Waiting>,
    verdict: impl Fn(&Waiting, BrokerIndex) -> Option<End>,
) -> Vec<RequestId> {
    let mut done = Vec::new();
    purgatory.retain(|waiting| {
        let request = ctx.requests.get_mut(waiting.request);
        let Some(end) = verdict(waiting, request.broker) else {
            return true;
        };
        if let End::Failed(error) = end {
            request.parts[waiting.part as usize].error = Some(error);
        }
        request.waiting -= 1;
        if request.waiting == 0 {
            done.push(waiting.request);
        }
        false
    });
    done
}

/// Sends a message from a broker to a client.
pub(super) fn send(ctx: &mut Context<'_>, at: BrokerIndex, message: Message, bytes: u32) {
    let channel = match message {
        Message::Response(id) => ctx.requests.get(id).channel,
        Message::Accepted(channel) | Message::Refused(channel) | Message::Reset(channel) => channel,
        _ => return,
    };
    let producer = channel.producer;
    let lane = channel.lane(ctx.config.brokers.len());
    let link = (ctx.network.client(producer, at), lane);
    let transit = ctx.network.transmit(link, Way::Back, ctx.now, bytes);
    ctx.network.expect(producer, transit.arrives);
    ctx.queue
        .push(transit.arrives, Rank::broker(at), Event::Deliver(message));
}
