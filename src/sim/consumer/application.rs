//! The application's loop: `poll()`, process what it returned, and again.
//!
//! A consumer's thread is either inside `poll()`, where it joins, commits, fetches and waits, or
//! with its records, where the client does nothing but heartbeats. So a slow application is what
//! the group sees as a late one.
//!
//! Simplification: `poll()` is called with a timeout long enough, so waiting for records is one
//! wait; deserializing takes no time beyond the configured rate, decompressing takes that of its
//! codec and is counted behind `poll()`, where the records are handed over.

use std::sync::Arc;

use crate::sim::consumer::Consumer;
use crate::sim::consumer::fetcher::Content;
use crate::sim::context::Context;
use crate::sim::fact::{Consumed, Fact, Flow};
use crate::sim::ids::PartitionIndex;
use crate::sim::time::{NANOS_PER_SECOND, SimSpan, SimTime};

/// Millionths of a record in a record.
const MICRO: u128 = 1_000_000;

/// The application's thread.
#[derive(Clone, Debug)]
pub(super) struct Application {
    pub(super) stage: Stage,
    /// When it last called `poll()`.
    pub(super) last_poll: SimTime,
    /// When `poll()` commits next (`auto.commit.interval.ms`).
    pub(super) commit_at: SimTime,
}

/// What the thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is inside `poll()`.
    Polling,
    /// It processes what `poll()` returned.
    Processing {
        /// Until then.
        until: SimTime,
    },
}

impl Application {
    pub(super) fn new() -> Self {
        Self {
            stage: Stage::Polling,
            last_poll: SimTime::ZERO,
            commit_at: SimTime::ZERO,
        }
    }

    /// The process stood still for this long.
    pub(super) fn shift(&mut self, by: SimSpan) {
        if let Stage::Processing { until } = &mut self.stage {
            *until += by;
        }
    }
}

impl Consumer {
    /// Goes on with the loop as far as this moment allows.
    pub(super) fn run_application(&mut self, ctx: &mut Context<'_>) {
        loop {
            match self.application.stage {
                Stage::Processing { until } if until > ctx.now => {
                    self.wake_by(until);
                    return;
                }
                Stage::Processing { .. } => {
                    self.application.stage = Stage::Polling;
                    let between = ctx.now.since(self.application.last_poll);
                    self.metrics.polled(between, ctx.now);
                    self.application.last_poll = ctx.now;
                    self.totals.polls += 1;
                    self.keep_membership(ctx);
                }
                Stage::Polling => {
                    self.application.last_poll = ctx.now;
                    if self.is_running() && !self.poll(ctx) {
                        return;
                    }
                }
            }
            if !self.is_running() {
                return;
            }
        }
    }

    fn is_running(&self) -> bool {
        self.state == crate::sim::view::ProcessState::Running
    }

    /// One look inside `poll()`; says whether it returned records.
    fn poll(&mut self, ctx: &mut Context<'_>) -> bool {
        if self.is_held_up() {
            return false;
        }
        self.auto_commit(ctx);
        self.find_positions(ctx);
        if !self.is_running() {
            return false;
        }
        let records = self.return_records(ctx);
        self.send_fetches(ctx);
        records > 0
    }

    /// Hands over up to `max.poll.records` of what is buffered; says how many.
    fn return_records(&mut self, ctx: &mut Context<'_>) -> u64 {
        let mut left = u64::from(self.settings.max_poll_records);
        let from_before = left;
        let mut ranges = Vec::new();
        let mut decompression = SimSpan::ZERO;
        while left > 0 {
            let Some(front) = self.buffered.front_mut() else {
                break;
            };
            if front.content == Content::Hidden {
                let (partition, to) = (front.partition, front.to);
                self.buffered.pop_front();
                self.advance_position(partition, to);
                self.note_returned(partition);
                continue;
            }
            let there = front.to - front.from;
            let taken = there.min(left);
            let share = |of: u64| (u128::from(of) * u128::from(taken) / u128::from(there)) as u64;
            let bytes = share(front.bytes);
            let decompression_ns = share(front.decompression_ns);
            let (partition, from) = (front.partition, front.from);
            let high_watermark = front.high_watermark;
            front.from += taken;
            front.bytes -= bytes;
            front.decompression_ns -= decompression_ns;
            decompression += SimSpan::from_nanos(decompression_ns);
            left -= taken;
            if front.from == front.to {
                self.buffered.pop_front();
                self.note_returned(partition);
            }
            self.advance_position(partition, from + taken);
            let lag = high_watermark.saturating_sub(from + taken);
            self.metrics.consumed(taken, bytes, lag, ctx.now);
            self.totals.records += taken;
            self.totals.bytes += bytes;
            ranges.push((partition, from, from + taken));
        }
        let records = from_before - left;
        if records > 0 {
            let processed = ctx.now + decompression + self.processing_time(records);
            self.application.stage = Stage::Processing { until: processed };
            for (partition, from_offset, to_offset) in ranges {
                let flow = Flow::Consumed(Consumed {
                    consumer: self.me,
                    group: self.group,
                    partition,
                    from_offset,
                    to_offset,
                    at: ctx.now,
                    processed,
                });
                ctx.flow(self.rank, flow);
                self.judge_order(ctx, partition, (from_offset, to_offset));
            }
        }
        records
    }

    /// Says which keys the group reads out of order, where records are remembered one by one.
    fn judge_order(&self, ctx: &mut Context<'_>, partition: PartitionIndex, offsets: (u64, u64)) {
        for late in ctx.read_order.read(self.group, partition, offsets) {
            let fact = Fact::OutOfOrderRead {
                consumer: self.me,
                key: Arc::clone(ctx.records.key(late.key)),
                partition,
                offset: late.offset,
                overtaken_on: late.overtaken_on,
                by: late.overtaken_by.since(late.written),
            };
            ctx.note(self.rank, fact);
        }
    }

    /// How long the application takes for so many records.
    fn processing_time(&self, records: u64) -> SimSpan {
        let Some(rate) = self.micro_records_per_second else {
            return SimSpan::ZERO;
        };
        let nanos =
            u128::from(records) * MICRO * u128::from(NANOS_PER_SECOND) / u128::from(rate.max(1));
        SimSpan::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}
