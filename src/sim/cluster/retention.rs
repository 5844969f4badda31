//! What leaders forget: segments over `retention.ms` or `retention.bytes`, and producers that have
//! not written for `producer.id.expiration.ms`.
//!
//! Source: `LogManager.cleanupLogs`, `UnifiedLog.deleteOldSegments`, `removeExpiredProducers`.
//! Simplifications: all brokers look at the same moments, by the settings of the first one; a log
//! is cut on all replicas together; a log whose leader does not serve waits; a deleted file leaves
//! the disk at once; of a `compact,delete` topic whose records are remembered nothing is deleted.

use crate::sim::cluster::Cluster;
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::queue::Rank;
use crate::sim::segments::Retention;
use crate::sim::time::SimSpan;

/// How long a broker runs before it first looks for old segments (`log.initial.task.delay.ms`).
pub(super) const RETENTION_DELAY: SimSpan = SimSpan::from_seconds(30);

impl Cluster {
    /// Brokers look for old segments: too many of them first, then those too old.
    pub(super) fn on_log_retention(&mut self, ctx: &mut Context<'_>) {
        let Some(first) = self.brokers.first() else {
            return;
        };
        let interval = SimSpan::from_millis(first.settings.retention_check_interval_ms.max(1));
        ctx.queue
            .push(ctx.now + interval, Rank::CONTROLLER, Event::LogRetention);
        for (index, leader) in self.served() {
            for limit in [Retention::Bytes, Retention::Time] {
                let partition = &mut self.partitions[index.index()];
                let Some(records) = partition.delete_old_segments(limit, ctx.now) else {
                    continue;
                };
                let fact = Fact::SegmentsDeleted {
                    partition: index,
                    log_start_offset: partition.log.start_offset(),
                    records,
                    limit,
                };
                ctx.fact(Rank::broker(leader), fact);
                // Whoever waits for records that are gone learns it at once.
                self.wake_readers(ctx, index);
            }
        }
    }

    /// Leaders look for producers that they need not remember.
    pub(super) fn on_producer_id_expiration(&mut self, ctx: &mut Context<'_>) {
        let Some(first) = self.brokers.first() else {
            return;
        };
        let settings = first.settings.transactions;
        let interval =
            SimSpan::from_millis(settings.producer_id_expiration_check_interval_ms.max(1));
        let next = ctx.now + interval;
        ctx.queue
            .push(next, Rank::CONTROLLER, Event::ProducerIdExpiration);
        let age = SimSpan::from_millis(settings.producer_id_expiration_ms);
        for (index, leader) in self.served() {
            let partition = &mut self.partitions[index.index()];
            for producer in partition.expire_producers(age, ctx.now) {
                let fact = Fact::ProducerForgotten {
                    partition: index,
                    producer,
                };
                ctx.fact(Rank::broker(leader), fact);
            }
        }
    }

    /// Partitions with leaders that serve.
    fn served(&self) -> Vec<(PartitionIndex, BrokerIndex)> {
        let indices = self.topics.iter().flat_map(|ids| ids.iter().copied());
        let led = indices.filter_map(|index| {
            let (leader, _) = self.partitions[index.index()].serving?;
            Some((index, leader))
        });
        led.filter(|(_, leader)| self.brokers[leader.index()].is_serving())
            .collect()
    }
}
