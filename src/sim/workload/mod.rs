//! What applications send: keys, value sizes, and the time between records.

mod keys;
mod pace;
mod tally;

pub use keys::{HashedKey, KeyHash, KeySource, KeyTable, Target};
pub use pace::{Pace, Step};
pub use tally::{KeyTallies, KeyTally};

use std::sync::Arc;

use crate::sim::config::{Config, KeyConfig, LoadConfig, ValueConfig};
use crate::sim::rng::Stream;

use tally::TallyId;

/// What one load draws from, and where its records are counted.
#[derive(Clone, Debug)]
pub struct LoadKeys {
    /// The keys with their targets.
    pub table: Arc<KeyTable>,
    /// The list among the [`KeyTallies`].
    pub tally: TallyId,
}

/// The keys of every load of every producer, and the empty tallies. Loads with the same keys, sizes
/// and partitions share one table.
pub fn keys_of_loads(config: &Config) -> (Vec<Vec<LoadKeys>>, KeyTallies, KeyTables) {
    let mut tables = KeyTables::default();
    let (tallies, ids) = KeyTallies::new(config);
    let of_producer = |(tables, ids): (Vec<_>, Vec<_>)| {
        let pairs = tables.into_iter().zip(ids);
        pairs
            .map(|(table, tally)| LoadKeys { table, tally })
            .collect()
    };
    let keys = tables.of_producers(config).into_iter().zip(ids);
    let keys = keys.map(of_producer).collect();
    (keys, tallies, tables)
}

/// All tables that were made so far. A topic that grows needs others: the first producer to learn
/// of it makes them, and those that learn later share them.
#[derive(Clone, Debug, Default)]
pub struct KeyTables(Vec<(Kind, Arc<KeyTable>)>);

impl KeyTables {
    /// The table of a load, hashed in this way, for a topic with so many partitions.
    pub fn table(&mut self, load: &LoadConfig, hash: KeyHash, partitions: u32) -> Arc<KeyTable> {
        let kind = Kind {
            keys: Arc::clone(&load.keys),
            hash,
            value_bytes: load.values.fixed(),
            partitions,
        };
        if let Some((_, table)) = self.0.iter().find(|(other, _)| other.is_like(&kind)) {
            return Arc::clone(table);
        }
        let table = Arc::new(KeyTable::new(
            &kind.keys,
            kind.hash,
            kind.value_bytes,
            kind.partitions,
        ));
        self.0.push((kind, Arc::clone(&table)));
        table
    }

    fn of_producers(&mut self, config: &Config) -> Vec<Vec<Arc<KeyTable>>> {
        let mut table = |load: &LoadConfig, hash: KeyHash| {
            let existing = config.topics[load.topic.index()].existing.as_ref();
            let partitions = existing.map_or(1, |topic| topic.replicas.len() as u32);
            self.table(load, hash, partitions)
        };
        let producers = config.producers.iter();
        producers
            .map(|producer| {
                let hash = KeyHash::of(&producer.client);
                let loads = producer.loads.iter();
                loads.map(|load| table(load, hash)).collect()
            })
            .collect()
    }
}

/// What a key table is made from.
#[derive(Clone, Debug)]
struct Kind {
    keys: Arc<KeyConfig>,
    hash: KeyHash,
    value_bytes: Option<u32>,
    partitions: u32,
}

impl Kind {
    fn is_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.keys, &other.keys)
            && self.hash == other.hash
            && (self.value_bytes, self.partitions) == (other.value_bytes, other.partitions)
    }
}

/// The size of a load's value after `nth` others; none is a null value.
pub fn value_bytes(values: &ValueConfig, nth: u64, draws: &mut Stream) -> Option<u32> {
    match values {
        ValueConfig::Null => None,
        ValueConfig::Fixed(bytes) => Some(*bytes),
        ValueConfig::Uniform(least, most) => {
            let range = u64::from(most.saturating_sub(*least)) + 1;
            Some(least + draws.below(range) as u32)
        }
        ValueConfig::Sample(values) => {
            let place = nth % (values.len() as u64).max(1);
            values.get(place as usize).map(|value| value.len() as u32)
        }
    }
}
