//! The log cleaner: of each key, a compacted partition keeps the latest record.
//!
//! Source: `LogCleanerManager.grabFilthiestCompactedLog`, `Cleaner.clean`. The last segment of a
//! log is active and never touched. What lies between the first dirty offset and the first one that
//! may not be cleaned yet is mapped, key by key, and of everything before that end only the latest
//! record of each key stays. Every partition is cleaned by itself: a key on two partitions keeps
//! two records.
//!
//! Simplifications: cleaning takes no time, and happens on all replicas together, up to where all
//! of them have the log; segments are as old as their appends; a batch's bytes are shared evenly
//! among its records.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::kafka::settings::TopicSettings;
use crate::sim::history::LogBatch;
use crate::sim::ids::{PartitionIndex, ProducerIndex};
use crate::sim::records::{KeyId, NotedValue, RecordBook};
use crate::sim::segments::Segments;
use crate::sim::time::{SimSpan, SimTime};

/// Segments and clean records of one compacted partition.
#[derive(Clone, Debug, Default)]
pub struct Compaction {
    /// Those that were not cleaned yet; the last one is active.
    segments: Segments,
    /// Records below the first dirty offset that are kept, in order of offsets.
    clean: Arc<Vec<CleanRecord>>,
    clean_bytes: u64,
}

/// A record that was looked at by the cleaner and stayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanRecord {
    /// Its offset.
    pub offset: u64,
    /// Whose.
    pub producer: ProducerIndex,
    /// Its ordinal.
    pub ordinal: u64,
    /// Its share of its batch's bytes.
    pub bytes: u64,
    /// A tombstone goes with the first cleaning after this moment.
    delete_horizon: Option<SimTime>,
}

/// What one cleaning did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleaned {
    /// Everything before this offset was looked at.
    pub end_offset: u64,
    /// Records that are gone.
    pub removed: u64,
    /// Records that stay below that offset.
    pub kept: u64,
}

impl Compaction {
    /// The leader appended a batch: to the active segment, or to a new one.
    pub fn note_append(
        &mut self,
        settings: &TopicSettings,
        (base_offset, bytes): (u64, u32),
        now: SimTime,
    ) {
        self.segments
            .note_append(settings, (base_offset, bytes), now);
    }

    /// The log was cut at an offset.
    pub fn truncate(&mut self, offset: u64) {
        self.segments.truncate(offset);
        if self.clean.last().is_some_and(|last| last.offset >= offset) {
            Arc::make_mut(&mut self.clean).retain(|record| record.offset < offset);
        }
    }

    /// The records that were cleaned and stayed.
    pub fn clean_records(&self) -> &[CleanRecord] {
        &self.clean
    }

    /// Up to where the log should be cleaned now, if it is dirty enough. `stable_end` is the offset
    /// that all replicas have and consumers may read.
    pub fn is_due(&self, settings: &TopicSettings, stable_end: u64, now: SimTime) -> Option<u64> {
        let lag = SimSpan::from_millis(settings.min_compaction_lag_ms);
        let segments = self.segments.list();
        let active = segments.len().checked_sub(1)?;
        let end_of = |place: usize| segments[place + 1].base_offset;
        let cleanable = (0..active)
            .take_while(|&place| {
                let is_old = lag == SimSpan::ZERO || now.since(segments[place].last_at) >= lag;
                is_old && end_of(place) <= stable_end
            })
            .count();
        let end_offset = end_of(cleanable.checked_sub(1)?);
        let dirty: u64 = segments
            .range(..cleanable)
            .map(|segment| segment.bytes)
            .sum();
        let ratio = dirty as f64 / (self.clean_bytes + dirty).max(1) as f64;
        let lag_max = settings.max_compaction_lag_ms;
        let is_overdue = now.since(segments[0].first_at).as_nanos() / 1_000_000 > lag_max;
        (ratio > settings.min_cleanable_dirty_ratio || is_overdue).then_some(end_offset)
    }

