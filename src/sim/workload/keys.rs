//! Keys: which one comes next, by one draw and one look at an alias table.

use std::hint::select_unpredictable;
use std::sync::Arc;

use crate::kafka::hash::{murmur2, to_positive};
use crate::kafka::rdkafka_partitioner::{RdkafkaPartitioner, fnv1a};
use crate::kafka::size::{RecordSize, payload_bytes};
use crate::sim::config::{ClientConfig, KeyChoice, KeyConfig};
use crate::sim::rng::Stream;

/// The keys of a load, shared by all producers and threads that draw from the same ones: what a
/// draw touches has to stay in the processor's cache, however many producers there are.
#[derive(Clone, Debug)]
pub struct KeyTable {
    cells: Vec<Cell>,
    targets: Vec<Target>,
    hashed: Vec<HashedKey>,
    cycles: Cycling,
    /// Partitions that `Target::partition` was found for.
    pub partitions: u32,
    /// How keys are hashed.
    pub hash: KeyHash,
    payload_max: u32,
}

/// What a client makes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyHash {
    /// `toPositive(murmur2(key))`: the Java client, librdkafka's `murmur2` and `murmur2_random`.
    Murmur2,
    /// CRC32: librdkafka's `consistent` and `consistent_random`.
    Crc32,
    /// FNV-1a made positive: librdkafka's `fnv1a` and `fnv1a_random`.
    Fnv1a,
}

impl KeyHash {
    /// What this client uses.
    pub const fn of(client: &ClientConfig) -> Self {
        match client {
            ClientConfig::Java(_) => Self::Murmur2,
            ClientConfig::Rdkafka(settings) => Self::of_partitioner(settings.partitioner),
        }
    }

    /// What librdkafka's partitioner uses; where it looks at no key, any would do.
    pub const fn of_partitioner(partitioner: RdkafkaPartitioner) -> Self {
        use RdkafkaPartitioner as P;
        match partitioner {
            P::Random | P::Consistent | P::ConsistentRandom => Self::Crc32,
            P::Murmur2 | P::Murmur2Random => Self::Murmur2,
            P::Fnv1a | P::Fnv1aRandom => Self::Fnv1a,
        }
    }

    /// The hash of a key; the partition is its remainder.
    pub fn hash(self, key: &[u8]) -> HashedKey {
        let hash = match self {
            Self::Murmur2 => to_positive(murmur2(key)),
            Self::Crc32 => crc32fast::hash(key),
            Self::Fnv1a => fnv1a(key),
        };
        HashedKey {
            hash,
            length: key.len() as u32,
        }
    }
}

/// A key as its client hashes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashedKey {
    /// The hash.
    pub hash: u32,
    /// Length in bytes.
    pub length: u32,
}

/// One cell of Vose's alias table: with a coin below the threshold the key of this place, else the
/// other one. Draws touch all cells alike, so they are small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    threshold: u32,
    other: u32,
}

/// Where a key's records go, and how large they are: what every record looks up, so it is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The key's hash, modulo the partitions of the table.
    pub partition: u32,
    /// Key and value of the load's one size; of use for loads of one size only.
    pub size: RecordSize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cycling {
    InTurn,
    Drawn,
}

/// One thread's way through the keys.
#[derive(Clone, Debug)]
pub struct KeySource {
    table: Arc<KeyTable>,
    draws: Stream,
    next: u32,
    stride: u32,
}

impl KeyTable {
    /// The table of a load whose values have `value_bytes` (none for null), for a topic with so
    /// many partitions.
    pub fn new(keys: &KeyConfig, hash: KeyHash, value_bytes: Option<u32>, partitions: u32) -> Self {
        let alias = match &keys.choice {
            KeyChoice::Weighted(weights) => alias_table(weights),
            KeyChoice::Uniform | KeyChoice::Cycle => Vec::new(),
        };
        let cell = |place| {
            let itself = (u32::MAX, place as u32);
            let (threshold, other) = alias.get(place).copied().unwrap_or(itself);
            Cell { threshold, other }
        };
        let hashed: Vec<_> = keys.keys.iter().map(|key| hash.hash(key)).collect();
        let target = |key: &HashedKey| {
            let payload = payload_bytes(Some(key.length), value_bytes, &[]);
            Target {
                partition: key.hash % partitions.max(1),
                size: RecordSize::new(payload),
            }
        };
        let is_cycle = keys.choice == KeyChoice::Cycle;
        let targets: Vec<_> = hashed.iter().map(target).collect();
        let payloads = targets.iter().map(|target| target.size.payload);
        Self {
            payload_max: payloads.max().unwrap_or(0),
            cells: (0..targets.len()).map(cell).collect(),
            targets,
            hashed,
            cycles: if is_cycle {
                Cycling::InTurn
            } else {
                Cycling::Drawn
            },
            partitions,
            hash,
        }
    }

