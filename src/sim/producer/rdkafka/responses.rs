//! What comes back from brokers.
//!
//! Source: `rd_kafka_req_response`, `rd_kafka_handle_Produce`, `rd_kafka_handle_Produce_error`.

use crate::kafka::error::ErrorCode;
use crate::kafka::rdkafka_error::RdkafkaError;
use crate::sim::context::Context;
use crate::sim::fact::Acknowledged;
use crate::sim::producer::rdkafka::batch::{Batch, Run};
use crate::sim::producer::rdkafka::partitioning::Knowledge;
use crate::sim::producer::rdkafka::reports::{Operation, Outcome, Report};
use crate::sim::producer::rdkafka::retry::again;
use crate::sim::producer::rdkafka::toppar::Message;
use crate::sim::producer::rdkafka::{Rdkafka, exception};
use crate::sim::request::{ApiKey, Part, RequestId};

/// Bytes that answers other than those to Produce count for in `rxbytes`: with their frame, nearly.
const RESPONSE_BYTES: u32 = 66;

impl Rdkafka {
    /// An answer arrived on a present connection. Both holders of the request let go, or the one
    /// that is left where the client gave it up before.
    pub(super) fn receive(&mut self, ctx: &mut Context<'_>, id: RequestId) {
        let (channel, api, throttle_ms) = {
            let request = ctx.requests.get(id);
            (request.channel, request.api, request.throttle_ms)
        };
        let broker = self.connections.broker_of(channel.slot);
        self.wake_thread(broker, ctx.now);
        let connection = self.connections.get_mut(channel.slot);
        connection.used_ms = ctx.now.as_millis();
        let known = connection
            .in_flight
            .iter()
            .position(|sent| sent.request == id);
        let statistics = &mut self.statistics.brokers[broker.index()];
        let Some(sent) = known.and_then(|at| connection.in_flight.remove(at)) else {
            statistics.rx_unmatched += 1;
            ctx.requests.release(id);
            return;
        };
        statistics.read(RESPONSE_BYTES, (ctx.now, ctx.now.since(sent.sent)));
        if throttle_ms > 0 {
            statistics.throttle.add(u64::from(throttle_ms));
        }
        match api {
            ApiKey::ApiVersions => self.connected(ctx, broker),
            ApiKey::Metadata => self.learn(ctx, id),
            ApiKey::InitProducerId => self.producer_id_came(ctx, id),
            ApiKey::Produce => self.complete_produce(ctx, id),
            ApiKey::Transactional => self.transactional_came(ctx, id),
        }
        ctx.requests.release(id);
        ctx.requests.release(id);
    }

    /// A produce request has its answer, or needs none.
    pub(super) fn complete_produce(&mut self, ctx: &mut Context<'_>, id: RequestId) {
        let parts = std::mem::take(&mut ctx.requests.get_mut(id).parts);
        if let Some(first) = parts.first() {
            let batch = self.batches.take(first.batch);
            self.land(&batch);
            match parts.iter().find_map(|part| part.error) {
                None => self.succeed(ctx, id, &batch, &parts),
                Some(_) if parts.len() > 1 => self.answer_each(ctx, id, &batch, &parts),
                Some(error) => self.refuse(ctx, &batch, error),
            }
            self.batches.close(first.batch, batch);
        }
        ctx.requests.get_mut(id).parts = parts;
    }

    /// Stretches of one batch that the log judged by themselves.
    fn answer_each(&mut self, ctx: &mut Context<'_>, id: RequestId, batch: &Batch, parts: &[Part]) {
        for ((run, messages), part) in batch.parts().zip(parts) {
            let alone = Batch {
                toppar: batch.toppar,
                messages: messages.to_vec(),
                runs: vec![*run],
                built: batch.built,
                producer_id: batch.producer_id,
                base_sequence: part.base_sequence,
            };
            match part.error {
                None => self.succeed(ctx, id, &alone, &[*part]),
                Some(error) => self.refuse(ctx, &alone, error),
            }
        }
    }

    fn succeed(&mut self, ctx: &mut Context<'_>, id: RequestId, batch: &Batch, parts: &[Part]) {
        if self.settings.idempotence.is_on() {
            self.acknowledge_sequences(ctx, batch);
        }
        let (arrived, appended, answered) = {
            let request = ctx.requests.get(id);
            (request.arrived, request.appended, request.answered)
        };
        let mut operation = Operation::Own;
        for ((run, messages), part) in batch.parts().zip(parts) {
            let Some(oldest) = messages.first() else {
                continue;
            };
            let acknowledged = Acknowledged {
                producer: self.me,
                partition: part.partition,
                first_ordinal: run.first,
                records: run.count,
                bytes: run.bytes,
                created: oldest.enqueued,
                drained: batch.built,
                arrived: arrived.max(batch.built),
                appended: appended.max(batch.built),
                answered: answered.max(batch.built),
                at: ctx.now,
            };
            self.delivered(
                ctx,
                (batch.toppar, operation),
                (run, messages),
                acknowledged,
            );
            operation = Operation::Same;
        }
    }

    fn delivered(
        &mut self,
        ctx: &mut Context<'_>,
        (place, operation): (u32, Operation),
        (run, messages): (&Run, &[Message]),
        acknowledged: Acknowledged,
    ) {
        let report = Report {
            operation,
            at: Some((place, run.first)),
            records: run.count,
            value_bytes: messages.iter().map(|m| u64::from(m.value)).sum(),
            outcome: Outcome::Delivered(acknowledged),
        };
        self.report(ctx, report);
    }

    /// Messages of which a later success says that they were written after all.
    pub(super) fn delivered_implicitly(
        &mut self,
        ctx: &mut Context<'_>,
        place: u32,
        (ordinal, message): (u64, Message),
    ) {
        let run = Run {
            first: ordinal,
            count: 1,
            retries: 0,
            persisted: super::toppar::Persisted::Possibly,
            bytes: 0,
            plain_bytes: 0,
        };
        let acknowledged = Acknowledged {
            producer: self.me,
            partition: self.partition_at(place),
            first_ordinal: ordinal,
            records: 1,
            bytes: 0,
            created: message.enqueued,
            drained: ctx.now,
            arrived: ctx.now,
            appended: ctx.now,
            answered: ctx.now,
            at: ctx.now,
        };
        let operation = (place, Operation::Own);
        self.delivered(ctx, operation, (&run, &[message]), acknowledged);
    }

    /// A batch was refused.
    fn refuse(&mut self, ctx: &mut Context<'_>, batch: &Batch, error: ErrorCode) {
        if error == ErrorCode::TopicAuthorizationFailed {
            let topic = self.partition_at(batch.toppar).name().topic;
            self.topics[topic.index()].knowledge = Knowledge::Unauthorized;
        }
        if self.settings.idempotence.is_on() && self.refuse_idempotent(ctx, batch, error) {
            return;
        }
        match again(error) {
            Some(again) => self.send_again(ctx, batch, again),
            None => {
                self.fail_batch(ctx, batch, &exception(RdkafkaError::of_broker(error)));
            }
        }
    }
}
