//! The sender thread: what is ready, whom it may be sent to, what is drained, what has expired.
//!
//! Source: `Sender.runOnce`, `RecordAccumulator.ready`, `drain`, `NetworkClient.ready`. The thread
//! itself costs no time: it acts at the moment when something changed. It looks again when a
//! response, an append or a timer gives it a reason, never twice at one moment for the same one.

use crate::kafka::error::ErrorCode;
use crate::kafka::exception::ExceptionClass;
use crate::kafka::message;
use crate::kafka::settings::PartitionerClass;
use crate::kafka::wire::{
    TopicNaming, produce_partition_bytes, produce_request_bytes, produce_topic_bytes,
};
use crate::sim::context::Context;
use crate::sim::fact::{Fact, Flow};
use crate::sim::ids::{BrokerIndex, TopicIndex};
use crate::sim::producer::accumulator::Readiness;
use crate::sim::producer::batch::{BatchId, Stage};
use crate::sim::producer::client::{Client, Closing, Woken, exception};
use crate::sim::producer::connections::Usable;
use crate::sim::producer::idempotence::Gate;
use crate::sim::producer::partitioner::PartitionLoad;
use crate::sim::request::{Api, Part, RequestId};
use crate::sim::time::SimTime;
use crate::sim::view::ConnectionState;

/// Turns of the sender at one moment: each sends at least one request, so this is never reached
/// unless `max.in.flight.requests.per.connection` is absurdly large.
const TURNS_MAX: u32 = 10_000;

/// What one look at all deques found.
#[derive(Debug, Default)]
struct Look {
    /// By broker.
    ready: Vec<bool>,
    /// Whether a partition with data has no leader.
    has_unknown_leaders: bool,
    /// When a batch becomes ready by itself, on the client's clock.
    next_ms: Option<u64>,
}

