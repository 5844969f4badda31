//! `RecordAccumulator`: a deque of batches for each partition, and when its head may be sent.
//!
//! Source: `RecordAccumulator.append`, `batchReady`, `drainBatchesForOneNode`, `reenqueue`.

use std::collections::VecDeque;

use crate::kafka::size::{FillingBatch, RecordSize};
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex};
use crate::sim::producer::batch::{BatchId, Batches, LeaderOfRetry, Origin, Stage};
use crate::sim::producer::compressor::Compressor;
use crate::sim::producer::retry_backoff::RetryBackoff;
use crate::sim::time::SimTime;

/// All partitions' deques and their batches.
#[derive(Clone, Debug, Default)]
pub struct Accumulator {
    /// One for each partition that the client has metadata for.
    pub queues: Vec<Queue>,
    /// What a look at each queue reads.
    fronts: Vec<Front>,
    /// How large the open batch of each queue is by now.
    tails: Vec<Tail>,
    /// The batches in them and in flight.
    pub batches: Batches,
    /// What becomes of a batch's bytes when it is closed.
    pub compressor: Compressor,
}

/// The tail batch of a queue while it takes records: all that an append touches, in half a cache
/// line. What it grew to enters the batch itself when the batch is closed or looked at
/// ([`Accumulator::settle`]).
#[derive(Clone, Copy, Debug)]
struct Tail {
    /// The open batch, or [`NO_BATCH`].
    batch: BatchId,
    size: FillingBatch,
    payload_max: u32,
    created_ms: u64,
}

/// No batch of the queue takes records.
const NO_BATCH: BatchId = BatchId::MAX;

impl Tail {
    const NONE: Self = Self {
        batch: NO_BATCH,
        size: FillingBatch::NONE,
        payload_max: 0,
        created_ms: 0,
    };
}

/// What decides whether a queue may be sent from. The sender looks at all of them whenever it
/// wakes, so they stand close together.
#[derive(Clone, Copy, Debug)]
pub struct Front {
    /// The first batch in its deque, or [`NO_BATCH`].
    head: BatchId,
    /// Who leads the partition, as the client knows it.
    pub leader: Option<BrokerIndex>,
    /// With `max.in.flight.requests.per.connection` = 1: a request is on its way.
    pub is_muted: bool,
}

impl Front {
    const NEW: Self = Self {
        head: NO_BATCH,
        leader: None,
        is_muted: false,
    };

    /// The first batch in its deque.
    pub fn head(&self) -> Option<BatchId> {
        (self.head != NO_BATCH).then_some(self.head)
    }
}

/// One partition as its producer sees it: a cache line of what waits to be sent, and one of what
/// was.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Queue {
    /// Batches to be sent, head first.
    pub deque: VecDeque<BatchId>,
    /// Ordinal of the next batch's first record.
    pub next_ordinal: u64,
    /// Which partition.
    pub partition: PartitionIndex,
    /// Its number in the topic.
    pub number: u32,
    /// The leader's epoch.
    pub leader_epoch: u32,
    /// Its topic.
    pub topic: TopicIndex,
    /// Whether anything was ever produced to it: the deque exists.
    pub is_used: bool,
    /// Batches sent at least once and not completed, in order of their sequences.
    pub unfinished: VecDeque<BatchId>,
    /// Idempotence: what the next batch gets.
    pub sequences: Sequences,
}

const _: () = assert!(size_of::<Queue>() == 128, "two cache lines");

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
    pub fn new(partition: PartitionIndex) -> Self {
        let name = partition.name();
        Self {
            partition,
            topic: name.topic,
            number: name.number,
            deque: VecDeque::new(),
            unfinished: VecDeque::new(),
            leader_epoch: 0,
            is_used: false,
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
    /// When it has lingered, at this moment on the client's clock.
    Lingers(u64),
    /// It came back, and waits until this moment on the client's clock, by this draw.
    HeldBack(u64),
}

/// What makes every partition sendable regardless of linger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Nothing: batches fill or linger.
    None,
    /// A thread waits for memory, a flush is under way, or the client closes.
    SendAll,
}

/// What a head batch has to wait for.
pub struct Patience<'a> {
    /// `linger.ms`.
    pub linger_ms: u64,
    /// Whether anything overrides it.
    pub urgency: Urgency,
    /// `retry.backoff.ms`, for a batch that came back.
    pub backoff: RetryBackoff<'a>,
}

impl Accumulator {
    /// Without partitions yet; what is sent is compressed like this.
    pub fn new(compressor: Compressor) -> Self {
        Self {
            compressor,
            ..Self::default()
        }
    }

