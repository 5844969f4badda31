//! The application around a client: threads that send, wait, are refused, and try again.
//!
//! Generated loads append in a tight loop as long as nothing but the open batch is concerned;
//! everything else goes through one call at a time. `call` has what a call's outcome means to its
//! thread.

mod call;
mod load_transaction;
mod news;
mod note;
mod plain;
mod polling;
mod replay;
mod thread;
mod transaction;

pub use thread::{InHand, Thread, Waiting};

use std::collections::VecDeque;
use std::sync::Arc;

use crate::kafka::size::payload_bytes;
use crate::sim::config::{Arrival, Config, HistoryDetail, LoadConfig, Polling, ProducerConfig};
use crate::sim::context::Context;
use crate::sim::fact::Fact;
use crate::sim::ids::ProducerIndex;
use crate::sim::producer::append::Route;
use crate::sim::producer::application::load_transaction::TransactionLoop;
use crate::sim::producer::dialect::Dialect;
use crate::sim::queue::Rank;
use crate::sim::replay::Replayed;
use crate::sim::rng::{Purpose, Stream};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::workload::{HashedKey, KeySource, LoadKeys, Pace, Step, value_bytes};

/// How often a throttle looks at its metric.
const THROTTLE_PERIOD: SimSpan = SimSpan::from_seconds(1);

/// All threads of one application, and what they share.
#[derive(Clone, Debug)]
pub struct Application {
    pub(super) me: ProducerIndex,
    pub(super) rank: Rank,
    pub(super) loads: Vec<Load>,
    pub(super) threads: Vec<Thread>,
    /// When throttles look next; never without one.
    throttle_at: SimTime,
    /// The thread that does nothing but poll, if there is one.
    pub(super) poller: Poller,
    pub(super) counts: AppCounts,
    /// What the application wants done with its process or client.
    pub(super) wish: Wish,
    /// When a thread last waited for memory.
    pub(super) memory_wait_ended: SimTime,
    /// The transactions of its loads, where they are in any.
    pub(super) transactions: Option<TransactionLoop>,
}

/// A thread that calls `rd_kafka_poll()` every so often.
#[derive(Clone, Copy, Debug)]
pub struct Poller {
    /// Since when.
    start: SimTime,
    /// How often; zero is never.
    interval: SimSpan,
    /// When it finds reports next; never while there are none.
    at: SimTime,
}

impl Poller {
    fn new(producer: &ProducerConfig, start: SimTime) -> Self {
        let interval = |load: &LoadConfig| match load.polling {
            Polling::Interval(interval) => Some(interval.max(SimSpan::from_micros(1))),
            Polling::Calls(_) | Polling::Never => None,
        };
        Self {
            start,
            interval: producer
                .loads
                .iter()
                .filter_map(interval)
                .min()
                .unwrap_or(SimSpan::ZERO),
            at: SimTime::NEVER,
        }
    }

    /// There are reports: the next call finds them.
    pub(super) fn expect_reports(&mut self, now: SimTime) {
        let interval = self.interval.as_nanos();
        if interval == 0 || self.at != SimTime::NEVER {
            return;
        }
        let calls = now.since(self.start).as_nanos().div_ceil(interval);
        self.at = self.start + self.interval.times(calls);
    }
}

/// Counts of an application since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct AppCounts {
    /// Refusals by `send()`.
    pub refused: u64,
    /// Finished waits for memory, over all threads.
    pub memory_wait: SimSpan,
}

/// What an application wants done with its process or client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Nothing.
    None,
    /// The process ends.
    Exit,
    /// Another client instead of this one.
    NewClient,
}

/// One generated load, shared by its threads.
#[derive(Clone, Debug)]
pub struct Load {
    pub(in crate::sim::producer) config: LoadConfig,
    pub(in crate::sim::producer) pace: Pace,
    /// The present interval, while it is known.
    step: Option<Step>,
    pub(in crate::sim::producer) keys: LoadKeys,
    /// How much is remembered of its records.
    pub(in crate::sim::producer) detail: HistoryDetail,
    /// Records that were read from the topic that this load copies, and the one in hand.
    inbox: VecDeque<Replayed>,
    replayed: Option<Replayed>,
    /// Records begun.
    pub(in crate::sim::producer) begun: u64,
    pub(super) threads_done: u32,
}

