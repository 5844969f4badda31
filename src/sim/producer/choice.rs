//! Which partition a record goes to.
//!
//! Source: `KafkaProducer.partition`, `RecordAccumulator.append`. The built-in partitioner is asked
//! while a record is appended; the classes of older clients before, and some of them once more
//! when the record needs a new batch.

use crate::kafka::settings::PartitionerClass;
use crate::sim::context::Context;
use crate::sim::ids::{ProducerIndex, TopicIndex};
use crate::sim::producer::append::{Route, SendCall};
use crate::sim::producer::client::Client;
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
            Route::Sticky | Route::Drawn
                if self.settings.partitioner.class == PartitionerClass::BuiltIn =>
            {
                let leaders = self.leaders(call.topic);
                self.sticky_of(ctx, call.topic).choose(&leaders)
            }
            Route::Sticky | Route::Drawn => {
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

    fn sticky_of(&mut self, ctx: &Context<'_>, topic: TopicIndex) -> &mut Sticky {
        let threshold = self.settings.batch_size;
        let me = self.me;
        self.sticky[topic.index()]
            .get_or_insert_with(|| Sticky::new(threshold, draws_of(ctx, me, topic)))
    }

    /// Before an append: says whether the sticky choice moved on.
    pub(super) fn moves_on(&mut self, call: &SendCall, queue: u32) -> bool {
        if call.route != Route::Sticky || !self.accumulator.is_last_batch_full(queue) {
            return false;
        }
        let leaders = self.leaders(call.topic);
        self.sticky[call.topic.index()]
            .as_mut()
            .is_some_and(|sticky| sticky.moves_on(true, &leaders))
    }

    /// After an append: the sticky choice counts the bytes.
    pub(super) fn note_stickiness(&mut self, call: &SendCall, queue: u32, bytes: u32) {
        if call.route != Route::Sticky {
            return;
        }
        let is_full = self.accumulator.is_last_batch_full(queue);
        let leaders = self.leaders(call.topic);
        if let Some(sticky) = &mut self.sticky[call.topic.index()] {
            sticky.note_appended(bytes, is_full, &leaders);
        }
    }

    // === Partitioners of older clients

    fn ask(&mut self, ctx: &Context<'_>, topic: TopicIndex) -> u32 {
        let leaders = self.leaders(topic);
        match self.older_of(ctx, topic) {
            OlderPartitioner::RoundRobin(round) => round.choose(&leaders),
            OlderPartitioner::StickyByBatch(sticky) => sticky.choose(&leaders),
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
        let leaders = self.leaders(call.topic);
        match &mut self.older[call.topic.index()] {
            Some(OlderPartitioner::StickyByBatch(sticky)) => {
                sticky.on_new_batch(previous, &leaders);
            }
            Some(OlderPartitioner::RoundRobin(_))
                if self.settings.partitioner.class == PartitionerClass::RoundRobin
                    && self.settings.version.round_robin_skips() => {}
            Some(OlderPartitioner::RoundRobin(_)) | None => return false,
        }
        call.route = Route::Sticky;
        true
    }

    fn older_of(&mut self, ctx: &Context<'_>, topic: TopicIndex) -> &mut OlderPartitioner {
        let class = self.settings.partitioner.class;
        let me = self.me;
        let draws = || draws_of(ctx, me, topic);
        self.older[topic.index()].get_or_insert_with(|| match class {
            PartitionerClass::StickyByBatch | PartitionerClass::UniformSticky => {
                OlderPartitioner::StickyByBatch(StickyByBatch::new(draws()))
            }
            // Before 2.4 the counter begins anywhere.
            PartitionerClass::KeylessRoundRobin => {
                OlderPartitioner::RoundRobin(RoundRobin::starting_at(draws().bits32()))
            }
            PartitionerClass::RoundRobin | PartitionerClass::BuiltIn => {
                OlderPartitioner::RoundRobin(RoundRobin::default())
            }
        })
    }
}

fn draws_of(ctx: &Context<'_>, me: ProducerIndex, topic: TopicIndex) -> Stream {
    Stream::new(ctx.config.seed, Purpose::Sticky, u32::from(me.0), topic.0)
}
