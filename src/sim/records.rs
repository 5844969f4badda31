//! Records that are remembered one by one: which key each has, in topics with
//! `history = "records"`.
//!
//! A record is (producer, partition, ordinal there), so what the producer's side notes here when
//! the accumulator takes a record is found again by whoever meets the record in a log: nothing
//! travels with requests. Producers that run ahead note records that no log has yet, which nobody
//! can look up before they are there.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::sim::config::{Config, HistoryDetail};
use crate::sim::ids::{PartitionIndex, ProducerIndex, TopicIndex};
use crate::sim::time::SimTime;

/// Records that are remembered one by one in a run at most; later ones have no key for us.
pub const RECORDS_NOTED_MAX: u64 = 4_000_000;
/// Records in a sealed chunk, which clones of a run share.
const CHUNK_RECORDS: usize = 1_024;

/// A serialized key by its place among all that were noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId(u32);

/// What is remembered of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    ordinal: u64,
    /// Its key; none for a record without one.
    pub key: Option<KeyId>,
    /// Whether it has a value.
    pub value: NotedValue,
    /// When its client took it.
    pub at: SimTime,
}

/// A record's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotedValue {
    /// Null: a compacted topic forgets the key by it.
    Tombstone,
    /// Key and value have so many bytes together.
    Payload(u32),
}

/// Whether there was room for one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// There was.
    Left,
    /// It was the first for which there was none.
    JustFull,
    /// There was none before.
    None,
}

/// Everything that was noted.
#[derive(Clone, Debug, Default)]
pub struct RecordBook {
    keys: Arc<Keys>,
    /// By topic: whether its records are noted.
    is_noted: Vec<bool>,
    /// By producer and partition: its records in order of their ordinals.
    pages: Vec<Vec<Page>>,
    noted: u64,
    refused: u64,
}

/// Each key once.
#[derive(Clone, Debug, Default)]
struct Keys {
    bytes: Vec<Arc<[u8]>>,
    ids: BTreeMap<Arc<[u8]>, KeyId>,
}

#[derive(Clone, Debug, Default)]
struct Page {
    sealed: Vec<Arc<[Noted]>>,
    open: Vec<Noted>,
}

impl RecordBook {
    /// An empty book for a run.
    pub fn new(config: &Config) -> Self {
        let is_noted = |topic: &crate::sim::config::TopicConfig| {
            let existing = topic.existing.as_ref();
            existing.is_some_and(|existing| existing.history == HistoryDetail::Records)
        };
        Self {
            is_noted: config.topics.iter().map(is_noted).collect(),
            pages: vec![Vec::new(); config.producers.len()],
            ..Self::default()
        }
    }

    /// Whether records of a topic are remembered one by one.
    pub fn notes(&self, topic: TopicIndex) -> bool {
        self.is_noted.get(topic.index()).copied().unwrap_or(false)
    }

    /// Remembers a record that its producer's accumulator took. Ordinals come in order.
    pub fn note(
        &mut self,
        producer: ProducerIndex,
        ((partition, ordinal), at): ((PartitionIndex, u64), SimTime),
        key: Option<&[u8]>,
        value: NotedValue,
    ) -> Room {
        if self.noted >= RECORDS_NOTED_MAX {
            self.refused += 1;
            return if self.refused == 1 {
                Room::JustFull
            } else {
                Room::None
            };
        }
        self.noted += 1;
        let key = key.map(|key| self.id(key));
        let pages = &mut self.pages[producer.index()];
        if pages.len() <= partition.index() {
            pages.resize(partition.index() + 1, Page::default());
        }
        pages[partition.index()].push(Noted {
            ordinal,
            key,
            value,
            at,
        });
        Room::Left
    }

    /// What is remembered of a record.
    pub fn find(
        &self,
        producer: ProducerIndex,
        partition: PartitionIndex,
        ordinal: u64,
    ) -> Option<Noted> {
        let page = self.pages.get(producer.index())?.get(partition.index())?;
        page.find(ordinal)
    }

