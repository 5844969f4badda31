//! One call at a time: what a thread does next, and what the outcome means to it.

use std::sync::Arc;

use crate::kafka::size::payload_bytes;
use crate::sim::config::{AtEnd, AwaitAcks, Call, OnRefused, Pacing, ScriptRecord};
use crate::sim::context::Context;
use crate::sim::fact::{BlockedOn, Exception, Fact, Flow, Limit};
use crate::sim::producer::append::{Route, SendCall, Sent};
use crate::sim::producer::application::thread::{InHand, Said, Thread, Waiting};
use crate::sim::producer::application::{Application, Wish};
use crate::sim::producer::dialect::Dialect;
use crate::sim::time::{SimSpan, SimTime};

/// Waits shorter than this are not worth a fact.
const WORTH_SAYING: SimSpan = SimSpan::from_seconds(1);
/// Records that one thread keeps for later at most; more are dropped, and said so.
pub(super) const BACKLOG_MAX: usize = 1_000_000;

impl Application {
    /// The thread at `place` does what is due.
    pub(in crate::sim::producer) fn act<C: Dialect>(
        &mut self,
        ctx: &mut Context<'_>,
        client: &mut C,
        place: usize,
    ) {
        let thread = &mut self.threads[place];
        match thread.waiting {
            Waiting::Done | Waiting::NewClient => thread.next_at = SimTime::NEVER,
            Waiting::Blocked { .. } => self.go_on_waiting(ctx, client, place),
            Waiting::Working | Waiting::Pausing => {
                thread.waiting = Waiting::Working;
                if thread.call.is_some() {
                    self.send(ctx, client, place);
                } else if thread.load.is_some() && !self.is_in_transaction(ctx, client, place) {
                    // Something else comes first.
                } else if self.threads[place].in_hand.is_some() {
                    self.send(ctx, client, place);
                } else if self.threads[place].load.is_some() {
                    self.next_record(ctx, client, place);
                } else {
                    self.next_call(ctx, client, place);
                }
            }
        }
    }

    /// A load's thread takes the next record: from its backlog, or a new one.
    fn next_record<C: Dialect>(&mut self, ctx: &mut Context<'_>, client: &mut C, place: usize) {
        let thread = &mut self.threads[place];
        let Some(load) = thread.load.map(|at| &mut self.loads[at]) else {
            return;
        };
        if thread.backlog_open
            && let Some(record) = thread.backlog.pop_front()
        {
            (thread.in_hand, thread.from_backlog) = (Some(record), true);
        } else if load.waits_for_replay() {
            // It goes on when the next fetch brings something.
            thread.next_at = SimTime::NEVER;
            return;
        } else if load.config.records_max.is_none_or(|max| load.begun < max) {
            load.begun += 1;
            thread.in_hand = Some(load.next(thread, client));
            thread.from_backlog = false;
        } else if thread.backlog.is_empty() {
            self.end_of_load(ctx, client, place);
            return;
        } else {
            // Nothing new to send: the backlog is all that is left.
            thread.backlog_open = true;
            thread.next_at = ctx.now;
            return;
        }
        self.send(ctx, client, place);
    }

    /// Calls `send()` with the record in hand, or goes on with the call.
    fn send<C: Dialect>(&mut self, ctx: &mut Context<'_>, client: &mut C, place: usize) {
        let on_full = self.on_full(place);
        let thread = &mut self.threads[place];
        let Some(record) = thread.in_hand else { return };
        let call = thread.call.get_or_insert(SendCall {
            thread: place as u32,
            topic: record.topic,
            route: record.route,
            payload: record.payload,
            value: record.value,
            started: ctx.now,
            has_metadata: None,
            memory: None,
            chosen: None,
            asked: 0,
            on_full,
        });
        match client.send(ctx, call) {
            Sent::Appended(taken) => self.sent(ctx, client, place, taken),
            Sent::WaitsForMetadata(deadline) => {
                let on = BlockedOn::Metadata {
                    topic: record.topic,
                };
                self.block(ctx, place, on, deadline);
            }
            Sent::WaitsForMemory(bytes, deadline) => {
                if ctx.now.since(self.memory_wait_ended) >= WORTH_SAYING {
                    ctx.fact(self.rank, Fact::PoolExhausted { producer: self.me });
                }
                self.memory_wait_ended = ctx.now;
                self.block(ctx, place, BlockedOn::Memory { bytes }, deadline);
            }
            Sent::WaitsForRoom => self.block(ctx, place, BlockedOn::Room, SimTime::NEVER),
            Sent::Failed(exception) => self.refused(ctx, client, place, &exception),
            Sent::TakenAndThrown(taken, exception) => {
                self.taken_and_thrown(ctx, client, place, (taken, exception));
            }
        }
    }

