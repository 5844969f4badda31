//! One application thread: what it has in hand, what it waits for, when it acts next.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::kafka::transaction_message::AwaitedOperation;
use crate::sim::config::{Arrival, KeyChoice, KeyConfig};
use crate::sim::fact::BlockedOn;
use crate::sim::ids::{PartitionIndex, ProducerIndex, TopicIndex};
use crate::sim::producer::append::{Route, SendCall};
use crate::sim::producer::dialect::Receipt;
use crate::sim::rng::{Purpose, Stream};
use crate::sim::time::SimTime;
use crate::sim::workload::{KeyHash, KeySource, KeyTable, Pace, Step};

/// One thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its load; none for the script's thread.
    pub load: Option<usize>,
    /// Its number within the load.
    pub number: u32,
    /// What it waits for.
    pub waiting: Waiting,
    /// When it acts next: calls, gives up waiting, or says that it still waits.
    pub next_at: SimTime,
    /// When the next record of an open load arrives.
    pub arrives_at: SimTime,
    /// The record it is about to send, or sends.
    pub in_hand: Option<InHand>,
    /// The call under way.
    pub call: Option<SendCall>,
    /// Records to send before new ones: spilled, or failed and to be sent again.
    pub backlog: VecDeque<InHand>,
    /// Whether the record in hand came from the backlog.
    pub from_backlog: bool,
    /// Whether the backlog may be tried: a send succeeded since the last refusal.
    pub backlog_open: bool,
    /// Records that it will wait for.
    pub awaited: Vec<Receipt>,
    /// Records since it last waited for acknowledgements.
    pub since_await: u32,
    /// Calls of `produce()` since it last called `poll()`.
    pub calls: u32,
    /// The script's next call.
    pub next_call: usize,
    pub(in crate::sim::producer) keys: KeySource,
    pub(super) value_draws: Stream,
    arrival_draws: Stream,
    fraction: u32,
}

/// A record that the application has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InHand {
    /// Where to.
    pub topic: TopicIndex,
    /// How its partition is found.
    pub route: Route,
    /// Key, value and headers, in bytes.
    pub payload: u32,
    /// The value alone, in bytes.
    pub value: u32,
    /// Its key's place in the load's table.
    pub key: Option<u32>,
    /// Whether the thread waits for this one.
    pub await_ack: bool,
    /// Partition and ordinal of the record that failed and is sent again by this one.
    pub before: Option<(PartitionIndex, u64)>,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Nothing: its own work, or the time for its next record.
    Working,
    /// Something within a client call.
    Blocked {
        /// What.
        on: BlockedOn,
        /// Since when.
        since: SimTime,
        /// When it gives up.
        deadline: SimTime,
        /// Whether the wait was said.
        said: Said,
    },
    /// The end of its pause after a refusal.
    Pausing,
    /// Another client in place of the one that closes.
    NewClient,
    /// Nothing, ever again.
    Done,
}

/// Whether a wait was said as a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Not yet: short waits are not worth a word.
    No,
    /// It was.
    Yes,
}

impl Thread {
    /// A thread of a generated load.
    pub fn of_load(
        load: usize,
        keys: KeySource,
        (seed, major, minor): (u64, u32, u16),
        number: u32,
    ) -> Self {
        Self {
            load: Some(load),
            number,
            waiting: Waiting::Working,
            next_at: SimTime::ZERO,
            arrives_at: SimTime::ZERO,
            in_hand: None,
            call: None,
            backlog: VecDeque::new(),
            from_backlog: false,
            backlog_open: false,
            awaited: Vec::new(),
            since_await: 0,
            calls: 0,
            next_call: 0,
            keys,
            value_draws: Stream::new(seed, Purpose::Value, major, minor),
            arrival_draws: Stream::new(seed, Purpose::Arrival, major, minor),
            fraction: 0,
        }
    }

