//! What goes into one batch, and the request around it.
//!
//! One request carries one batch of one partition. All limits are on uncompressed bytes; a batch is
//! compressed when it is full, and sent as it was where that gains nothing.
//!
//! Source: `rd_kafka_msgset_writer_write_msgq`, `rd_kafka_msgset_writer_compress`,
//! `rd_kafka_msgset_create_ProduceRequest`.

use crate::kafka::settings::CompressionType;
use crate::kafka::size::{BATCH_OVERHEAD, record_bytes};
use crate::kafka::wire::{TopicNaming, produce_response_bytes, rdkafka_produce_request_bytes};
use crate::sim::context::Context;
use crate::sim::ids::{BrokerIndex, TopicIndex};
use crate::sim::partition::next_sequence;
use crate::sim::producer::rdkafka::Rdkafka;
use crate::sim::producer::rdkafka::batch::{Batch, BatchId};
use crate::sim::producer::rdkafka::produce::RECORD_OVERHEAD_MAX;
use crate::sim::producer::rdkafka::serve::Outgoing;
use crate::sim::producer::rdkafka::statistics::micros;
use crate::sim::producer::rdkafka::toppar::{Message, Persisted};
use crate::sim::request::{ApiKey, Part, RequestId};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::trace::{Trace, TraceStep};

/// What a request buffer holds before its first record, beside client id and topic: at worst, for
/// Produce from version 9 on.
const REQUEST_OVERHEAD: u64 = 94;

/// The batch that is filled.
struct Filling {
    batch: Batch,
    /// Messages that are there at the start, or as many as a batch takes.
    messages_max: u64,
    /// Bytes in the request buffer, and at most.
    bytes: u64,
    bytes_max: u64,
    /// The first message's timestamp.
    first_ms: u64,
}

impl Filling {
    /// Whether another message goes into it; the first one always does.
    fn takes(&self, message: &Message) -> bool {
        let count = self.batch.len();
        let size = message.bytes() + RECORD_OVERHEAD_MAX;
        count == 0 || (count < self.messages_max && self.bytes + size <= self.bytes_max)
    }

    fn push(&mut self, ordinal: u64, message: Message, past: (u32, Persisted)) {
        let at_ms = message.enqueued.as_millis();
        let index = self.batch.len() as u32;
        if index == 0 {
            self.first_ms = at_ms;
        }
        let delta_ms = at_ms as i64 - self.first_ms as i64;
        let bytes = record_bytes(index, delta_ms, message.payload());
        let header = if index == 0 { BATCH_OVERHEAD } else { 0 };
        self.batch.push(ordinal, message, past, bytes + header);
        self.bytes += u64::from(bytes);
    }
}

impl Rdkafka {
    /// Builds one request for a partition and queues it for its broker's socket. Nothing where the
    /// first message has to wait.
    pub(super) fn build(
        &mut self,
        ctx: &mut Context<'_>,
        broker: BrokerIndex,
        place: u32,
    ) -> Option<u64> {
        let topic = self.toppars[place as usize].topic;
        let name_bytes = ctx.config.topics[topic.index()].name.len() as u32;
        let settings = &self.settings;
        let id_bytes = self.transactional_id_bytes();
        let fixed =
            REQUEST_OVERHEAD + u64::from(name_bytes + id_bytes) + self.client_id.len() as u64;
        let limit = settings.message_max_bytes.min(settings.batch_size_bytes);
        let (id, mut batch) = self.batches.blank();
        batch.toppar = place;
        let mut filling = Filling {
            batch,
            messages_max: u64::from(settings.batch_messages_max),
            bytes: fixed,
            bytes_max: u64::from(limit),
            first_ms: 0,
        };
        self.fill(&mut filling, place, ctx.now);
        let mut batch = filling.batch;
        let Some(oldest) = batch.messages.first().copied() else {
            self.batches.close(id, batch);
            return None;
        };
        batch.built = ctx.now;
        self.sequence(&mut batch);
        let codec = self.compress(&mut batch, topic);
        let bytes = self.count_built(&batch, broker, ctx.now);
        let request = self.open_produce(ctx, broker, (id, &batch, codec), name_bytes);
        let records = batch.len();
        self.toppars[place as usize].in_flight += records;
        self.batches.put(id, batch);
        let outgoing = Outgoing {
            request,
            api: ApiKey::Produce,
            bytes: rdkafka_produce_request_bytes(
                self.client_id.len() as u32 + id_bytes,
                name_bytes,
                bytes,
            ),
            queued: ctx.now,
            deadline: self.deadline(&oldest, ctx.now),
        };
        self.threads[broker.index()].outbufs.push_back(outgoing);
        Some(records)
    }

