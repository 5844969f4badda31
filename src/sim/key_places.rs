//! Where each key's records are: on which partitions, from which offset to which, since when.
//!
//! A key whose records are on more than one partition has no order any more: nobody reads two
//! partitions of a topic in the order in which they were written. This is a look, not part of the
//! world: nothing that happens depends on it. Records that were truncated or cleaned away later
//! still count: they were there to be read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::sim::config::Config;
use crate::sim::ids::{PartitionIndex, TopicIndex};
use crate::sim::records::KeyId;
use crate::sim::time::SimTime;

/// Positions of one traced key that are kept at most.
pub const POSITIONS_MAX: usize = 10_000;

/// The records of one key on one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpan {
    /// Which partition.
    pub partition: PartitionIndex,
    /// Offset of the first.
    pub first_offset: u64,
    /// Offset of the last.
    pub last_offset: u64,
    /// How many.
    pub records: u64,
    /// When the first was appended.
    pub first_at: SimTime,
    /// When the last was appended.
    pub last_at: SimTime,
}

/// One record of a traced key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPosition {
    /// Which partition.
    pub partition: PartitionIndex,
    /// Its offset.
    pub offset: u64,
    /// When it was appended.
    pub at: SimTime,
}

/// One key in one topic.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct KeyHistory {
    /// Its partitions, in the order in which it came to them.
    pub spans: Vec<KeySpan>,
    /// Every record in order of time, for traced keys, up to [`POSITIONS_MAX`].
    pub positions: Vec<KeyPosition>,
}

/// All keys of all topics whose records are remembered.
#[derive(Clone, Debug, Default)]
pub struct KeyPlaces {
    /// By topic.
    topics: Vec<TopicKeys>,
    /// Keys whose every record is remembered.
    traced: Arc<[Vec<u8>]>,
}

#[derive(Clone, Debug, Default)]
struct TopicKeys {
    keys: BTreeMap<KeyId, Arc<KeyHistory>>,
    /// Keys on more than one partition.
    split: u64,
}

impl KeyPlaces {
    /// Nothing known yet.
    pub fn new(config: &Config) -> Self {
        let traced = config.producers.iter().flat_map(|producer| &producer.trace);
        let mut traced: Vec<_> = traced.cloned().collect();
        traced.sort_unstable();
        traced.dedup();
        Self {
            topics: vec![TopicKeys::default(); config.topics.len()],
            traced: traced.into(),
        }
    }

    /// A record was appended. Gives all partitions of its key if this one is new to it and not its
    /// first.
    pub fn append(
        &mut self,
        (id, key): (KeyId, &[u8]),
        position: KeyPosition,
    ) -> Option<Vec<PartitionIndex>> {
        let KeyPosition {
            partition,
            offset,
            at,
        } = position;
        let topic = &mut self.topics[partition.name().topic.index()];
        let history = Arc::make_mut(topic.keys.entry(id).or_default());
        let is_traced = self
            .traced
            .binary_search_by(|known| (**known).cmp(key))
            .is_ok();
        if is_traced && history.positions.len() < POSITIONS_MAX {
            history.positions.push(position);
        }
        let known = history
            .spans
            .iter_mut()
            .find(|span| span.partition == partition);
        if let Some(span) = known {
            span.last_offset = offset;
            span.last_at = at;
            span.records += 1;
            return None;
        }
        history.spans.push(KeySpan {
            partition,
            first_offset: offset,
            last_offset: offset,
            records: 1,
            first_at: at,
            last_at: at,
        });
        match history.spans.len() {
            1 => return None,
            2 => topic.split += 1,
            _ => {}
        }
        Some(history.spans.iter().map(|span| span.partition).collect())
    }

    /// A key's history in a topic.
    pub fn history(&self, topic: TopicIndex, key: KeyId) -> Option<&KeyHistory> {
        let topic = self.topics.get(topic.index())?;
        topic.keys.get(&key).map(Arc::as_ref)
    }

    /// Keys of a topic that have records on more than one partition.
    pub fn split_keys(&self, topic: TopicIndex) -> u64 {
        self.topics
            .get(topic.index())
            .map_or(0, |topic| topic.split)
    }

    /// The keys whose every record is remembered, in order.
    pub fn traced(&self) -> &[Vec<u8>] {
        &self.traced
    }

    /// The split key of a topic that was noted first, with its history.
    pub fn first_split(&self, topic: TopicIndex) -> Option<(KeyId, &KeyHistory)> {
        let topic = self
            .topics
            .get(topic.index())
            .filter(|topic| topic.split > 0)?;
        let split = topic
            .keys
            .iter()
            .filter(|(_, history)| history.spans.len() > 1);
        let since = |history: &KeyHistory| history.spans[1].first_at;
        split
            .map(|(&id, history)| (id, history.as_ref()))
            .min_by_key(|(id, history)| (since(history), *id))
    }
}
