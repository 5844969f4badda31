//! Keys: which one comes next, by one draw and one look at an alias table.

use std::sync::Arc;

use crate::kafka::hash::{murmur2, to_positive};
use crate::sim::config::{KeyChoice, KeyConfig};
use crate::sim::rng::Stream;

/// The keys of a load, shared by all its threads and clones.
#[derive(Clone, Debug)]
pub struct KeyTable {
    /// `toPositive(murmur2(key))` of each key.
    pub hashes: Vec<u32>,
    /// Length of each key in bytes.
    pub lengths: Vec<u32>,
    alias: Vec<Alias>,
    cycles: Cycling,
}

/// One cell of Vose's alias table: with a coin below the threshold the cell itself, else another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Alias {
    threshold: u32,
    other: u32,
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
    /// The table of a load.
    pub fn new(keys: &KeyConfig) -> Self {
        let hash = |key: &Vec<u8>| to_positive(murmur2(key));
        let alias = match &keys.choice {
            KeyChoice::Weighted(weights) => alias_table(weights),
            KeyChoice::Uniform | KeyChoice::Cycle => Vec::new(),
        };
        let cycles = if keys.choice == KeyChoice::Cycle {
            Cycling::InTurn
        } else {
            Cycling::Drawn
        };
        Self {
            hashes: keys.keys.iter().map(hash).collect(),
            lengths: keys.keys.iter().map(|key| key.len() as u32).collect(),
            alias,
            cycles,
        }
    }

    /// Keys in it; none means that records have no key.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether records have no key.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
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
        let count = self.table.hashes.len() as u32;
        if self.table.cycles == Cycling::InTurn {
            let key = self.next;
            self.next = (key + self.stride) % count.max(1);
            return key;
        }
        let bits = self.draws.bits();
        let cell = (((bits >> 32) * u64::from(count)) >> 32) as u32;
        match self.table.alias.get(cell as usize) {
            Some(alias) if (bits as u32) >= alias.threshold => alias.other,
            _ => cell,
        }
    }
}

/// Vose's method, in plain IEEE arithmetic: the same table everywhere.
fn alias_table(weights: &[f64]) -> Vec<Alias> {
    let count = weights.len();
    let sum: f64 = weights.iter().sum();
    let mut scaled: Vec<f64> = weights
        .iter()
        .map(|weight| weight * count as f64 / sum)
        .collect();
    let mut table = vec![
        Alias {
            threshold: u32::MAX,
            other: 0
        };
        count
    ];
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..count).rev().partition(|&cell| scaled[cell] < 1.0);
    while let (Some(&less), Some(&more)) = (small.last(), large.last()) {
        small.pop();
        let threshold = (scaled[less] * f64::from(u32::MAX)) as u32;
        table[less] = Alias {
            threshold,
            other: more as u32,
        };
        scaled[more] -= 1.0 - scaled[less];
        if scaled[more] < 1.0 {
            large.pop();
            small.push(more);
        }
    }
    for cell in small.into_iter().chain(large) {
        table[cell] = Alias {
            threshold: u32::MAX,
            other: cell as u32,
        };
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
        KeySource::new(Arc::new(KeyTable::new(&config)), draws, (0, 1))
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
