//! How a client ends: `flush()`, `close()` (a flush, and then `rd_kafka_destroy()`), a purge when
//! time is up, and a process that is simply gone.
//!
//! Source: `rd_kafka_flush`, `rd_kafka_purge`, `rd_kafka_destroy`.

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::sim::context::Context;
use crate::sim::fact::{Disconnect, Fact, Flow, UnassignedEnd};
use crate::sim::ids::TopicIndex;
use crate::sim::producer::client::Closing;
use crate::sim::producer::rdkafka::toppar::Message;
use crate::sim::producer::rdkafka::{Rdkafka, Woken, exception};
use crate::sim::time::SimTime;
use crate::sim::trace::{Trace, TraceStep};
use crate::sim::view::ConnectionState;

impl Rdkafka {
    /// Everything is sent at once.
    pub(super) fn hurry(&mut self, now: SimTime) {
        self.wake_all_threads(now);
    }

    /// Whether nothing is queued, in flight, or reported and not served.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.messages == 0 && self.reports.is_empty()
    }

    /// A graceful close ends when nothing is left.
    pub(super) fn finish_closing(&mut self, ctx: &mut Context<'_>) {
        if self.closing == Closing::Gracefully && self.is_empty() {
            self.end(ctx);
        }
    }

    /// `rd_kafka_purge()`: messages that wait fail, and those in flight too, whatever becomes of
    /// them at their brokers.
    pub(super) fn purge(&mut self, ctx: &mut Context<'_>) {
        for topic in (0..self.topics.len() as u16).map(TopicIndex) {
            let count = self.topics[topic.index()].unassigned.len();
            self.expire_unassigned(ctx, topic, count, exception(RdkafkaError::PurgeQueue));
        }
        for slot in 0..self.connections.count() {
            let in_flight = std::mem::take(&mut self.connections.get_mut(slot).in_flight);
            for sent in in_flight {
                self.purge_request(ctx, sent.request, RdkafkaError::PurgeInflight);
            }
        }
        for place in 0..self.threads.len() {
            for out in std::mem::take(&mut self.threads[place].outbufs) {
                ctx.requests.release(out.request);
                self.purge_request(ctx, out.request, RdkafkaError::PurgeQueue);
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
            self.fail(ctx, place, &gone, &exception(RdkafkaError::PurgeQueue));
        }
    }

    fn purge_request(
        &mut self,
        ctx: &mut Context<'_>,
        request: crate::sim::request::RequestId,
        error: RdkafkaError,
    ) {
        if let Some(part) = ctx.requests.get(request).parts.first().copied()
            && ctx.requests.get(request).api == crate::sim::request::ApiKey::Produce
        {
            let batch = self.batches.take(part.batch);
            self.land(&batch);
            self.fail_batch(ctx, &batch, &exception(error));
            self.batches.close(part.batch, batch);
        }
        ctx.requests.release(request);
    }

    /// The client ends: connections close.
    pub(super) fn end(&mut self, ctx: &mut Context<'_>) {
        self.closing = Closing::Done;
        for slot in 0..self.connections.count() {
            if self.connections.get(slot).state != ConnectionState::Disconnected {
                self.lose_connection(ctx, slot, Disconnect::Local);
            }
        }
        self.wakes_at = SimTime::NEVER;
        self.say(Woken::Completed);
        ctx.fact(self.rank, Fact::ClientClosed { producer: self.me });
    }

    /// The process is gone: what the client held is lost, and its sockets close. What was
    /// acknowledged and not yet reported counts as lost too: nobody heard of it.
    pub(super) fn perish(&mut self, ctx: &mut Context<'_>) -> u64 {
        let producer = self.me;
        let mut stretches: Vec<(u32, u64, u32)> = Vec::new();
        for (place, toppar) in (0..).zip(&self.toppars) {
            let returned = toppar
                .returned
                .iter()
                .map(|returned| (place, returned.ordinal, 1));
            stretches.extend(returned);
            let fresh = toppar.fresh.len() as u32;
            stretches.push((place, toppar.first_fresh(), fresh));
        }
        for batch in self.batches.in_use() {
            let runs = batch.runs.iter();
            stretches.extend(runs.map(|run| (batch.toppar, run.first, run.count)));
        }
        let mut lost = 0;
        for report in self.reports.take() {
            if let Some((place, first)) = report.at {
                stretches.push((place, first, report.records));
            }
        }
        for (place, first_ordinal, records) in stretches.into_iter().filter(|(.., n)| *n > 0) {
            lost += u64::from(records);
            let partition = self.partition_at(place);
            ctx.trace(Trace {
                at: ctx.now,
                producer,
                partition,
                first_ordinal,
                records,
                step: TraceStep::Abandoned,
            });
            let flow = Flow::Abandoned {
                producer,
                partition,
                first_ordinal,
                records,
            };
            ctx.flow(self.rank, flow);
        }
        for topic in (0..self.topics.len() as u16).map(TopicIndex) {
            let records = self.topics[topic.index()].unassigned.len() as u32;
            if records > 0 {
                lost += u64::from(records);
                let flow = Flow::Unassigned {
                    producer,
                    topic,
                    records,
                    end: UnassignedEnd::Abandoned,
                };
                ctx.flow(self.rank, flow);
            }
        }
        for thread in &mut self.threads {
            for out in std::mem::take(&mut thread.outbufs) {
                ctx.requests.release(out.request);
                ctx.requests.release(out.request);
            }
        }
        self.connections.hang_up(ctx);
        self.closing = Closing::Done;
        self.wakes_at = SimTime::NEVER;
        self.woken.clear();
        self.queue = super::QueueCount::default();
        lost
    }
}
