//! Whether a consumer group reads each key's records in the order in which they were written.
//!
//! Within a partition it always does. A key with records on two partitions is read in whatever
//! order the group comes to them: a record that was appended before another one of its key, and is
//! given to the group after it, is read out of order. This is a look, not part of the world:
//! nothing that happens depends on it.
//!
//! Simplifications: a record is read when `poll()` returns it, however long the application then
//! takes; what is read again after a rebalance or a crash was judged when it was first read. Only
//! topics with `history = "records"` that some group reads are watched, and only records that are
//! remembered, which are [`RECORDS_NOTED_MAX`](crate::sim::records::RECORDS_NOTED_MAX) at most.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::sim::config::Config;
use crate::sim::ids::{GroupIndex, PartitionIndex, TopicIndex};
use crate::sim::records::KeyId;
use crate::sim::time::SimTime;

/// Records in a sealed chunk, which clones of a run share.
const CHUNK_RECORDS: usize = 1_024;

/// One record that was read out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateRead {
    /// Its key.
    pub key: KeyId,
    /// Its partition.
    pub partition: PartitionIndex,
    /// Its offset there.
    pub offset: u64,
    /// When it was written.
    pub written: SimTime,
    /// Where the later record of its key is that was read before it.
    pub overtaken_on: PartitionIndex,
    /// When that one was written.
    pub overtaken_by: SimTime,
}

/// What a group read out of order.
#[derive(Clone, Debug, Default)]
pub struct GroupReads {
    /// Records that were read behind a later one of their key.
    pub records: u64,
    /// Keys of such records.
    pub keys: u64,
    /// The first of them.
    pub first: Option<LateRead>,
}

/// All watched records, and how far each group is with them.
#[derive(Clone, Debug, Default)]
pub struct ReadOrder {
    /// By topic: whether it is watched.
    is_watched: Vec<bool>,
    /// By partition.
    logs: Vec<Written>,
    groups: Vec<Reader>,
}

/// One record with a key, in a log.
#[derive(Clone, Copy, Debug)]
struct Entry {
    offset: u64,
    key: KeyId,
    written: SimTime,
}

/// The records with keys of one partition, in order of offsets.
#[derive(Clone, Debug, Default)]
struct Written {
    sealed: Vec<Arc<[Entry]>>,
    open: Vec<Entry>,
}

/// How far a group is with all of its topics.
#[derive(Clone, Debug, Default)]
struct Reader {
    is_watched: bool,
    /// By partition: the offset behind the last record that it was given.
    read_to: Vec<u64>,
    keys: BTreeMap<(TopicIndex, KeyId), Latest>,
    reads: GroupReads,
}

/// Of the records of one key that a group has read, the one that was written last.
#[derive(Clone, Copy, Debug)]
struct Latest {
    written: SimTime,
    partition: PartitionIndex,
    order: Order,
}

/// Whether a key's records were read as they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Kept,
    Broken,
}

impl ReadOrder {
    /// Nothing written and nothing read yet.
    pub fn new(config: &Config, notes: impl Fn(TopicIndex) -> bool) -> Self {
        let mut groups = vec![Reader::default(); config.groups.len()];
        let mut is_watched = vec![false; config.topics.len()];
        for consumer in &config.consumers {
            let watched = consumer
                .topics
                .iter()
                .copied()
                .filter(|&topic| notes(topic));
            for topic in watched {
                is_watched[topic.index()] = true;
                groups[consumer.group.index()].is_watched = true;
            }
        }
        Self {
            is_watched,
            logs: Vec::new(),
            groups,
        }
    }

    /// Whether reads of a topic are judged.
    pub fn watches(&self, topic: TopicIndex) -> bool {
        self.is_watched.get(topic.index()).copied().unwrap_or(false)
    }

    /// A record with a key was appended. What was at its offset and behind it before is gone.
    pub fn append(&mut self, partition: PartitionIndex, (offset, key): (u64, KeyId), at: SimTime) {
        if !self.watches(partition.name().topic) {
            return;
        }
        if self.logs.len() <= partition.index() {
            self.logs
                .resize_with(partition.index() + 1, Written::default);
        }
        let log = &mut self.logs[partition.index()];
        if log.last().is_some_and(|last| last.offset >= offset) {
            log.truncate(offset);
            for group in &mut self.groups {
                if let Some(read_to) = group.read_to.get_mut(partition.index()) {
                    *read_to = offset.min(*read_to);
                }
            }
        }
        log.push(Entry {
            offset,
            key,
            written: at,
        });
    }

