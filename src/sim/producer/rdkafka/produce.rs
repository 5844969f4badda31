//! `rd_kafka_produce()`: its checks in their order, and the queue that it fills.
//!
//! Source: `rd_kafka_msg_new0`, `rd_kafka_msg_partitioner`, `rd_kafka_curr_msgs_add`.

use std::sync::Arc;

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::size::key_bytes;
use crate::sim::context::Context;
use crate::sim::fact::Exception;
use crate::sim::ids::{PartitionIndex, TopicIndex};
use crate::sim::producer::append::{OnFull, Route, SendCall, Sent};
use crate::sim::producer::client::Closing;
use crate::sim::producer::rdkafka::partitioning::{Knowledge, ToNote, Unassigned};
use crate::sim::producer::rdkafka::toppar::{Message, Signal};
use crate::sim::producer::rdkafka::{QueueCount, Rdkafka, Woken, exception, exception_with};
use crate::sim::records::{NotedValue, Room};
use crate::sim::time::{SimSpan, SimTime};

/// What a record of the newest format takes beside key, value and headers, at worst
/// (`RD_KAFKAP_MESSAGE_V2_MAX_OVERHEAD`).
pub const RECORD_OVERHEAD_MAX: u64 = 36;
/// Places of unassigned messages are told from those of partitions by this bit.
const UNASSIGNED: u32 = 1 << 31;

impl Rdkafka {
    /// Takes a message, or says why not.
    pub(super) fn produce(&mut self, ctx: &mut Context<'_>, call: &SendCall) -> Sent {
        let message = Message {
            enqueued: ctx.now,
            key: key_bytes(call.payload, call.value),
            value: call.value,
        };
        if let Some(fatal) = &self.fatal {
            let text = format!(
                "Producing not allowed since a previous fatal error was raised: {}",
                fatal.text
            );
            return Sent::Failed(exception_with(RdkafkaError::Fatal, text));
        }
        if self.closing != Closing::No {
            return Sent::Failed(exception(RdkafkaError::State));
        }
        if let Some(state) = self.transaction_state().filter(|state| !state.takes()) {
            let text = format!(
                "Producing not allowed in transactional state {}",
                state.name()
            );
            return Sent::Failed(exception_with(RdkafkaError::State, text));
        }
        if !self.takes_size(&message) {
            return Sent::Failed(exception(RdkafkaError::MsgSizeTooLarge));
        }
        if !self.queue.takes(message.value, &self.settings) {
            if call.on_full == OnFull::Wait {
                return Sent::WaitsForRoom;
            }
            self.statistics.queue_full += 1;
            return Sent::Failed(exception(RdkafkaError::QueueFull));
        }
        let topic = &mut self.topics[call.topic.index()];
        if topic.first_used.is_none() {
            topic.first_used = Some(ctx.now);
            self.ask_for_metadata(ctx.now);
        }
        match self.topics[call.topic.index()].knowledge {
            Knowledge::Unknown => {}
            Knowledge::Missing => return Sent::Failed(exception(RdkafkaError::UnknownTopic)),
            Knowledge::Unauthorized => {
                return Sent::Failed(exception(RdkafkaError::TopicAuthorizationFailed));
            }
            Knowledge::Known => {
                let number = self.number_of(call.topic, call.route, ctx.now);
                let toppars = &self.topics[call.topic.index()].toppars;
                let Some(&place) = toppars.get(number as usize) else {
                    return Sent::Failed(exception(RdkafkaError::UnknownPartition));
                };
                self.enqueue(place, message);
                self.counts.sent += 1;
                return Sent::Appended(place);
            }
        }
        self.queue.add(message.value);
        self.topics[call.topic.index()]
            .unassigned
            .push_back(Unassigned {
                message,
                route: call.route,
                noted: None,
            });
        self.counts.sent += 1;
        Sent::Appended(UNASSIGNED | u32::from(call.topic.0))
    }

    /// Whether a message is small enough.
    pub(super) fn takes_size(&self, message: &Message) -> bool {
        message.bytes() + RECORD_OVERHEAD_MAX <= u64::from(self.settings.message_max_bytes)
    }

    /// Whether a value of this size finds room.
    #[inline]
    pub(super) fn has_room(&self, value: u32) -> bool {
        self.queue.takes(value, &self.settings)
    }

    /// Puts a message that found room into a partition's queue; says whether a thread wakes.
    #[inline]
    pub(super) fn enqueue(&mut self, place: u32, message: Message) -> Signal {
        self.queue.add(message.value);
        self.push(place, message)
    }

    fn push(&mut self, place: u32, message: Message) -> Signal {
        self.join_transaction(place, message.enqueued);
        let toppar = &mut self.toppars[place as usize];
        let signal = toppar.push(message);
        if signal == Signal::On
            && let Some(broker) = toppar.thread
        {
            self.wake_thread(broker, message.enqueued);
        }
        signal
    }

    /// The partition of a message takes part in the present transaction.
    #[inline]
    fn join_transaction(&mut self, place: u32, now: SimTime) {
        let Some(own) = &mut self.transactions else {
            return;
        };
        let at = now + SimSpan::from_millis(1);
        if own.join(place, at) {
            self.wake_by(at);
        }
    }