    /// Cleans everything before `end_offset`; `dirty` are the batches that were not cleaned yet.
    pub fn clean(
        &mut self,
        (book, partition): (&RecordBook, PartitionIndex),
        (dirty, end_offset): (&[LogBatch], u64),
        settings: &TopicSettings,
        now: SimTime,
    ) -> Cleaned {
        let find = |producer, ordinal| book.find(producer, partition, ordinal);
        let horizon = now + SimSpan::from_millis(settings.delete_retention_ms);
        let dirty = dirty.iter().flat_map(|batch| {
            let bytes = u64::from(batch.bytes) / u64::from(batch.records.max(1));
            (0..u64::from(batch.records)).map(move |place| CleanRecord {
                offset: batch.base_offset + place,
                producer: batch.producer,
                ordinal: batch.first_ordinal + place,
                bytes,
                delete_horizon: None,
            })
        });
        let dirty: Vec<CleanRecord> = dirty.collect();
        let mut latest: BTreeMap<KeyId, u64> = BTreeMap::new();
        for record in &dirty {
            let noted = find(record.producer, record.ordinal);
            if let Some(key) = noted.and_then(|noted| noted.key) {
                latest.insert(key, record.offset);
            }
        }
        let before = (self.clean.len() + dirty.len()) as u64;
        let stays = |mut record: CleanRecord| {
            // A record that nobody remembers cannot be judged, and stays.
            let Some(noted) = find(record.producer, record.ordinal) else {
                return Some(record);
            };
            let newer = latest.get(&noted.key?).copied();
            if newer.is_some_and(|newer| record.offset < newer) {
                return None;
            }
            if noted.value == NotedValue::Tombstone {
                let delete_at = *record.delete_horizon.get_or_insert(horizon);
                return (now < delete_at).then_some(record);
            }
            Some(record)
        };
        let kept: Vec<_> = self
            .clean
            .iter()
            .copied()
            .chain(dirty)
            .filter_map(stays)
            .collect();
        self.clean_bytes = kept.iter().map(|record| record.bytes).sum();
        self.segments.drop_before(end_offset);
        self.clean = Arc::new(kept);
        let kept = self.clean.len() as u64;
        Cleaned {
            end_offset,
            removed: before - kept,
            kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::testing::world;

    const P: PartitionIndex = PartitionIndex::of_first_topic(0);
    const TRIPS: ProducerIndex = ProducerIndex(0);

    /// A log of single records, one a second, each in a segment of its own.
    struct Cleaning {
        book: RecordBook,
        compaction: Compaction,
        dirty: Vec<LogBatch>,
        settings: TopicSettings,
        next: u64,
    }

    impl Cleaning {
        fn new(delete_retention_ms: u64) -> Self {
            Self {
                book: RecordBook::new(&world()),
                compaction: Compaction::default(),
                dirty: Vec::new(),
                settings: TopicSettings {
                    segment_ms: 500,
                    min_cleanable_dirty_ratio: 0.0,
                    delete_retention_ms,
                    ..TopicSettings::defaults()
                },
                next: 0,
            }
        }

        fn write(&mut self, keys: &str) -> &mut Self {
            for key in keys.chars() {
                // A capital letter deletes its key.
                let value = if key.is_ascii_uppercase() {
                    NotedValue::Tombstone
                } else {
                    NotedValue::Payload(10)
                };
                let name = key.to_ascii_lowercase().to_string();
                let place = (P, self.next);
                let taken = (place, SimTime::ZERO);
                self.book.note(TRIPS, taken, Some(name.as_bytes()), value);
                let now = SimTime::from_seconds(self.next);
                self.compaction
                    .note_append(&self.settings, (self.next, 100), now);
                self.dirty.push(LogBatch {
                    base_offset: self.next,
                    records: 1,
                    bytes: 100,
                    producer: TRIPS,
                    first_ordinal: self.next,
                    leader_epoch: 0,
                    stamp: crate::sim::history::Stamp::NONE,
                });
                self.next += 1;
            }
            self
        }

        /// The offsets that are left after cleaning at `second`.
        fn clean(&mut self, second: u64) -> Vec<u64> {
            let now = SimTime::from_seconds(second);
            if let Some(end) = self.compaction.is_due(&self.settings, self.next, now) {
                let (done, left): (Vec<_>, Vec<_>) =
                    self.dirty.iter().partition(|batch| batch.base_offset < end);
                self.dirty = left;
                let place = (&self.book, P);
                let _ = self
                    .compaction
                    .clean(place, (&done, end), &self.settings, now);
            }
            let clean = self
                .compaction
                .clean_records()
                .iter()
                .map(|record| record.offset);
            clean
                .chain(self.dirty.iter().map(|batch| batch.base_offset))
                .collect()
        }
    }

    #[test]
    fn the_latest_record_of_each_key_stays() {
        assert_eq!(Cleaning::new(0).write("abacabx").clean(10), [3, 4, 5, 6]);
    }

    #[test]
    fn the_active_segment_is_not_touched() {
        // The last record stays even though its key came before, and the one before it, too.
        assert_eq!(Cleaning::new(0).write("aaa").clean(10), [1, 2]);
    }

    #[test]
    fn a_second_cleaning_looks_at_clean_records_again() {
        let mut cleaning = Cleaning::new(0);
        assert_eq!(cleaning.write("abx").clean(10), [0, 1, 2]);
        assert_eq!(cleaning.write("ax").clean(20), [1, 2, 3, 4]);
        assert_eq!(cleaning.write("b").clean(30), [1, 3, 4, 5]);
    }

    #[test]
    fn a_tombstone_outlives_its_first_cleaning_by_delete_retention_ms() {
        let mut cleaning = Cleaning::new(5_000);
        assert_eq!(cleaning.write("aAx").clean(10), [1, 2]);
        assert_eq!(cleaning.write("y").clean(14), [1, 2, 3]);
        assert_eq!(cleaning.write("z").clean(15), [2, 3, 4]);
    }

    #[test]
    fn what_is_younger_than_min_compaction_lag_ms_waits() {
        let mut cleaning = Cleaning::new(0);
        cleaning.settings.min_compaction_lag_ms = 60_000;
        assert_eq!(cleaning.write("aaax").clean(10), [0, 1, 2, 3]);
        assert_eq!(cleaning.clean(61), [1, 2, 3]);
    }

    #[test]
    fn a_log_that_is_not_dirty_enough_waits() {
        let mut cleaning = Cleaning::new(0);
        cleaning.settings.min_cleanable_dirty_ratio = 0.5;
        assert_eq!(cleaning.write("abcdx").clean(10), [0, 1, 2, 3, 4]);
        assert_eq!(cleaning.compaction.clean_bytes, 400);
        // 200 bytes of 600 are dirty.
        assert_eq!(cleaning.write("ax").clean(20), [0, 1, 2, 3, 4, 5, 6]);
    }
}
