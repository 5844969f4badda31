//! A partition's log: one history, whatever the number of replicas.
//!
//! Batches are remembered while some replica may still lack them, and for a while longer so that a
//! crash can lose a tail; older ones are folded into sums. A topic with `history = "batches"` or
//! `"records"` keeps all of them, up to [`BATCHES_KEPT_MAX`].

use std::collections::VecDeque;

use crate::kafka::transaction::TransactionResult;
use crate::sim::config::HistoryDetail;
use crate::sim::ids::ProducerIndex;
use crate::sim::log_sums::LogSums;
use crate::sim::weight;

/// Batches that a log with sums remembers beyond what replicas need: what `--lose-tail` can reach,
/// and what a new leader's memory of producers is made of.
pub const TAIL_BATCHES: usize = 64;
/// Batches that a log with full history remembers at most, oldest folded first.
pub const BATCHES_KEPT_MAX: usize = 200_000;

/// The batches of one partition, in offset order.
#[derive(Clone, Debug)]
pub struct Log {
    detail: HistoryDetail,
    start_offset: u64,
    end_offset: u64,
    batches: VecDeque<LogBatch>,
    records_in: u64,
    bytes_in: u64,
    folded: Folded,
    sums: LogSums,
}

/// Whether the limit on remembered batches was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folded {
    No,
    Yes,
}

/// One batch in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogBatch {
    /// Offset of its first record.
    pub base_offset: u64,
    /// Records.
    pub records: u32,
    /// Bytes with header.
    pub bytes: u32,
    /// Whose records.
    pub producer: ProducerIndex,
    /// Ordinal of the first one.
    pub first_ordinal: u64,
    /// Leader epoch under which it was appended.
    pub leader_epoch: u32,
    /// Its place in its producer's sequence.
    pub stamp: Stamp,
}

/// What a batch's header says of its producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Producer id, -1 without idempotence.
    pub producer_id: i64,
    /// Producer epoch.
    pub epoch: i16,
    /// Sequence of the first record, -1 without idempotence.
    pub base_sequence: i32,
    /// What its attributes say.
    pub content: Content,
}

/// What is in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Records outside of transactions.
    Plain,
    /// Records of a transaction.
    Transactional,
    /// The marker that ends a transaction, and the epoch of the coordinator that wanted it.
    Marker(TransactionResult, u32),
}

impl Stamp {
    /// The stamp of a producer without idempotence.
    pub const NONE: Self = Self {
        producer_id: -1,
        epoch: -1,
        base_sequence: -1,
        content: Content::Plain,
    };
}

/// What a fetch gets of a log whose next batch is larger than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Least {
    /// That batch (`minOneMessage`); within what is folded, one record.
    OneBatch,
    /// Nothing: another log was first.
    Nothing,
}

impl LogBatch {
    /// A record that a broker writes for itself.
    pub fn of_broker(bytes: u32, stamp: Stamp) -> Self {
        Self {
            base_offset: 0,
            records: 1,
            bytes,
            producer: ProducerIndex::NOBODY,
            first_ordinal: 0,
            leader_epoch: 0,
            stamp,
        }
    }

    /// Offset after its last record.
    pub fn end_offset(&self) -> u64 {
        self.base_offset + u64::from(self.records)
    }

    /// Its records before an offset within it, and those from there on; bytes in proportion.
    pub fn split(&self, offset: u64) -> (Self, Self) {
        let kept = (offset - self.base_offset) as u32;
        let kept_bytes = u64::from(self.bytes) * u64::from(kept) / u64::from(self.records.max(1));
        let kept_bytes = kept_bytes as u32;
        let head = Self {
            records: kept,
            bytes: kept_bytes,
            ..*self
        };
        let tail = Self {
            base_offset: offset,
            records: self.records - kept,
            bytes: self.bytes - kept_bytes,
            first_ordinal: self.first_ordinal + u64::from(kept),
            ..*self
        };
        (head, tail)
    }
}

impl Log {
    /// An empty log whose first record will get `start_offset`.
    pub fn new(start_offset: u64, detail: HistoryDetail) -> Self {
        Self {
            detail,
            start_offset,
            end_offset: start_offset,
            batches: VecDeque::new(),
            records_in: 0,
            bytes_in: 0,
            folded: Folded::No,
            sums: LogSums::new(start_offset),
        }
    }

    /// First offset kept.
    pub fn start_offset(&self) -> u64 {
        self.start_offset
    }

    /// Next offset to be written by the leader.
    pub fn end_offset(&self) -> u64 {
        self.end_offset
    }

    /// Records appended so far, truncated ones included.
    pub fn records_in(&self) -> u64 {
        self.records_in
    }

    /// Bytes appended so far, truncated ones included.
    pub fn bytes_in(&self) -> u64 {
        self.bytes_in
    }