    /// The records of a key: whose, where, which. In order of producers, partitions and ordinals.
    pub fn records_of(
        &self,
        key: KeyId,
    ) -> impl Iterator<Item = (ProducerIndex, usize, u64, Noted)> + '_ {
        let producers = (0_u16..).map(ProducerIndex).zip(&self.pages);
        producers.flat_map(move |(producer, pages)| {
            pages.iter().enumerate().flat_map(move |(place, page)| {
                let records = page.sealed.iter().flat_map(|chunk| chunk.iter());
                let records = records.chain(&page.open);
                let of_key = records.filter(move |noted| noted.key == Some(key));
                of_key.map(move |noted| (producer, place, noted.ordinal, *noted))
            })
        })
    }

    /// A key's bytes.
    pub fn key(&self, id: KeyId) -> &Arc<[u8]> {
        &self.keys.bytes[id.0 as usize]
    }

    /// The key of these bytes, if a record with it was noted.
    pub fn find_key(&self, bytes: &[u8]) -> Option<KeyId> {
        self.keys.ids.get(bytes).copied()
    }

    fn id(&mut self, key: &[u8]) -> KeyId {
        if let Some(&id) = self.keys.ids.get(key) {
            return id;
        }
        let keys = Arc::make_mut(&mut self.keys);
        let (id, bytes) = (KeyId(keys.bytes.len() as u32), Arc::<[u8]>::from(key));
        keys.bytes.push(Arc::clone(&bytes));
        keys.ids.insert(bytes, id);
        id
    }
}

impl KeyId {
    /// Its place among all keys.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Page {
    fn push(&mut self, record: Noted) {
        self.open.push(record);
        if self.open.len() >= CHUNK_RECORDS {
            self.sealed.push(std::mem::take(&mut self.open).into());
        }
    }

    fn find(&self, ordinal: u64) -> Option<Noted> {
        let starts_before =
            |chunk: &Arc<[Noted]>| chunk.first().is_some_and(|first| first.ordinal <= ordinal);
        let chunk: &[Noted] = match self.open.first() {
            Some(first) if first.ordinal <= ordinal => &self.open,
            _ => {
                let after = self.sealed.partition_point(starts_before);
                self.sealed.get(after.checked_sub(1)?)?
            }
        };
        let place = chunk.binary_search_by_key(&ordinal, |record| record.ordinal);
        place.ok().map(|place| chunk[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::testing::world;

    const P: PartitionIndex = PartitionIndex::of_first_topic(0);
    const TRIPS: ProducerIndex = ProducerIndex(0);

    #[test]
    fn every_record_is_found_by_its_ordinal_however_many_there_are() {
        let mut book = RecordBook::new(&world());
        for ordinal in 0..5_000 {
            let key = format!("key-{}", ordinal % 7);
            let value = NotedValue::Payload(1);
            let place = ((P, ordinal), SimTime::ZERO);
            book.note(TRIPS, place, Some(key.as_bytes()), value);
        }
        for ordinal in [0, 1_023, 1_024, 3_333, 4_999] {
            let found = book.find(TRIPS, P, ordinal).and_then(|noted| noted.key);
            let key = format!("key-{}", ordinal % 7);
            assert_eq!(found, book.find_key(key.as_bytes()));
            assert_eq!(&**book.key(found.unwrap()), key.as_bytes());
        }
        assert_eq!(book.find(TRIPS, P, 5_000), None);
        assert_eq!(book.find_key(b"key-7"), None);
    }

    #[test]
    fn a_record_without_key_is_known_to_have_none() {
        let mut book = RecordBook::new(&world());
        let place = ((P, 9), SimTime::ZERO);
        book.note(TRIPS, place, None, NotedValue::Tombstone);
        assert_eq!(book.find(TRIPS, P, 9).map(|noted| noted.key), Some(None));
        assert_eq!(book.find(TRIPS, P, 8), None);
    }
}
