//! The threads: the main one, and one for each broker, which visits its partitions in turn and
//! builds at most one request before it writes it.
//!
//! Source: `rd_kafka_thread_main`, `rd_kafka_broker_producer_serve`,
//! `rd_kafka_toppar_producer_serve`, `rd_kafka_msgq_allow_wakeup_at`.

use std::collections::VecDeque;

use crate::kafka::settings::RdkafkaProducerSettings;
use crate::sim::context::Context;
use crate::sim::event::Message as Wire;
use crate::sim::ids::BrokerIndex;
use crate::sim::producer::client::Closing;
use crate::sim::producer::connections::InFlight;
use crate::sim::producer::rdkafka::toppar::{Drain, First, Signal, WakeRule};
use crate::sim::producer::rdkafka::{Rdkafka, SCAN_INTERVAL};
use crate::sim::request::{ApiKey, RequestId};
use crate::sim::time::{NANOS_PER_MILLI, SimSpan, SimTime};
use crate::sim::view::ConnectionState;

/// Messages of one partition that an idempotent producer has in flight at most, before it builds
/// another request (`RD_KAFKA_IDEMP_MAX_INFLIGHT`).
const IDEMPOTENT_IN_FLIGHT_MAX: u64 = 5;
/// Passes of a thread at one moment: each builds a request, so this is never reached unless links
/// take no time at all.
const PASSES_MAX: u32 = 100_000;

/// One broker's thread.
#[derive(Clone, Debug)]
pub struct BrokerThread {
    /// Places of the partitions that it has.
    pub toppars: Vec<u32>,
    /// Where the next pass begins.
    start: usize,
    /// Requests that are not on the wire yet.
    pub outbufs: VecDeque<Outgoing>,
    /// When it looks again.
    pub wakes_at: SimTime,
    /// When it looks next for what is too old.
    pub scan_at: SimTime,
    /// Whether a connection is wanted although no message waits.
    pub want: Want,
    /// Whether its last connection failed.
    pub health: Health,
    /// When it may connect again.
    pub reconnect_at: Option<SimTime>,
    /// The next wait before that, without jitter.
    pub backoff_ms: u64,
    /// Requests that timed out since the connection stood.
    pub timed_out: u32,
}

/// A request that waits for its socket.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// Which.
    pub request: RequestId,
    /// Which API.
    pub api: ApiKey,
    /// Bytes on the wire.
    pub bytes: u32,
    /// When it was queued.
    pub queued: SimTime,
    /// When its time is over.
    pub deadline: SimTime,
}

/// Whether the main thread wants a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// No: messages alone decide.
    No,
    /// For metadata or a producer id.
    Yes,
}

/// What became of a broker's last connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It was never tried, or stands.
    Fine,
    /// It could not be made, or ended.
    Down,
}

/// What a visit to a partition found.
enum Visit {
    /// A request was built.
    Built,
    /// Nothing to do before this moment.
    NotBefore(SimTime),
    /// Something is ready, and waits for the socket, an answer, a connection or another partition.
    Held,
}

impl BrokerThread {
    /// A thread that has just started.
    pub fn new(now: SimTime, settings: &RdkafkaProducerSettings) -> Self {
        Self {
            toppars: Vec::new(),
            start: 0,
            outbufs: VecDeque::new(),
            wakes_at: SimTime::NEVER,
            scan_at: now + SCAN_INTERVAL,
            want: Want::No,
            health: Health::Fine,
            reconnect_at: None,
            backoff_ms: settings.connections.reconnect_backoff_ms,
            timed_out: 0,
        }
    }
}

impl Rdkafka {
    /// All threads do what is due now.
    pub(super) fn run(&mut self, ctx: &mut Context<'_>) {
        if self.closing == Closing::Done {
            self.wakes_at = SimTime::NEVER;
            return;
        }
        let mut wakes_at = self.run_main(ctx);
        for broker in (0..self.threads.len() as u16).map(BrokerIndex) {
            if self.threads[broker.index()].wakes_at <= ctx.now {
                self.serve(ctx, broker);
            }
            wakes_at = wakes_at.min(self.threads[broker.index()].wakes_at);
        }
        if self.is_drained() {
            // A thread ended the epoch: the main thread bumps it before anything else happens.
            wakes_at = ctx.now;
        }
        self.wakes_at = wakes_at;
        self.finish_closing(ctx);
    }

