//! How much memory a clone of the engine takes, roughly: it decides how many earlier states of a
//! run are kept, and nothing else.
//!
//! Counted is what a clone copies and what grows with the run: remembered batches, marks of long
//! logs, what clients buffer, events and requests under way. The rest is a sum per actor. Chunks
//! that clones share count nothing.

use crate::sim::history::LogBatch;
use crate::sim::ids::ProducerIndex;
use crate::sim::simulation::Simulation;

/// A producer or consumer without what it buffers, in bytes.
const CLIENT_BYTES: usize = 24 << 10;
/// A broker with its connections, in bytes.
const BROKER_BYTES: usize = 8 << 10;
/// A partition without its log, in bytes.
const PARTITION_BYTES: usize = 1 << 10;
/// A batch in an accumulator, in bytes.
const BATCH_BYTES: usize = 160;
/// A message in a queue of librdkafka, in bytes.
const MESSAGE_BYTES: usize = 24;
/// An event, or a request under way, in bytes.
const UNDER_WAY_BYTES: usize = 256;

impl Simulation {
    /// Bytes that a clone of this state does not share with it, within a factor of two or so.
    pub fn bytes_copied(&self) -> usize {
        let partitions = self.cluster.partitions();
        let logs: usize = partitions
            .iter()
            .map(|partition| PARTITION_BYTES + partition.log.bytes_copied())
            .sum();
        let clients = self.producers.len() + self.consumers.len();
        let buffered: usize = (0..self.producers.len() as u16)
            .map(|place| {
                let view = self.producer(ProducerIndex(place));
                let messages = view.queue.map_or(0, |queue| queue.messages as usize);
                view.buffer.batches as usize * BATCH_BYTES + messages * MESSAGE_BYTES
            })
            .sum();
        logs + buffered
            + clients * CLIENT_BYTES
            + self.config.brokers.len() * BROKER_BYTES
            + self.queue.len() * UNDER_WAY_BYTES
    }
}

/// Bytes of so many remembered batches.
pub(super) const fn of_batches(batches: usize) -> usize {
    batches * size_of::<LogBatch>()
}
