//! One topic-partition ("toppar", librdkafka's word) as its producer sees it: what waits, in order
//! of `produce()`, and when that wakes its broker's thread.
//!
//! A message that was sent before is older than any that was not: the queue is those that came
//! back, by their number, and then the fresh ones.

use std::collections::VecDeque;

use crate::kafka::size::varint_len;
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex};
use crate::sim::time::SimTime;

/// One message that waits, or is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// When `produce()` took it.
    pub enqueued: SimTime,
    /// Bytes of its key.
    pub key: u32,
    /// Bytes of its value: what the queue's limit counts.
    pub value: u32,
}

impl Message {
    /// Key and value: what thresholds and `txmsg_bytes` count.
    pub const fn bytes(&self) -> u64 {
        self.key as u64 + self.value as u64
    }

    /// Key, value and headers as a record has them.
    pub const fn payload(&self) -> u32 {
        let key = self.key.saturating_add(varint_len(self.key as i32));
        let value = self.value.saturating_add(varint_len(self.value as i32));
        key.saturating_add(value).saturating_add(1)
    }
}

/// Whether a message may stand in the log although it is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persisted {
    /// It does not (`RD_KAFKA_MSG_STATUS_NOT_PERSISTED`).
    No,
    /// Nobody knows (`RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED`).
    Possibly,
}

/// A message that came back.
#[derive(Clone, Copy, Debug)]
pub struct Returned {
    /// Its number in the partition.
    pub ordinal: u64,
    /// The message.
    pub message: Message,
    /// How often it was tried again, as far as that counts.
    pub retries: u32,
    /// Not before this moment.
    pub not_before: SimTime,
    /// Whether it may stand in the log.
    pub persisted: Persisted,
    /// Idempotence: the last message of its batch, which is built again as it was.
    pub batch_last: u64,
}

/// How many messages, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages.
    pub messages: u64,
    /// Bytes of keys and values.
    pub bytes: u64,
}

impl Tally {
    fn add(&mut self, message: &Message) {
        self.messages += 1;
        self.bytes += message.bytes();
    }

    fn remove(&mut self, message: &Message) {
        self.messages -= 1;
        self.bytes -= message.bytes();
    }
}

/// When another message wakes the broker's thread.
#[derive(Clone, Copy, Debug)]
pub struct WakeRule {
    /// From this moment on.
    pub at: SimTime,
    /// When it is the first one since the thread last looked.
    pub first: First,
    /// When so many have come since the thread last looked.
    pub messages: u64,
    /// When more bytes than this have.
    pub bytes: u64,
    /// Whether the thread was woken already.
    pub signal: Signal,
}

/// Whether a first message wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The thread has nothing of this partition: it does.
    Wakes,
    /// The thread knows of older ones.
    Waits,
}

/// Whether a thread was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Not since it last looked.
    Off,
    /// It was, and has not looked since; or it looks by itself.
    On,
}

/// Sequences of an idempotent producer in one partition.
#[derive(Clone, Copy, Debug)]
pub struct Sequences {
    /// Producer id and epoch in use.
    pub producer_id: (i64, i16),
    /// The message whose sequence is 0.
    pub base: u64,
    /// The sequence that is to be acknowledged next.
    pub next_ack: i32,
    /// The sequence of which an error would come next.
    pub next_err: i32,
    /// The last message that was acknowledged.
    pub acked: Option<u64>,
    /// Whether nothing is sent until nothing is in flight.
    pub drain: Drain,
}

/// Whether a partition waits for what it has in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// No.
    No,
    /// Yes, and then sends again.
    Until,
}

/// One partition.
#[derive(Clone, Debug)]
pub struct Toppar {
    /// Which partition.
    pub partition: PartitionIndex,
    /// Its topic.
    pub topic: TopicIndex,
    /// Its number in the topic.
    pub number: u32,
    /// The leader's epoch, as the client knows it.
    pub leader_epoch: u32,
    /// The broker whose thread has it; none has a partition without leader.
    pub thread: Option<BrokerIndex>,
    /// Messages that came back, by number.
    pub returned: VecDeque<Returned>,
    /// Messages that were never sent.
    pub fresh: VecDeque<Message>,
    /// Number of the next message.
    pub next_ordinal: u64,
    /// All that waits.
    pub queued: Tally,
    /// What came since the thread last took messages over (`msgq`, beside its `xmitq`).
    pub arrived: Tally,
    /// Messages in requests that are queued, written or answered not yet.
    pub in_flight: u64,
    /// When the next message wakes the thread.
    pub wake: WakeRule,
    /// Idempotence.
    pub sequences: Sequences,
    /// `msgs`, `txmsgs`, `txbytes`.
    pub totals: (u64, u64, u64),
}