    /// Bytes that a clone of this log copies.
    pub fn bytes_copied(&self) -> usize {
        weight::of_batches(self.batches.len()) + self.sums.bytes_copied()
    }

    /// The batches still remembered, oldest first.
    pub fn batches(&self) -> impl Iterator<Item = &LogBatch> {
        self.batches.iter()
    }

    /// Appends at the end; gives the offset of the first record. Whatever every replica has below
    /// `replicated` may be folded.
    pub fn append(&mut self, mut batch: LogBatch, replicated: u64) -> u64 {
        batch.base_offset = self.end_offset;
        self.end_offset += u64::from(batch.records);
        self.records_in += u64::from(batch.records);
        self.bytes_in += u64::from(batch.bytes);
        self.sums.append(batch.records, batch.bytes);
        self.batches.push_back(batch);
        self.fold(replicated);
        batch.base_offset
    }

    /// The batches still remembered that end behind an offset, oldest first.
    pub fn batches_from(&self, offset: u64) -> impl Iterator<Item = &LogBatch> {
        let first = self
            .batches
            .partition_point(|batch| batch.end_offset() <= offset);
        self.batches.range(first..)
    }

    /// Takes the batches before `offset`, which lies between two of them: the cleaner looks at
    /// their records one by one.
    pub fn take_below(&mut self, offset: u64) -> Vec<LogBatch> {
        let count = self
            .batches
            .partition_point(|batch| batch.end_offset() <= offset);
        self.batches.drain(..count).collect()
    }

    /// Deletes everything before an offset, which lies between two batches; says how many records
    /// are gone.
    pub fn delete_before(&mut self, offset: u64) -> u64 {
        let gone = offset.saturating_sub(self.start_offset);
        self.start_offset = self.start_offset.max(offset);
        let _deleted = self.take_below(offset);
        gone
    }

    /// The cleaner left these records, each an offset and its bytes, of all before `end_offset`.
    pub fn note_cleaned(&mut self, end_offset: u64, kept: &[(u64, u64)]) {
        self.sums.clean(end_offset, kept);
    }

    /// The offset up to which `limit_bytes` reach from `from`, at least one batch, and the bytes.
    pub fn reach(&self, from: u64, limit_bytes: u64) -> (u64, u64) {
        let first = self
            .batches
            .partition_point(|batch| batch.end_offset() <= from);
        let (mut end, mut bytes) = (from, 0);
        for batch in self.batches.range(first..) {
            if bytes > 0 && bytes + u64::from(batch.bytes) > limit_bytes {
                break;
            }
            (end, bytes) = (batch.end_offset(), bytes + u64::from(batch.bytes));
        }
        (end, bytes)
    }

    /// What a consumer's fetch takes from `from` on, below `to`: the offset that it ends before,
    /// and the bytes.
    pub fn read(&self, (from, to): (u64, u64), limit_bytes: u64, least: Least) -> (u64, u64) {
        if from >= to {
            return (from, 0);
        }
        let (mut end, mut bytes) = if from < self.oldest_remembered() {
            self.sums.reach(from, to, limit_bytes)
        } else {
            self.reach(from, limit_bytes)
        };
        if end > to {
            let before = self.sums.bytes_before(from);
            (end, bytes) = (to, self.sums.bytes_before(to).saturating_sub(before));
        }
        match least {
            Least::Nothing if bytes > limit_bytes => (from, 0),
            Least::Nothing | Least::OneBatch => (end, bytes),
        }
    }

    /// Removes everything from `offset` on; gives the batches that are gone, in offset order. A
    /// batch across the cut loses its later records only, and bytes in proportion.
    pub fn truncate(&mut self, offset: u64) -> Vec<LogBatch> {
        let (mut gone, mut gone_bytes) = (Vec::new(), 0);
        while let Some(last) = self.batches.back_mut() {
            if last.end_offset() <= offset {
                break;
            }
            if last.base_offset >= offset {
                gone.push(*last);
                gone_bytes += u64::from(last.bytes);
                self.end_offset = last.base_offset;
                self.batches.pop_back();
            } else {
                let (head, tail) = last.split(offset);
                gone.push(tail);
                gone_bytes += u64::from(tail.bytes);
                *last = head;
                self.end_offset = offset;
            }
        }
        self.sums.truncate(self.end_offset, gone_bytes);
        gone.reverse();
        gone
    }

    /// Batches that once stood here stand here again: a replica that has them leads again.
    pub fn restore(&mut self, batches: &[LogBatch]) {
        for batch in batches {
            self.end_offset = batch.end_offset();
            self.sums.append(batch.records, batch.bytes);
            self.batches.push_back(*batch);
        }
    }

    /// The lowest offset that a lost tail can reach back to.
    pub fn oldest_remembered(&self) -> u64 {
        self.batches
            .front()
            .map_or(self.end_offset, |batch| batch.base_offset)
    }

