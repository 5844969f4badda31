//! What a leader remembers of producers, and how it is made of a log.
//!
//! Simplification: a log does not say when its batches were appended; a leader that makes its
//! memory of one takes the moment of each producer's last batch from before.

use crate::kafka::settings::CompressionType;
use crate::sim::history::{Content, LogBatch, Stamp};
use crate::sim::ids::{PartitionIndex, ProducerIndex, TopicPartition};
use crate::sim::request::Part;
use crate::sim::time::SimTime;
use crate::sim::transactions::producer_states::Marker;

use super::{Partition, ProducerState};

impl Partition {
    /// What a leader knows of producers is made of its log: of what the last batches in it say, and
    /// of what it remembered of batches before those.
    pub(super) fn recall_producers(&mut self) {
        let (oldest, end_offset) = (self.log.oldest_remembered(), self.log.end_offset());
        let mut producers = std::mem::take(&mut self.producers);
        let last_at = |state: &Option<ProducerState>| {
            let state = state.as_ref();
            state.map_or(SimTime::ZERO, ProducerState::last_write)
        };
        let last: Vec<_> = producers.iter().map(last_at).collect();
        for slot in &mut producers {
            if let Some(state) = slot {
                state.forget_from(oldest.min(end_offset));
            }
            if slot.as_ref().is_some_and(ProducerState::is_empty) {
                *slot = None;
            }
        }
        let is_remembered =
            |stamp: Stamp| stamp.base_sequence >= 0 && stamp.content == Content::Plain;
        for batch in self.log.batches().filter(|b| is_remembered(b.stamp)) {
            let part = part_of(self, batch);
            let last_at = last.get(batch.producer.index()).copied();
            let place = (batch.base_offset, last_at.unwrap_or(SimTime::ZERO));
            remember(&mut producers, batch.producer, &part, place);
        }
        self.producers = producers;
    }

    /// What is known of transactions goes as far as the log did up to `fork`, and on with what came
    /// back behind it.
    pub(super) fn recall_transactions(&mut self, fork: u64, back: &[LogBatch]) {
        let is_transactional = |batch: &LogBatch| batch.stamp.content != Content::Plain;
        if self.transactions.is_none() && !back.iter().any(is_transactional) {
            return;
        }
        let mut transactions = self.transactions.take().unwrap_or_default();
        let last_writes = transactions.last_writes();
        transactions.truncate(fork);
        for batch in back {
            let (offset, stamp) = (batch.base_offset, batch.stamp);
            let at = last_writes.get(&stamp.producer_id).copied();
            let at = at.unwrap_or(SimTime::ZERO);
            match stamp.content {
                Content::Plain => {}
                Content::Transactional => {
                    transactions.append(&part_of(self, batch), (offset, at));
                }
                Content::Marker(result, coordinator_epoch) => transactions.recall_marker(Marker {
                    offset,
                    producer: (stamp.producer_id, stamp.epoch),
                    result,
                    coordinator_epoch,
                    at,
                }),
            }
        }
        self.transactions = Some(transactions);
    }
}

/// The batch that a leader makes of a part of a request; the log gives it its offset
/// and epoch.
pub(in crate::sim) fn batch_of(producer: ProducerIndex, part: &Part, content: Content) -> LogBatch {
    LogBatch {
        base_offset: 0,
        records: part.records,
        bytes: part.stored_bytes,
        producer,
        first_ordinal: part.first_ordinal,
        leader_epoch: 0,
        stamp: Stamp {
            producer_id: part.producer_id,
            epoch: part.epoch,
            base_sequence: part.base_sequence,
            content,
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
    let slot = &mut producers[producer.index()];
    let state = match slot {
        Some(state) if state.producer_id() == part.producer_id => state,
        slot => slot.insert(ProducerState::new((part.producer_id, part.epoch))),
    };
    state.append(part, base_offset);
    state.note_write(now);
}
