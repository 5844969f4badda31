//! Transactions that take too long, and ids that nobody uses.
//!
//! Source: `TransactionCoordinator.abortTimedOutTransactions`,
//! `TransactionStateManager.enableTransactionalIdExpiration`.

use crate::kafka::transaction::TransactionState;
use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::Broker;
use crate::sim::cluster::transaction::IdPlace;
use crate::sim::cluster::transaction::state_log::Then;
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::ids::BrokerIndex;
use crate::sim::queue::{EventQueue, Rank};
use crate::sim::time::{SimSpan, SimTime};

impl Cluster {
    /// A broker looks for transactions that are open for longer than their owner allows, and for
    /// ids that were not used for a long time.
    pub(in crate::sim::cluster) fn on_transaction_scan(
        &mut self,
        ctx: &mut Context<'_>,
        (at, incarnation): (BrokerIndex, u32),
    ) {
        let broker = &self.brokers[at.index()];
        if broker.incarnation != incarnation {
            return;
        }
        schedule_scan(ctx.queue, (at, broker), ctx.now);
        if !broker.is_serving() {
            return;
        }
        let expiration = SimSpan::from_millis(broker.settings.transactions.id_expiration_ms);
        let (mut overdue, mut unused) = (Vec::new(), Vec::new());
        for (place, id) in (0..).zip(&self.transactions.ids) {
            let Some(loaded) = &id.loaded else { continue };
            let is_here = self.partitions[id.partition.index()].is_led_by(at);
            if !is_here || loaded.pending.is_some() {
                continue;
            }
            let metadata = &loaded.metadata;
            let timeout = SimSpan::from_millis(metadata.timeout_ms);
            if metadata.state == TransactionState::Ongoing {
                let is_overdue = |started: SimTime| started + timeout < ctx.now;
                if metadata.started.is_some_and(is_overdue) {
                    overdue.push(place);
                }
            } else if metadata.state.prepared().is_none()
                && ctx.now.since(metadata.updated) > expiration
            {
                unused.push(place);
            }
        }
        for place in overdue {
            self.fence_transaction(ctx, (at, place), Then::Fenced(None));
        }
        for place in unused {
            self.forget_id(place);
        }
    }

    /// Simplification: the tombstone is not waited for, and looked for with every scan instead of
    /// every hour.
    fn forget_id(&mut self, place: IdPlace) {
        let id = self.transactions.id_mut(place);
        (id.loaded, id.written) = (None, Vec::new());
    }
}

/// When all brokers look first.
pub(in crate::sim::cluster) fn schedule_scans(queue: &mut EventQueue<Event>, brokers: &[Broker]) {
    for (at, broker) in (0..).map(BrokerIndex).zip(brokers) {
        schedule_scan(queue, (at, broker), SimTime::ZERO);
    }
}

/// When a broker looks next.
pub(in crate::sim::cluster) fn schedule_scan(
    queue: &mut EventQueue<Event>,
    (at, broker): (BrokerIndex, &Broker),
    now: SimTime,
) {
    let interval_ms = broker.settings.transactions.abort_timed_out_interval_ms;
    let next = now + SimSpan::from_millis(interval_ms.max(1));
    let event = Event::TransactionScan {
        broker: at,
        incarnation: broker.incarnation,
    };
    queue.push(next, Rank::broker(at), event);
}