    /// Keys in it; none means that records have no key.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether records have no key.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// A key.
    pub fn hashed(&self, key: u32) -> Option<HashedKey> {
        self.hashed.get(key as usize).copied()
    }

    /// The largest payload of all keys.
    pub fn payload_max(&self) -> u32 {
        self.payload_max
    }
}

impl KeySource {
    /// The way of the `thread`th of `threads` threads.
    pub fn new(table: Arc<KeyTable>, draws: Stream, (thread, threads): (u32, u32)) -> Self {
        let count = (table.len() as u32).max(1);
        Self {
            table,
            draws,
            next: thread % count,
            stride: threads,
        }
    }

    /// The next key, by its place in the table.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        let count = self.table.cells.len() as u32;
        if self.table.cycles == Cycling::InTurn {
            let key = self.next;
            self.next = (key + self.stride) % count.max(1);
            return key;
        }
        let bits = self.draws.bits();
        let place = (((bits >> 32) * u64::from(count)) >> 32) as u32;
        let Some(cell) = self.table.cells.get(place as usize) else {
            return place;
        };
        // A coin that no processor could predict.
        select_unpredictable((bits as u32) >= cell.threshold, cell.other, place)
    }

    /// Draws from another table with the same keys.
    pub fn use_table(&mut self, table: &Arc<KeyTable>) {
        if !Arc::ptr_eq(&self.table, table) {
            self.table = Arc::clone(table);
        }
    }

    /// The next key with its target; the table must not be empty.
    #[inline]
    pub fn draw_target(&mut self) -> (u32, Target) {
        let key = self.draw();
        (key, self.table.targets[key as usize])
    }

    /// A key that was drawn, as its client hashes it.
    #[inline]
    pub fn hashed(&self, key: u32) -> HashedKey {
        self.table.hashed[key as usize]
    }
}

/// Vose's method, in plain IEEE arithmetic: the same table everywhere.
fn alias_table(weights: &[f64]) -> Vec<(u32, u32)> {
    let count = weights.len();
    let sum: f64 = weights.iter().sum();
    let mut scaled: Vec<f64> = weights
        .iter()
        .map(|weight| weight * count as f64 / sum)
        .collect();
    let mut table = vec![(u32::MAX, 0); count];
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..count).rev().partition(|&cell| scaled[cell] < 1.0);
    while let (Some(&less), Some(&more)) = (small.last(), large.last()) {
        small.pop();
        let threshold = (scaled[less] * f64::from(u32::MAX)) as u32;
        table[less] = (threshold, more as u32);
        scaled[more] -= 1.0 - scaled[less];
        if scaled[more] < 1.0 {
            large.pop();
            small.push(more);
        }
    }
    for cell in small.into_iter().chain(large) {
        table[cell] = (u32::MAX, cell as u32);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::rng::Purpose;

    fn source(choice: KeyChoice, count: usize) -> KeySource {
        let keys = (0..count)
            .map(|n| format!("key-{n}").into_bytes())
            .collect();
        let config = KeyConfig {
            keys,
            choice,
            explicit_partition: None,
        };
        let draws = Stream::new(1, Purpose::Key, 0, 0);
        KeySource::new(
            Arc::new(KeyTable::new(&config, KeyHash::Murmur2, None, 1)),
            draws,
            (0, 1),
        )
    }

    #[test]
    fn keys_in_turn_start_again_after_the_last() {
        let mut source = source(KeyChoice::Cycle, 3);
        let drawn: Vec<_> = (0..5).map(|_| source.draw()).collect();
        assert_eq!(drawn, [0, 1, 2, 0, 1]);
    }

    #[test]
    fn weighted_keys_come_as_often_as_they_weigh() {
        let mut source = source(KeyChoice::Weighted(vec![6.0, 3.0, 1.0]), 3);
        let mut counts = [0_u32; 3];
        for _ in 0..100_000 {
            counts[source.draw() as usize] += 1;
        }
        let shares = counts.map(|count| f64::from(count) / 100_000.0);
        for (share, expected) in shares.into_iter().zip([0.6, 0.3, 0.1]) {
            assert!((share - expected).abs() < 0.005, "{shares:?}");
        }
    }
}
