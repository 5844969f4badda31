//! One `ProducerBatch`, and the slab that holds all of a client's batches.

use crate::kafka::size::BATCH_OVERHEAD;
use crate::sim::time::SimTime;

/// A batch's place in the slab.
pub type BatchId = u32;

/// A batch from its first record to its completion. It is long out of the processor's cache when
/// its response comes, so what its completion reads is one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Batch {
    /// When its first record was appended.
    pub created: SimTime,
    /// When the sender last took it.
    pub drained: SimTime,
    /// Producer id and epoch that the sequence belongs to.
    pub producer_id: i64,
    /// See there.
    pub epoch: i16,
    /// How far it is.
    pub stage: Stage,
    /// How it came to be.
    pub origin: Origin,
    /// Sequence of its first record; -1 while it has none.
    pub base_sequence: i32,
    /// Its partition, by place in the accumulator.
    pub queue: u32,
    /// Bytes allocated for it: `max(batch.size, estimate of its first record)`.
    pub limit: u32,
    /// Header and exact record bytes before compression, as far as settled (see
    /// `Accumulator::settle`).
    pub plain: u32,
    /// The same as they are sent: with compression an estimate until the batch is first sent, then
    /// what it came to.
    pub written: u32,
    /// Records, as far as settled.
    pub records: u32,
    /// How often it was re-queued.
    pub attempts: u32,
    /// Epoch of the leader that it was last sent to.
    pub leader_epoch: u32,
    /// Ordinal of its first record in this partition.
    pub first_ordinal: u64,
    /// When it was created or last re-queued, on the client's clock.
    pub last_attempt_ms: u64,
    /// Grows with every batch of this client: names a batch for good, where a [`BatchId`] is used
    /// again.
    pub serial: u64,
    /// Payload of its largest record, as far as settled.
    pub payload_max: u32,
    /// Whether a retry waits at all.
    pub leader: LeaderOfRetry,
}

const _: () = assert!(
    std::mem::offset_of!(Batch, first_ordinal) == 64,
    "one cache line"
);

/// How a batch came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Filled record by record, in memory of the pool.
    Appended,
    /// A part of a batch that was too large, in memory outside the pool.
    Split,
}

/// Whether a batch that is to be sent again goes to the leader that it came back from (KIP-951).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaderOfRetry {
    /// It does, and waits for `retry.backoff.ms`.
    Same,
    /// There is a newer one: it goes at once.
    Newer,
}

/// How far a batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Not in use.
    Free,
    /// Takes records.
    Open,
    /// Takes no more, and waits to be sent for the first time.
    Closed,
    /// On the wire or at the broker.
    InFlight,
    /// Waits to be sent again.
    Retrying,
    /// Reported as failed, but still on the wire: it keeps its memory until the response or the
    /// end of the connection (KAFKA-19012).
    ExpiredInFlight,
}

impl Batch {
    /// Age on the client's clock.
    pub fn age_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.created_ms())
    }

    /// When its first record was appended, on the client's clock.
    pub fn created_ms(&self) -> u64 {
        self.created.as_millis()
    }

    /// Compressed by uncompressed bytes of its records (`MemoryRecordsBuilder.compressionRatio`).
    pub fn compression_ratio(&self) -> f32 {
        let records = |bytes: u32| bytes.saturating_sub(BATCH_OVERHEAD) as f32;
        records(self.written) / records(self.plain).max(1.0)
    }
}

/// All batches of a client.
#[derive(Clone, Debug, Default)]
pub struct Batches {
    slots: Vec<Batch>,
    free: Vec<BatchId>,
    opened: u64,
    splits: u64,
}

impl Batches {
    /// A new open batch without records.
    pub fn open(&mut self, queue: u32, limit: u32, first_ordinal: u64, now: SimTime) -> BatchId {
        self.opened += 1;
        let batch = Batch {
            serial: self.opened,
            queue,
            stage: Stage::Open,
            limit,
            plain: BATCH_OVERHEAD,
            written: BATCH_OVERHEAD,
            records: 0,
            payload_max: 0,
            first_ordinal,
            created: now,
            last_attempt_ms: now.as_millis(),
            leader: LeaderOfRetry::Same,
            leader_epoch: 0,
            attempts: 0,
            drained: now,
            base_sequence: -1,
            producer_id: -1,
            epoch: -1,
            origin: Origin::Appended,
        };
        self.place(batch)
    }

    /// A part of a batch that was too large. It keeps the name and the age of the whole: who waits
    /// for that waits for all its parts.
    pub fn open_part(&mut self, part: Batch) -> BatchId {
        self.splits += 1;
        self.place(part)
    }

    fn place(&mut self, batch: Batch) -> BatchId {
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = batch;
            id
        } else {
            self.slots.push(batch);
            self.slots.len() as BatchId - 1
        }
    }

    /// A batch is done with.
    pub fn close(&mut self, id: BatchId) {
        self.slots[id as usize].stage = Stage::Free;
        self.free.push(id);
    }

    /// A batch.
    #[inline]
    pub fn get(&self, id: BatchId) -> &Batch {
        &self.slots[id as usize]
    }

    /// A batch, to change it.
    #[inline]
    pub fn get_mut(&mut self, id: BatchId) -> &mut Batch {
        &mut self.slots[id as usize]
    }

    /// All batches in use, in no meaningful order.
    pub fn iter(&self) -> impl Iterator<Item = &Batch> {
        self.in_use().map(|(_, batch)| batch)
    }

    /// All batches in use with their places.
    pub fn in_use(&self) -> impl Iterator<Item = (BatchId, &Batch)> {
        (0..)
            .zip(&self.slots)
            .filter(|(_, batch)| batch.stage != Stage::Free)
    }

    /// Whether the batch with this serial, or a part of it, is still to be completed.
    pub fn is_incomplete(&self, id: BatchId, serial: u64) -> bool {
        let is_it = |batch: &Batch| {
            batch.serial == serial && !matches!(batch.stage, Stage::Free | Stage::ExpiredInFlight)
        };
        is_it(self.get(id)) || (self.splits > 0 && self.iter().any(is_it))
    }

    /// The serial of the newest batch.
    pub fn newest(&self) -> u64 {
        self.opened
    }

    /// Whether every batch up to and including this serial is complete.
    pub fn are_complete_up_to(&self, serial: u64) -> bool {
        self.iter()
            .all(|batch| batch.serial > serial || batch.stage == Stage::ExpiredInFlight)
    }
}