    /// The cleaner went over everything before `end_offset` and left the records at the offsets in
    /// `kept`, which are in order, each with its bytes.
    pub fn clean(&mut self, partition: PartitionIndex, end_offset: u64, kept: &[(u64, u64)]) {
        if let Some(log) = self.logs.get_mut(partition.index()) {
            let is_kept = |wanted| {
                kept.binary_search_by_key(&wanted, |&(offset, _)| offset)
                    .is_ok()
            };
            log.retain(|offset| offset >= end_offset || is_kept(offset));
        }
    }

    /// A group was given the records from one offset to before another. Gives the first record out
    /// of order of each key that had none before.
    pub fn read(
        &mut self,
        group: GroupIndex,
        partition: PartitionIndex,
        (from, to): (u64, u64),
    ) -> Vec<LateRead> {
        let mut found = Vec::new();
        let topic = partition.name().topic;
        let (true, Some(reader)) = (self.watches(topic), self.groups.get_mut(group.index())) else {
            return found;
        };
        let place = partition.index();
        if reader.read_to.len() <= place {
            reader.read_to.resize(place + 1, 0);
        }
        let from = from.max(reader.read_to[place]);
        reader.read_to[place] = to.max(reader.read_to[place]);
        let Some(log) = self.logs.get(place) else {
            return found;
        };
        for entry in log.between(from, to) {
            if let Some(late) = reader.judge(partition, *entry) {
                found.push(late);
            }
        }
        found
    }

    /// What a group read out of order; nothing where none of its topics is watched.
    pub fn of_group(&self, group: GroupIndex) -> Option<&GroupReads> {
        let reader = self.groups.get(group.index())?;
        reader.is_watched.then_some(&reader.reads)
    }

    /// Records that groups read out of order, over all of them.
    pub fn late_reads(&self) -> u64 {
        self.groups.iter().map(|reader| reader.reads.records).sum()
    }
}

impl Reader {
    /// Takes the next record that the group read for the first time; gives it if it is the first
    /// of its key that comes too late.
    fn judge(&mut self, partition: PartitionIndex, entry: Entry) -> Option<LateRead> {
        let this = Latest {
            written: entry.written,
            partition,
            order: Order::Kept,
        };
        let id = (partition.name().topic, entry.key);
        let latest = self.keys.entry(id).or_insert(this);
        // Records of one partition are never out of order, so the latest one is all that counts.
        if latest.written <= entry.written {
            *latest = Latest {
                order: latest.order,
                ..this
            };
            return None;
        }
        self.reads.records += 1;
        if latest.order == Order::Broken {
            return None;
        }
        latest.order = Order::Broken;
        let late = LateRead {
            key: entry.key,
            partition,
            offset: entry.offset,
            written: entry.written,
            overtaken_on: latest.partition,
            overtaken_by: latest.written,
        };
        self.reads.keys += 1;
        self.reads.first.get_or_insert(late);
        Some(late)
    }
}

impl Written {
    fn last(&self) -> Option<&Entry> {
        self.open.last().or_else(|| self.sealed.last()?.last())
    }

    fn push(&mut self, entry: Entry) {
        self.open.push(entry);
        if self.open.len() >= CHUNK_RECORDS {
            self.sealed.push(std::mem::take(&mut self.open).into());
        }
    }

    fn truncate(&mut self, offset: u64) {
        self.open.retain(|entry| entry.offset < offset);
        while let Some(last) = self.sealed.pop_if(|chunk| {
            let last = chunk.last();
            last.is_some_and(|last| last.offset >= offset)
        }) {
            let kept = last.iter().filter(|entry| entry.offset < offset);
            self.open = kept.copied().collect();
        }
    }

    fn retain(&mut self, stays: impl Fn(u64) -> bool) {
        let chunks = std::mem::take(&mut self.sealed);
        let open = std::mem::take(&mut self.open);
        let all = chunks.iter().flat_map(|chunk| chunk.iter()).chain(&open);
        for entry in all.filter(|entry| stays(entry.offset)) {
            self.push(*entry);
        }
    }