    /// Appends to the open batch if there is one with room. The batch is not closed if there is
    /// not: [`Accumulator::try_append`] does that.
    #[expect(
        clippy::inline_always,
        reason = "the load loop is this, once for each record"
    )]
    #[inline(always)]
    pub fn append_to_open(&mut self, queue: u32, record: RecordSize, now: SimTime) -> Room {
        let tail = &mut self.tails[queue as usize];
        let delta = now.as_millis().wrapping_sub(tail.created_ms);
        if !tail.size.append(delta as i64, record) {
            return Room::None;
        }
        tail.payload_max = tail.payload_max.max(record.payload);
        if tail.size.is_full() {
            Room::Filled
        } else {
            Room::Taken
        }
    }

    /// Appends to the open batch; says by how much it grew, as estimated, or nothing if there was
    /// no room. Then the batch is closed.
    pub fn try_append(&mut self, queue: u32, payload: u32, now: SimTime) -> Option<u32> {
        let before = self.tails[queue as usize].size.written();
        if self.append_to_open(queue, RecordSize::new(payload), now) == Room::None {
            self.close_open(queue);
            return None;
        }
        Some(self.tails[queue as usize].size.written() - before)
    }

    /// The open batch, if there is one, takes no more records.
    pub fn close_open(&mut self, queue: u32) {
        self.settle(queue);
        let tail = std::mem::replace(&mut self.tails[queue as usize], Tail::NONE);
        if tail.batch != NO_BATCH {
            self.batches.get_mut(tail.batch).stage = Stage::Closed;
        }
    }

    /// Writes into a queue's open batch what it grew to.
    pub fn settle(&mut self, queue: u32) {
        let tail = self.tails[queue as usize];
        if tail.batch != NO_BATCH {
            let batch = self.batches.get_mut(tail.batch);
            batch.plain = tail.size.bytes();
            batch.written = tail.size.written();
            batch.records = tail.size.records();
            batch.payload_max = tail.payload_max;
            let next_ordinal = batch.first_ordinal + u64::from(tail.size.records());
            self.queues[queue as usize].next_ordinal = next_ordinal;
        }
    }

    /// Writes into every open batch what it grew to.
    pub fn settle_all(&mut self) {
        (0..self.queues.len() as u32).for_each(|queue| self.settle(queue));
    }

    /// Records and bytes of a batch, whether it is open or not; the bytes of one that was never
    /// sent are estimated where it will be compressed.
    pub fn size_of(&self, id: BatchId) -> (u32, u32) {
        let batch = self.batches.get(id);
        let tail = &self.tails[batch.queue as usize];
        if tail.batch == id {
            (tail.size.records(), tail.size.written())
        } else {
            (batch.records, batch.written)
        }
    }

    /// A partition that the client learnt of.
    pub fn add_queue(&mut self, queue: Queue) {
        self.queues.push(queue);
        self.fronts.push(Front::NEW);
        self.tails.push(Tail::NONE);
    }

    /// What a look at each queue reads, in their order.
    pub fn fronts(&self) -> &[Front] {
        &self.fronts
    }

    /// What a look at a queue reads.
    pub fn front(&self, queue: u32) -> &Front {
        &self.fronts[queue as usize]
    }

    /// The same, to change the leader or whether it is muted.
    pub fn front_mut(&mut self, queue: u32) -> &mut Front {
        &mut self.fronts[queue as usize]
    }

    /// After the head of a deque may have changed.
    fn note_head(&mut self, queue: u32) {
        let head = self.queues[queue as usize].deque.front();
        self.fronts[queue as usize].head = head.copied().unwrap_or(NO_BATCH);
    }

    /// Opens a batch with `limit` bytes and its first record, which always fits; gives its bytes,
    /// as estimated. The batch before must be closed.
    pub fn open_batch(&mut self, queue: u32, limit: u32, payload: u32, now: SimTime) -> u32 {
        let place = queue;
        let queue = &mut self.queues[queue as usize];
        let id = self.batches.open(place, limit, queue.next_ordinal, now);
        let estimate = self.compressor.estimate(queue.topic);
        let size = FillingBatch::with_first(limit, payload).estimated(estimate);
        self.tails[place as usize] = Tail {
            batch: id,
            size,
            payload_max: payload,
            created_ms: now.as_millis(),
        };
        queue.is_used = true;
        queue.deque.push_back(id);
        self.note_head(place);
        size.written()
    }

    /// Whether the deque is empty or its last batch takes no more records.
    pub fn is_last_batch_full(&self, queue: u32) -> bool {
        self.tails[queue as usize].size.is_full()
    }

    /// Whether a queue's head may be sent (`batchReady`).
    pub fn readiness(
        &self,
        queue: u32,
        head: BatchId,
        patience: &mut Patience<'_>,
        now_ms: u64,
    ) -> Readiness {
        let Patience {
            linger_ms,
            urgency,
            backoff,
        } = patience;
        let tail = &self.tails[queue as usize];
        if tail.batch == head {
            // An open batch is the last of its queue and was never sent.
            let waited = now_ms.saturating_sub(tail.created_ms);
            return if tail.size.is_full() || waited >= *linger_ms || *urgency == Urgency::SendAll {
                Readiness::Ready
            } else {
                Readiness::Lingers(tail.created_ms.saturating_add(*linger_ms))
            };
        }
        let head = self.batches.get(head);
        if backoff.holds_back(head, now_ms) {
            Readiness::HeldBack(backoff.over_at_ms(head))
        } else {
            Readiness::Ready
        }
    }

    /// Takes a queue's head for sending. A batch that was never sent is compressed now.
    pub fn drain_head(&mut self, queue: u32, now: SimTime) -> Option<BatchId> {
        let id = self.front(queue).head()?;
        if self.tails[queue as usize].batch == id {
            self.close_open(queue);
        }
        self.queues[queue as usize].deque.pop_front();
        self.note_head(queue);
        let queue = &mut self.queues[queue as usize];
        let batch = self.batches.get_mut(id);
        // A part of a split batch has its sequence, and so its place there, from the start.
        let is_new = batch.attempts == 0
            && (batch.origin == Origin::Appended || !queue.unfinished.contains(&id));
        if is_new {
            queue.unfinished.push_back(id);
            batch.written = self.compressor.close(queue.topic, batch.plain);
        }
        batch.stage = Stage::InFlight;
        batch.drained = now;
        batch.leader_epoch = queue.leader_epoch;
        Some(id)
    }

    /// Puts a batch back to be sent again: in order of sequences with idempotence, else in front.
    pub fn reenqueue(&mut self, id: BatchId, now_ms: u64) {
        let batch = self.batches.get_mut(id);
        batch.attempts += 1;
        batch.last_attempt_ms = now_ms;
        batch.leader = LeaderOfRetry::Same;
        batch.stage = Stage::Retrying;
        self.enqueue_before_new(id);
    }

    /// Puts a batch before all that were never sent: in order of sequences with idempotence
    /// (`insertInSequenceOrder`), else in front.
    pub fn enqueue_before_new(&mut self, id: BatchId) {
        let batch = self.batches.get(id);
        let (sequence, place) = (batch.base_sequence, batch.queue);
        let queue = &mut self.queues[place as usize];
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
        self.note_head(place);
    }

    /// A batch is completed: nothing of it is left but, if `frees`, its place in the slab.
    pub fn finish(&mut self, id: BatchId) {
        let place = self.batches.get(id).queue;
        if self.tails[place as usize].batch == id {
            self.close_open(place);
        }
        let queue = &mut self.queues[place as usize];
        if let Some(at) = queue.unfinished.iter().position(|&other| other == id) {
            queue.unfinished.remove(at);
        }
        if matches!(
            self.batches.get(id).stage,
            Stage::Open | Stage::Closed | Stage::Retrying
        ) && let Some(at) = queue.deque.iter().position(|&other| other == id)
        {
            queue.deque.remove(at);
            self.note_head(place);
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
        let mut accumulator = Accumulator::default();
        accumulator.add_queue(Queue::new(PartitionIndex::of_first_topic(0)));
        accumulator
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
        accumulator.close_open(0);
        accumulator.open_batch(0, 100, 10, SimTime::ZERO);
        let first = accumulator.drain_head(0, SimTime::ZERO).unwrap();
        let second = accumulator.drain_head(0, SimTime::ZERO).unwrap();
        accumulator.reenqueue(first, 0);
        accumulator.reenqueue(second, 0);
        assert_eq!(accumulator.queues[0].deque, [second, first]);
    }

    #[test]
    fn with_idempotence_they_come_back_in_order_of_their_sequences() {
        let mut accumulator = accumulator();
        for sequence in 0..2 {
            accumulator.close_open(0);
            accumulator.open_batch(0, 100, 10, SimTime::ZERO);
            let id = accumulator.drain_head(0, SimTime::ZERO).unwrap();
            accumulator.batches.get_mut(id).base_sequence = sequence;
        }
        accumulator.reenqueue(1, 0);
        accumulator.reenqueue(0, 0);
        assert_eq!(accumulator.queues[0].deque, [0, 1]);
    }
}
