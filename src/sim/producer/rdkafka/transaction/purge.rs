//! Messages of a transaction that cannot be committed any more: what was not sent is thrown away,
//! what is in flight is waited for.
//!
//! Source: `rd_kafka_purge` with `RD_KAFKA_PURGE_F_QUEUE` and `RD_KAFKA_PURGE_F_ABORT_TXN`,
//! `rd_kafka_broker_op_serve` (`RD_KAFKA_OP_PURGE`).

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::sim::context::Context;
use crate::sim::ids::TopicIndex;
use crate::sim::producer::rdkafka::batch::Batch;
use crate::sim::producer::rdkafka::toppar::Message;
use crate::sim::producer::rdkafka::transaction::Bump;
use crate::sim::producer::rdkafka::{Rdkafka, exception};
use crate::sim::request::ApiKey;

impl Rdkafka {
    /// A batch came back whose transaction is lost: it is not sent again, and nobody knows whether
    /// it was written.
    pub(in crate::sim::producer::rdkafka) fn fail_with_transaction(
        &mut self,
        ctx: &mut Context<'_>,
        batch: &Batch,
    ) {
        if let Some(own) = &mut self.transactions {
            own.bump = Bump::AfterAbort;
        }
        self.fail_batch(ctx, batch, &exception(RdkafkaError::PurgeQueue));
    }

    /// Messages that wait fail. Those behind them take their sequences.
    pub(super) fn purge_transaction(&mut self, ctx: &mut Context<'_>) {
        let purged = || exception(RdkafkaError::PurgeQueue);
        for topic in (0..self.topics.len() as u16).map(TopicIndex) {
            let count = self.topics[topic.index()].unassigned.len();
            self.expire_unassigned(ctx, topic, count, purged());
        }
        for place in 0..self.threads.len() {
            for out in std::mem::take(&mut self.threads[place].outbufs) {
                if out.api != ApiKey::Produce {
                    self.threads[place].outbufs.push_back(out);
                    continue;
                }
                let part = ctx.requests.get(out.request).parts.first().copied();
                if let Some(part) = part {
                    let batch = self.batches.take(part.batch);
                    self.land(&batch);
                    self.toppars[batch.toppar as usize].sequences.base += batch.len();
                    self.fail_batch(ctx, &batch, &purged());
                    self.batches.close(part.batch, batch);
                }
                ctx.requests.release(out.request);
                ctx.requests.release(out.request);
            }
        }
        for place in 0..self.toppars.len() as u32 {
            let toppar = &mut self.toppars[place as usize];
            let mut gone: Vec<(u64, Message)> = Vec::new();
            while let Some(returned) = toppar.pop_returned() {
                gone.push((returned.ordinal, returned.message));
            }
            while let Some(fresh) = toppar.pop_fresh() {
                gone.push(fresh);
            }
            if !gone.is_empty() {
                toppar.sequences.base += gone.len() as u64;
                self.fail(ctx, place, &gone, &purged());
            }
        }
        self.wake_all_threads(ctx.now);
    }
}
