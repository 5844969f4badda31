//! Which key a record has, for those who look at single records later.

use std::sync::Arc;

use crate::sim::config::{Call, ValueConfig};
use crate::sim::context::Context;
use crate::sim::fact::{Fact, Limit};
use crate::sim::ids::PartitionIndex;
use crate::sim::producer::application::{Application, InHand};
use crate::sim::producer::dialect::Dialect;
use crate::sim::records::{NotedValue, Room};
use crate::sim::trace::{Trace, TraceStep};

impl Application {
    /// The record in hand is in a batch now: notes its key, if its topic's records are remembered.
    /// One that its callback brought back has the key that it had before.
    pub(super) fn note_record<C: Dialect>(
        &self,
        ctx: &mut Context<'_>,
        client: &mut C,
        place: usize,
        (record, taken): (&InHand, u32),
    ) {
        if !ctx.records.notes(record.topic) {
            return;
        }
        if let Some((partition, ordinal)) = record.before {
            let known = ctx.records.find(self.me, partition, ordinal);
            if let Some(known) = known {
                let key = known.key.map(|key| Arc::clone(ctx.records.key(key)));
                let room = client.note(ctx, taken, key.as_deref(), known.value);
                self.say_full(ctx, room);
            }
            return;
        }
        let thread = &self.threads[place];
        let replayed = thread.load.and_then(|at| self.loads[at].replayed.as_ref());
        let (key, has_value) = if let Some(replayed) = replayed {
            let key = replayed.key.as_deref();
            let room = client.note(ctx, taken, key, replayed.value);
            self.say_full(ctx, room);
            return;
        } else if let Some(load) = thread.load.map(|at| &self.loads[at]) {
            let keys = &load.config.keys.keys;
            let key = record.key.and_then(|key| keys.get(key as usize));
            if key.is_none() && !keys.is_empty() {
                return;
            }
            (key, load.config.values != ValueConfig::Null)
        } else {
            let script = &ctx.config.producers[self.me.index()].script;
            match script.get(thread.next_call).map(|step| &step.call) {
                Some(Call::Produce(record)) => (record.key.as_ref(), record.value.is_some()),
                _ => return,
            }
        };
        let value = if has_value {
            NotedValue::Payload(record.payload)
        } else {
            NotedValue::Tombstone
        };
        let key = key.map(Vec::as_slice);
        let room = client.note(ctx, taken, key, value);
        self.say_full(ctx, room);
    }

    /// A record that failed is sent again by another one: for those who follow it.
    pub(super) fn trace_again(
        &self,
        ctx: &mut Context<'_>,
        now: Option<(PartitionIndex, u64)>,
        before: Option<(PartitionIndex, u64)>,
    ) {
        let Some(((partition, first_ordinal), before)) = now.zip(before) else {
            return;
        };
        let step = TraceStep::SentAgain {
            partition: before.0,
            ordinal: before.1,
        };
        ctx.trace(Trace {
            at: ctx.now,
            producer: self.me,
            partition,
            first_ordinal,
            records: 1,
            step,
        });
    }

    fn say_full(&self, ctx: &mut Context<'_>, room: Room) {
        if room == Room::JustFull {
            let limit = Limit::Records;
            ctx.fact(self.rank, Fact::LimitReached { limit });
        }
    }
}
