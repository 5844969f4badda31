//! Batches on their way: one in a request, in a slab that reuses its buffers.

use crate::sim::producer::rdkafka::toppar::{Message, Persisted};
use crate::sim::time::SimTime;

/// A batch's place in the slab.
pub type BatchId = u32;

/// Room for so many messages is kept by a free place at most.
const KEPT_MESSAGES_MAX: usize = 1_024;

/// One batch.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The place of its partition.
    pub toppar: u32,
    /// Its messages, in order.
    pub messages: Vec<Message>,
    /// Stretches of messages with numbers in a row and one past. More than one only where messages
    /// that came back are sent together with others.
    pub runs: Vec<Run>,
    /// When it was put into a request.
    pub built: SimTime,
    /// Producer id and epoch; (-1, -1) without idempotence.
    pub producer_id: (i64, i16),
    /// Sequence of the first message, -1 without idempotence.
    pub base_sequence: i32,
}

/// Messages in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of the first.
    pub first: u64,
    /// How many.
    pub count: u32,
    /// How often they were tried again.
    pub retries: u32,
    /// Whether they may stand in the log already.
    pub persisted: Persisted,
    /// Bytes on the wire, the first run with the batch's header; a run's share of them where the
    /// batch is compressed.
    pub bytes: u32,
    /// The same before compression.
    pub plain_bytes: u32,
}

impl Batch {
    /// Adds a message to the last run, or begins another one.
    pub fn push(&mut self, ordinal: u64, message: Message, past: (u32, Persisted), bytes: u32) {
        self.messages.push(message);
        if let Some(run) = self.runs.last_mut()
            && run.first + u64::from(run.count) == ordinal
            && (run.retries, run.persisted) == past
        {
            run.count += 1;
            run.bytes += bytes;
            run.plain_bytes += bytes;
            return;
        }
        self.runs.push(Run {
            first: ordinal,
            count: 1,
            retries: past.0,
            persisted: past.1,
            bytes,
            plain_bytes: bytes,
        });
    }

    /// The batch, header included, is sent with this many bytes: each run has its share.
    pub fn shrink_to(&mut self, bytes: u32) {
        let plain: u64 = self.runs.iter().map(|run| u64::from(run.plain_bytes)).sum();
        let mut left = bytes;
        for run in self.runs.iter_mut().rev() {
            let share = u64::from(run.plain_bytes) * u64::from(bytes) / plain.max(1);
            run.bytes = (share as u32).min(left);
            left -= run.bytes;
        }
        if let Some(first) = self.runs.first_mut() {
            first.bytes += left;
        }
    }

    /// Its bytes on the wire, header included.
    pub fn bytes(&self) -> u32 {
        self.runs.iter().map(|run| run.bytes).sum()
    }

    /// The runs, each with its messages.
    pub fn parts(&self) -> impl Iterator<Item = (&Run, &[Message])> {
        let mut start = 0;
        self.runs.iter().map(move |run| {
            let messages = &self.messages[start..start + run.count as usize];
            start += run.count as usize;
            (run, messages)
        })
    }

    /// How many messages.
    pub fn len(&self) -> u64 {
        self.messages.len() as u64
    }
}

/// All batches under way.
#[derive(Clone, Debug, Default)]
pub struct Batches {
    list: Vec<Batch>,
    free: Vec<BatchId>,
}

impl Batches {
    /// An empty batch to fill, to be put back with [`Batches::put`].
    pub fn blank(&mut self) -> (BatchId, Batch) {
        let id = self.free.pop().unwrap_or_else(|| {
            self.list.push(Batch::default());
            self.list.len() as BatchId - 1
        });
        (id, self.take(id))
    }

    /// Puts a filled batch in its place.
    pub fn put(&mut self, id: BatchId, batch: Batch) {
        self.list[id as usize] = batch;
    }

    /// Takes a batch out; its place is still taken.
    pub fn take(&mut self, id: BatchId) -> Batch {
        std::mem::take(&mut self.list[id as usize])
    }

    /// A batch that is done gives its place and its buffers back.
    pub fn close(&mut self, id: BatchId, mut batch: Batch) {
        batch.messages.clear();
        batch.messages.shrink_to(KEPT_MESSAGES_MAX);
        batch.runs.clear();
        self.put(id, batch);
        self.free.push(id);
    }

    /// Batches that are under way.
    pub fn in_use(&self) -> impl Iterator<Item = &Batch> {
        self.list.iter().filter(|batch| !batch.messages.is_empty())
    }
}