    /// Takes messages in order, those that came back first.
    fn fill(&mut self, filling: &mut Filling, place: u32, now: SimTime) {
        let is_idempotent = self.settings.idempotence.is_on();
        let toppar = &mut self.toppars[place as usize];
        while let Some(&head) = toppar.returned.front() {
            if head.not_before > now || !filling.takes(&head.message) {
                return;
            }
            toppar.pop_returned();
            filling.push(head.ordinal, head.message, (head.retries, head.persisted));
            if is_idempotent && head.ordinal == head.batch_last {
                return;
            }
        }
        // A batch of an idempotent producer is built again as it was.
        if is_idempotent && !filling.batch.messages.is_empty() {
            return;
        }
        while let Some(head) = toppar.fresh.front() {
            if !filling.takes(head) {
                return;
            }
            let Some((ordinal, message)) = toppar.pop_fresh() else {
                return;
            };
            filling.push(ordinal, message, (0, Persisted::No));
        }
    }

    /// Compresses a batch, unless it would not shrink; says by which codec it is sent.
    fn compress(&self, batch: &mut Batch, topic: TopicIndex) -> CompressionType {
        let plain = batch.bytes();
        let compressed = self.compressor.compressed(topic, plain);
        if compressed >= plain {
            return CompressionType::None;
        }
        batch.shrink_to(compressed);
        self.settings.compression.codec
    }

    /// Gives a batch its producer id and its first sequence.
    fn sequence(&self, batch: &mut Batch) {
        let sequences = &self.toppars[batch.toppar as usize].sequences;
        batch.producer_id = (-1, -1);
        batch.base_sequence = -1;
        if self.settings.idempotence.is_on()
            && let Some(run) = batch.runs.first()
        {
            batch.producer_id = sequences.producer_id;
            let since = run.first.saturating_sub(sequences.base);
            batch.base_sequence = (since & i32::MAX as u64) as i32;
        }
    }

    /// Counts a batch in the statistics; gives its bytes.
    fn count_built(&mut self, batch: &Batch, broker: BrokerIndex, now: SimTime) -> u32 {
        let bytes = batch.bytes();
        let latency = &mut self.statistics.brokers[broker.index()].int_latency;
        for message in &batch.messages {
            latency.add(micros(now.since(message.enqueued)));
        }
        let message_bytes: u64 = batch.messages.iter().map(Message::bytes).sum();
        let messages = &mut self.statistics.messages;
        *messages = (messages.0 + batch.len(), messages.1 + message_bytes);
        let toppar = &mut self.toppars[batch.toppar as usize];
        toppar.totals.1 += batch.len();
        toppar.totals.2 += message_bytes;
        let topic = &mut self.statistics.topics[toppar.topic.index()];
        topic.batch_size.add(u64::from(bytes));
        topic.batch_count.add(batch.len());
        bytes
    }

    fn open_produce(
        &self,
        ctx: &mut Context<'_>,
        broker: BrokerIndex,
        (id, batch, codec): (BatchId, &Batch, CompressionType),
        name_bytes: u32,
    ) -> RequestId {
        let slot = self.connections.slot_of(broker);
        let partition = self.toppars[batch.toppar as usize].partition;
        let request_id = self.connections.open_request(ctx, slot, ApiKey::Produce);
        let request = ctx.requests.get_mut(request_id);
        request.transaction = self.produce_ask();
        request.acks = self.settings.acks.code().clamp(-1, i16::from(i8::MAX)) as i8;
        request.timeout_ms = self.settings.request_timeout_ms.min(u64::from(u32::MAX)) as u32;
        request.response_bytes = produce_response_bytes(TopicNaming::Names, &[(name_bytes, 1)]);
        let mut sequence = batch.base_sequence;
        let is_followed = ctx.records.notes(self.toppars[batch.toppar as usize].topic);
        for run in &batch.runs {
            if is_followed {
                let attempt = run.retries + 1;
                ctx.outbox.trace(Trace {
                    at: ctx.now,
                    producer: self.me,
                    partition,
                    first_ordinal: run.first,
                    records: run.count,
                    step: TraceStep::Sent { broker, attempt },
                });
            }
            request.parts.push(Part {
                partition,
                batch: id,
                producer_id: batch.producer_id.0,
                epoch: batch.producer_id.1,
                base_sequence: sequence,
                records: run.count,
                bytes: run.bytes,
                plain_bytes: run.plain_bytes,
                stored_bytes: run.bytes,
                codec,
                first_ordinal: run.first,
                error: None,
                current_leader: None,
                base_offset: None,
                required_offset: 0,
            });
            if sequence >= 0 {
                sequence = next_sequence(sequence, run.count as i32);
            }
        }
        request_id
    }

    /// Until when an answer may take: as long as the socket allows, and the oldest message.
    fn deadline(&self, oldest: &Message, now: SimTime) -> SimTime {
        /// What a message that is too old already gets.
        const LATE: SimSpan = SimSpan::from_millis(100);
        let socket = now + SimSpan::from_millis(self.settings.connections.socket_timeout_ms);
        let expires = self.expires_at(oldest);
        if expires <= now {
            return socket.min(now + LATE);
        }
        socket.min(expires)
    }
}
