//! Connections: made when messages or the main thread want them, and the wait between attempts.
//!
//! Source: `rd_kafka_broker_thread_main`, `rd_kafka_broker_update_reconnect_backoff`,
//! `rd_kafka_broker_fail`, `rd_kafka_connect_any`, `rd_kafka_rebootstrap`.

use crate::kafka::settings::RecoveryStrategy;
use crate::kafka::wire::api_versions_request_bytes;
use crate::sim::context::Context;
use crate::sim::event::Message as Wire;
use crate::sim::fact::{Disconnect, Fact};
use crate::sim::ids::BrokerIndex;
use crate::sim::producer::rdkafka::Rdkafka;
use crate::sim::producer::rdkafka::retry::Lost;
use crate::sim::producer::rdkafka::serve::{Health, Outgoing, Want};
use crate::sim::producer::wire::SEGMENT_BYTES;
use crate::sim::request::ApiKey;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::ConnectionState;

impl Rdkafka {
    /// When a request that is queued now is given up, whatever it carries.
    pub(super) fn socket_deadline(&self, now: SimTime) -> SimTime {
        now + SimSpan::from_millis(self.settings.connections.socket_timeout_ms)
    }

    fn state_of(&self, broker: BrokerIndex) -> ConnectionState {
        let slot = self.connections.slot_of(broker);
        self.connections.get(slot).state
    }

    fn brokers(&self) -> impl Iterator<Item = BrokerIndex> + use<> {
        (0..self.threads.len() as u16).map(BrokerIndex)
    }

    /// A broker whose connection stands, at random; if there is none, one is approached.
    pub(super) fn usable_broker(&mut self, now: SimTime) -> Option<BrokerIndex> {
        let up: Vec<BrokerIndex> = self
            .brokers()
            .filter(|&broker| self.state_of(broker) == ConnectionState::Ready)
            .collect();
        if up.is_empty() {
            self.connect_any(now);
            return None;
        }
        let place = self.draws.broker.below(up.len() as u64) as usize;
        up.get(place).copied()
    }

    /// Wants a connection to some broker, if none is under way or wanted.
    fn connect_any(&mut self, now: SimTime) {
        let is_under_way = |broker: BrokerIndex| {
            let is_wanted = self.threads[broker.index()].want == Want::Yes;
            is_wanted || self.state_of(broker) != ConnectionState::Disconnected
        };
        if self.brokers().any(is_under_way) {
            return;
        }
        // Those that never failed first: sparse connections do not try everybody at once.
        let of_health = |health: Health| -> Vec<BrokerIndex> {
            let is_so = |broker: &BrokerIndex| self.threads[broker.index()].health == health;
            self.brokers().filter(is_so).collect()
        };
        let mut candidates = of_health(Health::Fine);
        if candidates.is_empty() {
            candidates = of_health(Health::Down);
        }
        let place = self.draws.broker.below(candidates.len() as u64) as usize;
        if let Some(&broker) = candidates.get(place) {
            self.threads[broker.index()].want = Want::Yes;
            self.wake_thread(broker, now);
        }
    }

    /// A thread without connection makes one, if anything wants it and its wait is over.
    pub(super) fn keep_connected(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) {
        let slot = self.connections.slot_of(broker);
        if self.connections.get(slot).state != ConnectionState::Disconnected {
            return;
        }
        let thread = &self.threads[broker.index()];
        let queued = |&place: &u32| self.toppars[place as usize].queued.messages > 0;
        let is_wanted = thread.want == Want::Yes
            || !thread.outbufs.is_empty()
            || thread.toppars.iter().any(queued);
        if !is_wanted {
            return;
        }
        match thread.reconnect_at.filter(|&at| at > ctx.now) {
            Some(at) => {
                let thread = &mut self.threads[broker.index()];
                thread.wakes_at = thread.wakes_at.min(at);
            }
            None => self.connect(ctx, broker),
        }
    }

    fn connect(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) {
        self.update_backoff(ctx.now, broker);
        let slot = self.connections.slot_of(broker);
        let setup_ms = self.settings.connections.setup_timeout_ms;
        let connection = self.connections.get_mut(slot);
        connection.state = ConnectionState::Connecting;
        connection.generation += 1;
        connection.attempted = ctx.now;
        connection.used_ms = ctx.now.as_millis();
        connection.setup_deadline_ms = ctx.now.as_millis().saturating_add(setup_ms);
        let connect = Wire::Connect(self.connections.channel(slot));
        self.connections.emit(ctx, slot, connect, SEGMENT_BYTES);
        let statistics = &mut self.statistics.brokers[broker.index()];
        statistics.connects += 1;
        statistics.state_since = ctx.now;
    }

