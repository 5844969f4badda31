//! `RecordAccumulator`: a deque of batches for each partition, and when its head may be sent.
//!
//! Source: `RecordAccumulator.append`, `batchReady`, `drainBatchesForOneNode`, `reenqueue`.

use std::collections::VecDeque;

use crate::kafka::size::{RecordSize, record_bytes};
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex};
use crate::sim::producer::batch::{Batch, BatchId, Batches, Stage};
use crate::sim::time::SimTime;

/// All partitions' deques and their batches.
#[derive(Clone, Debug, Default)]
pub struct Accumulator {
    /// One for each partition that the client has metadata for.
    pub queues: Vec<Queue>,
    /// The batches in them and in flight.
    pub batches: Batches,
}

/// One partition as its producer sees it.
#[derive(Clone, Debug)]
pub struct Queue {
    /// Which partition.
    pub partition: PartitionIndex,
    /// Its topic.
    pub topic: TopicIndex,
    /// Its number in the topic.
    pub number: u32,
    /// The tail batch while it takes records.
    pub open: Option<BatchId>,
    /// Batches to be sent, head first.
    pub deque: VecDeque<BatchId>,
    /// Batches sent at least once and not completed, in order of their sequences.
    pub unfinished: VecDeque<BatchId>,
    /// Who leads, as the client knows it.
    pub leader: Option<BrokerIndex>,
    /// The leader's epoch.
    pub leader_epoch: u32,
    /// Whether anything was ever produced to it: the deque exists.
    pub is_used: bool,
    /// With `max.in.flight.requests.per.connection` = 1: a request is on its way.
    pub is_muted: bool,
    /// Ordinal of the next record.
    pub next_ordinal: u64,
    /// Idempotence: what the next batch gets.
    pub sequences: Sequences,
}

/// `TxnPartitionEntry`.
#[derive(Clone, Copy, Debug)]
pub struct Sequences {
    /// Producer id and epoch in use.
    pub producer_id: (i64, i16),
    /// Sequence of the next batch.
    pub next: i32,
    /// Last acknowledged sequence; -1 for none.
    pub last_acked: i32,
    /// After an expired retry: the sequence after it, until it is known what became of it.
    pub unresolved: Option<i32>,
}

impl Queue {
    /// A partition without batches.
    pub fn new(partition: PartitionIndex, topic: TopicIndex, number: u32) -> Self {
        Self {
            partition,
            topic,
            number,
            open: None,
            deque: VecDeque::new(),
            unfinished: VecDeque::new(),
            leader: None,
            leader_epoch: 0,
            is_used: false,
            is_muted: false,
            next_ordinal: 0,
            sequences: Sequences {
                producer_id: (-1, -1),
                next: 0,
                last_acked: -1,
                unresolved: None,
            },
        }
    }
}

/// Whether a record found room in its partition's open batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It did.
    Taken,
    /// It did, to the last byte.
    Filled,
    /// There is no open batch, or not enough room in it.
    None,
}

/// Why a head batch may be sent, or how long until it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Now.
    Ready,
    /// Not before this moment on the client's clock.
    NotBefore(u64),
}

/// What makes every partition sendable regardless of linger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Nothing: batches fill or linger.
    None,
    /// A thread waits for memory, a flush is under way, or the client closes.
    SendAll,
}