    /// The thread of a script.
    pub fn of_script(seed: u64, me: ProducerIndex) -> Self {
        let none = KeyConfig {
            keys: Vec::new(),
            choice: KeyChoice::Cycle,
            explicit_partition: None,
        };
        let major = u32::from(me.0) << 8 | 0xff;
        let draws = Stream::new(seed, Purpose::Key, major, 0);
        let keys = KeySource::new(
            Arc::new(KeyTable::new(&none, KeyHash::Murmur2, None, 1)),
            draws,
            (0, 1),
        );
        Self {
            load: None,
            ..Self::of_load(0, keys, (seed, major, 0), 0)
        }
    }

    /// Whether waiting for this is waiting for memory or for room in a queue.
    pub fn is_short_of_room(&self, on: BlockedOn) -> bool {
        match on {
            BlockedOn::Memory { .. } | BlockedOn::Room => true,
            // A load polls because its queue is full, a script because it wants to.
            BlockedOn::Reports => self.load.is_some(),
            _ => false,
        }
    }

    /// Whether it is in a call that serves delivery reports as they come.
    pub fn is_polling(&self) -> bool {
        use BlockedOn as On;
        matches!(
            self.waiting,
            Waiting::Blocked {
                on: On::Acks
                    | On::Flush
                    | On::Close
                    | On::Reports
                    | On::Transaction(AwaitedOperation::Commit | AwaitedOperation::Abort),
                ..
            }
        )
    }

    /// Whether it has nothing on its mind but the next record.
    pub fn is_plain(&self) -> bool {
        self.waiting == Waiting::Working && self.in_hand.is_none() && self.backlog.is_empty()
    }

    /// Moves its next action on by an interval.
    #[inline]
    pub fn advance(&mut self, interval: u128) {
        let sum =
            (u128::from(self.next_at.as_nanos()) << 32 | u128::from(self.fraction)) + interval;
        self.fraction = sum as u32;
        self.next_at = SimTime::from_nanos(u64::try_from(sum >> 32).unwrap_or(u64::MAX));
    }

    /// A tight loop over evenly spaced records is over: the next one comes by its pace, which may
    /// have changed in between.
    pub fn end_loop(&mut self, pace: &Pace, step: Step) {
        if self.next_at > step.until {
            let sent_at = self.before(step.interval);
            self.next_at = self.next_interval(pace, Arrival::Constant, sent_at);
        }
        self.arrives_at = self.next_at;
    }

    /// When its last action was, given the interval since.
    fn before(&mut self, interval: u128) -> SimTime {
        let now = u128::from(self.next_at.as_nanos()) << 32 | u128::from(self.fraction);
        let sum = now.saturating_sub(interval);
        self.fraction = sum as u32;
        SimTime::from_nanos((sum >> 32) as u64)
    }

    /// The moment one interval after `from`, across changes of the rate: the share of an interval
    /// that has passed at one rate counts at the next.
    pub fn next_interval(&mut self, pace: &Pace, arrival: Arrival, from: SimTime) -> SimTime {
        let mut at = from;
        // What is left of the interval, in parts of 2^32.
        let mut left = 1_u128 << 32;
        if arrival == Arrival::Poisson {
            let mean = f64::from(u32::MAX);
            left = u128::from(self.arrival_draws.exponential_ns(mean));
        }
        loop {
            let step = pace.step(at);
            let needed = (step.interval.saturating_mul(left)) >> 32;
            let sum = (u128::from(at.as_nanos()) << 32 | u128::from(self.fraction))
                .saturating_add(needed);
            let next = SimTime::from_nanos(u64::try_from(sum >> 32).unwrap_or(u64::MAX));
            if next < step.until || step.until == SimTime::NEVER || next == step.until {
                self.fraction = sum as u32;
                return next;
            }
            let passed = u128::from(step.until.since(at).as_nanos()) << 32;
            left -= ((passed << 32) / step.interval.max(1)).min(left);
            at = step.until;
        }
    }
}