    /// The record is in a batch: on to the next, unless this one is waited for.
    fn sent<C: Dialect>(
        &mut self,
        ctx: &mut Context<'_>,
        client: &mut C,
        place: usize,
        taken: u32,
    ) {
        if let Some(record) = self.threads[place].in_hand {
            self.note_record(ctx, client, place, (&record, taken));
            self.trace_again(ctx, client.identity(taken), record.before);
        }
        if self.threads[place].load.is_some() {
            self.count_in_transaction();
        }
        let thread = &mut self.threads[place];
        let record = thread.in_hand.take();
        thread.call = None;
        thread.waiting = Waiting::Working;
        thread.backlog_open = true;
        let load = thread.load.map(|at| &mut self.loads[at]);
        let mut waits_for_acks = record.is_some_and(|record| record.await_ack);
        if let Some(load) = load {
            let key = record.and_then(|record| record.key);
            let tally = ctx.key_tallies.records_mut(load.keys.tally);
            if let Some(count) = key.and_then(|key| tally.get_mut(key as usize)) {
                *count += 1;
            }
            if let AwaitAcks::Every(every) = load.config.await_acks {
                thread.since_await += 1;
                thread.note_awaited(client, taken);
                waits_for_acks = thread.since_await >= every;
            }
        } else {
            thread.note_awaited(client, taken);
        }
        self.count_call(ctx, client, place);
        if waits_for_acks {
            self.await_acks(ctx, client, place);
        } else {
            self.call_returned(ctx, place, None);
        }
    }

    fn await_acks<C: Dialect>(&mut self, ctx: &mut Context<'_>, client: &mut C, place: usize) {
        let thread = &mut self.threads[place];
        thread.since_await = 0;
        thread.awaited.retain(|&receipt| client.is_open(receipt));
        if thread.awaited.is_empty() {
            self.call_returned(ctx, place, None);
        } else {
            self.block(ctx, place, BlockedOn::Acks, SimTime::NEVER);
        }
    }

    /// `send()` refused: counted, and then as the application is made.
    fn refused<C: Dialect>(
        &mut self,
        ctx: &mut Context<'_>,
        client: &mut C,
        place: usize,
        exception: &Arc<Exception>,
    ) {
        self.counts.refused += 1;
        // A full queue of librdkafka is no error of the transaction.
        if !(C::WAITS_BEFORE_A_RETRY && C::may_come_right(exception)) {
            self.spoil_transaction(ctx);
        }
        let thread = &mut self.threads[place];
        let Some(call) = thread.call.take() else {
            return;
        };
        let partition = client.partition_of(&call);
        let (producer, topic) = (self.me, call.topic);
        ctx.fact(
            self.rank,
            Fact::RecordRefused {
                producer,
                thread: place as u32,
                topic,
                partition,
                exception: exception.clone(),
            },
        );
        let Some(load) = thread.load.map(|at| &self.loads[at]) else {
            thread.in_hand = None;
            self.give_up_record(ctx, topic);
            self.call_returned(ctx, place, Some(exception.clone()));
            return;
        };
        // What can never succeed is dropped, whatever the application does otherwise.
        let policy = if C::may_come_right(exception) {
            load.config.on_refused
        } else {
            OnRefused::Drop
        };
        self.count_call(ctx, client, place);
        if C::WAITS_BEFORE_A_RETRY && policy == OnRefused::Retry {
            self.wait_and_retry(ctx, place);
        } else {
            self.apply(ctx, place, policy);
        }
    }

    fn apply(&mut self, ctx: &mut Context<'_>, place: usize, policy: OnRefused) {
        let thread = &mut self.threads[place];
        thread.waiting = Waiting::Working;
        match policy {
            OnRefused::Drop => {
                let topic = thread.in_hand.take().map(|record| record.topic);
                if let Some(topic) = topic {
                    self.give_up_record(ctx, topic);
                }
                self.call_returned(ctx, place, None);
            }
            // A Java client's application never gets the second.
            OnRefused::Retry | OnRefused::Block => self.pace_on(ctx, place),
            OnRefused::Pause(span) => {
                thread.waiting = Waiting::Pausing;
                thread.next_at = ctx.now + span;
            }
            OnRefused::Spill => {
                thread.backlog_open = false;
                let Some(record) = thread.in_hand.take() else {
                    return;
                };
                if thread.backlog.len() >= BACKLOG_MAX {
                    ctx.fact(
                        self.rank,
                        Fact::LimitReached {
                            limit: Limit::SpillQueue,
                        },
                    );
                    self.give_up_record(ctx, record.topic);
                } else if thread.from_backlog {
                    thread.backlog.push_front(record);
                } else {
                    thread.backlog.push_back(record);
                }
                self.call_returned(ctx, place, None);
            }
        }
    }

