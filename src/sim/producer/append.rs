//! The application's side of `send()`: metadata, size checks, partition, memory, append.
//!
//! Source: `KafkaProducer.doSend`, `RecordAccumulator.append`. Interceptors and serializers cost
//! no time here.

use std::sync::Arc;

use crate::kafka::custom_partitioner::Destination;
use crate::kafka::exception::ExceptionClass;
use crate::kafka::message;
use crate::kafka::size::upper_bound_estimate;
use crate::sim::context::Context;
use crate::sim::fact::Exception;
use crate::sim::ids::{PartitionIndex, TopicIndex};
use crate::sim::producer::accumulator::{Room, Urgency};
use crate::sim::producer::batch::BatchId;
use crate::sim::producer::buffer_pool::Allocation;
use crate::sim::producer::client::{Client, Closing, exception};
use crate::sim::time::{SimSpan, SimTime};

/// One `send()` call, from its start to its return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendCall {
    /// Which application thread calls.
    pub thread: u32,
    /// Where to.
    pub topic: TopicIndex,
    /// How the partition is found.
    pub route: Route,
    /// `payload(key, value, headers)` of the record, in bytes.
    pub payload: u32,
    /// The value alone, in bytes.
    pub value: u32,
    /// When the call began.
    pub started: SimTime,
    /// When it was through with metadata; the rest of `max.block.ms` is for memory.
    pub has_metadata: Option<SimTime>,
    /// Memory that the thread was given while it waited.
    pub memory: Option<u64>,
    /// What a partitioner of a class said.
    pub chosen: Option<u32>,
    /// How often it was asked.
    pub asked: u8,
    /// What a full queue means to the call (librdkafka only).
    pub on_full: OnFull,
}

/// What a full queue means to a call of `rd_kafka_produce()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFull {
    /// It fails with `_QUEUE_FULL`.
    Refuse,
    /// It waits for room (`RD_KAFKA_MSG_F_BLOCK`).
    Wait,
}

/// How a record's partition is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The application names it.
    Partition(u32),
    /// `toPositive(murmur2(key))`, modulo the number of partitions.
    Hash(u32),
    /// No key decides: the client chooses, or its class, and may stick with the choice for a while.
    Sticky,
    /// The client draws one for this record alone (librdkafka only).
    Drawn,
    /// A partitioner of the application wants it there.
    Custom(Destination),
}

/// How a call goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The record is taken: into this batch of a Java client, into this queue of librdkafka's.
    Appended(u32),
    /// The thread waits for metadata of the topic, up to this moment.
    WaitsForMetadata(SimTime),
    /// The thread waits for so many bytes, up to this moment.
    WaitsForMemory(u32, SimTime),
    /// The queue is full, and the call waits for room in it.
    WaitsForRoom,
    /// The future is already failed, or the call threw.
    Failed(Arc<Exception>),
    /// The call threw, and the record is in a batch all the same: outside of a transaction.
    TakenAndThrown(u32, Arc<Exception>),
}

impl Client {
    /// Calls `send()`, or goes on with a call that waited. A transaction hears how it ends.
    pub fn send(&mut self, ctx: &mut Context<'_>, call: &mut SendCall) -> Sent {
        let sent = self.send_record(ctx, call);
        if self.transaction.is_none() {
            return sent;
        }
        match sent {
            Sent::Appended(batch) => {
                let queue = self.accumulator.batches.get(batch).queue;
                match self.join_transaction(ctx, queue) {
                    Ok(()) => Sent::Appended(batch),
                    Err(thrown) => {
                        self.note_thrown(&thrown);
                        Sent::TakenAndThrown(batch, thrown)
                    }
                }
            }
            Sent::Failed(exception) => {
                self.note_thrown(&exception);
                Sent::Failed(exception)
            }
            waits => waits,
        }
    }

    /// `send()` of a transactional client ended in this: its own doing is not an error of the
    /// transaction.
    pub(super) fn note_thrown(&mut self, thrown: &Arc<Exception>) {
        let is_api = thrown.class.is_java(ExceptionClass::Api);
        if is_api {
            self.fail_transaction(thrown);
        }
    }

