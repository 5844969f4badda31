//! The sender thread: what is ready, whom it may be sent to, when it looks again.
//!
//! Source: `Sender.runOnce`, `RecordAccumulator.ready`, `NetworkClient.ready`. The thread
//! itself costs no time: it acts at the moment when something changed. It looks again when a
//! response, an append or a timer gives it a reason, never twice at one moment for the same one.

use crate::sim::config::BROKERS_MAX;
use crate::sim::context::Context;
use crate::sim::fact::{ErrorClass, Exception, Fact};
use crate::sim::ids::BrokerIndex;
use crate::sim::producer::accumulator::{Patience, Readiness, Urgency};
use crate::sim::producer::client::{Client, Closing, Left};
use crate::sim::producer::drain::Drain;
use crate::sim::producer::retry_backoff::RetryBackoff;
use crate::sim::producer::sleep::Sleep;
use crate::sim::producer::transaction::{Serving, State};
use crate::sim::view::ConnectionState;

/// Turns of the sender at one moment: each sends at least one request, so this is never reached
/// unless `max.in.flight.requests.per.connection` is absurdly large.
const TURNS_MAX: u32 = 10_000;

/// Whether another turn at the same moment can find anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Another,
    Last,
}

/// What one look at all deques found.
#[derive(Debug, Default)]
struct Look {
    /// Nodes with something to be sent.
    ready: Brokers,
    /// Whether a partition with data has no leader.
    has_unknown_leaders: bool,
    /// Whether a batch waits for something else than its linger.
    has_held_back: bool,
    /// When a batch becomes ready by itself, on the client's clock.
    next_ms: Option<u64>,
}

/// A set of brokers, of which there are at most [`BROKERS_MAX`].
#[derive(Clone, Copy, Debug, Default)]
struct Brokers(u128);

const _: () = assert!(BROKERS_MAX <= 128, "a set of brokers is 128 bits wide");

impl Brokers {
    fn insert(&mut self, broker: BrokerIndex) {
        self.0 |= 1 << broker.0;
    }

    fn contains(self, broker: BrokerIndex) -> bool {
        self.0 >> broker.0 & 1 == 1
    }
}

impl Look {
    fn wait_until(&mut self, ms: u64) {
        self.next_ms = Some(self.next_ms.map_or(ms, |next| next.min(ms)));
    }
}

impl Client {
    /// The sender wakes and does all there is to do now; `sleep` says when it looks again.
    pub fn run_sender(&mut self, ctx: &mut Context<'_>) {
        self.sleep = Sleep::for_good();
        if self.closing == Closing::Done {
            return;
        }
        if self.timeout_not_before_ms <= ctx.now.as_millis() {
            self.time_out(ctx);
        }
        self.update_metadata(ctx);
        if let Some(fatal) = self.fatal.clone() {
            self.give_up_for_good(ctx, &fatal);
        } else if self.idempotence.is_on() && self.transaction.is_none() {
            self.idempotence.resolve(&mut self.accumulator);
            if self.idempotence.bump(&mut self.accumulator) {
                let (producer_id, epoch) = self.idempotence.current();
                let producer = self.me;
                let fact = Fact::ProducerIdAssigned {
                    producer,
                    producer_id,
                    epoch,
                };
                ctx.fact(self.rank, fact);
            }
            self.init_producer_id(ctx);
        }
        let mut serving = Serving::Data;
        for _ in 0..TURNS_MAX {
            serving = self.serve_transaction(ctx);
            if serving == Serving::OnlyTransaction {
                break;
            }
            let before = self.transaction_stage();
            let turn = self.send_produce(ctx);
            if turn == Turn::Last && self.transaction_stage() == before {
                break;
            }
        }
        self.finish_closing(ctx);
        let now_ms = ctx.now.as_millis();
        // An update that is due already waits for a node, not for the clock.
        let update_ms = self.metadata.due_ms(&self.settings.metadata);
        if update_ms > now_ms {
            self.sleep.wake_by_ms(update_ms);
        }
        if self.sleep.would_reach(self.timeout_not_before_ms) {
            self.sleep.wake_by_ms(self.next_timeout_ms(now_ms));
            self.refresh_timeout(now_ms);
        }
        // While the thread waits for something of a transaction, no batch expires.
        if serving == Serving::Data && self.sleep.would_reach(self.expiry_not_before_ms) {
            self.refresh_expiry();
            self.sleep.wake_by_ms(self.expiry_not_before_ms);
        }
        self.sleep.begin(ctx.now);
    }

    /// A response to a Produce request wakes the sender. Where it would find what it found last, it
    /// is spared the look, and sleeps on until a batch has lingered.
    pub(super) fn wake_for_response(&mut self, ctx: &mut Context<'_>) {
        let now_ms = ctx.now.as_millis();
        let others_ms = self
            .timeout_not_before_ms
            .min(self.expiry_not_before_ms)
            .min(self.metadata.due_ms(&self.settings.metadata));
        let is_spared = self.left == Left::Nothing
            && now_ms < others_ms
            && self.sleep.is_by_clock(ctx.now, others_ms)
            && self.urgency() == Urgency::None
            && !self.weighs_partitions()
            && self.idempotence.is_at_rest()
            && self.transaction.is_none()
            && self.fatal.is_none();
        if is_spared {
            self.sleep.begin(ctx.now);
        } else {
            self.run_sender(ctx);
        }
    }

