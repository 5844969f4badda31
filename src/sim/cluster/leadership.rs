//! Brokers that take office, lose it, or follow somebody else, when metadata reaches them.
//!
//! Source: `ReplicaManager.applyDelta`, `Partition.makeLeader` and `makeFollower`.
//!
//! A new leader keeps its whole log, records above its high watermark too; its high watermark is
//! the one that it knew as a follower. How far its followers are it learns from their fetches.

use crate::sim::cluster::Cluster;
use crate::sim::cluster::isr::IsrChange;
use crate::sim::context::Context;
use crate::sim::fact::{Appended, Fact, Flow};
use crate::sim::history::LogBatch;
use crate::sim::ids::{BrokerIndex, PartitionIndex, ProducerIndex};
use crate::sim::partition::Source;
use crate::sim::queue::Rank;
use crate::sim::time::SimTime;
use crate::sim::trace::{Trace, TraceStep};

impl Cluster {
    /// A broker applies the latest metadata: leaders first, then followers.
    pub(super) fn on_metadata_applied(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        incarnation: u32,
    ) {
        let broker = &mut self.brokers[at.index()];
        let is_current = broker.image.version == self.controller.image.version;
        if broker.incarnation != incarnation || is_current || !broker.is_serving() {
            return;
        }
        broker.image = self.controller.image.clone();
        self.apply_leaders(ctx, at);
        self.apply_followers(ctx, at);
        self.serve_fetchers_of(ctx, at);
    }

    fn apply_leaders(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        let image = self.brokers[at.index()].image.clone();
        for index in self.brokers[at.index()].replica_of.clone() {
            let state = image.partition(index);
            if state.leader != Some(at) {
                continue;
            }
            let partition = &mut self.partitions[index.index()];
            if partition.serving != Some((at, state.epoch)) {
                self.make_leader(ctx, (at, state.epoch), (index, &state.isr));
            } else if partition.pending_isr.is_none() {
                partition.isr.clone_from(&state.isr);
            }
            if self.partitions[index.index()].advance_high_watermark() {
                self.check_purgatory(ctx, index);
            }
            self.propose_isr(ctx, (at, index), IsrChange::Expand);
        }
    }

    fn apply_followers(&mut self, ctx: &mut Context<'_>, at: BrokerIndex) {
        let image = self.brokers[at.index()].image.clone();
        let mut newly = Vec::new();
        for index in self.brokers[at.index()].replica_of.clone() {
            let state = image.partition(index);
            if state.leader == Some(at) {
                continue;
            }
            self.step_down(ctx, at, index);
            let source = self.partitions[index.index()].replica(at).map(|r| r.source);
            let follows = state
                .leader
                .zip(source)
                .is_some_and(|(leader, source)| source.is_of(leader, state.epoch));
            if !follows {
                newly.push(index);
            }
        }
        self.delete_replicas(at);
        newly.retain(|index| self.partitions[index.index()].replica(at).is_some());
        self.follow(ctx, at, &newly);
    }

    /// A broker that led learns that it does not: all who wait hear it.
    fn step_down(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, index: PartitionIndex) {
        let partition = &mut self.partitions[index.index()];
        if partition.is_led_by(at) {
            partition.vacate();
            self.check_purgatory(ctx, index);
        } else if partition.leads(at) {
            self.end_stale_office(ctx, (at, index));
        }
    }

    /// Takes office: the partition's log is this replica's, and followers fetch from here.
    fn make_leader(
        &mut self,
        ctx: &mut Context<'_>,
        (at, epoch): (BrokerIndex, u32),
        (index, isr): (PartitionIndex, &[BrokerIndex]),
    ) {
        let partition = &mut self.partitions[index.index()];
        // Who never heard of its fall goes on with what waits at it.
        let waiting = partition.step_down(at).map(|leader| leader.purgatory);
        if partition.serving.is_some_and(|(leader, _)| leader != at) {
            partition.depose();
        }
        let known = partition.replica(at).map_or(0, |r| r.high_watermark);
        let was_leading = partition.is_led_by(at);
        let switch = partition.switch_to(at);
        partition.serving = Some((at, epoch));
        partition.pending_isr = None;
        partition.isr = isr.to_vec();
        partition.purgatory.extend(waiting.into_iter().flatten());
        let end_offset = partition.log.end_offset();
        partition.epochs.begin(epoch, end_offset);
        if !was_leading {
            partition.high_watermark = known.min(end_offset);
        }
        for replica in &mut partition.replicas {
            let is_self = replica.broker == at;
            if is_self {
                // What it fetched before and is still on its way does not count.
                replica.source = Source::Nobody;
            }
            replica.known_end_offset = is_self.then_some(end_offset);
            let is_in_sync = isr.contains(&replica.broker);
            replica.caught_up = if is_in_sync { ctx.now } else { SimTime::ZERO };
            replica.previous_fetch = (0, SimTime::ZERO);
        }
        say_truncated(ctx, index, switch.gone);
        say_restored(ctx, (at, index), &switch.back);
        self.check_purgatory(ctx, index);
        self.load_transactions(ctx, at, index);
    }

    /// Cuts a log where no replica reaches further, and says which records are gone.
    pub(super) fn cut_log(&mut self, ctx: &mut Context<'_>, index: PartitionIndex, offset: u64) {
        let gone = self.partitions[index.index()].truncate(offset);
        say_truncated(ctx, index, gone);
    }

    /// A broker's process is gone, and its offices with it.
    pub(super) fn leave_offices(&mut self, at: BrokerIndex) {
        for index in self.brokers[at.index()].replica_of.clone() {
            let partition = &mut self.partitions[index.index()];
            partition.step_down(at);
            if partition.is_led_by(at) {
                partition.vacate();
            }
        }
    }
}

/// Says which records are gone.
fn say_truncated(ctx: &mut Context<'_>, partition: PartitionIndex, gone: Vec<LogBatch>) {
    let Some(first) = gone.first() else { return };
    let records = gone.iter().map(|batch| u64::from(batch.records)).sum();
    let from_offset = first.base_offset;
    let fact = Fact::RecordsTruncated {
        partition,
        from_offset,
        records,
    };
    ctx.fact(Rank::CONTROLLER, fact);
    let is_record = |batch: &LogBatch| batch.producer != ProducerIndex::NOBODY;
    for batch in gone.into_iter().filter(is_record) {
        ctx.trace(Trace {
            at: ctx.now,
            producer: batch.producer,
            partition,
            first_ordinal: batch.first_ordinal,
            records: batch.records,
            step: TraceStep::Truncated {
                from_offset: batch.base_offset,
            },
        });
        let flow = Flow::Truncated {
            producer: batch.producer,
            partition,
            first_ordinal: batch.first_ordinal,
            records: batch.records,
        };
        ctx.outbox.cut(Rank::CONTROLLER, flow);
    }
}

/// Records that a deposed leader took are in the partition after all: it leads again.
fn say_restored(
    ctx: &mut Context<'_>,
    (at, partition): (BrokerIndex, PartitionIndex),
    back: &[LogBatch],
) {
    let is_record = |batch: &&LogBatch| batch.producer != ProducerIndex::NOBODY;
    for batch in back.iter().filter(is_record) {
        let flow = Flow::Appended(Appended {
            producer: batch.producer,
            partition,
            first_ordinal: batch.first_ordinal,
            records: batch.records,
            bytes: batch.bytes,
            base_offset: batch.base_offset,
            at: ctx.now,
        });
        ctx.flow(Rank::broker(at), flow);
    }
}
