//! What a leader remembers of producers, and how it is made of a log.
//!
//! Simplification: a log does not say when its batches were appended; a leader that makes its
//! memory of one takes the moment of each producer's last batch from before.

use crate::kafka::settings::CompressionType;
use crate::sim::history::{LogBatch, Stamp};
use crate::sim::ids::{PartitionIndex, ProducerIndex, TopicPartition};
use crate::sim::request::Part;
use crate::sim::time::SimTime;

use super::{BATCHES_RETAINED, Partition, ProducerState, Remembered, last_sequence};

impl Partition {
    /// What a leader knows of producers is made of its log: of what the last batches in it say, and
    /// of what it remembered of batches before those.
    pub(super) fn recall_producers(&mut self) {
        let (oldest, end_offset) = (self.log.oldest_remembered(), self.log.end_offset());
        let mut producers = std::mem::take(&mut self.producers);
        let last_at = |state: &Option<ProducerState>| {
            let state = state.as_ref();
            state.map_or(SimTime::ZERO, |state| state.last_at)
        };
        let last: Vec<_> = producers.iter().map(last_at).collect();
        for slot in &mut producers {
            if let Some(state) = slot {
                state.forget_from(oldest.min(end_offset));
            }
            if slot.as_ref().is_some_and(|state| state.count == 0) {
                *slot = None;
            }
        }
        for batch in self.log.batches().filter(|b| b.stamp.base_sequence >= 0) {
            let part = part_of(self, batch);
            let last_at = last.get(batch.producer.index()).copied();
            let place = (batch.base_offset, last_at.unwrap_or(SimTime::ZERO));
            remember(&mut producers, batch.producer, &part, place);
        }
        self.producers = producers;
    }
}

/// The batch that a leader makes of a part of a request; the log gives it its offset.
pub(super) fn batch_of(producer: ProducerIndex, part: &Part, leader_epoch: u32) -> LogBatch {
    LogBatch {
        base_offset: 0,
        records: part.records,
        bytes: part.stored_bytes,
        producer,
        first_ordinal: part.first_ordinal,
        leader_epoch,
        stamp: Stamp {
            producer_id: part.producer_id,
            epoch: part.epoch,
            base_sequence: part.base_sequence,
        },
    }
}

/// The part of a request that a batch came from.
fn part_of(partition: &Partition, batch: &LogBatch) -> Part {
    let name = TopicPartition {
        topic: partition.topic,
        number: partition.number,
    };
    Part {
        partition: PartitionIndex::new(0, name),
        batch: 0,
        producer_id: batch.stamp.producer_id,
        epoch: batch.stamp.epoch,
        base_sequence: batch.stamp.base_sequence,
        records: batch.records,
        bytes: batch.bytes,
        plain_bytes: batch.bytes,
        stored_bytes: batch.bytes,
        codec: CompressionType::None,
        first_ordinal: batch.first_ordinal,
        error: None,
        current_leader: None,
        base_offset: Some(batch.base_offset),
        required_offset: 0,
    }
}

/// A leader remembers a batch that it appended.
pub(super) fn remember(
    producers: &mut Vec<Option<ProducerState>>,
    producer: ProducerIndex,
    part: &Part,
    (base_offset, now): (u64, SimTime),
) {
    if producers.len() <= producer.index() {
        producers.resize(producer.index() + 1, None);
    }
    let remembered = Remembered {
        base_sequence: part.base_sequence,
        last_sequence: last_sequence(part),
        base_offset,
    };
    match &mut producers[producer.index()] {
        Some(state) if state.producer_id == part.producer_id => {
            if state.epoch != part.epoch {
                (state.epoch, state.count) = (part.epoch, 0);
            }
            state.last_at = now;
            state.push(remembered);
        }
        slot => {
            let mut state = ProducerState {
                producer_id: part.producer_id,
                epoch: part.epoch,
                last_at: now,
                batches: [Remembered::default(); BATCHES_RETAINED],
                count: 0,
            };
            state.push(remembered);
            *slot = Some(state);
        }
    }
}
