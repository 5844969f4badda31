//! librdkafka as its application sees it.

use std::sync::Arc;

use crate::kafka::metric_name::ProducerMetric;
use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::settings::{Acks, RequiredAcks};
use crate::kafka::transaction_message::AwaitedOperation;
use crate::sim::config::Call;
use crate::sim::context::Context;
use crate::sim::fact::{BlockedOn, Disconnect, Exception};
use crate::sim::ids::PartitionIndex;
use crate::sim::producer::append::{Route, SendCall, Sent};
use crate::sim::producer::application::{Application, InHand, Load};
use crate::sim::producer::client::{Closing, Counts};
use crate::sim::producer::connections::Connections;
use crate::sim::producer::dialect::{Dialect, Receipt};
use crate::sim::producer::rdkafka::{Rdkafka, Woken, exception, plain};
use crate::sim::producer::transaction::Transacted;
use crate::sim::records::{NotedValue, Room};
use crate::sim::request::RequestId;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::workload::{HashedKey, KeyHash};

impl Dialect for Rdkafka {
    const WAITS_BEFORE_A_RETRY: bool = true;

    /// A full queue gets room; nothing else that `produce()` refuses comes right by itself.
    fn may_come_right(exception: &Exception) -> bool {
        exception.class == RdkafkaError::QueueFull.into()
    }

    fn takes_in_a_loop(load: &Load) -> bool {
        plain::takes(load)
    }

    fn run_loop(
        application: &mut Application,
        ctx: &mut Context<'_>,
        client: &mut Self,
        place: usize,
        limit: SimTime,
    ) {
        client.run_loop(application, ctx, place, limit);
    }

    fn route(&self, key: Option<(&[u8], HashedKey)>) -> Route {
        self.route_of(key.map(|(_, hashed)| hashed))
    }

    fn hash(&self, key: &[u8]) -> HashedKey {
        KeyHash::of_partitioner(self.settings.partitioner).hash(key)
    }

    fn send(&mut self, ctx: &mut Context<'_>, call: &mut SendCall) -> Sent {
        self.produce(ctx, call)
    }

    /// No call of `produce()` waits with a limit.
    fn time_out(
        &mut self,
        _ctx: &mut Context<'_>,
        _on: BlockedOn,
        _call: &SendCall,
    ) -> Arc<Exception> {
        exception(RdkafkaError::TimedOut)
    }

    fn transact(&mut self, ctx: &mut Context<'_>, call: &Call) -> Transacted {
        Self::transact(self, ctx, call)
    }

    fn transacted(&mut self) -> Option<Result<(), Arc<Exception>>> {
        Self::transacted(self)
    }

    fn transaction_timed_out(&mut self, _operation: AwaitedOperation) -> Arc<Exception> {
        self.call_timed_out()
    }

    fn partition_of(&self, call: &SendCall) -> Option<PartitionIndex> {
        self.partition_of_call(call)
    }

    fn note(
        &mut self,
        ctx: &mut Context<'_>,
        place: u32,
        key: Option<&[u8]>,
        value: NotedValue,
    ) -> Room {
        self.note_last(ctx, place, key, value)
    }

    fn identity(&self, place: u32) -> Option<(PartitionIndex, u64)> {
        let (toppar, ordinal) = self.place_of_last(place);
        let toppar = self.toppars.get(toppar as usize)?;
        Some((toppar.partition, ordinal))
    }

    fn receipt(&mut self, place: u32) -> Receipt {
        let at = self.place_of_last(place);
        self.reports.open_ticket(at)
    }

    fn is_open(&self, receipt: Receipt) -> bool {
        self.reports.is_open(receipt)
    }

    fn begin_flush(&mut self, now: SimTime) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        self.flushes += 1;
        self.hurry(now);
        Some(0)
    }

    fn is_flushed(&self, _upto: u64) -> bool {
        self.is_empty()
    }

    fn end_flush(&mut self, _took: SimSpan) {
        self.flushes -= 1;
    }

    fn close(&mut self, ctx: &mut Context<'_>) {
        if self.closing == Closing::No {
            self.closing = Closing::Gracefully;
            self.hurry(ctx.now);
        }
    }

    fn close_forcefully(&mut self, ctx: &mut Context<'_>) {
        self.purge(ctx);
        self.serve_reports(ctx);
        if self.closing != Closing::Done {
            self.end(ctx);
        }
    }

    fn is_closed(&self) -> bool {
        self.closing == Closing::Done
    }

    fn poll(&mut self, ctx: &mut Context<'_>) {
        self.serve_reports(ctx);
        if self.closing == Closing::Gracefully || self.transactions.is_some() {
            self.wake_by(ctx.now);
        }
    }

    fn has_reports(&self) -> bool {
        !self.reports.is_empty()
    }

    fn metric(&self, _metric: ProducerMetric, _now: SimTime) -> Option<f64> {
        None
    }

    fn wakes_at(&self) -> SimTime {
        self.wakes_at
    }

    fn run_threads(&mut self, ctx: &mut Context<'_>) {
        self.run(ctx);
    }

    fn hand_over(&mut self, ctx: &mut Context<'_>, application: &mut Application) {
        loop {
            if self.has_reports() && self.closing == Closing::Gracefully {
                // The flush in a close polls, whoever else does or does not.
                self.poll(ctx);
            } else if self.has_reports() {
                application.on_reports(ctx, self);
            }
            if self.woken.is_empty() {
                return;
            }
            for woken in std::mem::take(&mut self.woken) {
                match woken {
                    Woken::Room => application.on_room(ctx),
                    Woken::Completed => application.on_completed(ctx, self),
                    Woken::Transaction => application.on_transacted(ctx, self),
                    Woken::Failed {
                        topic,
                        route,
                        records,
                        payload,
                        value,
                        first,
                    } => {
                        let record = InHand {
                            topic,
                            route,
                            payload,
                            value,
                            key: None,
                            await_ack: false,
                            before: first,
                        };
                        application.on_failed(ctx, &record, records);
                    }
                }
            }
        }
    }

    fn on_response(&mut self, ctx: &mut Context<'_>, id: RequestId) {
        self.receive(ctx, id);
        self.run(ctx);
    }

    fn on_accepted(&mut self, ctx: &mut Context<'_>, slot: u16) {
        self.accepted(ctx, slot);
    }

    fn disconnect(&mut self, ctx: &mut Context<'_>, slot: u16, why: Disconnect) {
        self.lose_connection(ctx, slot, why);
    }

    fn connections(&self) -> &Connections {
        &self.connections
    }

    fn connections_mut(&mut self) -> &mut Connections {
        &mut self.connections
    }

    fn is_unanswered(&self) -> bool {
        self.settings.acks == RequiredAcks::Valid(Acks::None)
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn abandon(&mut self, ctx: &mut Context<'_>) -> u64 {
        self.perish(ctx)
    }
}
