//! A client's connections: one for each bootstrap address and one for each broker.
//!
//! Source: `NetworkClient`, `ClusterConnectionStates`, `InFlightRequests`. Connecting is a TCP
//! round trip and an ApiVersions round trip; then requests follow each other, up to
//! `max.in.flight.requests.per.connection` without response, the next one only when the previous
//! one is fully written.

use std::collections::VecDeque;

use crate::sim::fact::Node;
use crate::sim::ids::{BrokerIndex, ProducerIndex};
use crate::sim::queue::Rank;
use crate::sim::request::{ApiKey, RequestId};
use crate::sim::time::SimTime;
use crate::sim::view::ConnectionState;

/// All connections of one client.
#[derive(Clone, Debug)]
pub struct Connections {
    pub(super) me: ProducerIndex,
    pub(super) rank: Rank,
    list: Vec<Connection>,
    /// By slot: the answer to [`Connections::oldest_question`], but for slots in `touched`.
    asked: Vec<SimTime>,
    touched: Vec<Slot>,
    brokers: usize,
}

/// A connection's place: bootstrap addresses first, then brokers.
pub type Slot = u16;

/// One connection: a cache line of what every request asks, and one of the rest.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Connection {
    /// Requests without response, oldest first.
    pub in_flight: VecDeque<InFlight>,
    /// When the last request is fully written.
    pub writable_at: SimTime,
    /// When it was last used.
    pub used_ms: u64,
    /// Java: until when nothing is sent, because a broker said so (KIP-219); on the client's clock.
    pub throttled_until_ms: u64,
    /// How often it was made: what belongs to an earlier one is recognised.
    pub generation: u32,
    /// How far it is.
    pub state: ConnectionState,
    /// Disconnects since it was last ready.
    pub failed_attempts: u32,
    /// Attempts since it was last ready that ended in the setup timeout.
    pub setup_failures: u32,
    /// When it may be made again (milliseconds of the client's clock).
    pub retry_at_ms: u64,
    /// When the attempt to make it is given up.
    pub setup_deadline_ms: u64,
    /// When it was last attempted.
    pub attempted: SimTime,
    /// When the sender last could, and last did, send to it while it had something to send
    /// (`NodeLatencyStats`).
    pub latency_stats: (u64, u64),
}

/// One request without response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Which.
    pub request: RequestId,
    /// Which API.
    pub api: ApiKey,
    /// When it was sent.
    pub sent: SimTime,
    /// Java: how long the connection was throttled meanwhile, which does not count as waiting.
    pub throttled_ms: u64,
    /// librdkafka: when its own time is over.
    pub deadline: SimTime,
}

/// Whether, and from when on, a node may be sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usable {
    /// Now.
    Now,
    /// Not connected, and a connect may start now.
    Connectable,
    /// Not before this moment, when the previous request is written.
    At(SimTime),
    /// Not before the client's clock reads this, when a backoff is over.
    AtMs(u64),
    /// When a response or a connection comes: nothing to wait for by the clock.
    Later,
}

impl Connections {
    /// No connection yet, of this producer, in a cluster of so many brokers.
    pub fn new((me, rank): (ProducerIndex, Rank), brokers: usize) -> Self {
        let none = Connection {
            state: ConnectionState::Disconnected,
            generation: 0,
            in_flight: VecDeque::new(),
            failed_attempts: 0,
            setup_failures: 0,
            retry_at_ms: 0,
            setup_deadline_ms: u64::MAX,
            writable_at: SimTime::ZERO,
            used_ms: 0,
            attempted: SimTime::ZERO,
            throttled_until_ms: 0,
            latency_stats: (0, 0),
        };
        Self {
            me,
            rank,
            list: vec![none; brokers * 2],
            asked: vec![SimTime::NEVER; brokers * 2],
            touched: Vec::new(),
            brokers,
        }
    }

