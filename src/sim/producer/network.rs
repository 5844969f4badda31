//! `NetworkClient`: connecting, sending, disconnects, timeouts, metadata requests, rebootstrap.

use crate::kafka::error::ErrorCode;
use crate::kafka::settings::RecoveryStrategy;
use crate::kafka::wire::{
    api_versions_request_bytes, init_producer_id_request_bytes, metadata_request_bytes,
};
use crate::sim::context::Context;
use crate::sim::event::Message;
use crate::sim::fact::{Disconnect, Fact};
use crate::sim::producer::client::{Client, Closing, Woken};
use crate::sim::producer::connections::{Connection, InFlight, Slot, Usable};
use crate::sim::producer::idempotence::ProducerIdState;
use crate::sim::producer::wire::SEGMENT_BYTES;
use crate::sim::request::{ApiKey, RequestId};
use crate::sim::time::SimTime;
use crate::sim::view::ConnectionState;

/// What `leastLoadedNode` found.
pub(super) enum LeastLoaded {
    /// A node to send to, or to connect to.
    Node(Slot),
    /// Only connections under way, or busy ones.
    Wait,
    /// Every known node is disconnected and in backoff.
    Nobody,
}

impl Client {
    /// Starts to connect.
    #[cold]
    pub(super) fn connect(&mut self, ctx: &mut Context<'_>, slot: Slot) {
        let now_ms = ctx.now.as_millis();
        let draw = self.draws.reconnect.bits32();
        let connection = self.connections.get_mut(slot);
        connection.state = ConnectionState::Connecting;
        connection.generation += 1;
        connection.attempted = ctx.now;
        connection.used_ms = now_ms;
        let failures = connection.setup_failures;
        let timeout = self.settings.connection_setup_timeout;
        connection.setup_deadline_ms = timeout.map_or(u64::MAX, |timeout| {
            now_ms.saturating_add(timeout.backoff_ms(failures, draw) + 1)
        });
        let deadline_ms = connection.setup_deadline_ms;
        self.timeout_not_before_ms = self.timeout_not_before_ms.min(deadline_ms);
        self.metrics.connection_opened(now_ms);
        let connect = Message::Connect(self.connections.channel(slot));
        self.connections.emit(ctx, slot, connect, SEGMENT_BYTES);
    }

    /// Puts a request on the wire.
    pub(super) fn transmit(
        &mut self,
        ctx: &mut Context<'_>,
        slot: Slot,
        id: RequestId,
        bytes: u32,
    ) {
        let now_ms = ctx.now.as_millis();
        let request = ctx.requests.get_mut(id);
        request.bytes = bytes;
        let api = request.api;
        let written = self
            .connections
            .emit(ctx, slot, Message::Request(id), bytes);
        self.metrics.request_sent(slot as usize, bytes, now_ms);
        let connection = self.connections.get_mut(slot);
        connection.writable_at = written;
        connection.used_ms = now_ms;
        connection.in_flight.push_back(InFlight {
            request: id,
            api,
            sent: ctx.now,
            throttled_ms: 0,
            deadline: SimTime::NEVER,
        });
    }

    /// TCP stands: ApiVersions follows.
    pub fn on_accepted(&mut self, ctx: &mut Context<'_>, slot: Slot) {
        if self.connections.get(slot).state != ConnectionState::Connecting {
            return;
        }
        self.connections.get_mut(slot).state = ConnectionState::CheckingApiVersions;
        let id = self
            .connections
            .open_request(ctx, slot, ApiKey::ApiVersions);
        let bytes = api_versions_request_bytes(self.client_id.len() as u32);
        self.transmit(ctx, slot, id, bytes);
    }

    /// ApiVersions answered: the connection may be used.
    #[cold]
    pub(super) fn on_ready(&mut self, ctx: &mut Context<'_>, slot: Slot) {
        let connection = self.connections.get_mut(slot);
        connection.state = ConnectionState::Ready;
        (connection.failed_attempts, connection.setup_failures) = (0, 0);
        let node = self.connections.node_of(slot);
        ctx.fact(
            self.rank,
            Fact::Connected {
                producer: self.me,
                node,
            },
        );
    }