impl Application {
    /// The application as configured, at the start of its `incarnation`th process.
    pub fn new(
        config: &Config,
        (me, keys): (ProducerIndex, &[LoadKeys]),
        start: SimTime,
        incarnation: u16,
    ) -> Self {
        let producer = &config.producers[me.index()];
        let of_load = |(load, keys): (&LoadConfig, _)| Load::new(load, keys, config);
        let loads: Vec<_> = producer.loads.iter().zip(keys).map(of_load).collect();
        let mut threads = Vec::new();
        for (place, load) in loads.iter().enumerate() {
            for number in 0..load.config.threads.max(1) {
                let seeds = (
                    config.seed,
                    u32::from(me.0) << 8 | place as u32,
                    number as u16,
                );
                let source = KeySource::new(
                    Arc::clone(&load.keys.table),
                    Stream::new(seeds.0, Purpose::Key, seeds.1, seeds.2),
                    (number, load.config.threads.max(1)),
                );
                threads.push(Thread::of_load(place, source, seeds, number));
            }
        }
        if has_script(producer) && incarnation == 0 {
            threads.push(Thread::of_script(config.seed, me));
        }
        let throttles = producer.loads.iter().any(|load| load.throttle.is_some());
        let mut application = Self {
            me,
            rank: Rank::producer(config, me),
            loads,
            threads,
            throttle_at: if throttles {
                start + THROTTLE_PERIOD
            } else {
                SimTime::NEVER
            },
            poller: Poller::new(producer, start),
            counts: AppCounts::default(),
            wish: Wish::None,
            memory_wait_ended: SimTime::ZERO,
            transactions: TransactionLoop::of(&producer.loads),
        };
        application.begin(producer, start);
        application
    }

    fn begin(&mut self, producer: &ProducerConfig, start: SimTime) {
        for thread in &mut self.threads {
            match thread.load {
                Some(load) => {
                    let pace = &self.loads[load].pace;
                    thread.next_at = start;
                    let step = thread.next_interval(pace, self.loads[load].config.arrival, start);
                    thread.arrives_at = step;
                    thread.next_at = step;
                }
                None => {
                    thread.next_at = producer
                        .script
                        .first()
                        .map_or(SimTime::NEVER, |s| start.max(s.at));
                }
            }
        }
        self.spread(start);
    }

    /// Threads of one load take turns from the start, instead of all calling at once.
    fn spread(&mut self, start: SimTime) {
        for thread in &mut self.threads {
            let Some(load) = thread.load else { continue };
            let count = u64::from(self.loads[load].config.threads.max(1));
            let is_even = self.loads[load].config.arrival == Arrival::Constant;
            if count > 1 && is_even && thread.next_at != SimTime::NEVER {
                let span = thread.next_at.since(start).as_nanos();
                let share = u128::from(span) * u128::from(thread.number + 1) / u128::from(count);
                thread.next_at = start + SimSpan::from_nanos(share as u64);
                thread.arrives_at = thread.next_at;
            }
        }
    }

    /// The process goes on after a pause: what was due meanwhile is done now.
    pub fn oversleep(&mut self, now: SimTime) {
        for thread in &mut self.threads {
            thread.next_at = thread.next_at.max(now);
        }
    }

    /// When something happens here by itself.
    pub fn next_at(&self) -> SimTime {
        let threads = self.threads.iter().map(|thread| thread.next_at).min();
        threads
            .unwrap_or(SimTime::NEVER)
            .min(self.throttle_at)
            .min(self.poller.at)
    }

