//! Which partition a record goes to.
//!
//! Source: `KafkaProducer.partition`, `RecordAccumulator.append`. The built-in partitioner is asked
//! while a record is appended; the classes of older clients before, and some of them once more
//! when the record needs a new batch.

use crate::kafka::partition_load::{Leadership, PartitionLoad};
use crate::kafka::settings::{JavaProducerSettings, PartitionerClass};
use crate::sim::context::Context;
use crate::sim::ids::{ProducerIndex, TopicIndex};
use crate::sim::producer::accumulator::{Accumulator, Queue};
use crate::sim::producer::append::{Route, SendCall};
use crate::sim::producer::client::Client;
use crate::sim::producer::metadata::{ClientMetadata, Standing};
use crate::sim::producer::partitioner::Sticky;
use crate::sim::producer::round_robin::RoundRobin;
use crate::sim::producer::sticky_by_batch::StickyByBatch;
use crate::sim::rng::{Purpose, Stream};

/// A partitioner of an older client, for one topic.
#[derive(Clone, Debug)]
pub enum OlderPartitioner {
    /// Goes round.
    RoundRobin(RoundRobin),
    /// Sticks until a new batch is needed.
    StickyByBatch(StickyByBatch),
}

impl Client {
    /// The place of the queue for this call.
    pub(super) fn choose(&mut self, ctx: &Context<'_>, call: &mut SendCall, count: u32) -> u32 {
        let number = match call.route {
            Route::Partition(number) => number,
            Route::Hash(hash) => hash % count.max(1),
            Route::Sticky if self.settings.partitioner.class == PartitionerClass::BuiltIn => {
                self.stick(ctx, call.topic)
            }
            Route::Sticky => {
                let number = self.ask(ctx, call.topic);
                call.asked += 1;
                call.route = Route::Partition(number);
                number
            }
        };
        self.metadata.topic(call.topic).queues[number as usize]
    }

    /// Whether keys decide, for the application to prepare its routes.
    pub fn keys_decide(&self) -> bool {
        let partitioner = &self.settings.partitioner;
        let looks_at_keys = !matches!(
            partitioner.class,
            PartitionerClass::RoundRobin | PartitionerClass::UniformSticky
        );
        looks_at_keys && !partitioner.ignore_keys
    }

    // === The built-in partitioner

    fn stick(&mut self, ctx: &Context<'_>, topic: TopicIndex) -> u32 {
        let threshold = self.settings.batch_size;
        let me = self.me;
        let sticky = self.sticky[topic.index()]
            .get_or_insert_with(|| Sticky::new(threshold, draws_of(ctx, me, topic)));
        let seen = Seen::by(&self.metadata, &self.accumulator, &self.settings);
        sticky.choose(seen.partitions(topic))
    }

    /// Before an append: says whether the sticky choice moved on.
    pub(super) fn moves_on(&mut self, call: &SendCall, queue: u32) -> bool {
        if call.route != Route::Sticky || !self.accumulator.is_last_batch_full(queue) {
            return false;
        }
        let seen = Seen::by(&self.metadata, &self.accumulator, &self.settings);
        let sticky = self.sticky[call.topic.index()].as_mut();
        sticky.is_some_and(|sticky| sticky.moves_on(true, seen.partitions(call.topic)))
    }

    /// After an append: the sticky choice counts the bytes.
    pub(super) fn note_stickiness(&mut self, call: &SendCall, queue: u32, bytes: u32) {
        if call.route != Route::Sticky {
            return;
        }
        let is_full = self.accumulator.is_last_batch_full(queue);
        let seen = Seen::by(&self.metadata, &self.accumulator, &self.settings);
        if let Some(sticky) = &mut self.sticky[call.topic.index()] {
            sticky.note_appended(bytes, is_full, seen.partitions(call.topic));
        }
    }