    fn send_record(&mut self, ctx: &mut Context<'_>, call: &mut SendCall) -> Sent {
        if self.closing != Closing::No {
            return self.fail(ctx, ExceptionClass::IllegalState, message::PRODUCER_CLOSED);
        }
        if self.fatal.is_some() {
            return self.fail(ctx, ExceptionClass::Kafka, message::IN_ERROR_STATE);
        }
        let now_ms = ctx.now.as_millis();
        self.metadata.touch(call.topic, now_ms);
        let queues = match call.has_metadata {
            // A call that is through with metadata does not look again, whatever happens to it.
            Some(_) => Some(self.metadata.topic(call.topic).queues.as_slice()),
            None => self.metadata.partitions(call.topic),
        };
        let count = queues.map_or(0, <[u32]>::len) as u32;
        let is_there = match call.route {
            Route::Partition(number) => number < count,
            Route::Hash(_) | Route::Sticky | Route::Drawn | Route::Custom(_) => count > 0,
        };
        if !is_there {
            return self.wait_for_metadata(call);
        }
        if call
            .has_metadata
            .replace(call.has_metadata.unwrap_or(ctx.now))
            .is_none()
            && ctx.now > call.started
        {
            let waited = ctx.now.since(call.started);
            self.metrics.metadata_wait(waited.as_nanos());
        }
        if let Some(too_large) = self.too_large(call.payload) {
            return self.fail(ctx, ExceptionClass::RecordTooLarge, too_large);
        }
        self.append(ctx, call, count)
    }

    /// `max.block.ms` is over for a thread that waits for metadata.
    pub fn metadata_timed_out(&mut self, ctx: &mut Context<'_>, call: &SendCall) -> Arc<Exception> {
        let topic = &ctx.config.topics[call.topic.index()].name;
        let max_block_ms = self.settings.max_block_ms;
        let known = self.metadata.partitions(call.topic);
        let text = match (call.route, known) {
            (Route::Partition(number), Some(queues)) => {
                message::partition_not_present(topic, number, queues.len() as u32, max_block_ms)
            }
            _ => message::topic_not_present(topic, max_block_ms),
        };
        self.metrics.send_failed(ctx.now.as_millis());
        exception(ExceptionClass::Timeout, text)
    }

    /// `max.block.ms` is over for a thread that waits for memory.
    pub fn memory_timed_out(&mut self, ctx: &mut Context<'_>, call: &SendCall) -> Arc<Exception> {
        let now_ms = ctx.now.as_millis();
        let waiter = self.pool.give_up(call.thread);
        if let Some(waiter) = waiter {
            let slept = ctx.now.since(waiter.recorded).as_nanos();
            self.metrics.pool_wait(slept, now_ms);
        }
        self.metrics.buffer_exhausted(now_ms);
        self.metrics.send_failed(now_ms);
        let text = message::BufferExhausted {
            size_bytes: waiter.map_or(0, |waiter| waiter.size),
            max_block_ms: self.remaining_ms(call),
            total_bytes: self.pool.total_bytes(),
            // The text is made before the waiter's own gathering goes back.
            available_bytes: self.pool.available_bytes()
                - waiter.map_or(0, |waiter| waiter.accumulated),
            poolable_bytes: self.pool.poolable_bytes(),
        }
        .text();
        self.serve_waiters(ctx.now);
        exception(ExceptionClass::BufferExhausted, text)
    }

    fn wait_for_metadata(&mut self, call: &SendCall) -> Sent {
        self.metadata.request_topic(call.topic);
        self.sleep.wake_by(SimTime::ZERO);
        let max_block = SimSpan::from_millis(self.settings.max_block_ms);
        Sent::WaitsForMetadata(call.started + max_block)
    }

    /// What is left of `max.block.ms` after the metadata wait.
    fn remaining_ms(&self, call: &SendCall) -> u64 {
        let has_metadata = call.has_metadata.unwrap_or(call.started);
        let waited = has_metadata
            .as_millis()
            .saturating_sub(call.started.as_millis());
        self.settings.max_block_ms.saturating_sub(waited)
    }

    fn too_large(&self, payload: u32) -> Option<String> {
        let size = u64::from(upper_bound_estimate(payload));
        let max_request_size = u64::from(self.settings.max_request_size);
        if size > max_request_size {
            Some(message::larger_than_max_request_size(
                size,
                max_request_size,
            ))
        } else if size > self.settings.buffer_memory {
            Some(message::larger_than_buffer_memory(size))
        } else {
            None
        }
    }