    /// Does what is due at `ctx.now`, and as much more as nobody else can notice before `limit`.
    pub fn run<C: Dialect>(&mut self, ctx: &mut Context<'_>, client: &mut C, limit: SimTime) {
        if self.throttle_at <= ctx.now {
            self.look_at_throttles(ctx, client);
            return;
        }
        if self.poller.at <= ctx.now {
            self.poller.at = SimTime::NEVER;
            client.poll(ctx);
            return;
        }
        let due = |thread: &Thread| thread.next_at <= ctx.now;
        let Some(place) = self.threads.iter().position(due) else {
            return;
        };
        let others = self
            .threads
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != place);
        let first_other = others.map(|(_, thread)| thread.next_at).min();
        let limit = limit
            .min(first_other.unwrap_or(SimTime::NEVER))
            .min(self.throttle_at)
            .min(self.poller.at);
        let is_plain = self.threads[place].is_plain();
        match self.threads[place].load {
            Some(load) if is_plain && C::takes_in_a_loop(&self.loads[load]) => {
                C::run_loop(self, ctx, client, place, limit);
            }
            _ => self.act(ctx, client, place),
        }
    }

    /// Looks at throttled metrics: the rate follows at once, not compounding.
    fn look_at_throttles<C: Dialect>(&mut self, ctx: &mut Context<'_>, client: &C) {
        self.throttle_at = ctx.now + THROTTLE_PERIOD;
        for (place, load) in self.loads.iter_mut().enumerate() {
            let Some(throttle) = load.config.throttle else {
                continue;
            };
            let value = client.metric(throttle.metric, ctx.now);
            let is_above = value.is_some_and(|value| value > throttle.above);
            let factor_ppm = if is_above {
                throttle.factor_ppm
            } else {
                1_000_000
            };
            if factor_ppm != load.pace.factor_ppm {
                load.pace.factor_ppm = factor_ppm;
                load.step = None;
                let (producer, load) = (self.me, place as u32);
                ctx.fact(
                    self.rank,
                    Fact::LoadThrottled {
                        producer,
                        load,
                        factor_ppm,
                    },
                );
            }
        }
    }

    /// All loads together send this much from now on, in equal shares.
    pub fn set_rate(&mut self, micro_records_per_second: u64, now: SimTime) {
        let share = micro_records_per_second / (self.loads.len() as u64).max(1);
        for load in &mut self.loads {
            load.pace.set(share, now);
            load.step = None;
        }
        for thread in &mut self.threads {
            let Some(load) = thread.load else { continue };
            if thread.waiting == Waiting::Working && thread.in_hand.is_none() {
                let (pace, arrival) = (&self.loads[load].pace, self.loads[load].config.arrival);
                let next = thread.next_interval(pace, arrival, now);
                thread.next_at = thread.next_at.min(next);
                thread.arrives_at = thread.next_at;
            }
        }
    }

    /// Records per second that all loads try at `now`.
    pub fn rate_asked(&self, now: SimTime) -> f64 {
        self.loads
            .iter()
            .map(|load| load.pace.micro_rate(now) as f64 / 1e6)
            .sum()
    }
}

impl Load {
    fn new(config: &LoadConfig, keys: &LoadKeys, world: &Config) -> Self {
        let topic = world.topics[config.topic.index()].existing.as_ref();
        let detail = topic.map_or(HistoryDetail::Sums, |topic| topic.history);
        Self {
            detail,
            pace: Pace::new(&config.rate, config.threads),
            keys: keys.clone(),
            inbox: VecDeque::new(),
            replayed: None,
            begun: 0,
            step: None,
            threads_done: 0,
            config: config.clone(),
        }
    }

    /// A record of this load.
    pub(in crate::sim::producer) fn in_hand<C: Dialect>(
        &self,
        client: &C,
        key: Option<u32>,
        value: Option<u32>,
    ) -> InHand {
        let hashed = key.and_then(|key| self.keys.table.hashed(key));
        InHand {
            topic: self.config.topic,
            route: self.route(client, key),
            payload: payload_bytes(hashed.map(|key| key.length), value, &[]),
            value: value.unwrap_or(0),
            key,
            await_ack: false,
            before: None,
        }
    }

    /// How a record with this key, by its place in the table, finds its partition.
    pub(in crate::sim::producer) fn route<C: Dialect>(
        &self,
        client: &C,
        key: Option<u32>,
    ) -> Route {
        match self.config.keys.explicit_partition {
            Some(number) => Route::Partition(number),
            None => client.route(key.and_then(|key| self.key(key))),
        }
    }

    /// A key's bytes and hash.
    fn key(&self, key: u32) -> Option<(&[u8], HashedKey)> {
        let bytes = self.config.keys.keys.get(key as usize)?;
        Some((bytes, self.keys.table.hashed(key)?))
    }

    /// Draws the next record.
    fn draw<C: Dialect>(&self, thread: &mut Thread, client: &C) -> InHand {
        let is_keyed = !self.keys.table.is_empty();
        let key = is_keyed.then(|| thread.keys.draw());
        // Its own beginning is counted already.
        let nth = self.begun.saturating_sub(1);
        let value = value_bytes(&self.config.values, nth, &mut thread.value_draws);
        self.in_hand(client, key, value)
    }
}

fn has_script(producer: &ProducerConfig) -> bool {
    !producer.script.is_empty()
}