    /// The sender looked at all queues: rebuilds the load tables of adaptive partitioning. A topic
    /// of which a partition was never produced to has none, so neither has a rack-aware client
    /// without keyed records for the other racks.
    pub(super) fn weigh_partitions(&mut self) {
        let partitioner = &self.settings.partitioner;
        let is_adaptive = partitioner.adaptive && partitioner.class == PartitionerClass::BuiltIn;
        let timeout_ms = partitioner.availability_timeout_ms;
        let seen = Seen::by(&self.metadata, &self.accumulator, &self.settings);
        for topic in 0..self.sticky.len() {
            let Some(sticky) = &mut self.sticky[topic] else {
                continue;
            };
            let topic = TopicIndex(topic as u16);
            let queues = &self.metadata.topic(topic).queues;
            let queues = queues
                .iter()
                .map(|&at| &self.accumulator.queues[at as usize]);
            if !is_adaptive || !queues.clone().all(|queue| queue.is_used) {
                sticky.forget_weights();
                continue;
            }
            let is_late = |queue: &Queue| {
                queue.leader.is_some_and(|leader| {
                    let slot = self.connections.slot_of(leader);
                    let (ready, drained) = self.connections.get(slot).latency_stats;
                    timeout_ms > 0 && ready.saturating_sub(drained) > timeout_ms
                })
            };
            let loads = queues.zip(seen.partitions(topic));
            let loads = loads.map(|(queue, leadership)| PartitionLoad {
                number: queue.number,
                queue_size: queue.deque.len() as u32,
                leadership,
                is_late: is_late(queue),
            });
            sticky.weigh(&loads.collect::<Vec<_>>());
        }
    }

    // === Partitioners of older clients

    fn ask(&mut self, ctx: &Context<'_>, topic: TopicIndex) -> u32 {
        let class = self.settings.partitioner.class;
        let me = self.me;
        let partitioner = self.older[topic.index()]
            .get_or_insert_with(|| OlderPartitioner::new(class, || draws_of(ctx, me, topic)));
        let seen = Seen::by(&self.metadata, &self.accumulator, &self.settings);
        match partitioner {
            OlderPartitioner::RoundRobin(round) => round.choose(seen.partitions(topic)),
            OlderPartitioner::StickyByBatch(sticky) => sticky.choose(seen.partitions(topic)),
        }
    }

    /// The record needs a new batch: clients of 2.4 to 3.9 tell their partitioner and ask once
    /// more. `RoundRobinPartitioner` leaves out a partition by that (KAFKA-9965).
    pub(super) fn asks_again(&mut self, call: &mut SendCall) -> bool {
        let is_first_time = call.asked == 1 && call.memory.is_none();
        let Route::Partition(previous) = call.route else {
            return false;
        };
        if !is_first_time {
            return false;
        }
        let seen = Seen::by(&self.metadata, &self.accumulator, &self.settings);
        match &mut self.older[call.topic.index()] {
            Some(OlderPartitioner::StickyByBatch(sticky)) => {
                sticky.on_new_batch(previous, seen.partitions(call.topic));
            }
            Some(OlderPartitioner::RoundRobin(_))
                if self.settings.partitioner.class == PartitionerClass::RoundRobin
                    && self.settings.version.round_robin_skips() => {}
            Some(OlderPartitioner::RoundRobin(_)) | None => return false,
        }
        call.route = Route::Sticky;
        true
    }
}

impl OlderPartitioner {
    /// The partitioner of a class that is not built in.
    fn new(class: PartitionerClass, draws: impl FnOnce() -> Stream) -> Self {
        match class {
            PartitionerClass::StickyByBatch | PartitionerClass::UniformSticky => {
                Self::StickyByBatch(StickyByBatch::new(draws()))
            }
            // Before 2.4 the counter begins anywhere.
            PartitionerClass::KeylessRoundRobin => {
                Self::RoundRobin(RoundRobin::starting_at(draws().bits32()))
            }
            PartitionerClass::RoundRobin | PartitionerClass::BuiltIn => {
                Self::RoundRobin(RoundRobin::default())
            }
        }
    }
}

/// What a partitioner sees of its client.
#[derive(Clone, Copy)]
struct Seen<'a> {
    metadata: &'a ClientMetadata,
    accumulator: &'a Accumulator,
    prefers_rack: bool,
}

impl<'a> Seen<'a> {
    fn by(
        metadata: &'a ClientMetadata,
        accumulator: &'a Accumulator,
        settings: &JavaProducerSettings,
    ) -> Self {
        Self {
            metadata,
            accumulator,
            prefers_rack: settings.partitioner.preferred_rack.is_some(),
        }
    }

    /// The partitions of a topic, in order of their numbers.
    fn partitions(self, topic: TopicIndex) -> impl Iterator<Item = Leadership> + Clone + 'a {
        let queues = self.metadata.topic(topic).queues.iter();
        queues.map(move |&place| {
            let Some(leader) = self.accumulator.queues[place as usize].leader else {
                return Leadership::Leaderless;
            };
            if self.prefers_rack && self.metadata.standing(leader) == Standing::SameRack {
                Leadership::InRack
            } else {
                Leadership::Elsewhere
            }
        })
    }
}

fn draws_of(ctx: &Context<'_>, me: ProducerIndex, topic: TopicIndex) -> Stream {
    Stream::new(ctx.config.seed, Purpose::Sticky, u32::from(me.0), topic.0)
}
