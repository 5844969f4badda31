//! A consumer's connections and the calls on them: connecting, sending, disconnects, timeouts.
//!
//! Two connections to a broker at most: one for records and metadata, and one for its group's
//! coordinator, which Kafka treats as a node of its own, so that a waiting fetch does not hold up
//! a heartbeat.
//!
//! Simplifications: bootstrap addresses are the brokers themselves, so the first connection is
//! also the one for records; idle connections stay open.

use crate::sim::consumer::Consumer;
use crate::sim::consumer::call::{Ask, CallId, Identity, Wire};
use crate::sim::context::Context;
use crate::sim::event::{Event, Message};
use crate::sim::ids::BrokerIndex;
use crate::sim::network::{Lane, Way};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::ConnectionState;

/// Bytes of a TCP segment without payload.
const SEGMENT_BYTES: u32 = 40;
/// How much longer than `max.poll.interval.ms` an answer to `JoinGroup` is waited for
/// (`AbstractCoordinator.JOIN_GROUP_TIMEOUT_LAPSE`).
const JOIN_TIMEOUT_LAPSE: SimSpan = SimSpan::from_seconds(5);

/// The client's clock ticks in milliseconds: a timeout of 0 is over at its next tick.
const TIMEOUT_MIN: SimSpan = SimSpan::from_millis(1);

/// One connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) state: ConnectionState,
    generation: u32,
    /// Disconnects since it was last ready.
    failed_attempts: u32,
    /// When it may be made again.
    retry_at: SimTime,
    /// When the attempt to make it is given up.
    setup_deadline: SimTime,
}

/// What a call that is under way is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Connect,
    ApiVersions,
    Metadata,
    FindCoordinator,
    Join,
    Sync,
    Heartbeat,
    Leave,
    Commit,
    Committed,
    ListOffsets,
    Fetch,
}

/// One call without answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) id: CallId,
    pub(super) about: About,
    pub(super) broker: BrokerIndex,
    pub(super) lane: Lane,
    pub(super) at: SimTime,
    /// As which member of which generation.
    pub(super) identity: Identity,
    deadline: SimTime,
}

impl Connection {
    pub(super) fn none() -> Self {
        Self {
            state: ConnectionState::Disconnected,
            generation: 0,
            failed_attempts: 0,
            retry_at: SimTime::ZERO,
            setup_deadline: SimTime::NEVER,
        }
    }
}

impl Consumer {
    /// Whether a call of this kind is under way.
    pub(super) fn is_asking(&self, about: About) -> bool {
        self.sent.iter().any(|sent| sent.about == about)
    }

    /// Whether a call of this kind is under way to this broker.
    pub(super) fn is_asking_at(&self, about: About, broker: BrokerIndex) -> bool {
        self.sent
            .iter()
            .any(|sent| sent.about == about && sent.broker == broker)
    }

    fn wire(&self, broker: BrokerIndex, lane: Lane) -> Wire {
        let generation = self.connections[place(broker, lane)].generation;
        Wire::new(self.me, (broker, lane), generation)
    }

    /// Whether a connection is ready; begins to make it if it may be made, or remembers when.
    pub(super) fn approach(
        &mut self,
        ctx: &mut Context<'_>,
        broker: BrokerIndex,
        lane: Lane,
    ) -> bool {
        let connection = &mut self.connections[place(broker, lane)];
        match connection.state {
            ConnectionState::Ready => return true,
            ConnectionState::Connecting | ConnectionState::CheckingApiVersions => {}
            ConnectionState::Disconnected if connection.retry_at > ctx.now => {
                let retry_at = connection.retry_at;
                self.wake_by(retry_at);
            }
            ConnectionState::Disconnected => {
                connection.state = ConnectionState::Connecting;
                connection.generation += 1;
                let failed = connection.failed_attempts;
                let timeout = self.settings.connection_setup_timeout;
                let wait_ms = timeout.backoff_ms(failed, self.draws.bits32());
                let deadline = ctx.now + SimSpan::from_millis(wait_ms);
                self.connections[place(broker, lane)].setup_deadline = deadline;
                let link = ctx.network.consumer(self.me, broker);
                ctx.network.connect((link, lane), Way::Forth);
                self.call(
                    ctx,
                    (broker, lane),
                    (About::Connect, Ask::Connect),
                    SEGMENT_BYTES,
                );
            }
        }
        false
    }

    /// Puts a call on the wire.
    pub(super) fn call(
        &mut self,
        ctx: &mut Context<'_>,
        (broker, lane): (BrokerIndex, Lane),
        (about, ask): (About, Ask),
        bytes: u32,
    ) {
        let timeout = match about {
            About::Connect => {
                let deadline = self.connections[place(broker, lane)].setup_deadline;
                deadline.since(ctx.now)
            }
            About::Join => {
                let rebalance = SimSpan::from_millis(self.settings.max_poll_interval_ms);
                self.request_timeout().max(rebalance + JOIN_TIMEOUT_LAPSE)
            }
            _ => self.request_timeout(),
        };
        let id = ctx.calls.open(self.wire(broker, lane), ask);
        let link = ctx.network.consumer(self.me, broker);
        let transit = ctx
            .network
            .transmit((link, lane), Way::Forth, ctx.now, bytes);
        ctx.queue.push(
            transit.arrives,
            self.rank,
            Event::Deliver(Message::Call(id)),
        );
        self.sent.push(Sent {
            id,
            about,
            broker,
            lane,
            at: ctx.now,
            identity: self.identity(),
            deadline: ctx.now + timeout.max(TIMEOUT_MIN),
        });
    }

