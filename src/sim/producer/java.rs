//! The Java client as its application sees it.

use std::sync::Arc;

use crate::kafka::exception::ExceptionClass;
use crate::kafka::hash::{murmur2, to_positive};
use crate::kafka::metric_name::ProducerMetric;
use crate::kafka::settings::Acks;
use crate::kafka::transaction_message::AwaitedOperation;
use crate::sim::config::Call;
use crate::sim::context::Context;
use crate::sim::fact::{BlockedOn, Disconnect, Exception, Flow};
use crate::sim::ids::PartitionIndex;
use crate::sim::producer::append::{Route, SendCall, Sent};
use crate::sim::producer::application::{Application, InHand, Load};
use crate::sim::producer::batch::Stage;
use crate::sim::producer::client::{Client, Closing, Counts, Woken};
use crate::sim::producer::connections::Connections;
use crate::sim::producer::dialect::{Dialect, Receipt};
use crate::sim::producer::transaction::Transacted;
use crate::sim::records::{NotedValue, Room};
use crate::sim::request::RequestId;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::trace::{Trace, TraceStep};
use crate::sim::workload::HashedKey;

impl Client {
    /// Where the record is that a call has just put into this batch.
    fn place_of_last(&self, batch: u32) -> (PartitionIndex, u64) {
        let (records, _) = self.accumulator.size_of(batch);
        let state = self.accumulator.batches.get(batch);
        let partition = self.accumulator.queues[state.queue as usize].partition;
        let ordinal = state.first_ordinal + u64::from(records.saturating_sub(1));
        (partition, ordinal)
    }
}

impl Dialect for Client {
    const WAITS_BEFORE_A_RETRY: bool = false;

    fn may_come_right(exception: &Exception) -> bool {
        exception.class.is_java(ExceptionClass::Retriable)
    }

    fn takes_in_a_loop(load: &Load) -> bool {
        load.is_plain()
    }

    fn run_loop(
        application: &mut Application,
        ctx: &mut Context<'_>,
        client: &mut Self,
        place: usize,
        limit: SimTime,
    ) {
        application.run_plain(ctx, client, place, limit);
    }

    fn route(&self, key: Option<(&[u8], HashedKey)>) -> Route {
        self.route_of(key)
    }

    fn hash(&self, key: &[u8]) -> HashedKey {
        HashedKey {
            hash: to_positive(murmur2(key)),
            length: key.len() as u32,
        }
    }

    fn send(&mut self, ctx: &mut Context<'_>, call: &mut SendCall) -> Sent {
        Self::send(self, ctx, call)
    }

    fn time_out(
        &mut self,
        ctx: &mut Context<'_>,
        on: BlockedOn,
        call: &SendCall,
    ) -> Arc<Exception> {
        let exception = match on {
            BlockedOn::Metadata { .. } => self.metadata_timed_out(ctx, call),
            _ => self.memory_timed_out(ctx, call),
        };
        self.note_thrown(&exception);
        exception
    }

    fn transact(&mut self, ctx: &mut Context<'_>, call: &Call) -> Transacted {
        Self::transact(self, ctx, call)
    }

    fn transacted(&mut self) -> Option<Result<(), Arc<Exception>>> {
        Self::transacted(self)
    }

    fn transaction_timed_out(&mut self, operation: AwaitedOperation) -> Arc<Exception> {
        Self::transaction_timed_out(self, operation)
    }

    fn partition_of(&self, call: &SendCall) -> Option<PartitionIndex> {
        Self::partition_of(self, call)
    }

    fn note(
        &mut self,
        ctx: &mut Context<'_>,
        batch: u32,
        key: Option<&[u8]>,
        value: NotedValue,
    ) -> Room {
        let at = self.place_of_last(batch);
        ctx.records.note(self.me, (at, ctx.now), key, value)
    }

    fn identity(&self, batch: u32) -> Option<(PartitionIndex, u64)> {
        Some(self.place_of_last(batch))
    }

    fn receipt(&mut self, batch: u32) -> Receipt {
        (batch, self.accumulator.batches.get(batch).serial)
    }

    fn is_open(&self, (batch, serial): Receipt) -> bool {
        self.is_incomplete(batch, serial)
    }