    /// One thread wakes, does all there is to do, and sleeps.
    fn serve(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) {
        self.statistics.brokers[broker.index()].wakeups += 1;
        self.threads[broker.index()].wakes_at = SimTime::NEVER;
        self.time_out_requests(ctx, broker);
        let mut sleep = SimTime::NEVER;
        for _ in 0..PASSES_MAX {
            let (built, next) = self.pass(ctx, broker);
            sleep = next;
            self.write(ctx, broker);
            if built == 0 || self.space(ctx.now, broker) == 0 {
                break;
            }
        }
        self.keep_connected(ctx, broker);
        let sleep = sleep.min(self.next_scan(broker));
        self.sleep(broker, ctx.now, sleep);
        // What is held back by the socket goes on when that takes more.
        let slot = self.connections.slot_of(broker);
        let writable_at = self.connections.get(slot).writable_at;
        if writable_at > ctx.now {
            let thread = &mut self.threads[broker.index()];
            thread.wakes_at = thread.wakes_at.min(writable_at);
        }
    }

    /// The thread's sleep is whole milliseconds from now, so it may end late.
    fn sleep(&mut self, broker: BrokerIndex, now: SimTime, until: SimTime) {
        let thread = &mut self.threads[broker.index()];
        if until == SimTime::NEVER {
            return;
        }
        let millis = until.since(now).as_nanos().div_ceil(NANOS_PER_MILLI);
        thread.wakes_at = thread.wakes_at.min(now + SimSpan::from_millis(millis));
    }

    /// Visits every partition once, from a start that moves on; says how many requests it built,
    /// and when a partition is ready by itself.
    fn pass(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) -> (u32, SimTime) {
        let count = self.threads[broker.index()].toppars.len();
        let start = self.threads[broker.index()].start;
        let (mut built, mut next) = (0, SimTime::NEVER);
        for step in 0..count {
            let place = self.threads[broker.index()].toppars[(start + step) % count];
            match self.visit(ctx, broker, place) {
                Visit::Built => built += 1,
                Visit::NotBefore(at) => next = next.min(at),
                Visit::Held => {}
            }
        }
        let thread = &mut self.threads[broker.index()];
        thread.start = if count == 0 { 0 } else { (start + 1) % count };
        (built, next)
    }

    /// How many requests may be built: as many as may wait for the socket, less those that do.
    fn space(&self, now: SimTime, broker: BrokerIndex) -> usize {
        let slot = self.connections.slot_of(broker);
        let being_written = usize::from(self.connections.get(slot).writable_at > now);
        let waiting = self.threads[broker.index()].outbufs.len() + being_written;
        (self.settings.backpressure_requests_max as usize).saturating_sub(waiting)
    }

    fn visit(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex, place: u32) -> Visit {
        let expiry = self.expire(ctx, place);
        if self.toppars[place as usize].queued.messages == 0 {
            let wake = self.wake_rule_when_empty(ctx.now);
            let toppar = &mut self.toppars[place as usize];
            toppar.take_over();
            toppar.wake = wake;
            return Visit::NotBefore(SimTime::NEVER);
        }
        let may_send =
            self.fatal.is_none() && self.lets_pass(place) && self.adopt_producer_id(place);
        let mut space = if may_send {
            self.space(ctx.now, broker)
        } else {
            0
        };
        if space == 0 {
            return Visit::NotBefore(expiry);
        }
        self.toppars[place as usize].take_over();
        let ready = self.look(place, ctx.now);
        if self.settings.idempotence.is_on() {
            space = space.min(self.idempotent_space(place));
        }
        let slot = self.connections.slot_of(broker);
        let is_up = self.connections.get(slot).state == ConnectionState::Ready;
        match ready {
            Some(at) => return Visit::NotBefore(at.min(expiry)),
            None if space == 0 || !is_up => return Visit::NotBefore(expiry),
            None => {}
        }
        let mut built = false;
        for _ in 0..space {
            built |= self.build(ctx, broker, place).is_some();
            if self.toppars[place as usize].queued.messages == 0 {
                break;
            }
        }
        let rest = self.look(place, ctx.now);
        match (built, rest) {
            (true, _) => Visit::Built,
            (false, Some(at)) => Visit::NotBefore(at.min(expiry)),
            (false, None) => Visit::Held,
        }
    }

