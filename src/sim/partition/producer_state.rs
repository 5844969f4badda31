//! What a partition's leader remembers of one producer, and says to its next batch.
//!
//! Source: `ProducerStateEntry`, `ProducerAppendInfo`.

use crate::kafka::error::ErrorCode;
use crate::sim::request::Part;
use crate::sim::time::SimTime;

/// Batches that a broker remembers of each producer (`ProducerStateEntry.NUM_BATCHES_TO_RETAIN`).
const BATCHES_RETAINED: usize = 5;

/// What the leader remembers of one producer (`ProducerStateEntry`).
#[derive(Clone, Debug)]
pub struct ProducerState {
    producer_id: i64,
    /// When its last batch was appended.
    last_at: SimTime,
    epoch: i16,
    /// How many batches are remembered, and the place of the last of them in the ring.
    count: u8,
    last: u8,
    batches: [Remembered; BATCHES_RETAINED],
}

#[derive(Clone, Copy, Debug, Default)]
struct Remembered {
    base_sequence: i32,
    last_sequence: i32,
    base_offset: u64,
}

/// What a leader says to a batch, by the rules of `ProducerAppendInfo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// New: append.
    Append,
    /// Seen before, at this offset: success without appending.
    Duplicate(u64),
    /// Refused.
    Refuse(ErrorCode),
}

impl ProducerState {
    /// A producer without batches.
    pub fn new((producer_id, epoch): (i64, i16)) -> Self {
        Self {
            producer_id,
            last_at: SimTime::ZERO,
            epoch,
            count: 0,
            last: 0,
            batches: [Remembered::default(); BATCHES_RETAINED],
        }
    }

    /// Its id.
    pub fn producer_id(&self) -> i64 {
        self.producer_id
    }

    /// When its last batch was appended.
    pub fn last_write(&self) -> SimTime {
        self.last_at
    }

    /// A batch was appended now.
    pub fn note_write(&mut self, now: SimTime) {
        self.last_at = now;
    }

    /// Its epoch.
    pub fn epoch(&self) -> i16 {
        self.epoch
    }

    /// Sequence of its last record, if a batch of this epoch is remembered.
    pub fn last_sequence(&self) -> Option<i32> {
        self.last().map(|batch| batch.last_sequence)
    }

    /// Whether no batch of this epoch is remembered.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Another epoch begins, unless it is the same: batches of the earlier one are forgotten.
    pub fn move_to(&mut self, epoch: i16) {
        if self.epoch != epoch {
            (self.epoch, self.count) = (epoch, 0);
        }
    }

    /// A batch was appended.
    pub fn append(&mut self, part: &Part, base_offset: u64) {
        self.move_to(part.epoch);
        self.push(Remembered {
            base_sequence: part.base_sequence,
            last_sequence: last_sequence(part),
            base_offset,
        });
    }

    /// The offset of this very batch, if it was appended before.
    pub fn duplicate(&self, part: &Part) -> Option<u64> {
        let last = last_sequence(part);
        let mut known = self.known();
        let seen = known
            .find(|batch| batch.base_sequence == part.base_sequence && batch.last_sequence == last);
        seen.filter(|_| part.epoch == self.epoch)
            .map(|seen| seen.base_offset)
    }

    /// What the leader says to a batch by its epoch and sequence.
    pub fn judge(&self, part: &Part) -> Verdict {
        let next = self
            .last()
            .map(|batch| next_sequence(batch.last_sequence, 1));
        if part.epoch == self.epoch && next == Some(part.base_sequence) {
            // Nearly every batch. None of the few before the last begins with that sequence.
            return Verdict::Append;
        }
        if let Some(base_offset) = self.duplicate(part) {
            return Verdict::Duplicate(base_offset);
        }
        if part.epoch < self.epoch {
            return Verdict::Refuse(ErrorCode::InvalidProducerEpoch);
        }
        if part.epoch > self.epoch {
            return if part.base_sequence == 0 {
                Verdict::Append
            } else {
                Verdict::Refuse(ErrorCode::OutOfOrderSequenceNumber)
            };
        }
        match next {
            Some(_) => Verdict::Refuse(ErrorCode::OutOfOrderSequenceNumber),
            None => Verdict::Append,
        }
    }

    /// The batches that are remembered, the last one first.
    fn known(&self) -> impl Iterator<Item = &Remembered> {
        let last = self.last as usize + BATCHES_RETAINED;
        (0..self.count as usize).map(move |back| &self.batches[(last - back) % BATCHES_RETAINED])
    }

    fn last(&self) -> Option<&Remembered> {
        (self.count > 0).then(|| &self.batches[self.last as usize])
    }

    fn push(&mut self, batch: Remembered) {
        self.last = (self.last + 1) % BATCHES_RETAINED as u8;
        self.batches[self.last as usize] = batch;
        self.count = (self.count + 1).min(BATCHES_RETAINED as u8);
    }

    /// Forgets batches that a truncated log does not hold any more.
    pub(super) fn forget_from(&mut self, end_offset: u64) {
        while self
            .last()
            .is_some_and(|last| last.base_offset >= end_offset)
        {
            self.count -= 1;
            self.last = (self.last + BATCHES_RETAINED as u8 - 1) % BATCHES_RETAINED as u8;
        }
    }
}

fn last_sequence(part: &Part) -> i32 {
    next_sequence(part.base_sequence, part.records as i32 - 1)
}

/// The sequence `by` records on; sequences wrap from 2147483647 to 0 (`DefaultRecordBatch`).
pub fn next_sequence(sequence: i32, by: i32) -> i32 {
    if sequence > i32::MAX - by {
        by - (i32::MAX - sequence) - 1
    } else {
        sequence + by
    }
}
