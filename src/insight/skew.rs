//! How a topic's records are spread over its partitions, and why one has far more than the others.
//!
//! A cause is looked for in the order in which people can do something about it: the application
//! names the partition, records have no key and are hashed all the same, there are fewer keys than
//! partitions, one key is hot, a broker is slow, or keys hash unluckily.

use crate::kafka::rdkafka_partitioner::Choice;
use crate::sim::Simulation;
use crate::sim::config::{ClientConfig, Config, LoadConfig};
use crate::sim::ids::{BrokerIndex, TopicIndex};
use crate::sim::time::SimSpan;
use crate::sim::view::PartitionView;

use super::names;
use super::reading::Spread;

/// A partition with more than so many times the mean of its topic is flagged.
pub const FLAG_FACTOR: f64 = 2.0;
/// Records per partition before a spread means anything.
const SPREAD_RECORDS: u64 = 100;
/// Bytes per partition before the spread of records without keys means anything: a partition is
/// kept for a whole batch at a time.
const SPREAD_BYTES: u64 = 1024 * 1024;
/// Share of a partition's records from which a key is the cause.
const CAUSE_SHARE: f64 = 0.5;
/// Keys that are looked at, the hottest.
const HOTTEST_MAX: usize = 64;
/// A disk that is this far behind makes its broker slow.
const DISK_BEHIND: SimSpan = SimSpan::from_millis(100);
/// Requests in hand, over the mean of all brokers, from which a broker is slow.
const REQUESTS_OVER_MEAN: f64 = 2.0;
/// Characters of a key in a sentence at most.
const KEY_CHARS_MAX: usize = 40;

/// Why a partition has far more than the others.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// The application names it.
    Named,
    /// Records have no key, and a client's `partitioner` hashes NULL as it hashes a key.
    NullHashed,
    /// There are fewer keys than partitions.
    FewKeys(u64),
    /// One key has most of its records.
    HotKey {
        /// The key, harmless to show.
        key: String,
        /// Its share of the topic's records.
        share: f64,
    },
    /// Its leader is slow, and records stick to it.
    SlowBroker(BrokerIndex),
    /// Many keys hash there.
    Hashing,
}

/// A topic that is spread unevenly.
#[derive(Clone, Debug, PartialEq)]
pub struct Skew {
    /// How unevenly.
    pub spread: Spread,
    /// Why.
    pub cause: Cause,
}

/// What can be said of a topic's spread.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// There are too few records to say anything.
    TooFew,
    /// No partition has more than [`FLAG_FACTOR`] times the mean.
    Even,
    /// One has.
    Skewed(Skew),
}

impl Cause {
    /// It in a few words: `key tenant-1 has 15.8 % of the records`.
    pub fn words(&self, config: &Config) -> String {
        match self {
            Self::Named => "the application names this partition".to_owned(),
            Self::NullHashed => "records have no key and are hashed all the same".to_owned(),
            Self::FewKeys(1) => "there is only one key".to_owned(),
            Self::FewKeys(keys) => format!("there are only {keys} keys"),
            Self::HotKey { key, share } => {
                format!("key {key} has {:.1} % of the records", share * 100.0)
            }
            Self::SlowBroker(broker) => {
                format!("broker {} is slow", names::broker(config, *broker))
            }
            Self::Hashing => "many keys hash there".to_owned(),
        }
    }

    /// It in as few words as a pane has room for: `hot key tenant-1 15.8 %`.
    pub fn brief(&self, config: &Config) -> String {
        match self {
            Self::Named => "named by the application".to_owned(),
            Self::NullHashed => "no keys, but hashed".to_owned(),
            Self::FewKeys(1) => "only one key".to_owned(),
            Self::FewKeys(keys) => format!("only {keys} keys"),
            Self::HotKey { key, share } => format!("hot key {key} {:.1} %", share * 100.0),
            Self::SlowBroker(_) | Self::Hashing => self.words(config),
        }
    }

    /// Its name for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Named => "named-partition",
            Self::NullHashed => "null-keys-hashed",
            Self::FewKeys(_) => "few-keys",
            Self::HotKey { .. } => "hot-key",
            Self::SlowBroker(_) => "slow-broker",
            Self::Hashing => "hashing",
        }
    }
}

/// How a topic is spread, whose partitions these are.
pub fn find(simulation: &Simulation, topic: TopicIndex, partitions: &[PartitionView]) -> Finding {
    let Some(spread) = Spread::of(partitions) else {
        return Finding::TooFew;
    };
    if !is_enough(simulation.config(), topic, partitions) {
        return Finding::TooFew;
    }
    let fullest = partitions
        .iter()
        .find(|partition| partition.index == spread.fullest);
    match fullest {
        Some(fullest) if FLAG_FACTOR < spread.max_over_mean => Finding::Skewed(Skew {
            spread,
            cause: cause(simulation, partitions, fullest),
        }),
        _ => Finding::Even,
    }
}

