//! Splitting: a batch that its leader found too large becomes several smaller ones.
//!
//! Source: `Sender.completeBatch`, `RecordAccumulator.splitAndReenqueue`, `ProducerBatch.split`. It
//! is no retry: the parts count as never tried, go before everything else of their partition, keep
//! the age of the whole, carry its sequences on, and lie outside the pool, to which the memory of
//! the whole goes back at once. A batch that was filled to `batch.size` falls into one part, the
//! same batch again; only a part that is too large itself is halved.
//!
//! Simplification: a batch knows how many records it has, their bytes and the largest of them.
//! Where they are not all alike, the largest is taken to be the last and the others to be alike;
//! records are taken to be of one millisecond.

use crate::kafka::size::{
    BATCH_OVERHEAD, FillingBatch, RecordSize, record_bytes, upper_bound_estimate, varint_len,
};
use crate::sim::context::Context;
use crate::sim::fact::Fact;
use crate::sim::partition::next_sequence;
use crate::sim::producer::accumulator::Accumulator;
use crate::sim::producer::batch::{Batch, BatchId, LeaderOfRetry, Origin, Stage};
use crate::sim::producer::client::Client;

impl Client {
    /// A batch of several records came back as too large: its parts take its place.
    pub(super) fn split(&mut self, ctx: &mut Context<'_>, id: BatchId) {
        let now_ms = ctx.now.as_millis();
        let batch = self.accumulator.batches.get(id);
        let halves = self.settings.version.halves_split_batches();
        let target = match batch.origin {
            Origin::Split if halves => {
                upper_bound_estimate(batch.payload_max).max(batch.written / 2)
            }
            _ => self.settings.batch_size,
        };
        let records = batch.records;
        let partition = self.accumulator.queues[batch.queue as usize].partition;
        let into = self.accumulator.split(id, target);
        self.release(id, ctx.now);
        self.metrics.batch_split(now_ms);
        let fact = Fact::BatchSplit {
            producer: self.me,
            partition,
            records,
            into,
        };
        ctx.fact(self.rank, fact);
    }
}

impl Accumulator {
    /// Puts parts of at most `target` bytes, or of one record, in the place of a batch that is in
    /// flight; says how many. The whole is left to be released.
    fn split(&mut self, id: BatchId, target: u32) -> u32 {
        let whole = self.batches.get(id).clone();
        let topic = self.queues[whole.queue as usize].topic;
        // What was estimated was too hopeful.
        self.compressor.forget(topic);
        let parts: Vec<BatchId> = parts_of(&whole, target)
            .into_iter()
            .map(|part| {
                let written = self.compressor.compressed(topic, part.plain);
                self.batches.open_part(Batch { written, ..part })
            })
            .collect();
        let queue = &mut self.queues[whole.queue as usize];
        let at = queue.unfinished.iter().position(|&other| other == id);
        if let Some(at) = at {
            queue.unfinished.remove(at);
            if whole.base_sequence >= 0 {
                for (step, &part) in parts.iter().enumerate() {
                    queue.unfinished.insert(at + step, part);
                }
            }
        }
        for &part in parts.iter().rev() {
            self.enqueue_before_new(part);
        }
        parts.len() as u32
    }
}

/// The parts of a batch in order.
fn parts_of(whole: &Batch, target: u32) -> Vec<Batch> {
    let payloads = Payloads::of(whole);
    let mut parts: Vec<Batch> = Vec::new();
    let mut open: Option<FillingBatch> = None;
    for place in 0..whole.records {
        let payload = payloads.at(place);
        if let (Some(filling), Some(part)) = (&mut open, parts.last_mut())
            && filling.append(0, RecordSize::new(payload))
        {
            (part.records, part.plain) = (filling.records(), filling.bytes());
            part.payload_max = part.payload_max.max(payload);
            continue;
        }
        let filling = FillingBatch::with_first(target, payload);
        parts.push(Batch {
            stage: Stage::Closed,
            limit: target.max(upper_bound_estimate(payload)),
            plain: filling.bytes(),
            written: filling.bytes(),
            records: 1,
            payload_max: payload,
            first_ordinal: whole.first_ordinal + u64::from(place),
            last_attempt_ms: whole.created_ms(),
            leader: LeaderOfRetry::Same,
            attempts: 0,
            base_sequence: match whole.base_sequence {
                -1 => -1,
                base => next_sequence(base, place as i32),
            },
            origin: Origin::Split,
            ..whole.clone()
        });
        open = Some(filling);
    }
    parts
}

/// The payloads of a batch's records, as far as it knows them.
struct Payloads {
    records: u32,
    largest: u32,
    other: u32,
}