    fn between(&self, from: u64, to: u64) -> impl Iterator<Item = &Entry> {
        let ends_before = |chunk: &Arc<[Entry]>| chunk.last().is_some_and(|e| e.offset < from);
        let first = self.sealed.partition_point(ends_before);
        let sealed = self.sealed[first..].iter().flat_map(|chunk| chunk.iter());
        let within = sealed.chain(&self.open);
        within
            .skip_while(move |entry| entry.offset < from)
            .take_while(move |entry| entry.offset < to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::config::HistoryDetail;
    use crate::sim::records::{NotedValue, RecordBook};
    use crate::sim::testing::{with_group, world};

    const OLD: PartitionIndex = PartitionIndex::of_first_topic(0);
    const NEW: PartitionIndex = PartitionIndex::of_first_topic(3);
    const GROUP: GroupIndex = GroupIndex(0);

    /// A key's records: two on the old partition, then one on the new one, a second apart.
    fn moved() -> (ReadOrder, KeyId) {
        let config = with_group(world(), 1, &[]);
        let mut book = RecordBook::new(&config);
        let producer = crate::sim::testing::TRIPS;
        let taken = ((OLD, 0), SimTime::ZERO);
        book.note(producer, taken, Some(b"k"), NotedValue::Payload(1));
        let key = book.find_key(b"k").unwrap();
        let mut order = ReadOrder::new(&config, |_| true);
        for (partition, offset, second) in [(OLD, 0, 1), (OLD, 1, 2), (NEW, 0, 3)] {
            order.append(partition, (offset, key), SimTime::from_seconds(second));
        }
        (order, key)
    }

    #[test]
    fn a_group_that_reads_as_was_written_reads_nothing_out_of_order() {
        let (mut order, _) = moved();
        assert!(order.read(GROUP, OLD, (0, 2)).is_empty());
        assert!(order.read(GROUP, NEW, (0, 1)).is_empty());
        assert_eq!(order.late_reads(), 0);
    }

    #[test]
    fn a_group_that_is_behind_on_the_old_half_reads_its_records_too_late() {
        let (mut order, key) = moved();
        order.read(GROUP, OLD, (0, 1));
        order.read(GROUP, NEW, (0, 1));
        let late = order.read(GROUP, OLD, (1, 2));
        assert_eq!(late.len(), 1);
        assert_eq!((late[0].key, late[0].offset), (key, 1));
        assert_eq!((late[0].partition, late[0].overtaken_on), (OLD, NEW));
    }

    #[test]
    fn of_each_key_the_first_is_told_and_all_are_counted() {
        let (mut order, _) = moved();
        order.read(GROUP, NEW, (0, 1));
        assert_eq!(order.read(GROUP, OLD, (0, 2)).len(), 1);
        let reads = order.of_group(GROUP).unwrap();
        assert_eq!((reads.records, reads.keys), (2, 1));
    }

    #[test]
    fn what_is_read_again_is_not_judged_again() {
        let (mut order, _) = moved();
        order.read(GROUP, OLD, (0, 2));
        order.read(GROUP, NEW, (0, 1));
        assert!(order.read(GROUP, OLD, (0, 2)).is_empty());
    }

    #[test]
    fn what_the_cleaner_removed_is_not_read() {
        let (mut order, _) = moved();
        order.clean(OLD, 2, &[(1, 100)]);
        order.read(GROUP, NEW, (0, 1));
        order.read(GROUP, OLD, (0, 2));
        assert_eq!(order.late_reads(), 1);
    }

    #[test]
    fn what_takes_the_place_of_lost_records_is_read_for_the_first_time() {
        let (mut order, key) = moved();
        order.read(GROUP, OLD, (0, 2));
        order.append(OLD, (1, key), SimTime::from_seconds(2));
        order.read(GROUP, NEW, (0, 1));
        assert_eq!(order.read(GROUP, OLD, (1, 2)).len(), 1);
    }

    #[test]
    fn chunks_are_cut_and_searched_like_one_list() {
        let (mut order, key) = moved();
        for offset in 2..5_000 {
            order.append(OLD, (offset, key), SimTime::from_seconds(2));
        }
        let log = &mut order.logs[OLD.index()];
        log.truncate(1_500);
        let found: Vec<u64> = log
            .between(1_020, 9_000)
            .map(|entry| entry.offset)
            .collect();
        assert_eq!(found, (1_020..1_500).collect::<Vec<_>>());
    }

    #[test]
    fn topics_without_remembered_records_are_not_watched() {
        let config = with_group(world(), 1, &[]);
        let detail = config.topics[0]
            .existing
            .as_ref()
            .map(|topic| topic.history);
        assert_ne!(detail, Some(HistoryDetail::Records));
        let book = RecordBook::new(&config);
        let order = ReadOrder::new(&config, |topic| book.notes(topic));
        assert!(order.of_group(GROUP).is_none());
    }
}
