//! What an application of librdkafka does with delivery reports and a full queue: who calls
//! `rd_kafka_poll()`, and what happens until there is room.

use crate::sim::config::{OnRefused, Polling};
use crate::sim::context::Context;
use crate::sim::fact::BlockedOn;
use crate::sim::producer::append::OnFull;
use crate::sim::producer::application::thread::{Thread, Waiting};
use crate::sim::producer::application::{Application, Load};
use crate::sim::producer::dialect::Dialect;
use crate::sim::time::{SimSpan, SimTime};

/// How long an application polls, or sleeps where somebody else polls, before it tries a full queue
/// again: as long as the examples of librdkafka's documentation.
const FULL_QUEUE_PAUSE: SimSpan = SimSpan::from_millis(10);

impl Application {
    /// Reports wait: who polls at this moment serves them.
    pub fn on_reports<C: Dialect>(&mut self, ctx: &mut Context<'_>, client: &mut C) {
        let loads = &self.loads;
        let polls = |thread: &Thread| thread.is_polling() || is_done_and_polls(thread, loads);
        if !self.threads.iter().any(polls) {
            self.poller.expect_reports(ctx.now);
            return;
        }
        client.poll(ctx);
        for place in 0..self.threads.len() {
            let is_in_poll = matches!(
                self.threads[place].waiting,
                Waiting::Blocked {
                    on: BlockedOn::Reports,
                    ..
                }
            );
            if is_in_poll {
                self.unblock(ctx, place);
                self.end_poll(ctx, place);
            }
        }
    }

    /// There is room in the queue, in a way that wakes who waits for it.
    pub fn on_room(&mut self, ctx: &mut Context<'_>) {
        for place in 0..self.threads.len() {
            let waits = matches!(
                self.threads[place].waiting,
                Waiting::Blocked {
                    on: BlockedOn::Room,
                    ..
                }
            );
            if waits {
                self.unblock(ctx, place);
            }
        }
    }

    /// A call of `produce()` returned: the thread polls if it has made calls enough.
    pub(super) fn count_call<C: Dialect>(
        &mut self,
        ctx: &mut Context<'_>,
        client: &mut C,
        place: usize,
    ) {
        let thread = &mut self.threads[place];
        let Some(Polling::Calls(calls)) = thread.load.map(|at| self.loads[at].config.polling)
        else {
            return;
        };
        thread.calls += 1;
        if thread.calls >= calls {
            thread.calls = 0;
            client.poll(ctx);
        }
    }

    /// The queue is full, and the thread tries the same record again: after a poll, or a sleep
    /// where it does not poll by itself.
    pub(super) fn wait_and_retry(&mut self, ctx: &mut Context<'_>, place: usize) {
        let deadline = ctx.now + FULL_QUEUE_PAUSE;
        let thread = &mut self.threads[place];
        let polling = thread.load.map(|at| self.loads[at].config.polling);
        if let Some(Polling::Calls(_)) = polling {
            self.block(ctx, place, BlockedOn::Reports, deadline);
        } else {
            thread.waiting = Waiting::Pausing;
            thread.next_at = deadline;
        }
    }

    /// A scripted `poll()`: what waits is served, or the first report within this time.
    pub(super) fn poll<C: Dialect>(
        &mut self,
        ctx: &mut Context<'_>,
        client: &mut C,
        (place, timeout): (usize, SimSpan),
    ) {
        if client.has_reports() || timeout == SimSpan::ZERO {
            client.poll(ctx);
            self.call_returned(ctx, place, None);
        } else {
            self.block(ctx, place, BlockedOn::Reports, ctx.now + timeout);
        }
    }

    /// A call of `poll()` is over: a script goes on, a load tries its record again.
    pub(super) fn end_poll(&mut self, ctx: &mut Context<'_>, place: usize) {
        if self.threads[place].load.is_none() {
            self.call_returned(ctx, place, None);
        }
    }

    /// What a full queue means to a thread's call.
    pub(super) fn on_full(&self, place: usize) -> OnFull {
        let load = self.threads[place].load.map(|at| &self.loads[at]);
        match load {
            Some(load) if load.config.on_refused == OnRefused::Block => OnFull::Wait,
            _ => OnFull::Refuse,
        }
    }
}

/// A thread that sent its last record goes on polling, where polling is its own business.
fn is_done_and_polls(thread: &Thread, loads: &[Load]) -> bool {
    let polls_by_itself = |at: usize| matches!(loads[at].config.polling, Polling::Calls(_));
    thread.waiting == Waiting::Done
        && thread.next_at == SimTime::NEVER
        && thread.load.is_some_and(polls_by_itself)
}