impl Accumulator {
    /// Appends to the open batch if there is one with room. The batch is not closed if there is
    /// not: [`Accumulator::try_append`] does that.
    #[expect(
        clippy::inline_always,
        reason = "the load loop is this, once for each record"
    )]
    #[inline(always)]
    pub fn append_to_open(&mut self, queue: u32, record: RecordSize, now: SimTime) -> Room {
        let queue = &mut self.queues[queue as usize];
        let Some(open) = queue.open else {
            return Room::None;
        };
        let batch = self.batches.get_mut(open);
        let delta = now.as_millis() - batch.created_ms;
        let written = batch.written + record.at(batch.records, delta as i64);
        if written > batch.limit {
            return Room::None;
        }
        batch.written = written;
        batch.records += 1;
        batch.payload_max = batch.payload_max.max(record.payload);
        queue.next_ordinal += 1;
        if written == batch.limit {
            Room::Filled
        } else {
            Room::Taken
        }
    }

    /// Appends to the open batch; says by how much it grew, or nothing if there was no room. Then
    /// the batch is closed.
    pub fn try_append(&mut self, queue: u32, payload: u32, now: SimTime) -> Option<u32> {
        let open = self.queues[queue as usize].open?;
        let before = self.batches.get(open).written;
        if self.append_to_open(queue, RecordSize::new(payload), now) == Room::None {
            self.close_open(queue);
            return None;
        }
        Some(self.batches.get(open).written - before)
    }

    /// The open batch, if there is one, takes no more records.
    pub fn close_open(&mut self, queue: u32) {
        if let Some(open) = self.queues[queue as usize].open.take() {
            self.batches.get_mut(open).stage = Stage::Closed;
        }
    }

    /// Opens a batch with `limit` bytes and its first record, which always fits; gives its bytes.
    pub fn open_batch(&mut self, queue: u32, limit: u32, payload: u32, now: SimTime) -> u32 {
        let place = queue;
        let queue = &mut self.queues[queue as usize];
        let id = self.batches.open(place, limit, queue.next_ordinal, now);
        let batch = self.batches.get_mut(id);
        batch.written += record_bytes(0, 0, payload);
        batch.records = 1;
        batch.payload_max = payload;
        let bytes = batch.written;
        queue.next_ordinal += 1;
        queue.is_used = true;
        queue.open = Some(id);
        queue.deque.push_back(id);
        bytes
    }

    /// Whether the deque is empty or its last batch takes no more records.
    pub fn is_last_batch_full(&self, queue: u32) -> bool {
        match self.queues[queue as usize].open {
            None => true,
            Some(id) => self.batches.get(id).is_full(),
        }
    }

    /// Whether a queue's head may be sent (`batchReady`).
    pub fn readiness(
        queue: &Queue,
        head: &Batch,
        (linger_ms, urgency): (u64, Urgency),
        now_ms: u64,
    ) -> Readiness {
        let waited = now_ms.saturating_sub(head.last_attempt_ms);
        if head.attempts > 0 && waited < head.backoff_ms {
            return Readiness::NotBefore(head.last_attempt_ms + head.backoff_ms);
        }
        let full = queue.deque.len() > 1 || head.is_full();
        if full || waited >= linger_ms || urgency == Urgency::SendAll {
            Readiness::Ready
        } else {
            Readiness::NotBefore(head.last_attempt_ms.saturating_add(linger_ms))
        }
    }

    /// Takes a queue's head for sending.
    pub fn drain_head(&mut self, queue: u32, now: SimTime) -> Option<BatchId> {
        let queue = &mut self.queues[queue as usize];
        let id = queue.deque.pop_front()?;
        if queue.open == Some(id) {
            queue.open = None;
        }
        let batch = self.batches.get_mut(id);
        if batch.attempts == 0 {
            queue.unfinished.push_back(id);
        }
        batch.stage = Stage::InFlight;
        batch.drained = now;
        Some(id)
    }

    /// Puts a batch back to be sent again: in order of sequences with idempotence, else in front.
    pub fn reenqueue(&mut self, id: BatchId, now_ms: u64, backoff_ms: u64) {
        let batch = self.batches.get_mut(id);
        batch.attempts += 1;
        batch.last_attempt_ms = now_ms;
        batch.backoff_ms = backoff_ms;
        batch.stage = Stage::Retrying;
        let (sequence, place) = (batch.base_sequence, batch.queue as usize);
        let queue = &mut self.queues[place];
        let mut at = 0;
        if sequence >= 0 {
            // The order of first sending is the order of sequences, wrapping included.
            let order = |id: BatchId| queue.unfinished.iter().position(|&other| other == id);
            let own = order(id);
            at = queue
                .deque
                .iter()
                .take_while(|&&other| order(other).is_some_and(|other| Some(other) < own))
                .count();
        }
        queue.deque.insert(at, id);
    }

    /// A batch is completed: nothing of it is left but, if `frees`, its place in the slab.
    pub fn finish(&mut self, id: BatchId) {
        let place = self.batches.get(id).queue as usize;
        let queue = &mut self.queues[place];
        if queue.open == Some(id) {
            queue.open = None;
        }
        if let Some(at) = queue.unfinished.iter().position(|&other| other == id) {
            queue.unfinished.remove(at);
        }
        if matches!(
            self.batches.get(id).stage,
            Stage::Open | Stage::Closed | Stage::Retrying
        ) && let Some(at) = queue.deque.iter().position(|&other| other == id)
        {
            queue.deque.remove(at);
        }
    }

    /// Whether nothing is queued or in flight.
    pub fn is_empty(&self) -> bool {
        self.queues
            .iter()
            .all(|queue| queue.deque.is_empty() && queue.unfinished.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accumulator() -> Accumulator {
        let queue = Queue::new(PartitionIndex(0), TopicIndex(0), 0);
        Accumulator {
            queues: vec![queue],
            batches: Batches::default(),
        }
    }

    /// Payload of a record with a 1,024-byte value, no key and no headers.
    const VALUE_1024: u32 = 1 + 2 + 1024 + 1;

    #[test]
    fn a_default_batch_takes_15_records_of_1024_bytes() {
        let mut accumulator = accumulator();
        accumulator.open_batch(0, 16_384, VALUE_1024, SimTime::ZERO);
        while accumulator
            .try_append(0, VALUE_1024, SimTime::ZERO)
            .is_some()
        {}
        let batch = accumulator.batches.get(0);
        assert_eq!((batch.records, batch.written), (15, 15_556));
        assert_eq!(batch.stage, Stage::Closed);
    }

    #[test]
    fn two_failed_batches_come_back_reversed_without_idempotence() {
        let mut accumulator = accumulator();
        accumulator.open_batch(0, 100, 10, SimTime::ZERO);
        accumulator.queues[0].open = None;
        accumulator.open_batch(0, 100, 10, SimTime::ZERO);
        let first = accumulator.drain_head(0, SimTime::ZERO).unwrap();
        let second = accumulator.drain_head(0, SimTime::ZERO).unwrap();
        accumulator.reenqueue(first, 0, 0);
        accumulator.reenqueue(second, 0, 0);
        assert_eq!(accumulator.queues[0].deque, [second, first]);
    }

    #[test]
    fn with_idempotence_they_come_back_in_order_of_their_sequences() {
        let mut accumulator = accumulator();
        for sequence in 0..2 {
            accumulator.queues[0].open = None;
            accumulator.open_batch(0, 100, 10, SimTime::ZERO);
            let id = accumulator.drain_head(0, SimTime::ZERO).unwrap();
            accumulator.batches.get_mut(id).base_sequence = sequence;
        }
        accumulator.reenqueue(1, 0, 0);
        accumulator.reenqueue(0, 0, 0);
        assert_eq!(accumulator.queues[0].deque, [0, 1]);
    }
}