    /// A connection is gone: its requests fail, metadata is suspect, backoff begins.
    #[cold]
    pub fn disconnect(&mut self, ctx: &mut Context<'_>, slot: Slot, why: Disconnect) {
        let now_ms = ctx.now.as_millis();
        let draw = self.draws.reconnect.bits32();
        let backoff = self.settings.reconnect_backoff;
        let node = self.connections.node_of(slot);
        let connection = self.connections.get_mut(slot);
        let was_connecting = connection.state == ConnectionState::Connecting;
        connection.state = ConnectionState::Disconnected;
        connection.retry_at_ms = now_ms + backoff.backoff_ms(connection.failed_attempts, draw);
        connection.failed_attempts = connection.failed_attempts.saturating_add(1);
        if was_connecting && why == Disconnect::SetupTimeout {
            connection.setup_failures = connection.setup_failures.saturating_add(1);
        }
        let in_flight = std::mem::take(&mut connection.in_flight);
        self.metrics.connection_closed(now_ms);
        let is_own_doing = !matches!(why, Disconnect::Reset | Disconnect::Refused);
        if is_own_doing {
            let closed = Message::Closed(self.connections.channel(slot));
            self.connections.emit(ctx, slot, closed, SEGMENT_BYTES);
        }
        ctx.fact(
            self.rank,
            Fact::Disconnected {
                producer: self.me,
                node,
                why,
            },
        );
        let error = match why {
            Disconnect::RequestTimeout => ErrorCode::RequestTimedOut,
            _ => ErrorCode::NetworkException,
        };
        for sent in in_flight {
            self.give_up_request(ctx, sent, error);
        }
        if why != Disconnect::Local {
            // A disconnect while an update is due counts as a failed update: it backs off, which
            // gives the nodes time to become connectable again.
            if self.metadata.due_ms(&self.settings.metadata) <= now_ms {
                self.fail_metadata_update(ctx);
            }
            self.metadata.request_update();
        }
    }

    fn give_up_request(&mut self, ctx: &mut Context<'_>, sent: InFlight, error: ErrorCode) {
        match sent.api {
            ApiKey::Produce => self.lose_produce(ctx, sent.request, error),
            ApiKey::Metadata => self.fail_metadata_update(ctx),
            ApiKey::InitProducerId => {
                if self.idempotence.state == ProducerIdState::Requested {
                    self.idempotence.state = ProducerIdState::Wanted;
                }
            }
            ApiKey::Transactional => self.lose_transactional(),
            ApiKey::ApiVersions => {}
        }
        ctx.requests.release(sent.request);
    }

    fn fail_metadata_update(&mut self, ctx: &Context<'_>) {
        let backoff = self.settings.retry_backoff;
        self.metadata
            .fail_update(ctx.now.as_millis(), backoff, &mut self.draws.retry_backoff);
    }

    /// Requests and connection attempts that took too long, connections that idle too long.
    #[cold]
    pub(super) fn time_out(&mut self, ctx: &mut Context<'_>) {
        let now_ms = ctx.now.as_millis();
        let timeout_ms = self.settings.request_timeout_ms;
        let idle_ms = self.settings.connections_max_idle_ms;
        for slot in 0..self.led_by.len() as Slot * 2 {
            let connection = self.connections.get(slot);
            let is_connecting = connection.state == ConnectionState::Connecting;
            if connection.deadline_ms(timeout_ms) <= now_ms {
                let why = if is_connecting {
                    Disconnect::SetupTimeout
                } else {
                    Disconnect::RequestTimeout
                };
                self.disconnect(ctx, slot, why);
            } else if connection.idle_deadline_ms(idle_ms) <= now_ms {
                self.disconnect(ctx, slot, Disconnect::Idle);
            }
        }
        self.refresh_timeout(now_ms);
    }

