//! Draining: head batches of one node's partitions become one request.
//!
//! Source: `RecordAccumulator.drainBatchesForOneNode`, `Sender.sendProduceRequest`.

use crate::kafka::settings::CompressionType;
use crate::kafka::transaction::TransactionVersion;
use crate::kafka::wire::{
    TopicNaming, produce_partition_bytes, produce_request_bytes, produce_response_bytes,
    produce_topic_bytes,
};
use crate::sim::context::Context;
use crate::sim::ids::{BrokerIndex, TopicIndex};
use crate::sim::producer::accumulator::Queue;
use crate::sim::producer::batch::{Batch, BatchId};
use crate::sim::producer::client::Client;
use crate::sim::producer::idempotence::Gate;
use crate::sim::producer::metadata::Standing;
use crate::sim::producer::metrics::Drained;
use crate::sim::producer::retry_backoff::RetryBackoff;
use crate::sim::request::{ApiKey, Part, RequestId};
use crate::sim::trace::{Trace, TraceStep};
use crate::sim::transactions::ask::{Transact, TxnAnswer, TxnAsk};

/// What a drain pass over one node's partitions did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drain {
    /// Nothing could leave.
    Nothing,
    /// Nothing could leave, because a retry's wait is not over by the draw that counts here.
    HeldBack,
    /// A request left, and nothing else waits in these partitions.
    NoneLeft,
    /// A request left, and more waits.
    SomeLeft,
}

/// Whether a partition's head goes along.
enum Pick {
    Take(BatchId),
    Skip,
    /// It would, but for `retry.backoff.ms`.
    HeldBack,
    Stop,
}

impl Client {
    /// Sends a node what it may have, in one request. Linger is not asked: once a node is ready,
    /// the head of every partition that it leads goes along.
    pub(super) fn drain_to(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) -> Drain {
        let now_ms = ctx.now.as_millis();
        let mut batches = std::mem::take(&mut self.drained);
        let lap = self.drain(ctx, broker, &mut batches);
        let records = batches
            .iter()
            .map(|&id| u64::from(self.accumulator.batches.get(id).records));
        self.metrics.node_drained(records.sum(), now_ms);
        let outcome = if batches.is_empty() {
            lap
        } else {
            self.send_request(ctx, broker, &batches);
            self.what_is_left(broker)
        };
        batches.clear();
        self.drained = batches;
        outcome
    }

    fn what_is_left(&self, broker: BrokerIndex) -> Drain {
        let led = &self.led_by[broker.index()].queues;
        if led
            .iter()
            .all(|&place| self.accumulator.front(place).head().is_none())
        {
            Drain::NoneLeft
        } else {
            Drain::SomeLeft
        }
    }

    /// One lap over the node's partitions, from its cursor on; at most one batch each. Says why
    /// there is none, if so.
    fn drain(
        &mut self,
        ctx: &Context<'_>,
        broker: BrokerIndex,
        drained: &mut Vec<BatchId>,
    ) -> Drain {
        let mut lap = Drain::Nothing;
        let now_ms = ctx.now.as_millis();
        let count = self.led_by[broker.index()].queues.len();
        let mut bytes = 0_u64;
        let (mut topic, mut group) = (None, Drained::default());
        for step in 0..count {
            let led = &self.led_by[broker.index()];
            let place = led.queues[led.cursor];
            let picked = self.pick(place, bytes, now_ms);
            if matches!(picked, Pick::Stop) {
                break;
            }
            // After a whole lap the cursor rests on the partition that was visited last.
            if step + 1 < count {
                let led = &mut self.led_by[broker.index()];
                led.cursor = (led.cursor + 1) % count;
            }
            let head = match picked {
                Pick::Take(head) => head,
                Pick::HeldBack => {
                    lap = Drain::HeldBack;
                    continue;
                }
                Pick::Skip | Pick::Stop => continue,
            };
            self.idempotence.assign(&mut self.accumulator, head);
            self.accumulator.drain_head(place, ctx.now);
            let batch = self.accumulator.batches.get(head);
            bytes += u64::from(batch.written);
            let of_topic = self.accumulator.queues[place as usize].topic;
            if topic.is_some_and(|topic: TopicIndex| topic != of_topic) {
                let done = std::mem::take(&mut group);
                self.metrics
                    .drained(topic.map_or(0, TopicIndex::index), &done, now_ms);
            }
            topic = Some(of_topic);
            group.add(batch, now_ms);
            drained.push(head);
        }
        self.metrics
            .drained(topic.map_or(0, TopicIndex::index), &group, now_ms);
        lap
    }

    /// Whether the head of a queue may go into a request that has `bytes` already.
    fn pick(&mut self, place: u32, bytes: u64, now_ms: u64) -> Pick {
        let front = self.accumulator.front(place);
        let Some(head) = front.head().filter(|_| !front.is_muted) else {
            return Pick::Skip;
        };
        self.accumulator.settle(place);
        let queue = &self.accumulator.queues[place as usize];
        let batch = self.accumulator.batches.get(head);
        let mut backoff = RetryBackoff {
            backoff: self.settings.retry_backoff,
            draws: &mut self.draws.retry_backoff,
        };
        if backoff.holds_back(batch, now_ms) {
            return Pick::HeldBack;
        }
        let limit = u64::from(self.settings.max_request_size);
        if bytes > 0 && bytes + u64::from(batch.written) > limit {
            return Pick::Stop;
        }
        let is_member = match &self.transaction {
            None => true,
            Some(transaction) => transaction.lets_pass(place),
        };
        match self.idempotence.gate(queue, &self.accumulator, head) {
            _ if !is_member => Pick::Stop,
            Gate::Open => Pick::Take(head),
            Gate::Shut => Pick::Stop,
        }
    }