    fn give_up_record(&self, ctx: &mut Context<'_>, topic: crate::sim::ids::TopicIndex) {
        ctx.flow(
            self.rank,
            Flow::Refused {
                producer: self.me,
                topic,
                records: 1,
            },
        );
    }

    /// The call is over; the thread's next action follows.
    pub(super) fn call_returned(
        &mut self,
        ctx: &mut Context<'_>,
        place: usize,
        exception: Option<Arc<Exception>>,
    ) {
        let thread = &mut self.threads[place];
        thread.waiting = Waiting::Working;
        if thread.load.is_some() {
            self.pace_on(ctx, place);
            self.wake_for_commit(ctx, place);
            return;
        }
        let call = thread.next_call as u32;
        ctx.fact(
            self.rank,
            Fact::CallReturned {
                producer: self.me,
                call,
                exception,
            },
        );
        thread.next_call += 1;
        let script = &ctx.config.producers[self.me.index()].script;
        thread.next_at = script
            .get(thread.next_call)
            .map_or(SimTime::NEVER, |s| s.at.max(ctx.now));
        if thread.next_at == SimTime::NEVER {
            thread.waiting = Waiting::Done;
        }
    }

    /// A load's thread goes on to its next record, by its pacing.
    fn pace_on(&mut self, ctx: &Context<'_>, place: usize) {
        let thread = &mut self.threads[place];
        let Some(load) = thread.load.map(|at| &self.loads[at]) else {
            return;
        };
        if thread.backlog_open && !thread.backlog.is_empty() {
            // The backlog is sent as fast as the client takes it.
            thread.next_at = ctx.now;
            return;
        }
        let (pace, arrival) = (&load.pace, load.config.arrival);
        match load.config.pacing {
            Pacing::Closed => {
                thread.next_at = thread.next_interval(pace, arrival, ctx.now);
                thread.arrives_at = thread.next_at;
            }
            Pacing::Open => {
                thread.arrives_at = thread.next_interval(pace, arrival, thread.arrives_at);
                thread.next_at = thread.arrives_at.max(ctx.now);
            }
        }
    }

    /// A load's thread has sent its last record.
    fn end_of_load<C: Dialect>(&mut self, ctx: &mut Context<'_>, client: &mut C, place: usize) {
        let thread = &mut self.threads[place];
        thread.waiting = Waiting::Done;
        thread.next_at = SimTime::NEVER;
        let Some(load) = thread.load.map(|at| &mut self.loads[at]) else {
            return;
        };
        load.threads_done += 1;
        if load.threads_done < load.config.threads.max(1) {
            return;
        }
        match load.config.at_end {
            AtEnd::Idle => {}
            AtEnd::Flush => self.flush(ctx, client, place),
            AtEnd::Close => self.close(ctx, client, place, None),
            AtEnd::Exit => self.wish = Wish::Exit,
        }
    }

    /// The script's thread makes its next call.
    fn next_call<C: Dialect>(&mut self, ctx: &mut Context<'_>, client: &mut C, place: usize) {
        let script = &ctx.config.producers[self.me.index()].script;
        let thread = &mut self.threads[place];
        let Some(step) = script.get(thread.next_call) else {
            thread.waiting = Waiting::Done;
            thread.next_at = SimTime::NEVER;
            return;
        };
        match &step.call {
            Call::Produce(record) => {
                thread.in_hand = Some(in_hand(record, client));
                self.send(ctx, client, place);
            }
            Call::Poll(timeout) => self.poll(ctx, client, (place, *timeout)),
            Call::Flush => self.flush(ctx, client, place),
            Call::Close(timeout) => self.close(ctx, client, place, *timeout),
            Call::NewProducer => {
                self.wish = Wish::NewClient;
                self.call_returned(ctx, place, None);
            }
            Call::Exit => {
                self.wish = Wish::Exit;
                self.call_returned(ctx, place, None);
            }
            Call::InitTransactions
            | Call::BeginTransaction
            | Call::SendOffsets(..)
            | Call::CommitTransaction
            | Call::AbortTransaction
            | Call::Within(..) => self.transact(ctx, client, place, &step.call),
        }
    }

    fn flush<C: Dialect>(&mut self, ctx: &mut Context<'_>, client: &mut C, place: usize) {
        let Some(upto) = client.begin_flush(ctx.now) else {
            self.after_flush(ctx, place);
            return;
        };
        self.threads[place].awaited = vec![(u32::MAX, upto)];
        self.block(ctx, place, BlockedOn::Flush, SimTime::NEVER);
    }