/// Why `fullest` has so many of the records of `partitions`, which are those of its topic.
pub fn cause(
    simulation: &Simulation,
    partitions: &[PartitionView],
    fullest: &PartitionView,
) -> Cause {
    let (config, topic) = (simulation.config(), fullest.topic);
    let is_named = |load: &LoadConfig| load.keys.explicit_partition == Some(fullest.number);
    if loads_of(config, topic).any(is_named) {
        return Cause::Named;
    }
    if !is_keyed(config, topic) && is_null_hashed(config, fullest, partitions.len() as u32) {
        return Cause::NullHashed;
    }
    if !is_keyed(config, topic) {
        return fullest.leader.map_or(Cause::Hashing, Cause::SlowBroker);
    }
    let (keys, keyed) = simulation.keys_sent(topic);
    if 0 < keys && keys < partitions.len() as u64 {
        return Cause::FewKeys(keys);
    }
    let there = simulation.hottest_keys_of(topic, fullest.number, HOTTEST_MAX);
    if let Some(hot) = there.first()
        && CAUSE_SHARE * fullest.records_in as f64 <= hot.records as f64
    {
        // Other producers may send the key elsewhere: its share is that of all its records.
        let everywhere = simulation.hottest_keys(topic, HOTTEST_MAX);
        let same = everywhere.iter().find(|count| count.key == hot.key);
        return Cause::HotKey {
            key: shown(&hot.key),
            share: same.unwrap_or(hot).records as f64 / keyed.max(1) as f64,
        };
    }
    match fullest.leader.filter(|&leader| is_slow(simulation, leader)) {
        Some(leader) => Cause::SlowBroker(leader),
        None => Cause::Hashing,
    }
}

/// Whether a broker takes less than what comes.
pub fn is_slow(simulation: &Simulation, broker: BrokerIndex) -> bool {
    let count = simulation.config().brokers.len();
    let all = (0..count).map(|index| simulation.broker(BrokerIndex(index as u16)));
    let requests: u32 = all.map(|view| view.requests).sum();
    let mean = f64::from(requests) / count.max(1) as f64;
    let view = simulation.broker(broker);
    DISK_BEHIND <= view.disk_backlog || REQUESTS_OVER_MEAN * mean < f64::from(view.requests)
}

/// Whether records of a topic choose their partition one by one.
pub fn is_keyed(config: &Config, topic: TopicIndex) -> bool {
    loads_of(config, topic)
        .any(|load| !load.keys.keys.is_empty() || load.keys.explicit_partition.is_some())
}

/// Whether a client hashes the missing key of its records to this partition, one of `count`.
fn is_null_hashed(config: &Config, partition: &PartitionView, count: u32) -> bool {
    config.producers.iter().any(|producer| {
        let ClientConfig::Rdkafka(settings) = &producer.client else {
            return false;
        };
        producer
            .loads
            .iter()
            .any(|load| load.topic == partition.topic)
            && settings.partitioner.choice(None, count) == Choice::Partition(partition.number)
    })
}

/// A key, harmless to show and not too long.
pub fn shown(key: &[u8]) -> String {
    let text = names::key(key);
    match text.char_indices().nth(KEY_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn loads_of(config: &Config, topic: TopicIndex) -> impl Iterator<Item = &LoadConfig> {
    let loads = config.producers.iter().flat_map(|producer| &producer.loads);
    loads.filter(move |load| load.topic == topic)
}

fn is_enough(config: &Config, topic: TopicIndex, partitions: &[PartitionView]) -> bool {
    let count = partitions.len() as u64;
    let sum = |figure: fn(&PartitionView) -> u64| partitions.iter().map(figure).sum::<u64>();
    if is_keyed(config, topic) {
        SPREAD_RECORDS * count <= sum(|partition| partition.records_in)
    } else {
        SPREAD_BYTES * count <= sum(|partition| partition.bytes_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_sentences_are_harmless_and_short() {
        assert_eq!(shown("tenant-1".as_bytes()), "tenant-1");
        assert_eq!(shown(b"\x00\x00\x04\x1b"), "\\0\\0\\u{4}\\u{1b}");
        assert_eq!(shown(&[b'k'; 100]).chars().count(), KEY_CHARS_MAX + 1);
    }
}