    fn append(&mut self, ctx: &mut Context<'_>, call: &mut SendCall, count: u32) -> Sent {
        let size = self
            .settings
            .batch_size
            .max(upper_bound_estimate(call.payload));
        loop {
            let queue = self.choose(ctx, call, count);
            if self.moves_on(call, queue) {
                continue;
            }
            if let Some(bytes) = self.accumulator.try_append(queue, call.payload, ctx.now) {
                if let Some(unused) = call.memory.take() {
                    self.pool.deallocate(unused);
                    self.serve_waiters(ctx.now);
                }
                self.counts.sent += 1;
                self.note_stickiness(call, queue, bytes);
                self.wake_if_full(queue, ctx.now);
                return self.appended(queue);
            }
            if self.asks_again(call) {
                continue;
            }
            if call.memory.is_none() {
                match self.pool.allocate(call.thread, u64::from(size), ctx.now) {
                    Allocation::Granted => call.memory = Some(u64::from(size)),
                    Allocation::Waiting => {
                        if self.look_spared_at == ctx.now {
                            // The sender was on its way, and finds a thread that waits.
                            self.sleep.wake_by(ctx.now);
                        }
                        let remaining = SimSpan::from_millis(self.remaining_ms(call));
                        let since = call.has_metadata.unwrap_or(ctx.now).max(ctx.now);
                        return Sent::WaitsForMemory(size, since + remaining);
                    }
                    Allocation::Impossible => {
                        let total = self.pool.total_bytes();
                        let text = message::hard_limit_on_memory(u64::from(size), total);
                        return Sent::Failed(exception(ExceptionClass::IllegalArgument, text));
                    }
                }
                // Looks again before it makes a batch, as after the allocation in Kafka.
                continue;
            }
            call.memory = None;
            let bytes = self
                .accumulator
                .open_batch(queue, size, call.payload, ctx.now);
            self.counts.sent += 1;
            self.note_stickiness(call, queue, bytes);
            self.wake_for_new_batch(queue, ctx.now);
            return self.appended(queue);
        }
    }

    /// Opens the next batch of a partition for a record whose partition is decided, if there is
    /// memory for it now.
    pub fn open_at_once(&mut self, queue: u32, payload: u32, now: SimTime) -> Room {
        let size = self.settings.batch_size.max(upper_bound_estimate(payload));
        if !self.pool.allocate_at_once(u64::from(size)) {
            return Room::None;
        }
        self.accumulator.close_open(queue);
        self.accumulator.open_batch(queue, size, payload, now);
        self.wake_for_new_batch(queue, now);
        Room::Taken
    }

    fn appended(&self, queue: u32) -> Sent {
        // The record is in the queue's last batch, open or just filled to the brim.
        let queue = &self.accumulator.queues[queue as usize];
        Sent::Appended(queue.deque.back().copied().unwrap_or(BatchId::MAX))
    }

    fn wake_if_full(&mut self, queue: u32, now: SimTime) {
        if self.accumulator.is_last_batch_full(queue) {
            self.sleep.wake_by(now);
        }
    }

    /// A new batch wakes the sender. Where it would find nothing to do but to remember when the
    /// batch's linger ends, it is spared the look.
    fn wake_for_new_batch(&mut self, queue: u32, now: SimTime) {
        let deadline = now
            .as_millis()
            .saturating_add(self.settings.delivery_timeout_ms);
        self.expiry_not_before_ms = self.expiry_not_before_ms.min(deadline);
        let state = &self.accumulator.queues[queue as usize];
        let lingers = self.urgency() == Urgency::None
            && self.settings.linger_ms > 0
            && state.deque.len() == 1
            && self.accumulator.front(queue).leader.is_some()
            && !self.weighs_partitions()
            && !self.sleep.is_due(now);
        if lingers {
            let linger_ms = self.settings.linger_ms;
            self.sleep
                .wake_by_ms(now.as_millis().saturating_add(linger_ms));
            self.sleep.begin(now);
            self.look_spared_at = now;
        } else {
            self.sleep.wake_by(now);
        }
    }

    fn fail(&mut self, ctx: &Context<'_>, class: ExceptionClass, text: impl Into<String>) -> Sent {
        if class.is_a(ExceptionClass::Kafka) {
            self.metrics.send_failed(ctx.now.as_millis());
        }
        Sent::Failed(exception(class, text))
    }

    /// The partition that a call would go to, for facts; none while it is undecided.
    pub fn partition_of(&self, call: &SendCall) -> Option<PartitionIndex> {
        let queues = self.metadata.partitions(call.topic)?;
        let number = match (call.chosen, call.route) {
            (Some(number), _) | (None, Route::Partition(number)) => number,
            (None, Route::Hash(hash)) => hash % (queues.len() as u32).max(1),
            (None, Route::Sticky | Route::Drawn | Route::Custom(_)) => return None,
        };
        let place = *queues.get(number as usize)?;
        Some(self.accumulator.queues[place as usize].partition)
    }
}
