//! Which partition a record goes to.
//!
//! In order: the partition that the record names, the class in `partitioner.class`, the hash of its
//! key, the sticky choice. The built-in partitioner is asked while a record is appended; a class
//! before, and by clients of 2.4 to 3.9 once more when the record needs a new batch.
//!
//! Source: `KafkaProducer.partition`, `RecordAccumulator.append`.

use crate::kafka::partition_load::{Leadership, PartitionLoad};
use crate::kafka::settings::{JavaProducerSettings, PartitionerClass};
use crate::sim::context::Context;
use crate::sim::ids::{BrokerIndex, ProducerIndex, TopicIndex};
use crate::sim::producer::accumulator::Accumulator;
use crate::sim::producer::append::{Route, SendCall};
use crate::sim::producer::client::Client;
use crate::sim::producer::metadata::{ClientMetadata, Standing};
use crate::sim::producer::partitioner::Sticky;
use crate::sim::producer::round_robin::RoundRobin;
use crate::sim::producer::sticky_by_batch::StickyByBatch;
use crate::sim::rng::{Purpose, Stream};
use crate::sim::workload::HashedKey;

/// What a class in `partitioner.class` remembers of one topic.
#[derive(Clone, Debug)]
pub enum ClassPartitioner {
    /// Goes round.
    RoundRobin(RoundRobin),
    /// Sticks until a new batch is needed.
    StickyByBatch(StickyByBatch),
    /// A class of the application: nothing but where its draws come from.
    Custom(Stream),
}

impl Client {
    /// The place of the queue for this call.
    pub(super) fn choose(&mut self, ctx: &Context<'_>, call: &mut SendCall, count: u32) -> u32 {
        let number = match call.route {
            Route::Partition(number) => number,
            Route::Hash(hash) => {
                // Decided once a call: what its thread learns while it waits for memory changes
                // nothing (`KafkaProducer.doSend`).
                let number = hash % count.max(1);
                call.route = Route::Partition(number);
                number
            }
            Route::Sticky | Route::Drawn
                if self.settings.partitioner.class == PartitionerClass::BuiltIn =>
            {
                self.stick(ctx, call.topic)
            }
            Route::Sticky | Route::Drawn | Route::Custom(_) => self.chosen(ctx, call, count),
        };
        self.metadata.topic(call.topic).queues[number as usize]
    }

    /// How a record that names no partition finds one: its key with `toPositive(murmur2(key))`, or
    /// none.
    pub(super) fn route_of(&self, key: Option<(&[u8], HashedKey)>) -> Route {
        match (&self.settings.partitioner.class, key) {
            (PartitionerClass::Custom(class), key) => {
                Route::Custom(class.destination(key.map(|(bytes, _)| bytes)))
            }
            (_, Some((_, key))) if self.keys_decide() => Route::Hash(key.hash),
            _ => Route::Sticky,
        }
    }

    /// Whether keys are hashed as the client itself does it.
    pub fn keys_decide(&self) -> bool {
        let partitioner = &self.settings.partitioner;
        partitioner.class.hashes_keys() && !partitioner.ignore_keys
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

    /// Whether there are load tables, which every look of the sender rebuilds.
    pub(super) fn weighs_partitions(&self) -> bool {
        self.sticky.iter().any(Option::is_some)
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
            let queues = queues.iter().map(|&at| {
                let leader = self.accumulator.front(at).leader;
                (&self.accumulator.queues[at as usize], leader)
            });
            if !is_adaptive || !queues.clone().all(|(queue, _)| queue.is_used) {
                sticky.forget_weights();
                continue;
            }
            let is_late = |leader: Option<BrokerIndex>| {
                leader.is_some_and(|leader| {
                    let slot = self.connections.slot_of(leader);
                    let (ready, drained) = self.connections.get(slot).latency_stats;
                    timeout_ms > 0 && ready.saturating_sub(drained) > timeout_ms
                })
            };
            let loads = queues.zip(seen.partitions(topic));
            let loads = loads.map(|((queue, leader), leadership)| PartitionLoad {
                number: queue.number,
                queue_size: queue.deque.len() as u32,
                leadership,
                is_late: is_late(leader),
            });
            sticky.weigh(&loads.collect::<Vec<_>>());
        }
    }

    // === Classes

    /// What the class said about this call, or says now.
    fn chosen(&mut self, ctx: &Context<'_>, call: &mut SendCall, count: u32) -> u32 {
        if let Some(number) = call.chosen {
            return number;
        }
        call.asked += 1;
        *call.chosen.insert(self.ask(ctx, call, count))
    }

    fn ask(&mut self, ctx: &Context<'_>, call: &SendCall, count: u32) -> u32 {
        let class = &self.settings.partitioner.class;
        let (me, topic) = (self.me, call.topic);
        let partitioner = self.class_partitioners[topic.index()]
            .get_or_insert_with(|| ClassPartitioner::new(class, || draws_of(ctx, me, topic)));
        let seen = Seen::by(&self.metadata, &self.accumulator, &self.settings);
        match (partitioner, call.route) {
            (ClassPartitioner::RoundRobin(round), _) => round.choose(seen.partitions(topic)),
            (ClassPartitioner::StickyByBatch(sticky), _) => sticky.choose(seen.partitions(topic)),
            (ClassPartitioner::Custom(draws), Route::Custom(destination)) => {
                let draw = match destination.choices(count) {
                    0 | 1 => 0,
                    choices => draws.below(u64::from(choices)) as u32,
                };
                destination.partition(count, draw)
            }
            (ClassPartitioner::Custom(_), _) => 0,
        }
    }

    /// The record needs a new batch: clients of 2.4 to 3.9 tell their partitioner and ask once
    /// more. `RoundRobinPartitioner` leaves out a partition by that (KAFKA-9965).
    pub(super) fn asks_again(&mut self, call: &mut SendCall) -> bool {
        let version = self.settings.version;
        let is_first_time = call.asked == 1 && call.memory.is_none();
        let Some(previous) = call.chosen.filter(|_| is_first_time) else {
            return false;
        };
        let seen = Seen::by(&self.metadata, &self.accumulator, &self.settings);
        match &mut self.class_partitioners[call.topic.index()] {
            Some(ClassPartitioner::StickyByBatch(sticky)) => {
                sticky.on_new_batch(previous, seen.partitions(call.topic));
            }
            Some(ClassPartitioner::RoundRobin(_))
                if self.settings.partitioner.class == PartitionerClass::RoundRobin
                    && version.round_robin_skips() => {}
            Some(ClassPartitioner::Custom(_)) if version.asks_partitioners_again() => {}
            Some(ClassPartitioner::RoundRobin(_) | ClassPartitioner::Custom(_)) | None => {
                return false;
            }
        }
        call.chosen = None;
        true
    }
}

impl ClassPartitioner {
    fn new(class: &PartitionerClass, draws: impl FnOnce() -> Stream) -> Self {
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
            PartitionerClass::Custom(_) => Self::Custom(draws()),
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
            let Some(leader) = self.accumulator.front(place).leader else {
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