    fn fold(&mut self, replicated: u64) {
        let keep = match self.detail {
            HistoryDetail::Sums => TAIL_BATCHES,
            HistoryDetail::Batches | HistoryDetail::Records => BATCHES_KEPT_MAX,
        };
        // As many stay below the end that all replicas have: whoever cuts back to there finds what
        // producers wrote last.
        while self.batches.len() > keep && self.batches[keep - 1].end_offset() <= replicated {
            self.batches.pop_front();
            self.folded = Folded::Yes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn batch(records: u32) -> LogBatch {
        LogBatch {
            base_offset: 0,
            records,
            bytes: records * 100,
            producer: ProducerIndex(0),
            first_ordinal: 0,
            leader_epoch: 0,
            stamp: Stamp::NONE,
        }
    }

    #[test]
    fn offsets_follow_each_other_from_the_start_offset() {
        let mut log = Log::new(40, HistoryDetail::Sums);
        assert_eq!(log.append(batch(3), 0), 40);
        assert_eq!(log.append(batch(2), 0), 43);
        assert_eq!(log.end_offset(), 45);
    }

    #[test]
    fn a_truncation_across_a_batch_keeps_its_earlier_records() {
        let mut log = Log::new(0, HistoryDetail::Sums);
        log.append(batch(10), 0);
        let gone = log.truncate(4);
        assert_eq!(
            (gone[0].base_offset, gone[0].records, gone[0].first_ordinal),
            (4, 6, 4)
        );
        assert_eq!(log.end_offset(), 4);
    }

    #[test]
    fn a_fetch_takes_at_least_one_batch_however_small_its_limit() {
        let mut log = Log::new(0, HistoryDetail::Sums);
        log.append(batch(10), 0);
        log.append(batch(10), 0);
        assert_eq!(log.reach(0, 1), (10, 1000));
        assert_eq!(log.reach(0, 2000), (20, 2000));
        assert_eq!(log.reach(20, 2000), (20, 0));
    }

    #[test]
    fn a_fetch_that_has_something_already_leaves_a_batch_above_its_limit() {
        let mut log = Log::new(0, HistoryDetail::Sums);
        log.append(batch(10), 0);
        assert_eq!(log.read((0, 10), 999, Least::OneBatch), (10, 1_000));
        assert_eq!(log.read((0, 10), 999, Least::Nothing), (0, 0));
        assert_eq!(log.read((0, 10), 1_000, Least::Nothing), (10, 1_000));
    }

    #[test]
    fn a_log_without_its_old_segments_begins_later() {
        let mut log = Log::new(40, HistoryDetail::Sums);
        for _ in 0..4 {
            log.append(batch(10), 0);
        }
        assert_eq!(log.delete_before(60), 20);
        assert_eq!((log.start_offset(), log.oldest_remembered()), (60, 60));
        assert_eq!(log.read((60, 80), u64::MAX, Least::OneBatch), (80, 2_000));
    }

    #[test]
    fn a_reader_far_behind_gets_the_bytes_that_are_left_of_a_cleaned_log() {
        let mut log = Log::new(0, HistoryDetail::Records);
        for _ in 0..4 {
            log.append(batch(10), 0);
        }
        let dirty = log.take_below(30);
        assert_eq!(dirty.len(), 3);
        log.note_cleaned(30, &[(7, 100), (29, 100)]);
        assert_eq!(log.read((0, 40), u64::MAX, Least::OneBatch), (40, 1_200));
        assert_eq!(log.read((30, 40), u64::MAX, Least::OneBatch), (40, 1_000));
    }

    #[test]
    fn a_truncation_across_a_batch_takes_its_share_of_bytes_whatever_asks_for_them() {
        let mut log = Log::new(0, HistoryDetail::Sums);
        log.append(batch(10), 0);
        log.append(batch(10), 0);
        log.truncate(14);
        assert_eq!(log.read((0, 14), u64::MAX, Least::OneBatch), (14, 1_400));
        assert_eq!(log.sums.bytes_before(14), 1_400);
        log.append(batch(1), 0);
        assert_eq!(log.sums.bytes_before(15), 1_500);
    }

    proptest! {
        #[test]
        fn what_a_log_forgets_never_changes_its_offsets_and_sums(
            sizes in prop::collection::vec(1_u32..50, 1..300),
        ) {
            let mut log = Log::new(0, HistoryDetail::Sums);
            for size in &sizes {
                let replicated = log.end_offset();
                log.append(batch(*size), replicated);
            }
            let records: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
            prop_assert_eq!(log.end_offset(), records);
            prop_assert_eq!(log.records_in(), records);
            prop_assert_eq!(log.bytes_in(), records * 100);
            prop_assert!(log.batches().count() <= TAIL_BATCHES + 1);
        }
    }
}