impl Toppar {
    /// A partition that nothing was produced to; its first message gets this number.
    pub fn new(partition: PartitionIndex, topic: TopicIndex, number: u32, first: u64) -> Self {
        Self {
            partition,
            topic,
            number,
            leader_epoch: 0,
            thread: None,
            returned: VecDeque::new(),
            fresh: VecDeque::new(),
            next_ordinal: first,
            queued: Tally::default(),
            arrived: Tally::default(),
            in_flight: 0,
            wake: WakeRule {
                at: SimTime::NEVER,
                first: First::Wakes,
                messages: u64::MAX,
                bytes: u64::MAX,
                signal: Signal::Off,
            },
            sequences: Sequences {
                producer_id: (-1, -1),
                base: 0,
                next_ack: 0,
                next_err: 0,
                acked: None,
                drain: Drain::No,
            },
            totals: (0, 0, 0),
        }
    }

    /// Takes a message; says whether its broker's thread wakes.
    #[inline]
    pub fn push(&mut self, message: Message) -> Signal {
        self.fresh.push_back(message);
        self.next_ordinal += 1;
        self.queued.add(&message);
        self.arrived.add(&message);
        self.totals.0 += 1;
        let wake = &mut self.wake;
        let is_first = self.arrived.messages == 1 && wake.first == First::Wakes;
        let wakes = wake.signal == Signal::Off
            && self.thread.is_some()
            && (is_first
                || message.enqueued >= wake.at
                || self.arrived.messages >= wake.messages
                || self.arrived.bytes > wake.bytes);
        if !wakes {
            return Signal::Off;
        }
        wake.signal = Signal::On;
        Signal::On
    }

    /// Number of the first fresh message.
    pub fn first_fresh(&self) -> u64 {
        self.next_ordinal - self.fresh.len() as u64
    }

    /// When the oldest message was produced, and before when it must not be sent.
    pub fn head(&self) -> Option<(Message, SimTime)> {
        match self.returned.front() {
            Some(returned) => Some((returned.message, returned.not_before)),
            None => self.fresh.front().map(|fresh| (*fresh, SimTime::ZERO)),
        }
    }

    /// Takes the first message of those that came back.
    pub fn pop_returned(&mut self) -> Option<Returned> {
        let returned = self.returned.pop_front()?;
        self.queued.remove(&returned.message);
        Some(returned)
    }

    /// Takes the first fresh message, with its number.
    pub fn pop_fresh(&mut self) -> Option<(u64, Message)> {
        let ordinal = self.first_fresh();
        let message = self.fresh.pop_front()?;
        self.queued.remove(&message);
        Some((ordinal, message))
    }

    /// The thread takes over what came.
    pub fn take_over(&mut self) {
        self.arrived = Tally::default();
    }

    /// Puts messages back where their numbers belong.
    pub fn put_back(&mut self, messages: &[Returned]) {
        // From behind, each finds its place where the one before went.
        for returned in messages.iter().rev() {
            self.queued.add(&returned.message);
            let at = self
                .returned
                .partition_point(|other| other.ordinal < returned.ordinal);
            self.returned.insert(at, *returned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toppar() -> Toppar {
        let mut toppar = Toppar::new(PartitionIndex::of_first_topic(0), TopicIndex(0), 0, 0);
        toppar.thread = Some(BrokerIndex(0));
        toppar
    }

    fn message(millis: u64) -> Message {
        Message {
            enqueued: SimTime::from_millis(millis),
            key: 5,
            value: 10,
        }
    }

    #[test]
    fn only_the_first_message_wakes_a_thread_that_waits_for_one() {
        let mut toppar = toppar();
        assert_eq!(toppar.push(message(1)), Signal::On);
        assert_eq!(toppar.push(message(2)), Signal::Off);
        assert_eq!(
            toppar.queued,
            Tally {
                messages: 2,
                bytes: 30
            }
        );
    }

    #[test]
    fn a_full_batch_wakes_a_thread_that_waits_for_the_linger() {
        let mut toppar = toppar();
        toppar.wake.first = First::Waits;
        (toppar.wake.messages, toppar.wake.bytes) = (3, 1_000);
        toppar.wake.at = SimTime::from_millis(100);
        let signals = [1, 2, 3].map(|millis| toppar.push(message(millis)));
        assert_eq!(signals, [Signal::Off, Signal::Off, Signal::On]);
    }

    #[test]
    fn what_comes_back_stands_before_what_was_never_sent_and_in_order() {
        let mut toppar = toppar();
        for millis in 0..4 {
            toppar.push(message(millis));
        }
        let sent: Vec<_> = (0..3).filter_map(|_| toppar.pop_fresh()).collect();
        let returned = |&(ordinal, message): &(u64, Message)| Returned {
            ordinal,
            message,
            retries: 1,
            not_before: SimTime::ZERO,
            persisted: Persisted::No,
            batch_last: ordinal,
        };
        toppar.put_back(&[returned(&sent[2])]);
        toppar.put_back(&[returned(&sent[0]), returned(&sent[1])]);
        let order: Vec<_> = toppar.returned.iter().map(|other| other.ordinal).collect();
        assert_eq!((order, toppar.first_fresh()), (vec![0, 1, 2], 3));
    }
}
