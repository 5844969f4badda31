//! What a client tells its application's threads, and what that means to those that wait.

use crate::sim::config::OnFailed;
use crate::sim::context::Context;
use crate::sim::fact::{BlockedOn, Fact, Limit};
use crate::sim::producer::append::Route;
use crate::sim::producer::application::Application;
use crate::sim::producer::application::call::BACKLOG_MAX;
use crate::sim::producer::application::thread::{InHand, Thread, Waiting};
use crate::sim::producer::buffer_pool::Waiter;
use crate::sim::producer::client::Client;
use crate::sim::producer::dialect::Dialect;

impl Application {
    /// A thread was given the memory that it waited for.
    pub fn on_memory(&mut self, ctx: &mut Context<'_>, waiter: &Waiter) {
        let place = waiter.thread as usize;
        self.unblock(ctx, place);
        if let Some(call) = &mut self.threads[place].call {
            call.memory = Some(waiter.size);
        }
    }

    /// Metadata changed: whoever waits for it looks again.
    pub fn on_metadata(&mut self, ctx: &mut Context<'_>, client: &mut Client) {
        for place in 0..self.threads.len() {
            let thread = &self.threads[place];
            let Waiting::Blocked {
                on: BlockedOn::Metadata { topic },
                deadline,
                ..
            } = thread.waiting
            else {
                continue;
            };
            let wants = thread.in_hand.map(|record| record.route);
            let count = client.metadata.partitions(topic).map_or(0, <[u32]>::len) as u32;
            let is_there = match wants {
                Some(Route::Partition(number)) => number < count,
                _ => count > 0,
            };
            if is_there {
                self.unblock(ctx, place);
            } else if ctx.now < deadline {
                client.metadata.request_topic(topic);
                client.sleep.wake_by(ctx.now);
            }
        }
    }

    /// A batch was completed: whoever waits for it may go on.
    pub fn on_completed<C: Dialect>(&mut self, ctx: &mut Context<'_>, client: &mut C) {
        for place in 0..self.threads.len() {
            let Waiting::Blocked { on, since, .. } = self.threads[place].waiting else {
                continue;
            };
            let awaited = &mut self.threads[place].awaited;
            match on {
                BlockedOn::Acks => {
                    awaited.retain(|&receipt| client.is_open(receipt));
                    if awaited.is_empty() {
                        self.unblock(ctx, place);
                        self.call_returned(ctx, place, None);
                    }
                }
                BlockedOn::Flush => {
                    let upto = awaited.first().map_or(0, |&(_, upto)| upto);
                    if client.is_flushed(upto) {
                        client.end_flush(ctx.now.since(since));
                        self.unblock(ctx, place);
                        self.after_flush(ctx, place);
                    }
                }
                BlockedOn::Close if client.is_closed() => {
                    self.unblock(ctx, place);
                    self.after_flush(ctx, place);
                }
                _ => {}
            }
        }
    }

    /// Records failed in their batch: the first thread of their load may send them again.
    pub fn on_failed(&mut self, ctx: &mut Context<'_>, record: &InHand, records: u32) {
        self.spoil_transaction(ctx);
        let of_topic = |thread: &Thread| {
            thread
                .load
                .is_some_and(|at| self.loads[at].config.topic == record.topic)
        };
        let Some(place) = self.threads.iter().position(of_topic) else {
            return;
        };
        let Some(load) = self.threads[place].load.map(|at| &self.loads[at]) else {
            return;
        };
        let policy = load.config.on_failed;
        if policy == OnFailed::Count {
            return;
        }
        let thread = &mut self.threads[place];
        let room = BACKLOG_MAX.saturating_sub(thread.backlog.len());
        if room < records as usize {
            ctx.fact(
                self.rank,
                Fact::LimitReached {
                    limit: Limit::SpillQueue,
                },
            );
        }
        let again = (0..u64::from(records)).map(|number| InHand {
            before: record.before.map(|(at, first)| (at, first + number)),
            ..*record
        });
        thread.backlog.extend(again.take(room));
        if policy == OnFailed::Resend {
            thread.backlog_open = true;
        }
        if thread.waiting == Waiting::Done {
            thread.waiting = Waiting::Working;
            thread.next_at = ctx.now;
        }
    }
}