impl Client {
    /// The sender wakes and does all there is to do now; `wake_at` says when it looks again.
    pub fn run_sender(&mut self, ctx: &mut Context<'_>) {
        self.wake_at = SimTime::NEVER;
        if self.closing == Closing::Done {
            return;
        }
        self.time_out(ctx);
        self.update_metadata(ctx);
        if self.idempotence.is_on() {
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
        for _ in 0..TURNS_MAX {
            if !self.send_produce(ctx) {
                break;
            }
        }
        self.finish_closing(ctx);
        let deadline = SimTime::from_millis(self.next_deadline_ms(ctx.now.as_millis()));
        self.wake_at = self.wake_at.min(deadline);
    }

    /// One turn: ready nodes, drain, expiry, requests. Says whether a request left.
    fn send_produce(&mut self, ctx: &mut Context<'_>) -> bool {
        let now_ms = ctx.now.as_millis();
        let look = self.look(now_ms);
        if let Some(next_ms) = look.next_ms {
            self.wake_at = self.wake_at.min(SimTime::from_millis(next_ms));
        }
        if look.has_unknown_leaders {
            self.metadata.request_update();
            self.update_metadata(ctx);
        }
        self.weigh_partitions(now_ms);
        let mut sent = false;
        for broker in (0..look.ready.len() as u16).map(BrokerIndex) {
            if look.ready[broker.index()] && self.may_send_to(ctx, broker) {
                let batches = self.drain(ctx, broker);
                let records = batches.iter().map(|&id| self.records_in(id)).sum();
                self.metrics.node_drained(records, now_ms);
                if !batches.is_empty() {
                    self.send_request(ctx, broker, batches);
                    sent = true;
                }
            }
        }
        self.expire(ctx);
        sent
    }

    fn records_in(&self, id: BatchId) -> u64 {
        u64::from(self.accumulator.batches.get(id).records)
    }

    /// Looks at the head of every deque (`RecordAccumulator.ready`).
    fn look(&self, now_ms: u64) -> Look {
        let mut look = Look {
            ready: vec![false; self.led_by.len()],
            ..Look::default()
        };
        let urgency = (self.settings.linger_ms, self.urgency());
        for queue in &self.accumulator.queues {
            let Some(&head) = queue.deque.front() else {
                continue;
            };
            let Some(leader) = queue.leader else {
                look.has_unknown_leaders = true;
                continue;
            };
            if look.ready[leader.index()] || queue.is_muted {
                continue;
            }
            let head = self.accumulator.batches.get(head);
            match self.accumulator.readiness(queue, head, urgency, now_ms) {
                Readiness::Ready => look.ready[leader.index()] = true,
                Readiness::NotBefore(at) => {
                    look.next_ms = Some(look.next_ms.map_or(at, |next| next.min(at)));
                }
            }
        }
        look
    }

    /// Rebuilds the load tables of adaptive partitioning.
    fn weigh_partitions(&mut self, now_ms: u64) {
        let partitioner = &self.settings.partitioner;
        let is_adaptive = partitioner.adaptive && partitioner.class == PartitionerClass::BuiltIn;
        let timeout_ms = partitioner.availability_timeout_ms;
        for topic in 0..self.sticky.len() {
            if self.sticky[topic].is_none() {
                continue;
            }
            let queues = &self.metadata.topic(TopicIndex(topic as u16)).queues;
            let all_used = queues
                .iter()
                .all(|&at| self.accumulator.queues[at as usize].is_used);
            let loads: Vec<_> = queues
                .iter()
                .map(|&at| {
                    let queue = &self.accumulator.queues[at as usize];
                    let is_late = queue.leader.is_none_or(|leader| {
                        let slot = self.connections.slot_of(leader);
                        let (ready, drained) = self.connections.get(slot).latency_stats;
                        timeout_ms > 0
                            && !queue.deque.is_empty()
                            && ready.saturating_sub(drained) > timeout_ms
                    });
                    let queue_size = queue.deque.len() as u32;
                    PartitionLoad {
                        number: queue.number,
                        queue_size,
                        is_available: !is_late,
                    }
                })
                .collect();
            let Some(sticky) = &mut self.sticky[topic] else {
                continue;
            };
            if is_adaptive && all_used {
                sticky.weigh(&loads);
            } else {
                sticky.forget_weights();
            }
        }
        let _ = now_ms;
    }

    /// Whether a ready node may be sent to now; connects, or remembers when to look again.
    fn may_send_to(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) -> bool {
        let now_ms = ctx.now.as_millis();
        let slot = self.connections.slot_of(broker);
        if !self.idempotence.lets_data_pass() {
            return false;
        }
        // A due metadata update has priority over all nodes.
        let is_metadata_due = self.metadata.due_ms(&self.settings.metadata) <= now_ms;
        let max_in_flight = self.settings.max_in_flight;
        let usable = self.connections.get(slot).usable(max_in_flight, ctx.now);
        let may = usable == Usable::Now && !is_metadata_due;
        let stats = &mut self.connections.get_mut(slot).latency_stats;
        stats.0 = now_ms;
        if may {
            stats.1 = now_ms;
        }
        match usable {
            Usable::Connectable => self.connect(ctx, slot),
            Usable::At(at) => self.wake_at = self.wake_at.min(at),
            Usable::Now | Usable::Later => {}
        }
        may
    }

    /// Takes the head batch of every partition that a node leads, as far as one request goes.
    fn drain(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) -> Vec<BatchId> {
        let now_ms = ctx.now.as_millis();
        let mut drained = Vec::new();
        let mut bytes = 0_u64;
        let count = self.led_by[broker.index()].queues.len();
        for _ in 0..count {
            let led = &mut self.led_by[broker.index()];
            let place = led.queues[led.cursor];
            let queue = &self.accumulator.queues[place as usize];
            let head = queue.deque.front().copied().filter(|_| !queue.is_muted);
            let Some(head) = head else {
                led.cursor = (led.cursor + 1) % count;
                continue;
            };
            let batch = self.accumulator.batches.get(head);
            let waited = now_ms.saturating_sub(batch.last_attempt_ms);
            if batch.attempts > 0 && waited < batch.backoff_ms {
                led.cursor = (led.cursor + 1) % count;
                continue;
            }
            let exceeds =
                bytes + u64::from(batch.written) > u64::from(self.settings.max_request_size);
            if exceeds && !drained.is_empty() {
                break;
            }
            let gate = self.idempotence.gate(queue, &self.accumulator, head);
            if gate == Gate::Shut {
                break;
            }
            led.cursor = (led.cursor + 1) % count;
            self.idempotence.assign(&mut self.accumulator, head);
            self.accumulator.drain_head(place, ctx.now);
            let batch = self.accumulator.batches.get(head);
            bytes += u64::from(batch.written);
            let topic = self.accumulator.queues[place as usize].topic.index();
            self.metrics.batch_drained(topic, batch, now_ms);
            drained.push(head);
        }
        // After a whole lap Kafka's cursor rests on the last partition visited.
        if count > 0 && drained.len() == count {
            let led = &mut self.led_by[broker.index()];
            led.cursor = (led.cursor + count - 1) % count;
        }
        drained
    }

    fn send_request(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex, batches: Vec<BatchId>) {
        let slot = self.connections.slot_of(broker);
        let id = self.open_request(ctx, slot, Api::Produce);
        let mutes = self.settings.max_in_flight == 1;
        let request = ctx.requests.get_mut(id);
        request.acks = self.settings.acks.code() as i8;
        request.timeout_ms = self.settings.request_timeout_ms.min(u64::from(u32::MAX)) as u32;
        let mut topics: Vec<(TopicIndex, u32)> = Vec::new();
        let mut bytes = 0_u32;
        for batch_id in batches {
            let batch = self.accumulator.batches.get(batch_id);
            let queue = &mut self.accumulator.queues[batch.queue as usize];
            queue.is_muted = mutes;
            match topics.iter_mut().find(|(topic, _)| *topic == queue.topic) {
                Some((_, partitions)) => *partitions += 1,
                None => topics.push((queue.topic, 1)),
            }
            bytes = bytes.saturating_add(produce_partition_bytes(batch.written));
            request.parts.push(Part {
                partition: queue.partition,
                batch: batch_id,
                producer_id: batch.producer_id.0,
                epoch: batch.producer_id.1,
                base_sequence: batch.base_sequence,
                records: batch.records,
                bytes: batch.written,
                first_ordinal: batch.first_ordinal,
                error: None,
                base_offset: None,
                required_offset: 0,
            });
        }
        let naming = TopicNaming::negotiated(self.settings.version, ctx.config.kafka);
        let client_id_bytes = self.client_id.len() as u32;
        bytes = bytes.saturating_add(produce_request_bytes(
            client_id_bytes,
            None,
            topics.len() as u32,
        ));
        for (topic, partitions) in topics {
            let name_bytes = ctx.config.topics[topic.index()].name.len() as u32;
            bytes = bytes.saturating_add(produce_topic_bytes(naming, name_bytes, partitions));
        }
        self.transmit(ctx, slot, id, bytes);
        if self.settings.acks.code() == 0 {
            self.complete_unanswered(ctx, slot, id);
        }
    }

    /// acks=0: the request is done when it is written to the socket.
    fn complete_unanswered(&mut self, ctx: &mut Context<'_>, slot: u16, id: RequestId) {
        self.connections.get_mut(slot).in_flight.pop_back();
        self.complete_produce(ctx, id);
        ctx.requests.release(id);
    }

    /// Fails batches older than `delivery.timeout.ms`, queued or in flight.
    fn expire(&mut self, ctx: &mut Context<'_>) {
        let now_ms = ctx.now.as_millis();
        if now_ms < self.expiry_not_before_ms {
            return;
        }
        let timeout_ms = self.settings.delivery_timeout_ms;
        let mut oldest = u64::MAX;
        for place in 0..self.accumulator.queues.len() {
            let queue = &self.accumulator.queues[place];
            let on_wire = queue
                .unfinished
                .iter()
                .filter(|&&id| self.accumulator.batches.get(id).stage == Stage::InFlight);
            let candidates: Vec<_> = on_wire.chain(&queue.deque).copied().collect();
            for id in candidates {
                let batch = self.accumulator.batches.get(id);
                if batch.age_ms(now_ms) < timeout_ms {
                    oldest = oldest.min(batch.created_ms);
                } else {
                    self.expire_batch(ctx, id);
                }
            }
        }
        self.expiry_not_before_ms = oldest.saturating_add(timeout_ms);
    }

    fn expire_batch(&mut self, ctx: &mut Context<'_>, id: BatchId) {
        let now_ms = ctx.now.as_millis();
        let batch = self.accumulator.batches.get(id).clone();
        let queue = &mut self.accumulator.queues[batch.queue as usize];
        if batch.attempts > 0 && batch.base_sequence >= 0 {
            let next =
                crate::sim::partition::next_sequence(batch.base_sequence, batch.records as i32);
            let unresolved = queue
                .sequences
                .unresolved
                .map_or(next, |known| known.max(next));
            queue.sequences.unresolved = Some(unresolved);
        }
        let name = format!(
            "{}-{}",
            ctx.config.topics[queue.topic.index()].name,
            queue.number
        );
        let version = self.settings.version;
        let text = message::expiring(version, batch.records, &name, batch.age_ms(now_ms));
        self.fail_batch(ctx, id, ExceptionClass::Timeout, text);
        if batch.stage != Stage::InFlight {
            self.release(id, ctx.now);
            return;
        }
        // The request is not cancelled: the batch's place waits for its answer.
        self.accumulator.batches.get_mut(id).stage = Stage::ExpiredInFlight;
        if !self.settings.version.keeps_memory_of_expired_requests() {
            self.free_memory(id, ctx.now);
        }
    }

    /// A batch fails for good: its records' callbacks run.
    pub(super) fn fail_batch(
        &mut self,
        ctx: &mut Context<'_>,
        id: BatchId,
        class: ExceptionClass,
        text: String,
    ) {
        let batch = self.accumulator.batches.get(id).clone();
        let queue = &self.accumulator.queues[batch.queue as usize];
        let (partition, topic) = (queue.partition, queue.topic.index());
        self.metrics
            .batch_failed(topic, batch.records, ctx.now.as_millis());
        self.counts.failed += u64::from(batch.records);
        let (producer, records) = (self.me, batch.records);
        let first_ordinal = batch.first_ordinal;
        ctx.flow(
            self.rank,
            Flow::Failed {
                producer,
                partition,
                first_ordinal,
                records,
            },
        );
        let exception = exception(class, text);
        ctx.fact(
            self.rank,
            Fact::BatchFailed {
                producer,
                partition,
                records,
                exception,
            },
        );
        let payload = batch.payload_max;
        self.woken.push(Woken::Failed {
            queue: batch.queue,
            records,
            payload,
        });
        self.accumulator.finish(id);
        self.woken.push(Woken::Completed);
    }

    /// A completed batch that nobody else holds: its memory goes back.
    pub(super) fn release(&mut self, id: BatchId, now: SimTime) {
        self.free_memory(id, now);
        self.accumulator.batches.close(id);
    }

    /// A graceful close ends when nothing is left to do.
    fn finish_closing(&mut self, ctx: &mut Context<'_>) {
        if self.closing == Closing::Gracefully
            && self.accumulator.is_empty()
            && self.connections.in_flight() == 0
        {
            self.end(ctx);
        }
    }

    /// The earliest of all timeouts, on the client's clock.
    fn next_deadline_ms(&self, now_ms: u64) -> u64 {
        let timeout_ms = self.settings.request_timeout_ms;
        let idle_ms = self.settings.connections_max_idle_ms;
        let mut next = self.expiry_not_before_ms;
        // An update that is due already waits for a node, not for the clock.
        let update_ms = self.metadata.due_ms(&self.settings.metadata);
        if update_ms > now_ms {
            next = next.min(update_ms);
        }
        for (_, connection) in self.connections.iter() {
            next = next.min(connection.deadline_ms(timeout_ms));
            if connection.state == ConnectionState::Ready && connection.in_flight.is_empty() {
                next = next.min(connection.used_ms.saturating_add(idle_ms));
            }
        }
        next
    }

    /// How an error of a finished batch reads in the application.
    pub(super) fn text_of(error: ErrorCode, node: i32) -> String {
        match error {
            ErrorCode::NetworkException => message::disconnected(node),
            ErrorCode::RequestTimedOut => message::disconnected_due_to_timeout(node),
            error => error.default_message().to_string(),
        }
    }
}