    /// The wait before the next attempt grows: when one starts, and again when it fails.
    fn update_backoff(&mut self, now: SimTime, broker: BrokerIndex) {
        let (first_ms, max_ms) = (
            self.settings.connections.reconnect_backoff_ms,
            self.settings.connections.reconnect_backoff_max_ms,
        );
        let thread = &mut self.threads[broker.index()];
        let is_long_ago = thread
            .reconnect_at
            .is_none_or(|at| at + SimSpan::from_millis(max_ms) < now);
        if is_long_ago {
            thread.backoff_ms = first_ms;
        }
        let base = thread.backoff_ms;
        let (least, most) = (base * 3 / 4, base * 3 / 2);
        let wait_ms = (least + self.draws.reconnect.below(most - least + 1)).min(max_ms);
        thread.reconnect_at = Some(now + SimSpan::from_millis(wait_ms));
        thread.backoff_ms = (base * 2).min(max_ms);
    }

    /// TCP stands: ApiVersions follows.
    pub(super) fn accepted(&mut self, ctx: &mut Context<'_>, slot: u16) {
        if self.connections.get(slot).state != ConnectionState::Connecting {
            return;
        }
        self.connections.get_mut(slot).state = ConnectionState::CheckingApiVersions;
        let request = self
            .connections
            .open_request(ctx, slot, ApiKey::ApiVersions);
        let out = Outgoing {
            request,
            api: ApiKey::ApiVersions,
            bytes: api_versions_request_bytes(self.client_id.len() as u32),
            queued: ctx.now,
            deadline: self.socket_deadline(ctx.now),
        };
        self.transmit(ctx, slot, out);
    }

    /// ApiVersions answered: the connection may be used.
    pub(super) fn connected(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) {
        let slot = self.connections.slot_of(broker);
        self.connections.get_mut(slot).state = ConnectionState::Ready;
        self.statistics.brokers[broker.index()].state_since = ctx.now;
        let thread = &mut self.threads[broker.index()];
        (thread.health, thread.want, thread.timed_out) = (Health::Fine, Want::No, 0);
        let fact = Fact::Connected {
            producer: self.me,
            node: self.connections.node_of(slot),
        };
        ctx.fact(self.rank, fact);
        self.wake_thread(broker, ctx.now);
        self.coordinator_may_be_up(broker, ctx.now);
    }

    /// A connection is gone, or could not be made: what was on it comes back.
    pub(super) fn lose_connection(&mut self, ctx: &mut Context<'_>, slot: u16, why: Disconnect) {
        let broker = self.connections.broker_of(slot);
        let connection = self.connections.get_mut(slot);
        let stood = connection.state == ConnectionState::Ready;
        let in_flight = std::mem::take(&mut connection.in_flight);
        let is_own_doing = !matches!(why, Disconnect::Reset | Disconnect::Refused);
        if is_own_doing {
            let closed = Wire::Closed(self.connections.channel(slot));
            self.connections.emit(ctx, slot, closed, SEGMENT_BYTES);
        }
        let connection = self.connections.get_mut(slot);
        connection.state = ConnectionState::Disconnected;
        connection.writable_at = SimTime::ZERO;
        if !stood {
            self.update_backoff(ctx.now, broker);
        }
        let fact = Fact::Disconnected {
            producer: self.me,
            node: self.connections.node_of(slot),
            why,
        };
        ctx.fact(self.rank, fact);
        let statistics = &mut self.statistics.brokers[broker.index()];
        statistics.disconnects += 1;
        statistics.state_since = ctx.now;
        let thread = &mut self.threads[broker.index()];
        thread.timed_out = 0;
        if !matches!(why, Disconnect::Idle | Disconnect::Local) {
            thread.health = Health::Down;
        }
        thread.want = Want::No;
        let outbufs = std::mem::take(&mut thread.outbufs);
        let (sent, waiting) = match why {
            Disconnect::RequestTimeout => (Lost::TimedOut, Lost::TimedOutQueue),
            _ => (Lost::Transport, Lost::NeverSent),
        };
        for request in in_flight {
            self.give_up(ctx, (request.request, request.api), sent);
        }
        for out in outbufs {
            // It never reached the world, which holds it no more.
            ctx.requests.release(out.request);
            self.give_up(ctx, (out.request, out.api), waiting);
        }
        self.wake_thread(broker, ctx.now);
        self.coordinator_may_be_down(broker, ctx.now);
        if !matches!(why, Disconnect::Idle | Disconnect::Local) {
            self.suspect_leaders(ctx.now);
            self.start_over_if_all_are_down(ctx);
        }
    }

    /// All connections failed: the client goes back to `bootstrap.servers`.
    fn start_over_if_all_are_down(&mut self, ctx: &mut Context<'_>) {
        let is_down = |thread: &super::serve::BrokerThread| thread.health == Health::Down;
        if !self.threads.iter().all(is_down) {
            return;
        }
        for thread in &mut self.threads {
            thread.health = Health::Fine;
        }
        if self.settings.metadata.recovery == RecoveryStrategy::Rebootstrap {
            ctx.fact(self.rank, Fact::Rebootstrapped { producer: self.me });
        }
    }
}
