//! The tight loop of a generated load: a draw, a look-up and an addition for each record, as long
//! as nothing but open batches is concerned.
//!
//! Everything else (a batch without room, an unknown topic, a wait) leaves the loop and becomes a
//! call of its own. Times and batch boundaries are those that one call after another would give.

use crate::kafka::size::upper_bound_estimate;
use crate::sim::config::{Arrival, AwaitAcks, HistoryDetail, Pacing, ValueConfig};
use crate::sim::context::Context;
use crate::sim::producer::accumulator::Room;
use crate::sim::producer::application::{Application, Load};
use crate::sim::producer::client::Client;
use crate::sim::time::SimTime;
use crate::sim::workload::Step;

impl Application {
    /// Records of one thread into open batches, up to `limit` or the first one that needs more.
    pub(in crate::sim::producer) fn run_plain(
        &mut self,
        ctx: &mut Context<'_>,
        client: &mut Client,
        place: usize,
        limit: SimTime,
    ) {
        let thread = &mut self.threads[place];
        let Some(load) = thread.load.map(|at| &mut self.loads[at]) else {
            return;
        };
        let left = load.left();
        if left == 0 || !load.prepare(ctx, client) {
            self.act(ctx, client, place);
            return;
        }
        thread.keys.use_table(&load.keys.table);
        client
            .metadata
            .touch(load.config.topic, ctx.now.as_millis());
        let topic = load.config.topic;
        // Out of its place for the length of the loop, which does not look there.
        let queues = std::mem::take(&mut client.metadata.topic_mut(topic).queues);
        let step = load.step(ctx.now);
        let mut limit = limit.min(step.until);
        let mut sent = 0;
        let mut stopped = None;
        let tally = ctx.key_tallies.records_mut(load.keys.tally);
        while sent < left {
            let (key, target) = thread.keys.draw_target();
            let queue = queues[target.partition as usize];
            let now = thread.next_at;
            let mut room = client.accumulator.append_to_open(queue, target.size, now);
            if room == Room::None {
                room = client.open_at_once(queue, target.size.payload, now);
                limit = limit.min(client.sleep.wakes_at());
            }
            if room == Room::None {
                stopped = Some(key);
                break;
            }
            sent += 1;
            if let Some(count) = tally.get_mut(key as usize) {
                *count += 1;
            }
            thread.advance(step.interval);
            if room == Room::Filled {
                client.sleep.wake_by(now);
                break;
            }
            if thread.next_at >= limit {
                break;
            }
        }
        client.metadata.topic_mut(topic).queues = queues;
        client.counts.sent += sent;
        load.begun += sent;
        thread.end_loop(&load.pace, step);
        if let Some(key) = stopped {
            load.begun += 1;
            thread.in_hand = Some(load.in_hand(client, Some(key), load.config.values.fixed()));
            let before = ctx.now;
            ctx.now = thread.next_at;
            self.act(ctx, client, place);
            ctx.now = before;
        }
    }
}

impl Load {
    /// Records that are still to be begun.
    pub(in crate::sim::producer) fn left(&self) -> u64 {
        let max = self.config.records_max;
        max.map_or(u64::MAX, |max| max.saturating_sub(self.begun))
    }

    /// The interval at `now`, worked out anew only when it changes.
    pub(in crate::sim::producer) fn step(&mut self, now: SimTime) -> Step {
        let known = self.step.filter(|step| now < step.until);
        *self
            .step
            .insert(known.unwrap_or_else(|| self.pace.step(now)))
    }

    /// Whether the tight loop can do this load: keyed, one size, nobody waits for anything or
    /// looks at single records.
    pub(in crate::sim::producer) fn is_plain(&self) -> bool {
        self.detail != HistoryDetail::Records
            && self.config.pacing == Pacing::Closed
            && self.config.arrival == Arrival::Constant
            && self.config.await_acks == AwaitAcks::None
            && self.config.keys.explicit_partition.is_none()
            && matches!(
                self.config.values,
                ValueConfig::Null | ValueConfig::Fixed(_)
            )
            && !self.keys.table.is_empty()
    }

    /// Whether the topic is known and every record of the load is of a size that the client takes.
    /// A topic that has another number of partitions than the table thought needs another one.
    fn prepare(&mut self, ctx: &mut Context<'_>, client: &Client) -> bool {
        let count = client
            .metadata
            .partitions(self.config.topic)
            .map_or(0, <[u32]>::len) as u32;
        let is_free = client.keys_decide() && client.transaction.is_none();
        if count == 0 || !is_free || client.is_closing() {
            return false;
        }
        if self.keys.table.partitions != count {
            let hash = self.keys.table.hash;
            self.keys.table = ctx.key_tables.table(&self.config, hash, count);
        }
        let largest = u64::from(upper_bound_estimate(self.keys.table.payload_max()));
        let limit = u64::from(client.settings.max_request_size);
        largest <= limit.min(client.settings.buffer_memory)
    }
}