    /// After a fatal error nothing is sent, and nothing is kept.
    #[cold]
    fn give_up_for_good(&mut self, ctx: &mut Context<'_>, fatal: &Exception) {
        if let ErrorClass::Java(class) = fatal.class {
            self.abort_batches(ctx, (class, &fatal.text));
        }
    }

    /// One turn: ready nodes, drain, expiry, requests.
    fn send_produce(&mut self, ctx: &mut Context<'_>) -> Turn {
        let now_ms = ctx.now.as_millis();
        let look = self.look(now_ms);
        self.left = if look.has_unknown_leaders || look.has_held_back {
            Left::Something
        } else {
            Left::Nothing
        };
        if let Some(next_ms) = look.next_ms {
            self.sleep.wake_by_ms(next_ms);
        }
        if look.has_unknown_leaders {
            self.metadata.request_update();
            self.update_metadata(ctx);
        }
        if self.weighs_partitions() {
            self.weigh_partitions();
        }
        // A wait that is over by its second draw, though not by its first: the thread looks again.
        let mut turn = if look.next_ms.is_some_and(|next_ms| next_ms <= now_ms) {
            Turn::Another
        } else {
            Turn::Last
        };
        for broker in (0..self.led_by.len() as u16).map(BrokerIndex) {
            if !look.ready.contains(broker) {
                continue;
            }
            if !self.may_send_to(ctx, broker) {
                self.left = Left::Something;
                continue;
            }
            // Where all that was ready has left, another look would find what this one found:
            // only the load tables of sticky partitioning see a difference.
            match self.drain_to(ctx, broker) {
                Drain::SomeLeft | Drain::HeldBack => turn = Turn::Another,
                Drain::NoneLeft if self.weighs_partitions() => turn = Turn::Another,
                Drain::NoneLeft => {}
                Drain::Nothing => self.left = Left::Something,
            }
        }
        self.expire(ctx);
        turn
    }

    /// Looks at the head of every deque (`RecordAccumulator.ready`).
    fn look(&mut self, now_ms: u64) -> Look {
        let mut look = Look::default();
        let mut patience = Patience {
            linger_ms: self.settings.linger_ms,
            urgency: self.urgency(),
            backoff: RetryBackoff {
                backoff: self.settings.retry_backoff,
                draws: &mut self.draws.retry_backoff,
            },
        };
        for (place, front) in (0..).zip(self.accumulator.fronts()) {
            let Some(head) = front.head() else {
                continue;
            };
            let Some(leader) = front.leader else {
                look.has_unknown_leaders = true;
                continue;
            };
            if front.is_muted {
                look.has_held_back = true;
                continue;
            }
            if look.ready.contains(leader) {
                continue;
            }
            let accumulator = &self.accumulator;
            match accumulator.readiness(place, head, &mut patience, now_ms) {
                Readiness::Ready => look.ready.insert(leader),
                Readiness::Lingers(until_ms) => look.wait_until(until_ms),
                Readiness::HeldBack(until_ms) => {
                    look.has_held_back = true;
                    look.wait_until(until_ms);
                }
            }
        }
        look
    }

    /// Whether a ready node may have data now.
    fn may_send_to(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) -> bool {
        let now_ms = ctx.now.as_millis();
        let slot = self.connections.slot_of(broker);
        if !self.idempotence.lets_data_pass() {
            return false;
        }
        // A due metadata update has priority over all nodes.
        let is_metadata_due = self.metadata.due_ms(&self.settings.metadata) <= now_ms;
        let may = self.approach(ctx, slot) && !is_metadata_due;
        let stats = &mut self.connections.get_mut(slot).latency_stats;
        stats.0 = now_ms;
        if may {
            stats.1 = now_ms;
        }
        may
    }

    /// A graceful close ends when nothing is left to do.
    fn finish_closing(&mut self, ctx: &mut Context<'_>) {
        if self.closing == Closing::Gracefully
            && self.accumulator.is_empty()
            && self.connections.in_flight() == 0
            && self.end_transactions(ctx)
        {
            self.end(ctx);
        }
    }

    /// How the transaction is, to see whether sending changed it.
    fn transaction_stage(&self) -> Option<State> {
        self.transaction.as_ref().map(|manager| manager.state())
    }

    /// A graceful close aborts an open transaction first; says whether there is none any more.
    fn end_transactions(&mut self, ctx: &Context<'_>) -> bool {
        let Some(manager) = &mut self.transaction else {
            return true;
        };
        if manager.is_asking() {
            return false;
        }
        if !manager.is_ongoing() || manager.is_completing() || !manager.abort_to_close() {
            return true;
        }
        self.sleep.wake_by(ctx.now);
        false
    }

    /// The earliest timeout of connections and requests, on the client's clock.
    fn next_timeout_ms(&self, now_ms: u64) -> u64 {
        let timeout_ms = self.settings.request_timeout_ms;
        let idle_ms = self.settings.connections_max_idle_ms;
        let mut next = u64::MAX;
        for (_, connection) in self.connections.iter() {
            if connection.state == ConnectionState::Connecting {
                next = next.min(connection.setup_deadline_ms);
            }
            // `NetworkClient.poll` sleeps for `request.timeout.ms` at most: a request that times
            // out while nothing else happens is noticed when that sleep is over, not before.
            if !connection.in_flight.is_empty() {
                next = next.min(now_ms.saturating_add(timeout_ms));
            }
            next = next.min(connection.idle_deadline_ms(idle_ms));
        }
        next
    }
}