    /// All of them, with their places.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &Connection)> {
        self.list
            .iter()
            .enumerate()
            .map(|(slot, connection)| (slot as Slot, connection))
    }

    /// How many places there are.
    pub fn count(&self) -> Slot {
        self.list.len() as Slot
    }

    /// One of them.
    pub fn get(&self, slot: Slot) -> &Connection {
        &self.list[slot as usize]
    }

    /// One of them, to change it.
    pub fn get_mut(&mut self, slot: Slot) -> &mut Connection {
        if !self.touched.contains(&slot) {
            self.touched.push(slot);
        }
        &mut self.list[slot as usize]
    }

    /// The connection to a broker from metadata.
    pub fn slot_of(&self, broker: BrokerIndex) -> Slot {
        (self.brokers + broker.index()) as Slot
    }

    /// The connection to a bootstrap address.
    pub fn bootstrap_slot(broker: BrokerIndex) -> Slot {
        broker.0
    }

    /// The machine behind a connection.
    pub fn broker_of(&self, slot: Slot) -> BrokerIndex {
        BrokerIndex((slot as usize % self.brokers) as u16)
    }

    /// The node behind a connection, as metrics and messages name it.
    pub fn node_of(&self, slot: Slot) -> Node {
        let broker = self.broker_of(slot);
        if (slot as usize) < self.brokers {
            Node::Bootstrap(broker)
        } else {
            Node::Broker(broker)
        }
    }

    /// Requests without response, over all connections.
    pub fn in_flight(&self) -> usize {
        self.list
            .iter()
            .map(|connection| connection.in_flight.len())
            .sum()
    }

    /// When the oldest request without response was sent, or the oldest connect without outcome.
    pub fn oldest_question(&mut self) -> Option<SimTime> {
        for slot in self.touched.drain(..) {
            let asked = self.list[slot as usize].asked();
            self.asked[slot as usize] = asked.unwrap_or(SimTime::NEVER);
        }
        let oldest = self.asked.iter().min().copied();
        oldest.filter(|&asked| asked != SimTime::NEVER)
    }
}

impl Connection {
    /// When the oldest request without response was sent, or the connect without outcome.
    fn asked(&self) -> Option<SimTime> {
        let request = self.in_flight.front().map(|oldest| oldest.sent);
        let is_connecting = self.state == ConnectionState::Connecting;
        request.or(is_connecting.then_some(self.attempted))
    }

    /// Whether a request may be sent to this node.
    pub fn usable(&self, in_flight_max: u32, now: SimTime) -> Usable {
        match self.state {
            ConnectionState::Ready if self.is_throttled(now) => {
                Usable::AtMs(self.throttled_until_ms)
            }
            ConnectionState::Ready if self.in_flight.len() >= in_flight_max as usize => {
                Usable::Later
            }
            ConnectionState::Ready if self.writable_at > now => Usable::At(self.writable_at),
            ConnectionState::Ready => Usable::Now,
            ConnectionState::Connecting | ConnectionState::CheckingApiVersions => Usable::Later,
            ConnectionState::Disconnected if self.retry_at_ms > now.as_millis() => {
                Usable::AtMs(self.retry_at_ms)
            }
            ConnectionState::Disconnected => Usable::Connectable,
        }
    }

    /// When the oldest request without response, or the attempt to connect, times out: the first
    /// moment of the client's clock that is more than the timeout later.
    pub fn deadline_ms(&self, request_timeout_ms: u64) -> u64 {
        let setup = match self.state {
            ConnectionState::Connecting => self.setup_deadline_ms,
            _ => u64::MAX,
        };
        // Nearly always the oldest; a younger one may have missed a throttle time.
        let deadline = |sent: &InFlight| {
            let sent_ms = sent.sent.as_millis() + sent.throttled_ms;
            sent_ms.saturating_add(request_timeout_ms + 1)
        };
        let request = self.in_flight.iter().map(deadline).min();
        setup.min(request.unwrap_or(u64::MAX))
    }

    /// When it has idled for too long, on the client's clock; never while it is not idle.
    pub fn idle_deadline_ms(&self, connections_max_idle_ms: u64) -> u64 {
        if self.state == ConnectionState::Ready && self.in_flight.is_empty() {
            self.used_ms.saturating_add(connections_max_idle_ms)
        } else {
            u64::MAX
        }
    }

    /// Whether a broker's word keeps the client from sending.
    pub fn is_throttled(&self, now: SimTime) -> bool {
        self.throttled_until_ms > now.as_millis()
    }

    /// An answer said for how long nothing may be sent.
    ///
    /// Source: `NetworkClient.maybeThrottle`.
    pub fn throttle(&mut self, throttle_ms: u32, now: SimTime) {
        let throttle_ms = u64::from(throttle_ms);
        for sent in &mut self.in_flight {
            sent.throttled_ms += throttle_ms;
        }
        let until_ms = now.as_millis() + throttle_ms;
        self.throttled_until_ms = self.throttled_until_ms.max(until_ms);
    }
}
