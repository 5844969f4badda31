//! Which key a record has, for those who look at single records later.

use crate::sim::config::{Call, ValueConfig};
use crate::sim::context::Context;
use crate::sim::fact::{Fact, Limit};
use crate::sim::producer::application::{Application, InHand};
use crate::sim::producer::batch::BatchId;
use crate::sim::producer::client::Client;
use crate::sim::records::{NotedValue, Room};

impl Application {
    /// The record in hand is in a batch now: notes its key, if its topic's records are remembered.
    ///
    /// Simplification: a record that its callback brought back, to be sent again, has lost its
    /// key; it is not noted.
    pub(super) fn note_record(
        &self,
        ctx: &mut Context<'_>,
        client: &Client,
        place: usize,
        (record, batch): (&InHand, BatchId),
    ) {
        if !ctx.records.notes(record.topic) {
            return;
        }
        let (records, _) = client.accumulator.size_of(batch);
        let state = client.accumulator.batches.get(batch);
        let partition = client.accumulator.queues[state.queue as usize].partition;
        let ordinal = state.first_ordinal + u64::from(records.saturating_sub(1));
        let thread = &self.threads[place];
        let replayed = thread.load.and_then(|at| self.loads[at].replayed.as_ref());
        let (key, has_value) = if let Some(replayed) = replayed {
            let key = replayed.key.as_deref();
            let room = ctx
                .records
                .note(self.me, (partition, ordinal), key, replayed.value);
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
        let room = ctx.records.note(self.me, (partition, ordinal), key, value);
        self.say_full(ctx, room);
    }

    fn say_full(&self, ctx: &mut Context<'_>, room: Room) {
        if room == Room::JustFull {
            let limit = Limit::Records;
            ctx.fact(self.rank, Fact::LimitReached { limit });
        }
    }
}