    pub(super) fn after_flush(&mut self, ctx: &mut Context<'_>, place: usize) {
        // What it waited for is no receipt of a record.
        self.threads[place].awaited.clear();
        if let Some(load) = self.threads[place].load {
            let thread = &mut self.threads[place];
            let is_open = self.loads[load].config.at_end == AtEnd::Flush;
            // What came back during a flush is sent again after it.
            (thread.waiting, thread.next_at) = if is_open && !thread.backlog.is_empty() {
                (Waiting::Working, ctx.now)
            } else {
                (Waiting::Done, SimTime::NEVER)
            };
        } else {
            self.call_returned(ctx, place, None);
        }
    }

    fn close<C: Dialect>(
        &mut self,
        ctx: &mut Context<'_>,
        client: &mut C,
        place: usize,
        timeout: Option<SimSpan>,
    ) {
        client.close(ctx);
        if client.is_closed() {
            // Another thread closed it before: there is nothing to wait for.
            self.after_flush(ctx, place);
            return;
        }
        let deadline = timeout.map_or(SimTime::NEVER, |timeout| ctx.now + timeout);
        self.block(ctx, place, BlockedOn::Close, deadline);
    }

    pub(super) fn block(
        &mut self,
        ctx: &mut Context<'_>,
        place: usize,
        on: BlockedOn,
        deadline: SimTime,
    ) {
        let thread = &mut self.threads[place];
        let (since, said) = match thread.waiting {
            Waiting::Blocked {
                on: before,
                since,
                said,
                ..
            } if before == on => (since, said),
            _ => (ctx.now, Said::No),
        };
        thread.waiting = Waiting::Blocked {
            on,
            since,
            deadline,
            said,
        };
        let next = if said == Said::No {
            since + WORTH_SAYING
        } else {
            deadline
        };
        thread.next_at = next.min(deadline);
    }

    /// A blocked thread's clock rings: it gives up, or says that it still waits.
    fn go_on_waiting<C: Dialect>(&mut self, ctx: &mut Context<'_>, client: &mut C, place: usize) {
        let thread = &mut self.threads[place];
        let Waiting::Blocked {
            on,
            since,
            deadline,
            said,
        } = thread.waiting
        else {
            return;
        };
        if ctx.now < deadline {
            if said == Said::No {
                let (producer, waited) = (self.me, ctx.now.since(since));
                let fact = Fact::ThreadBlocked {
                    producer,
                    thread: place as u32,
                    on,
                    waited,
                };
                ctx.fact(self.rank, fact);
            }
            thread.waiting = Waiting::Blocked {
                on,
                since,
                deadline,
                said: Said::Yes,
            };
            thread.next_at = deadline;
            return;
        }
        self.unblock(ctx, place);
        if on == BlockedOn::Reports {
            self.end_poll(ctx, place);
            return;
        }
        if let BlockedOn::Transaction(operation) = on
            && self.threads[place].load.is_some()
        {
            return self.call_timed_out(ctx, client, place, operation);
        }
        if let BlockedOn::Transaction(operation) = on {
            let exception = client.transaction_timed_out(operation);
            self.call_returned(ctx, place, Some(exception));
            return;
        }
        let Some(call) = self.threads[place].call else {
            client.close_forcefully(ctx);
            self.call_returned(ctx, place, None);
            return;
        };
        let exception = client.time_out(ctx, on, &call);
        self.refused(ctx, client, place, &exception);
    }

    /// A wait is over.
    pub(super) fn unblock(&mut self, ctx: &mut Context<'_>, place: usize) {
        let thread = &mut self.threads[place];
        let Waiting::Blocked {
            on, since, said, ..
        } = thread.waiting
        else {
            return;
        };
        thread.waiting = Waiting::Working;
        thread.next_at = ctx.now;
        let waited = ctx.now.since(since);
        if thread.is_short_of_room(on) {
            self.counts.memory_wait += waited;
            self.memory_wait_ended = ctx.now;
        }
        if said == Said::Yes {
            let (producer, thread) = (self.me, place as u32);
            ctx.fact(
                self.rank,
                Fact::ThreadUnblocked {
                    producer,
                    thread,
                    on,
                    waited,
                },
            );
        }
    }
}

impl Thread {
    fn note_awaited<C: Dialect>(&mut self, client: &mut C, taken: u32) {
        let receipt = client.receipt(taken);
        if self.awaited.last() != Some(&receipt) {
            self.awaited.push(receipt);
        }
    }
}

fn in_hand<C: Dialect>(record: &ScriptRecord, client: &C) -> InHand {
    let length = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(|bytes| bytes.len() as u32);
    let key = record.key.as_deref();
    let route = match record.partition {
        Some(number) => Route::Partition(number),
        None => client.route(key.map(|key| (key, client.hash(key)))),
    };
    InHand {
        topic: record.topic,
        route,
        payload: payload_bytes(length(&record.key), length(&record.value), &[]),
        value: length(&record.value).unwrap_or(0),
        key: None,
        await_ack: record.await_ack != AwaitAcks::None,
        before: None,
    }
}