    /// Finds the moment before which nothing times out; until then nobody has to look. Whatever
    /// begins to wait from now on waits for one of the two timeouts in full, except a connect.
    pub(super) fn refresh_timeout(&mut self, now_ms: u64) {
        let timeout_ms = self.settings.request_timeout_ms;
        let idle_ms = self.settings.connections_max_idle_ms;
        let of_connection = |(_, connection): (Slot, &Connection)| {
            let idle_ms = connection.idle_deadline_ms(idle_ms);
            idle_ms.min(connection.deadline_ms(timeout_ms))
        };
        let first_ms = self.connections.iter().map(of_connection).min();
        let later_ms = now_ms.saturating_add(timeout_ms.min(idle_ms));
        self.timeout_not_before_ms = first_ms.unwrap_or(u64::MAX).min(later_ms);
    }

    /// Sends a metadata request if one is due and somebody can take it; goes back to the bootstrap
    /// addresses if nobody can.
    pub(super) fn update_metadata(&mut self, ctx: &mut Context<'_>) {
        let now_ms = ctx.now.as_millis();
        if self.metadata.due_ms(&self.settings.metadata) <= now_ms {
            self.update_metadata_now(ctx);
        }
    }

    #[cold]
    fn update_metadata_now(&mut self, ctx: &mut Context<'_>) {
        let now_ms = ctx.now.as_millis();
        let rebootstraps = self.settings.metadata.recovery == RecoveryStrategy::Rebootstrap;
        if rebootstraps
            && self
                .metadata
                .must_rebootstrap(&self.settings.metadata, now_ms)
        {
            self.disconnect_all(ctx);
            self.rebootstrap(ctx);
        }
        let mut found = self.least_loaded_node(ctx);
        if matches!(found, LeastLoaded::Nobody) && rebootstraps && !self.metadata.nodes.is_empty() {
            self.rebootstrap(ctx);
            found = self.least_loaded_node(ctx);
        }
        let LeastLoaded::Node(slot) = found else {
            if matches!(found, LeastLoaded::Nobody) {
                let retry_ms = now_ms + self.settings.reconnect_backoff.initial_ms.max(1);
                self.sleep.wake_by_ms(retry_ms);
            }
            return;
        };
        if self.approach(ctx, slot) {
            self.send_metadata_request(ctx, slot);
        }
    }

    /// Whether a node may be sent to now; connects, or remembers when to look again.
    pub(super) fn approach(&mut self, ctx: &mut Context<'_>, slot: Slot) -> bool {
        let max_in_flight = self.settings.max_in_flight;
        let usable = self.connections.get(slot).usable(max_in_flight, ctx.now);
        match usable {
            Usable::Connectable => self.connect(ctx, slot),
            Usable::At(at) => self.sleep.wake_by(at),
            Usable::AtMs(at_ms) => self.sleep.wake_by_ms(at_ms),
            Usable::Now | Usable::Later => {}
        }
        usable == Usable::Now
    }

    fn send_metadata_request(&mut self, ctx: &mut Context<'_>, slot: Slot) {
        let now_ms = ctx.now.as_millis();
        let topics = self.metadata.begin_update(now_ms, &self.settings.metadata);
        let name_bytes: Vec<_> = topics
            .iter()
            .map(|t| ctx.config.topics[t.index()].name.len() as u32)
            .collect();
        let id = self.connections.open_request(ctx, slot, ApiKey::Metadata);
        ctx.requests.get_mut(id).topics.extend(topics);
        let bytes = metadata_request_bytes(self.client_id.len() as u32, &name_bytes);
        self.transmit(ctx, slot, id, bytes);
    }

    /// Asks for a producer id, which comes before any data.
    pub(super) fn init_producer_id(&mut self, ctx: &mut Context<'_>) {
        if self.idempotence.state == ProducerIdState::Wanted {
            self.init_producer_id_now(ctx);
        }
    }