    fn begin_flush(&mut self, now: SimTime) -> Option<u64> {
        let newest = self.accumulator.batches.newest();
        if self.accumulator.batches.are_complete_up_to(newest) {
            return None;
        }
        self.flushes += 1;
        self.sleep.wake_by(now);
        Some(newest)
    }

    fn is_flushed(&self, upto: u64) -> bool {
        self.accumulator.batches.are_complete_up_to(upto)
    }

    fn end_flush(&mut self, took: SimSpan) {
        self.flushes -= 1;
        self.metrics.flushed(took.as_nanos());
    }

    fn close(&mut self, ctx: &mut Context<'_>) {
        Self::close(self, ctx);
    }

    fn close_forcefully(&mut self, ctx: &mut Context<'_>) {
        Self::close_forcefully(self, ctx);
    }

    fn is_closed(&self) -> bool {
        self.closing == Closing::Done
    }

    /// It calls back by itself.
    fn poll(&mut self, _ctx: &mut Context<'_>) {}

    fn has_reports(&self) -> bool {
        false
    }

    fn metric(&self, metric: ProducerMetric, now: SimTime) -> Option<f64> {
        Self::metric(self, metric, now)
    }

    fn wakes_at(&self) -> SimTime {
        self.sleep.wakes_at()
    }

    fn run_threads(&mut self, ctx: &mut Context<'_>) {
        self.run_sender(ctx);
    }

    fn hand_over(&mut self, ctx: &mut Context<'_>, application: &mut Application) {
        while !self.woken.is_empty() {
            let mut news = std::mem::take(&mut self.woken);
            for woken in news.drain(..) {
                match woken {
                    Woken::Memory(waiter) => application.on_memory(ctx, &waiter),
                    Woken::Metadata => application.on_metadata(ctx, self),
                    Woken::Completed => application.on_completed(ctx, self),
                    Woken::Transaction => application.on_transacted(ctx, self),
                    Woken::Failed {
                        queue,
                        records,
                        payload,
                        first_ordinal,
                    } => {
                        let queue = &self.accumulator.queues[queue as usize];
                        let record = InHand {
                            topic: queue.topic,
                            route: Route::Partition(queue.number),
                            payload,
                            value: 0,
                            key: None,
                            await_ack: false,
                            before: Some((queue.partition, first_ordinal)),
                        };
                        application.on_failed(ctx, &record, records);
                    }
                }
            }
            if self.woken.is_empty() {
                // The room that it takes is used again.
                self.woken = news;
            }
        }
    }

    fn on_response(&mut self, ctx: &mut Context<'_>, id: RequestId) {
        Self::on_response(self, ctx, id);
    }

    fn on_accepted(&mut self, ctx: &mut Context<'_>, slot: u16) {
        Self::on_accepted(self, ctx, slot);
    }

    fn disconnect(&mut self, ctx: &mut Context<'_>, slot: u16, why: Disconnect) {
        Self::disconnect(self, ctx, slot, why);
    }

    fn connections(&self) -> &Connections {
        &self.connections
    }

    fn connections_mut(&mut self) -> &mut Connections {
        &mut self.connections
    }

    fn is_unanswered(&self) -> bool {
        self.settings.acks == Acks::None
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn abandon(&mut self, ctx: &mut Context<'_>) -> u64 {
        self.accumulator.settle_all();
        let mut lost = 0;
        let held = self
            .accumulator
            .batches
            .iter()
            .filter(|b| b.stage != Stage::ExpiredInFlight);
        for batch in held {
            lost += u64::from(batch.records);
            ctx.trace(Trace {
                at: ctx.now,
                producer: self.me,
                partition: self.accumulator.queues[batch.queue as usize].partition,
                first_ordinal: batch.first_ordinal,
                records: batch.records,
                step: TraceStep::Abandoned,
            });
            let flow = Flow::Abandoned {
                producer: self.me,
                partition: self.accumulator.queues[batch.queue as usize].partition,
                first_ordinal: batch.first_ordinal,
                records: batch.records,
            };
            ctx.flow(self.rank, flow);
        }
        self.hang_up(ctx);
        lost
    }
}