    /// A topic is known: its messages find their partitions, in order. No thread has one of them
    /// yet, so that nothing sticks.
    pub(super) fn assign(&mut self, ctx: &mut Context<'_>, topic: TopicIndex) {
        let unassigned = std::mem::take(&mut self.topics[topic.index()].unassigned);
        let first = self.topics[topic.index()].unassigned_gone;
        self.topics[topic.index()].unassigned_gone += unassigned.len() as u64;
        let mut nowhere = Vec::new();
        for (serial, waiting) in (first..).zip(unassigned) {
            let Unassigned {
                message,
                route,
                noted,
            } = waiting;
            let number = self.number_of(topic, route, ctx.now);
            let toppars = &self.topics[topic.index()].toppars;
            let Some(&place) = toppars.get(number as usize) else {
                self.reports
                    .move_ticket((UNASSIGNED | u32::from(topic.0), serial), None);
                nowhere.push(message);
                continue;
            };
            let to = (place, self.toppars[place as usize].next_ordinal);
            self.reports
                .move_ticket((UNASSIGNED | u32::from(topic.0), serial), Some(to));
            if let Some(noted) = noted {
                let at = (self.toppars[place as usize].partition, to.1);
                let key = noted.key.as_deref();
                let taken = message.enqueued;
                let _full = ctx.records.note(self.me, (at, taken), key, noted.value);
            }
            self.push(place, message);
        }
        self.fail_unassigned(
            ctx,
            topic,
            &nowhere,
            exception(RdkafkaError::UnknownPartition),
        );
    }

    /// Where the message is that a call has just put to this place.
    pub(super) fn place_of_last(&self, place: u32) -> (u32, u64) {
        if place & UNASSIGNED == 0 {
            return (place, self.toppars[place as usize].next_ordinal - 1);
        }
        let topic = &self.topics[(place & !UNASSIGNED) as usize];
        let serial = topic.unassigned_gone + topic.unassigned.len() as u64 - 1;
        (place, serial)
    }

    /// Notes key and value of the message that a call has just put to this place: now, or when it
    /// finds its partition.
    pub(super) fn note_last(
        &mut self,
        ctx: &mut Context<'_>,
        place: u32,
        key: Option<&[u8]>,
        value: NotedValue,
    ) -> Room {
        if place & UNASSIGNED == 0 {
            let toppar = &self.toppars[place as usize];
            let at = (toppar.partition, toppar.next_ordinal - 1);
            return ctx.records.note(self.me, (at, ctx.now), key, value);
        }
        let topic = &mut self.topics[(place & !UNASSIGNED) as usize];
        if let Some(last) = topic.unassigned.back_mut() {
            let key = key.map(Box::from);
            last.noted = Some(Box::new(ToNote { key, value }));
        }
        Room::Left
    }

    /// Messages without partition fail; tickets for the oldest of a topic's queue end.
    pub(super) fn expire_unassigned(
        &mut self,
        ctx: &mut Context<'_>,
        topic: TopicIndex,
        count: usize,
        exception: Arc<Exception>,
    ) {
        let known = &mut self.topics[topic.index()];
        let gone: Vec<Message> = known.unassigned.drain(..count).map(|u| u.message).collect();
        let first = known.unassigned_gone;
        known.unassigned_gone += gone.len() as u64;
        for serial in first..first + gone.len() as u64 {
            self.reports
                .move_ticket((UNASSIGNED | u32::from(topic.0), serial), None);
        }
        self.fail_unassigned(ctx, topic, &gone, exception);
    }

    /// The partition that a call would go to; none while it is undecided.
    pub(super) fn partition_of_call(&self, call: &SendCall) -> Option<PartitionIndex> {
        let toppars = &self.topics[call.topic.index()].toppars;
        let number = match call.route {
            Route::Partition(number) => number,
            Route::Hash(hash) => hash % (toppars.len() as u32).max(1),
            Route::Sticky | Route::Drawn | Route::Custom(_) => return None,
        };
        let &place = toppars.get(number as usize)?;
        Some(self.toppars[place as usize].partition)
    }

    /// Messages give up their places in the queue; who waits for room may be woken by it.
    pub(super) fn give_up_places(&mut self, messages: u64, value_bytes: u64) {
        let before = self.queue;
        self.queue.messages -= messages;
        self.queue.value_bytes -= value_bytes;
        let (count_max, size_max) = self.queue_limits();
        let crosses = |before: u64, after: u64, max: u64| before >= max && after < max;
        if self.queue.messages == 0
            || crosses(before.messages, self.queue.messages, count_max)
            || crosses(before.value_bytes, self.queue.value_bytes, size_max)
        {
            self.say(Woken::Room);
        }
        if self.queue.messages == 0 {
            self.say(Woken::Completed);
        }
    }

    fn queue_limits(&self) -> (u64, u64) {
        let queue = &self.settings.queue;
        let count = queue.messages_max.map_or(u64::MAX, u64::from);
        (count, queue.value_bytes_max)
    }

    /// News for the application; once is enough for several in a row.
    pub(super) fn say(&mut self, news: Woken) {
        if self.woken.last() != Some(&news) {
            self.woken.push(news);
        }
    }

    /// When the first message of a topic without metadata is too old.
    pub(super) fn oldest_unassigned(&self) -> Option<SimTime> {
        let first = |topic: &super::partitioning::Topic| {
            topic.unassigned.front().map(|first| first.message.enqueued)
        };
        self.topics.iter().filter_map(first).min()
    }
}

impl QueueCount {
    #[inline]
    fn takes(
        &self,
        value: u32,
        settings: &crate::kafka::settings::RdkafkaProducerSettings,
    ) -> bool {
        let queue = &settings.queue;
        let has_place = queue
            .messages_max
            .is_none_or(|max| self.messages < u64::from(max));
        has_place && self.value_bytes + u64::from(value) <= queue.value_bytes_max
    }

    #[inline]
    fn add(&mut self, value: u32) {
        self.messages += 1;
        self.value_bytes += u64::from(value);
    }
}