    fn send_request(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex, batches: &[BatchId]) {
        let slot = self.connections.slot_of(broker);
        let id = self.connections.open_request(ctx, slot, ApiKey::Produce);
        let mutes = self.settings.max_in_flight == 1;
        let request = ctx.requests.get_mut(id);
        request.acks = self.settings.acks.code() as i8;
        request.timeout_ms = self.settings.request_timeout_ms.min(u64::from(u32::MAX)) as u32;
        if let Some(transaction) = &self.transaction {
            let (transactional_id, version) = transaction.produces();
            request.transaction = Some(Box::new(Transact {
                ask: TxnAsk::Produce(transactional_id, version),
                answer: TxnAnswer::Done,
            }));
        }
        for &batch_id in batches {
            let batch = self.accumulator.batches.get(batch_id);
            let codec = self.settings.compression.codec;
            let queue = &self.accumulator.queues[batch.queue as usize];
            request.parts.push(part(queue, batch, (batch_id, codec)));
            if ctx.records.notes(queue.topic) {
                let attempt = batch.attempts + 1;
                ctx.outbox.trace(Trace {
                    at: ctx.now,
                    producer: self.me,
                    partition: queue.partition,
                    first_ordinal: batch.first_ordinal,
                    records: batch.records,
                    step: TraceStep::Sent { broker, attempt },
                });
            }
            if mutes {
                let place = batch.queue;
                self.accumulator.front_mut(place).is_muted = true;
            }
        }
        let bytes = self.measure(ctx, id, batches);
        if self.metadata.standing(broker) == Standing::OtherRack {
            self.counts.cross_rack_bytes += u64::from(bytes);
        }
        self.transmit(ctx, slot, id, bytes);
        if self.settings.acks.code() == 0 {
            self.complete_unanswered(ctx, slot, id);
        }
    }

    /// Bytes of a request on the wire; notes those of its response too.
    fn measure(&mut self, ctx: &mut Context<'_>, id: RequestId, batches: &[BatchId]) -> u32 {
        let mut topics = std::mem::take(&mut self.topics_drained);
        let mut bytes = 0_u32;
        for &batch in batches {
            let batch = self.accumulator.batches.get(batch);
            let topic = self.accumulator.queues[batch.queue as usize].topic;
            bytes = bytes.saturating_add(produce_partition_bytes(batch.written));
            let name_bytes = ctx.config.topics[topic.index()].name.len() as u32;
            match topics.iter_mut().find(|(known, ..)| *known == topic) {
                Some((_, (_, partitions))) => *partitions += 1,
                None => topics.push((topic, (name_bytes, 1))),
            }
        }
        let mut naming = TopicNaming::negotiated(self.settings.version, ctx.config.kafka);
        let mut transactional_id_bytes = None;
        if let Some(transaction) = &self.transaction {
            let (transactional_id, version) = transaction.produces();
            transactional_id_bytes = Some(transactional_id.len() as u32);
            if version == TransactionVersion::One {
                naming = TopicNaming::Names;
            }
        }
        let client_id_bytes = self.client_id.len() as u32;
        let count = topics.len() as u32;
        let envelope = produce_request_bytes(client_id_bytes, transactional_id_bytes, count);
        bytes = bytes.saturating_add(envelope);
        let mut response_bytes = produce_response_bytes(naming, &[]);
        for &(_, (name_bytes, partitions)) in &topics {
            bytes = bytes.saturating_add(produce_topic_bytes(naming, name_bytes, partitions));
            let with = produce_response_bytes(naming, &[(name_bytes, partitions)]);
            response_bytes += with - produce_response_bytes(naming, &[]);
        }
        ctx.requests.get_mut(id).response_bytes = response_bytes;
        topics.clear();
        self.topics_drained = topics;
        bytes
    }

    /// acks=0: the request is done when it is written to the socket.
    fn complete_unanswered(&mut self, ctx: &mut Context<'_>, slot: u16, id: RequestId) {
        self.connections.get_mut(slot).in_flight.pop_back();
        self.complete_produce(ctx, id);
        ctx.requests.release(id);
    }
}

fn part(queue: &Queue, batch: &Batch, (id, codec): (BatchId, CompressionType)) -> Part {
    Part {
        partition: queue.partition,
        batch: id,
        producer_id: batch.producer_id,
        epoch: batch.epoch,
        base_sequence: batch.base_sequence,
        records: batch.records,
        bytes: batch.written,
        plain_bytes: batch.plain,
        stored_bytes: batch.written,
        codec,
        first_ordinal: batch.first_ordinal,
        error: None,
        current_leader: None,
        base_offset: None,
        required_offset: 0,
    }
}
