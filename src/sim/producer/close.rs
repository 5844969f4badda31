//! How a client ends: `close()`, `close(timeout)`, and a process that is simply gone.

use std::sync::Arc;

use crate::kafka::exception::ExceptionClass;
use crate::kafka::message;
use crate::sim::context::Context;
use crate::sim::producer::application::{AppCounts, Application, Waiting};
use crate::sim::producer::batch::{BatchId, Stage};
use crate::sim::producer::client::{Client, Closing};
use crate::sim::producer::connections::Connections;
use crate::sim::producer::dialect::Dialect;
use crate::sim::producer::sleep::Sleep;
use crate::sim::time::SimTime;
use crate::sim::workload::{KeyHash, KeyTable};

impl Client {
    /// `close()`: everything queued is sent at once; then the client ends.
    pub fn close(&mut self, ctx: &mut Context<'_>) {
        if self.closing == Closing::No {
            self.closing = Closing::Gracefully;
            self.sleep.wake_by(ctx.now);
        }
    }

    /// Whether `close()` was called.
    pub fn is_closing(&self) -> bool {
        self.closing != Closing::No
    }

    /// The time of `close(timeout)` is over: what is left fails.
    pub fn close_forcefully(&mut self, ctx: &mut Context<'_>) {
        let reason = (ExceptionClass::Kafka, message::CLOSED_FORCEFULLY);
        self.abort_batches(ctx, reason);
        if self.closing != Closing::Done {
            self.end(ctx);
        }
    }

    /// Everything that is not complete fails (`RecordAccumulator.abortBatches`). What is on the
    /// wire keeps its memory until the answer comes.
    pub(super) fn abort_batches(
        &mut self,
        ctx: &mut Context<'_>,
        (class, text): (ExceptionClass, &str),
    ) {
        self.accumulator.settle_all();
        let left: Vec<BatchId> = self
            .accumulator
            .queues
            .iter()
            .flat_map(|queue| queue.unfinished.iter().chain(&queue.deque))
            .copied()
            .collect();
        for id in left {
            // A retried batch stands in both lists.
            let stage = self.accumulator.batches.get(id).stage;
            if matches!(stage, Stage::Free | Stage::ExpiredInFlight) {
                continue;
            }
            self.fail_batch(ctx, id, class, text.to_string());
            if stage == Stage::InFlight {
                self.accumulator.batches.get_mut(id).stage = Stage::ExpiredInFlight;
            } else {
                self.release(id, ctx.now);
            }
        }
    }

    /// The process is gone: its kernel closes the sockets, and nobody waits for answers.
    pub fn hang_up(&mut self, ctx: &mut Context<'_>) {
        self.connections.hang_up(ctx);
        self.closing = Closing::Done;
        self.sleep = Sleep::for_good();
        self.woken.clear();
    }
}

impl Connections {
    /// Later connections of the same process family are told apart from earlier ones.
    pub fn go_on_counting_from(&mut self, earlier: &Self) {
        for (slot, connection) in earlier.iter() {
            self.get_mut(slot).generation = connection.generation;
        }
    }
}

impl Application {
    /// Counts at `now`, unfinished waits included.
    pub fn counts_at(&self, now: SimTime) -> AppCounts {
        let mut counts = self.counts;
        for thread in &self.threads {
            if let Waiting::Blocked { on, since, .. } = thread.waiting
                && thread.is_short_of_room(on)
            {
                counts.memory_wait += now.since(since);
            }
        }
        counts
    }

    /// Threads stop until there is another client.
    pub fn wait_for_new_client(&mut self, ctx: &Context<'_>) {
        for thread in &mut self.threads {
            if thread.waiting == Waiting::Done {
                continue;
            }
            if let Waiting::Blocked { on, since, .. } = thread.waiting
                && thread.is_short_of_room(on)
            {
                self.counts.memory_wait += ctx.now.since(since);
            }
            thread.waiting = Waiting::NewClient;
            thread.next_at = SimTime::NEVER;
        }
    }

    /// Another client is there: calls of the earlier one are over, and their records are sent
    /// through the new one.
    pub fn forget_calls(&mut self, ctx: &Context<'_>) {
        self.renew_transactions();
        for thread in &mut self.threads {
            thread.call = None;
            thread.awaited.clear();
            if matches!(thread.waiting, Waiting::Blocked { .. } | Waiting::NewClient) {
                thread.waiting = Waiting::Working;
                thread.next_at = ctx.now;
            }
        }
    }

    /// Another client may hash keys in another way: that holds for records that wait, too.
    pub fn hash_keys_by<C: Dialect>(&mut self, hash: KeyHash, client: &C) {
        for load in &mut self.loads {
            let table = &load.keys.table;
            if table.hash != hash {
                let (keys, values) = (&load.config.keys, &load.config.values);
                let table = KeyTable::new(keys, hash, values.fixed(), table.partitions);
                load.keys.table = Arc::new(table);
            }
        }
        for thread in &mut self.threads {
            let Some(load) = thread.load.map(|at| &self.loads[at]) else {
                continue;
            };
            for record in thread.in_hand.iter_mut().chain(&mut thread.backlog) {
                record.route = load.route(client, record.key);
            }
        }
    }
}