    /// Whether a partition with messages is ready; if not, when it will be. Sets what wakes the
    /// thread before.
    fn look(&mut self, place: u32, now: SimTime) -> Option<SimTime> {
        let (linger, settings) = (self.linger(), &self.settings);
        let (count_max, size_max) = (
            u64::from(settings.batch_messages_max),
            u64::from(settings.batch_size_bytes),
        );
        let when_empty = self.wake_rule_when_empty(now);
        let toppar = &mut self.toppars[place as usize];
        let Some((head, not_before)) = toppar.head() else {
            toppar.wake = when_empty;
            return Some(SimTime::NEVER);
        };
        let at = if not_before > now {
            not_before
        } else {
            now.max(head.enqueued + linger)
        };
        let queued = toppar.queued;
        let is_held = not_before > now;
        let is_full = queued.messages >= count_max || queued.bytes >= size_max;
        let is_ready = now >= at || (is_full && !is_held);
        let signals = is_ready || is_full;
        toppar.wake = WakeRule {
            at,
            first: First::Waits,
            messages: count_max.saturating_sub(queued.messages),
            bytes: size_max.saturating_sub(queued.bytes),
            signal: if signals { Signal::On } else { Signal::Off },
        };
        (!is_ready).then_some(at)
    }

    /// Whether a partition takes part in the present transaction, if there are transactions.
    fn lets_pass(&self, place: u32) -> bool {
        let own = self.transactions.as_ref();
        own.is_none_or(|own| own.lets_pass(place))
    }

    fn wake_rule_when_empty(&self, now: SimTime) -> WakeRule {
        WakeRule {
            at: now + self.linger(),
            first: First::Wakes,
            messages: u64::from(self.settings.batch_messages_max),
            bytes: u64::from(self.settings.batch_size_bytes),
            signal: Signal::Off,
        }
    }

    /// The gate of an idempotent producer counts messages, not requests.
    fn idempotent_space(&mut self, place: u32) -> usize {
        let toppar = &mut self.toppars[place as usize];
        if toppar.sequences.drain == Drain::Until {
            if toppar.in_flight > 0 {
                return 0;
            }
            toppar.sequences.drain = Drain::No;
        }
        IDEMPOTENT_IN_FLIGHT_MAX.saturating_sub(toppar.in_flight) as usize
    }

    /// Writes what the socket takes.
    fn write(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) {
        let slot = self.connections.slot_of(broker);
        loop {
            let connection = self.connections.get(slot);
            let is_ready = connection.state == ConnectionState::Ready;
            let is_full = connection.in_flight.len() >= self.settings.max_in_flight as usize;
            if !is_ready || is_full || connection.writable_at > ctx.now {
                return;
            }
            let Some(out) = self.threads[broker.index()].outbufs.pop_front() else {
                return;
            };
            self.transmit(ctx, slot, out);
            if out.api == ApiKey::Produce {
                self.count_cross_rack(ctx, broker, out.bytes);
            }
            if out.api == ApiKey::Produce && ctx.requests.get(out.request).acks == 0 {
                self.connections.get_mut(slot).in_flight.pop_back();
                self.complete_produce(ctx, out.request);
                ctx.requests.release(out.request);
            }
        }
    }

    /// Bytes of a Produce request to a broker of another rack, where both racks are known.
    fn count_cross_rack(&mut self, ctx: &Context<'_>, broker: BrokerIndex, bytes: u32) {
        let own = ctx.config.producers[self.me.index()].rack.as_ref();
        let other = ctx.config.brokers[broker.index()].rack.as_ref();
        if own.zip(other).is_some_and(|(own, other)| own != other) {
            self.counts.cross_rack_bytes += u64::from(bytes);
        }
    }

    /// Puts a request on the wire.
    pub(super) fn transmit(&mut self, ctx: &mut Context<'_>, slot: u16, out: Outgoing) {
        let request = ctx.requests.get_mut(out.request);
        (request.bytes, request.sent) = (out.bytes, ctx.now);
        let wire = Wire::Request(out.request);
        let written = self.connections.emit(ctx, slot, wire, out.bytes);
        let broker = self.connections.broker_of(slot);
        let statistics = &mut self.statistics.brokers[broker.index()];
        let waited = written.since(out.queued);
        statistics.written(out.api, out.bytes, (ctx.now, waited));
        let connection = self.connections.get_mut(slot);
        connection.writable_at = written;
        connection.used_ms = ctx.now.as_millis();
        connection.in_flight.push_back(InFlight {
            request: out.request,
            api: out.api,
            sent: ctx.now,
            throttled_ms: 0,
            deadline: out.deadline,
        });
    }
}
