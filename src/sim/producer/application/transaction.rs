//! Transactional calls of a scripted thread.

use std::sync::Arc;

use crate::sim::config::Call;
use crate::sim::context::Context;
use crate::sim::fact::{BlockedOn, Exception, Fact};
use crate::sim::producer::application::Application;
use crate::sim::producer::application::thread::Waiting;
use crate::sim::producer::dialect::Dialect;
use crate::sim::producer::transaction::Transacted;

impl Application {
    /// A transactional call begins: it returns, throws, or waits for its coordinator.
    pub(super) fn transact<C: Dialect>(
        &mut self,
        ctx: &mut Context<'_>,
        client: &mut C,
        place: usize,
        call: &Call,
    ) {
        match client.transact(ctx, call) {
            Transacted::Returned => self.call_returned(ctx, place, None),
            Transacted::Threw(exception) => self.call_returned(ctx, place, Some(exception)),
            Transacted::Waits(operation, deadline) => {
                self.block(ctx, place, BlockedOn::Transaction(operation), deadline);
            }
        }
    }

    /// It is known what became of the call that waits.
    pub fn on_transacted<C: Dialect>(&mut self, ctx: &mut Context<'_>, client: &mut C) {
        let waits = self.threads.iter().position(|thread| {
            matches!(
                thread.waiting,
                Waiting::Blocked {
                    on: BlockedOn::Transaction(_),
                    ..
                }
            )
        });
        let Some(place) = waits else { return };
        let Some(outcome) = client.transacted() else {
            return;
        };
        let Waiting::Blocked {
            on: BlockedOn::Transaction(operation),
            ..
        } = self.threads[place].waiting
        else {
            return;
        };
        self.unblock(ctx, place);
        if self.threads[place].load.is_some() {
            self.after_call(ctx, operation, outcome);
        } else {
            self.call_returned(ctx, place, outcome.err());
        }
    }

    /// `send()` threw, and the record is in a batch all the same: the application takes it for
    /// refused, and it may be sent later.
    pub(super) fn taken_and_thrown<C: Dialect>(
        &mut self,
        ctx: &mut Context<'_>,
        client: &mut C,
        place: usize,
        (taken, exception): (u32, Arc<Exception>),
    ) {
        self.counts.refused += 1;
        self.spoil_transaction(ctx);
        if let Some(record) = self.threads[place].in_hand {
            self.note_record(ctx, client, place, (&record, taken));
        }
        let thread = &mut self.threads[place];
        thread.in_hand = None;
        if let Some(call) = thread.call.take() {
            let fact = Fact::RecordRefused {
                producer: self.me,
                thread: place as u32,
                topic: call.topic,
                partition: client.partition_of(&call),
                exception: Arc::clone(&exception),
            };
            ctx.fact(self.rank, fact);
        }
        self.call_returned(ctx, place, Some(exception));
    }
}