impl Payloads {
    fn of(batch: &Batch) -> Self {
        let largest = batch.payload_max;
        let last = batch.records.saturating_sub(1);
        let alike: u64 = (0..batch.records)
            .map(|place| u64::from(record_bytes(place, 0, largest)))
            .sum();
        let written = u64::from(batch.plain.saturating_sub(BATCH_OVERHEAD));
        let other = if alike <= written || last == 0 {
            largest
        } else {
            let rest = written.saturating_sub(u64::from(record_bytes(last, 0, largest)));
            let mean = u32::try_from(rest / u64::from(last)).unwrap_or(u32::MAX);
            // Attributes, index, time and the record's own length stand around a payload.
            let around = 2 + varint_len(last as i32) + varint_len(mean as i32);
            mean.saturating_sub(around).clamp(3, largest)
        };
        Self {
            records: batch.records,
            largest,
            other,
        }
    }

    fn at(&self, place: u32) -> u32 {
        if place + 1 == self.records {
            self.largest
        } else {
            self.other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::ids::PartitionIndex;
    use crate::sim::producer::accumulator::Queue;
    use crate::sim::time::SimTime;

    /// Payload of a record with a 1,024-byte value, no key and no headers.
    const VALUE_1024: u32 = 1 + 2 + 1024 + 1;

    /// A batch of 12 such records in flight, with or without a sequence.
    fn in_flight(base_sequence: i32) -> (Accumulator, BatchId) {
        let mut accumulator = Accumulator::default();
        accumulator.add_queue(Queue::new(PartitionIndex::of_first_topic(0)));
        accumulator.open_batch(0, 16_384, VALUE_1024, SimTime::ZERO);
        for _ in 1..12 {
            accumulator.try_append(0, VALUE_1024, SimTime::ZERO);
        }
        accumulator.close_open(0);
        let id = accumulator.drain_head(0, SimTime::ZERO).unwrap();
        accumulator.batches.get_mut(id).base_sequence = base_sequence;
        (accumulator, id)
    }

    fn queued(accumulator: &Accumulator) -> Vec<(u32, u64, i32)> {
        let deque = accumulator.queues[0].deque.iter();
        deque
            .map(|&id| {
                let batch = accumulator.batches.get(id);
                (batch.records, batch.first_ordinal, batch.base_sequence)
            })
            .collect()
    }

    #[test]
    fn a_full_batch_falls_into_one_part_the_same_again() {
        let (mut accumulator, id) = in_flight(7);
        assert_eq!(accumulator.split(id, 16_384), 1);
        assert_eq!(queued(&accumulator), [(12, 0, 7)]);
    }

    #[test]
    fn parts_carry_sequences_and_ordinals_on() {
        let (mut accumulator, id) = in_flight(7);
        let half = accumulator.batches.get(id).written / 2;
        assert_eq!(accumulator.split(id, half), 3);
        assert_eq!(queued(&accumulator), [(5, 0, 7), (5, 5, 12), (2, 10, 17)]);
        assert_eq!(accumulator.queues[0].unfinished.len(), 3);
    }

    #[test]
    fn without_sequences_parts_stand_in_front_all_the_same() {
        let (mut accumulator, id) = in_flight(-1);
        accumulator.open_batch(0, 16_384, VALUE_1024, SimTime::ZERO);
        accumulator.settle_all();
        accumulator.split(id, 6_228);
        assert_eq!(
            queued(&accumulator),
            [(5, 0, -1), (5, 5, -1), (2, 10, -1), (1, 12, -1)]
        );
    }

    #[test]
    fn whoever_waits_for_the_whole_waits_for_all_parts() {
        let (mut accumulator, id) = in_flight(7);
        let serial = accumulator.batches.get(id).serial;
        accumulator.split(id, 6_228);
        accumulator.batches.close(id);
        for part in accumulator.queues[0].deque.clone() {
            assert!(accumulator.batches.is_incomplete(id, serial));
            accumulator.finish(part);
            accumulator.batches.close(part);
        }
        assert!(!accumulator.batches.is_incomplete(id, serial));
    }

    #[test]
    fn of_records_that_differ_only_the_largest_stays_too_large() {
        let (accumulator, id) = in_flight(7);
        let mut batch = accumulator.batches.get(id).clone();
        batch.payload_max = 9_000;
        let parts = parts_of(&batch, 5_000);
        let too_large = parts.iter().filter(|part| part.written > 5_000);
        assert_eq!(too_large.count(), 1);
        let records: u32 = parts.iter().map(|part| part.records).sum();
        assert_eq!(records, 12);
    }
}
