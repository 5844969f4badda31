//! Brokers clean the compacted logs that they lead.
//!
//! Source: `LogCleaner.CleanerThread`. Simplification: all brokers look at the same moments, every
//! `log.cleaner.backoff.ms` at its default; a log whose leader does not serve waits.

use crate::sim::cluster::Cluster;
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::fact::Fact;
use crate::sim::ids::PartitionIndex;
use crate::sim::queue::Rank;
use crate::sim::time::SimSpan;

/// `log.cleaner.backoff.ms`: how long the cleaner sleeps when there is nothing to clean.
pub(super) const CLEANER_BACKOFF: SimSpan = SimSpan::from_seconds(15);

impl Cluster {
    /// The cleaners look for logs that are dirty enough.
    pub(super) fn on_log_cleaner(&mut self, ctx: &mut Context<'_>) {
        let next = ctx.now + CLEANER_BACKOFF;
        ctx.queue.push(next, Rank::CONTROLLER, Event::LogCleaner);
        let indices: Vec<_> = self
            .topics
            .iter()
            .flat_map(|ids| ids.iter().copied())
            .collect();
        for index in indices {
            self.clean(ctx, index);
        }
    }

    fn clean(&mut self, ctx: &mut Context<'_>, index: PartitionIndex) {
        let partition = &mut self.partitions[index.index()];
        let ends = partition.replicas.iter().map(|r| partition.shared_end(r));
        let shared_by_all = ends.min().unwrap_or(0);
        let (Some(compaction), Some((leader, _))) = (&mut partition.compaction, partition.serving)
        else {
            return;
        };
        if !self.brokers[leader.index()].is_serving() {
            return;
        }
        let stable_end = shared_by_all.min(partition.high_watermark);
        let settings = &partition.settings;
        let Some(end_offset) = compaction.is_due(settings, stable_end, ctx.now) else {
            return;
        };
        let dirty = partition.log.take_below(end_offset);
        let book = (&*ctx.records, index);
        let cleaned = compaction.clean(book, (&dirty, end_offset), settings, ctx.now);
        let kept = compaction.clean_records().iter();
        let kept: Vec<(u64, u64)> = kept.map(|record| (record.offset, record.bytes)).collect();
        partition.log.note_cleaned(end_offset, &kept);
        ctx.read_order.clean(index, end_offset, &kept);
        let fact = Fact::LogCleaned {
            partition: index,
            end_offset: cleaned.end_offset,
            removed: cleaned.removed,
            kept: cleaned.kept,
        };
        ctx.fact(Rank::broker(leader), fact);
    }
}
