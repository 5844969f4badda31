//! The tight loop of a generated load: a draw, a look-up and an addition for each message, as long
//! as nothing but queues is concerned.
//!
//! Everything else (a full queue, an unknown topic, reports to be served) leaves the loop and
//! becomes a call of its own. Times are those that one call after another would give.

use crate::sim::config::{Arrival, AwaitAcks, HistoryDetail, Pacing, Polling, ValueConfig};
use crate::sim::context::Context;
use crate::sim::ids::TopicIndex;
use crate::sim::producer::append::Route;
use crate::sim::producer::application::{Application, Load};
use crate::sim::producer::client::Closing;
use crate::sim::producer::rdkafka::Rdkafka;
use crate::sim::producer::rdkafka::partitioning::Knowledge;
use crate::sim::producer::rdkafka::toppar::{Message, Signal};
use crate::sim::time::SimTime;
use crate::sim::workload::{HashedKey, Target};

/// Whether the tight loop can do this load: one size, nobody waits for anything or looks at single
/// records.
pub fn takes(load: &Load) -> bool {
    load.detail != HistoryDetail::Records
        && load.config.pacing == Pacing::Closed
        && load.config.arrival == Arrival::Constant
        && load.config.await_acks == AwaitAcks::None
        && matches!(
            load.config.values,
            ValueConfig::Null | ValueConfig::Fixed(_)
        )
}

/// After how many calls a thread polls; practically never where it does not.
const fn calls_between_polls(load: &Load) -> u32 {
    match load.config.polling {
        Polling::Calls(calls) => calls,
        Polling::Interval(_) | Polling::Never => u32::MAX,
    }
}

impl Rdkafka {
    /// Messages of one thread into queues, up to `limit` or the first one that needs more.
    pub(super) fn run_loop(
        &mut self,
        application: &mut Application,
        ctx: &mut Context<'_>,
        place: usize,
        limit: SimTime,
    ) {
        let thread = &mut application.threads[place];
        let Some(load) = thread.load.map(|at| &mut application.loads[at]) else {
            return;
        };
        let left = load.left();
        if left == 0 || !self.prepare(ctx, load) {
            application.act(ctx, self, place);
            return;
        }
        let topic = load.config.topic;
        let value = load.config.values.fixed();
        let explicit = load.config.keys.explicit_partition.map(Route::Partition);
        let is_keyed = !load.keys.table.is_empty();
        let calls_max = calls_between_polls(load);
        thread.keys.use_table(&load.keys.table);
        let step = load.step(ctx.now);
        let limit = limit.min(step.until);
        let (mut sent, mut stopped, mut polls_at) = (0, None, None);
        let tally = ctx.key_tallies.records_mut(load.keys.tally);
        while sent < left {
            let now = thread.next_at;
            let drawn = is_keyed.then(|| thread.keys.draw_target());
            let message = Message {
                enqueued: now,
                key: drawn.map_or(0, |(key, _)| thread.keys.hashed(key).length),
                value: value.unwrap_or(0),
            };
            let key = drawn.map(|(key, _)| key);
            let hashed = drawn.map(|(key, target)| (thread.keys.hashed(key), target));
            let queue = if self.has_room(message.value) {
                self.queue_of((topic, explicit), hashed, now)
            } else {
                None
            };
            let Some(queue) = queue else {
                stopped = Some(key);
                break;
            };
            let signal = self.enqueue(queue, message);
            sent += 1;
            if let Some(count) = key.and_then(|key| tally.get_mut(key as usize)) {
                *count += 1;
            }
            thread.advance(step.interval);
            thread.calls += 1;
            if thread.calls >= calls_max {
                thread.calls = 0;
                if self.has_waiting_reports() {
                    polls_at = Some(now);
                    break;
                }
            }
            if signal == Signal::On || thread.next_at >= limit {
                break;
            }
        }
        self.counts.sent += sent;
        load.begun += sent;
        thread.end_loop(&load.pace, step);
        // What follows happens at its own moment, and so does all that it leads to.
        if let Some(at) = polls_at {
            ctx.now = at;
            self.serve_reports(ctx);
        }
        if let Some(key) = stopped {
            load.begun += 1;
            thread.in_hand = Some(load.in_hand(self, key, value));
            ctx.now = thread.next_at;
            application.act(ctx, self, place);
        }
    }

    /// The place of the queue that a message of a known topic goes to; none where the application
    /// names a partition that is not there.
    #[inline]
    fn queue_of(
        &mut self,
        (topic, explicit): (TopicIndex, Option<Route>),
        drawn: Option<(HashedKey, Target)>,
        now: SimTime,
    ) -> Option<u32> {
        let hashed = drawn.map(|(key, _)| key);
        let number = match explicit.unwrap_or_else(|| self.route_of(hashed)) {
            // The table has the remainder already.
            Route::Hash(hash) => {
                let known = drawn.map(|(_, target)| target.partition);
                known.unwrap_or_else(|| self.number_of(topic, Route::Hash(hash), now))
            }
            route => self.number_of(topic, route, now),
        };
        let toppars = &self.topics[topic.index()].toppars;
        toppars.get(number as usize).copied()
    }

    fn has_waiting_reports(&self) -> bool {
        !self.reports.is_empty()
    }

    /// Whether the topic is known and every message of the load is of a size that the client takes.
    /// A topic that has another number of partitions than the table thought needs another one.
    fn prepare(&self, ctx: &mut Context<'_>, load: &mut Load) -> bool {
        let topic = &self.topics[load.config.topic.index()];
        let is_open =
            self.closing == Closing::No && self.fatal.is_none() && self.transactions.is_none();
        if topic.knowledge != Knowledge::Known || !is_open {
            return false;
        }
        let count = topic.toppars.len() as u32;
        if load.keys.table.partitions != count {
            let hash = load.keys.table.hash;
            load.keys.table = ctx.key_tables.table(&load.config, hash, count);
        }
        let largest = Message {
            enqueued: SimTime::ZERO,
            key: load.keys.table.payload_max(),
            value: load.config.values.fixed().unwrap_or(0),
        };
        let bytes = u64::from(largest.key.max(largest.value)) + 36;
        bytes <= u64::from(self.settings.message_max_bytes)
    }
}