    #[cold]
    fn init_producer_id_now(&mut self, ctx: &mut Context<'_>) {
        let LeastLoaded::Node(slot) = self.least_loaded_node(ctx) else {
            return;
        };
        if self.approach(ctx, slot) {
            let id = self
                .connections
                .open_request(ctx, slot, ApiKey::InitProducerId);
            let client_id_bytes = self.client_id.len() as u32;
            let bytes = init_producer_id_request_bytes(client_id_bytes, None);
            self.transmit(ctx, slot, id, bytes);
            self.idempotence.state = ProducerIdState::Requested;
        }
    }

    /// `leastLoadedNode`: from a random start, a ready node with nothing in flight; else the one
    /// with the fewest; else one that connects; else the one whose last attempt is oldest.
    pub(super) fn least_loaded_node(&mut self, ctx: &Context<'_>) -> LeastLoaded {
        let slots: Vec<Slot> = if self.metadata.nodes.is_empty() {
            (0..self.led_by.len() as Slot).collect()
        } else {
            self.metadata
                .nodes
                .iter()
                .map(|&broker| self.connections.slot_of(broker))
                .collect()
        };
        let start = self.draws.least_loaded_node.below(slots.len() as u64) as usize;
        let max_in_flight = self.settings.max_in_flight as usize;
        let (mut fewest, mut connecting, mut oldest) = (None, false, None);
        for step in 0..slots.len() {
            let slot = slots[(start + step) % slots.len()];
            let connection = self.connections.get(slot);
            match connection.state {
                // One that a broker throttles is no choice, and no ready connection either: where
                // all are, a due update goes back to the bootstrap addresses.
                ConnectionState::Ready if connection.is_throttled(ctx.now) => {}
                ConnectionState::Ready if connection.in_flight.len() < max_in_flight => {
                    let load = connection.in_flight.len();
                    if fewest.is_none_or(|(least, _)| load < least) {
                        fewest = Some((load, slot));
                    }
                }
                ConnectionState::Ready => connecting = true,
                ConnectionState::Connecting | ConnectionState::CheckingApiVersions => {
                    connecting = true;
                }
                ConnectionState::Disconnected => {
                    let may = connection.retry_at_ms <= ctx.now.as_millis();
                    let attempted = connection.attempted;
                    if may && oldest.is_none_or(|(least, _)| attempted < least) {
                        oldest = Some((attempted, slot));
                    }
                }
            }
        }
        let is_waiting = fewest.is_none() && connecting;
        let found = fewest
            .map(|(_, slot)| slot)
            .or(oldest.map(|(_, slot)| slot));
        match found {
            _ if is_waiting => LeastLoaded::Wait,
            Some(slot) => LeastLoaded::Node(slot),
            None => LeastLoaded::Nobody,
        }
    }

    /// Forgets brokers and topics, and starts from `bootstrap.servers` again.
    fn rebootstrap(&mut self, ctx: &mut Context<'_>) {
        self.metadata.rebootstrap();
        for place in 0..self.accumulator.queues.len() as u32 {
            self.accumulator.front_mut(place).leader = None;
        }
        self.sort_by_leader();
        self.woken.push(Woken::Metadata);
        ctx.fact(self.rank, Fact::Rebootstrapped { producer: self.me });
    }

    fn disconnect_all(&mut self, ctx: &mut Context<'_>) {
        for slot in 0..self.led_by.len() as Slot * 2 {
            if self.connections.get(slot).state != ConnectionState::Disconnected {
                self.disconnect(ctx, slot, Disconnect::Local);
            }
        }
    }

    /// The client ends: connections close.
    pub(super) fn end(&mut self, ctx: &mut Context<'_>) {
        self.closing = Closing::Done;
        self.disconnect_all(ctx);
        self.woken.push(Woken::Completed);
        ctx.fact(self.rank, Fact::ClientClosed { producer: self.me });
    }
}
