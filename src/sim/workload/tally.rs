//! How often each key was sent to a topic, over all loads that draw from the same keys: one list
//! for a hundred producers, because a count is touched with every record.

use std::sync::Arc;

use crate::sim::config::{Config, KeyConfig};
use crate::sim::ids::TopicIndex;

/// Keys of one load that are counted at most; a load with more counts none.
pub const COUNTED_KEYS_MAX: usize = 65_536;

/// A list's place among all lists.
pub type TallyId = u32;

/// All lists.
#[derive(Clone, Debug, Default)]
pub struct KeyTallies(Vec<KeyTally>);

/// How often each of some keys was sent to one topic.
#[derive(Clone, Debug)]
pub struct KeyTally {
    /// Where to.
    pub topic: TopicIndex,
    /// Which keys.
    pub keys: Arc<KeyConfig>,
    /// By key: records sent. Empty for more than [`COUNTED_KEYS_MAX`] keys.
    pub records: Vec<u64>,
}

impl KeyTallies {
    /// Empty lists, and which of them belongs to each load of each producer.
    pub fn new(config: &Config) -> (Self, Vec<Vec<TallyId>>) {
        let mut tallies = Self::default();
        let mut ids = Vec::new();
        for producer in &config.producers {
            let loads = producer.loads.iter();
            ids.push(
                loads
                    .map(|load| tallies.find(load.topic, &load.keys))
                    .collect(),
            );
        }
        (tallies, ids)
    }

    fn find(&mut self, topic: TopicIndex, keys: &Arc<KeyConfig>) -> TallyId {
        let known = self
            .0
            .iter()
            .position(|tally| tally.topic == topic && Arc::ptr_eq(&tally.keys, keys));
        let place = known.unwrap_or_else(|| {
            let is_counted = keys.keys.len() <= COUNTED_KEYS_MAX;
            self.0.push(KeyTally {
                topic,
                keys: Arc::clone(keys),
                records: vec![0; if is_counted { keys.keys.len() } else { 0 }],
            });
            self.0.len() - 1
        });
        place as TallyId
    }

    /// By key: records sent, to count more of them.
    pub fn records_mut(&mut self, id: TallyId) -> &mut [u64] {
        &mut self.0[id as usize].records
    }

    /// The lists of a topic.
    pub fn of_topic(&self, topic: TopicIndex) -> impl Iterator<Item = &KeyTally> {
        self.0.iter().filter(move |tally| tally.topic == topic)
    }
}

impl KeyTally {
    /// The keys that were sent most often, by their places, at most so many.
    pub fn hottest(&self, most: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.records.len())
            .filter(|&key| self.records[key] > 0)
            .collect();
        let hottest_first = |&key: &usize| (std::cmp::Reverse(self.records[key]), key);
        if order.len() > most {
            order.select_nth_unstable_by_key(most, hottest_first);
            order.truncate(most);
        }
        order.sort_unstable_by_key(hottest_first);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::config::KeyChoice;

    #[test]
    fn the_hottest_come_first_and_keys_that_were_not_sent_not_at_all() {
        let keys = KeyConfig {
            keys: vec![b"a".to_vec(), b"b".to_vec(), b"c".to_vec(), b"d".to_vec()],
            choice: KeyChoice::Uniform,
            explicit_partition: None,
        };
        let tally = KeyTally {
            topic: TopicIndex(0),
            keys: Arc::new(keys),
            records: vec![3, 9, 0, 9],
        };
        assert_eq!(tally.hottest(2), [1, 3]);
        assert_eq!(tally.hottest(9), [1, 3, 0]);
    }
}