    fn request_timeout(&self) -> SimSpan {
        SimSpan::from_millis(self.settings.request_timeout_ms)
    }

    /// The broker took the connection: ApiVersions follows.
    pub(super) fn on_accepted(&mut self, ctx: &mut Context<'_>, sent: Sent) {
        let connection = &mut self.connections[place(sent.broker, sent.lane)];
        connection.state = ConnectionState::CheckingApiVersions;
        let bytes = crate::kafka::wire::api_versions_request_bytes(self.client_id_bytes());
        let ask = (About::ApiVersions, Ask::ApiVersions);
        self.call(ctx, (sent.broker, sent.lane), ask, bytes);
    }

    /// The connection may be used.
    pub(super) fn on_ready(&mut self, sent: Sent) {
        let connection = &mut self.connections[place(sent.broker, sent.lane)];
        connection.state = ConnectionState::Ready;
        connection.failed_attempts = 0;
    }

    /// A connection is gone, or could not be made: its calls fail.
    pub(super) fn disconnect(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex, lane: Lane) {
        let draw = self.draws.bits32();
        let connection = &mut self.connections[place(broker, lane)];
        connection.state = ConnectionState::Disconnected;
        let backoff = self.settings.reconnect_backoff;
        let wait_ms = backoff.backoff_ms(connection.failed_attempts, draw);
        connection.retry_at = ctx.now + SimSpan::from_millis(wait_ms);
        connection.failed_attempts = connection.failed_attempts.saturating_add(1);
        let is_here = |sent: &Sent| sent.broker == broker && sent.lane == lane;
        let lost: Vec<Sent> = self.sent.iter().copied().filter(is_here).collect();
        self.sent.retain(|sent| !is_here(sent));
        for sent in lost {
            self.on_lost(ctx, sent);
        }
        self.metadata.request_update();
    }

    /// The consumer closes a connection by itself.
    fn hang_up(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex, lane: Lane) {
        let wire = self.wire(broker, lane);
        let link = ctx.network.consumer(self.me, broker);
        let transit = ctx
            .network
            .transmit((link, lane), Way::Forth, ctx.now, SEGMENT_BYTES);
        let event = Event::Deliver(Message::WireClosed(wire));
        ctx.queue.push(transit.arrives, self.rank, event);
    }

    /// The process is gone: its sockets close, and nothing is waited for.
    pub(super) fn hang_up_all(&mut self, ctx: &mut Context<'_>) {
        for broker in 0..self.connections.len() / 2 {
            let broker = BrokerIndex(broker as u16);
            for lane in [Lane::Regular, Lane::Bootstrap] {
                if self.connections[place(broker, lane)].state != ConnectionState::Disconnected {
                    self.hang_up(ctx, broker, lane);
                }
                let generation = self.connections[place(broker, lane)].generation;
                self.connections[place(broker, lane)] = Connection {
                    generation,
                    ..Connection::none()
                };
            }
        }
        self.sent.clear();
    }

    /// Calls, and attempts to connect, that took too long end their connection.
    pub(super) fn time_out(&mut self, ctx: &mut Context<'_>) {
        while let Some(late) = self.sent.iter().find(|sent| sent.deadline <= ctx.now) {
            let (broker, lane) = (late.broker, late.lane);
            self.hang_up(ctx, broker, lane);
            self.disconnect(ctx, broker, lane);
        }
    }

    /// When the next call has taken too long.
    pub(super) fn next_timeout(&self) -> SimTime {
        let deadlines = self.sent.iter().map(|sent| sent.deadline);
        deadlines.min().unwrap_or(SimTime::NEVER)
    }

    /// Whether an answer came on the connection that it was asked on.
    pub(super) fn is_current(&self, wire: Wire) -> bool {
        self.connections[place(wire.broker(), wire.lane())].generation == wire.generation
    }

    /// A broker to ask that is not busy: one that is connected, or else one to connect to, from a
    /// random start (`leastLoadedNode`).
    pub(super) fn least_loaded(&mut self) -> Option<BrokerIndex> {
        let count = self.connections.len() / 2;
        let known = |broker: &usize| {
            self.metadata
                .image
                .as_ref()
                .is_none_or(|image| image.unfenced[*broker])
        };
        let mut brokers: Vec<usize> = (0..count).filter(known).collect();
        if brokers.is_empty() {
            brokers = (0..count).collect();
        }
        let start = self.draws.below(brokers.len() as u64) as usize;
        brokers.rotate_left(start);
        let calls = |broker: usize| {
            let here = |sent: &&Sent| sent.broker.index() == broker && sent.lane == Lane::Regular;
            self.sent.iter().filter(here).count()
        };
        let rank = |&broker: &usize| {
            let index = BrokerIndex(broker as u16);
            let connection = &self.connections[place(index, Lane::Regular)];
            match connection.state {
                ConnectionState::Ready => (0, calls(broker), SimTime::ZERO),
                ConnectionState::Connecting | ConnectionState::CheckingApiVersions => {
                    (1, 0, SimTime::ZERO)
                }
                ConnectionState::Disconnected => (2, 0, connection.retry_at),
            }
        };
        let best = brokers.into_iter().min_by_key(rank)?;
        Some(BrokerIndex(best as u16))
    }
}

fn place(broker: BrokerIndex, lane: Lane) -> usize {
    broker.index() * 2 + lane as usize
}
