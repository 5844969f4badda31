//! Batches that fail: too old (`delivery.timeout.ms`), or refused for good.
//!
//! Source: `Sender.getExpiredInflightBatches`, `RecordAccumulator.expiredBatches`,
//! `Sender.failBatch`. A request is never cancelled: what has expired may still be in the log.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::exception::ExceptionClass;
use crate::kafka::message;
use crate::sim::context::Context;
use crate::sim::fact::{Exception, Fact, Flow};
use crate::sim::producer::batch::{BatchId, Stage};
use crate::sim::producer::client::{Client, Woken, exception};
use crate::sim::time::SimTime;
use crate::sim::trace::{Trace, TraceStep};

impl Client {
    /// Fails batches older than `delivery.timeout.ms`, queued or in flight.
    pub(super) fn expire(&mut self, ctx: &mut Context<'_>) {
        if self.expiry_not_before_ms <= ctx.now.as_millis() {
            self.expire_now(ctx);
        }
    }

    #[cold]
    fn expire_now(&mut self, ctx: &mut Context<'_>) {
        let now_ms = ctx.now.as_millis();
        self.accumulator.settle_all();
        let timeout_ms = self.settings.delivery_timeout_ms;
        let old = |&id: &BatchId| self.accumulator.batches.get(id).age_ms(now_ms) >= timeout_ms;
        let expired: Vec<_> = self.waiting_batches().filter(old).collect();
        for id in expired {
            self.expire_batch(ctx, id);
        }
        self.refresh_expiry();
    }

    /// Finds the moment before which no batch expires. In between that moment is a lower bound: the
    /// oldest batch may be done by now. Who would sleep until then must know better
    /// (`RecordAccumulator.nextExpiryTimeMs` is found anew at each of the sender's turns).
    pub(super) fn refresh_expiry(&mut self) {
        let created = self
            .waiting_batches()
            .map(|id| self.accumulator.batches.get(id).created_ms());
        let oldest = created.min().unwrap_or(u64::MAX);
        self.expiry_not_before_ms = oldest.saturating_add(self.settings.delivery_timeout_ms);
    }

    /// Batches that can expire, queue by queue: those in flight, then those that wait.
    fn waiting_batches(&self) -> impl Iterator<Item = BatchId> {
        self.accumulator.queues.iter().flat_map(|queue| {
            let on_wire = queue
                .unfinished
                .iter()
                .filter(|&&id| self.accumulator.batches.get(id).stage == Stage::InFlight);
            on_wire.chain(&queue.deque).copied()
        })
    }

    fn expire_batch(&mut self, ctx: &mut Context<'_>, id: BatchId) {
        let now_ms = ctx.now.as_millis();
        let batch = self.accumulator.batches.get(id).clone();
        if batch.attempts > 0 && batch.base_sequence >= 0 {
            self.idempotence.leave_unresolved(&mut self.accumulator, id);
        }
        let queue = &self.accumulator.queues[batch.queue as usize];
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
        let batch = self.accumulator.batches.get(id);
        let (records, queue) = (batch.records, batch.queue);
        let topic = self.accumulator.queues[queue as usize].topic.index();
        self.metrics
            .batch_failed(topic, records, ctx.now.as_millis());
        let exception = exception(class, text);
        self.fail_transaction(&exception);
        self.report_failure(ctx, id, exception);
    }

    /// The callbacks of a batch's records run, and bring this.
    pub(super) fn report_failure(
        &mut self,
        ctx: &mut Context<'_>,
        id: BatchId,
        exception: Arc<Exception>,
    ) {
        let batch = self.accumulator.batches.get(id).clone();
        let partition = self.accumulator.queues[batch.queue as usize].partition;
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
        ctx.trace(Trace {
            at: ctx.now,
            producer,
            partition,
            first_ordinal,
            records,
            step: TraceStep::Failed {
                error: exception.class,
            },
        });
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
            first_ordinal,
        });
        self.accumulator.finish(id);
        self.say_completed();
    }

    /// A completed batch that nobody else holds: its memory goes back.
    pub(super) fn release(&mut self, id: BatchId, now: SimTime) {
        self.free_memory(id, now);
        self.accumulator.batches.close(id);
    }

    /// How an error of a finished batch reads in the application.
    pub(super) fn text_of(error: ErrorCode, node: i32) -> String {
        match error {
            ErrorCode::NetworkException => message::disconnected(node),
            ErrorCode::RequestTimedOut => message::disconnected_due_to_timeout(node),
            ErrorCode::ClusterAuthorizationFailed => message::NOT_IDEMPOTENT.to_string(),
            error => error.default_message().to_string(),
        }
    }
}
