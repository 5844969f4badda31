//! How a topic's records are spread over its partitions, and why one has far more than the others.
//!
//! A cause is looked for in the order in which people can do something about it. Where keys decide:
//! the application names the partition, there are fewer keys than partitions, one key is hot, or
//! keys hash unluckily. Where they do not, it is what the partitioners follow: racks, and brokers
//! or links that are slow.

use std::collections::BTreeSet;

use crate::sim::Simulation;
use crate::sim::config::Config;
use crate::sim::fact::{LinkState, Node};
use crate::sim::ids::{BrokerIndex, TopicIndex};
use crate::sim::time::SimSpan;
use crate::sim::view::{BrokerView, PartitionView};

use super::names;
use super::placing::{Placer, Placing, placers};
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
/// A broker whose handlers need so much longer for a request than the quickest one's is slow.
const REQUEST_TIME_BEHIND: SimSpan = SimSpan::from_millis(5);
/// Requests in hand, over the mean of all brokers, from which a broker is slow.
const REQUESTS_OVER_MEAN: f64 = 2.0;
/// So few requests in hand are daily business.
const REQUESTS_MIN: u32 = 4;
/// Characters of a key in a sentence at most.
const KEY_CHARS_MAX: usize = 40;

/// Why a partition has far more than the others.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// The application names it.
    Named,
    /// There are fewer keys than partitions.
    FewKeys(u64),
    /// One key has most of its records.
    HotKey {
        /// The key, harmless to show.
        key: String,
        /// Its share of the topic's records.
        share: f64,
    },
    /// Many keys hash there.
    Hashing,
    /// A partitioner takes records without a key for records of one key.
    NullKey,
    /// Producers prefer leaders in this rack, and its leader stands there.
    Rack(String),
    /// Its leader is slow, and records without a deciding key stick to it.
    SlowBroker(BrokerIndex),
    /// The way to its leader is slow, likewise.
    SlowLink(BrokerIndex),
    /// Leaders of other partitions are slow or gone, and producers go round them.
    SlowOthers,
    /// No key decides, and it was chosen more often.
    Chance,
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
            Self::FewKeys(1) => "there is only one key".to_owned(),
            Self::FewKeys(keys) => format!("there are only {keys} keys"),
            Self::HotKey { key, share } => {
                format!("key {key} has {:.1} % of the records", share * 100.0)
            }
            Self::SlowBroker(broker) => {
                format!("broker {} is slow", names::broker(config, *broker))
            }
            Self::SlowLink(broker) => {
                format!(
                    "the way to broker {} is slow",
                    names::broker(config, *broker)
                )
            }
            Self::SlowOthers => "leaders of other partitions are slow or gone".to_owned(),
            Self::Hashing => "many keys hash there".to_owned(),
            Self::NullKey => "records without a key hash there".to_owned(),
            Self::Rack(rack) => {
                let rack = names::shown(rack);
                format!("producers prefer leaders in rack {rack}")
            }
            Self::Chance => "no key decides, and it was chosen more often".to_owned(),
        }
    }

    /// It in as few words as a pane has room for: `hot key tenant-1 15.8 %`.
    pub fn brief(&self, config: &Config) -> String {
        match self {
            Self::Named => "named by the application".to_owned(),
            Self::FewKeys(1) => "only one key".to_owned(),
            Self::FewKeys(keys) => format!("only {keys} keys"),
            Self::HotKey { key, share } => format!("hot key {key} {:.1} %", share * 100.0),
            Self::NullKey => "null keys hash there".to_owned(),
            Self::Rack(rack) => format!("preferred rack {}", names::shown(rack)),
            Self::SlowOthers => "other leaders are slow".to_owned(),
            Self::Chance => "chosen more often".to_owned(),
            Self::SlowBroker(_) | Self::SlowLink(_) | Self::Hashing => self.words(config),
        }
    }

    /// Its name for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Named => "named-partition",
            Self::FewKeys(_) => "few-keys",
            Self::HotKey { .. } => "hot-key",
            Self::SlowBroker(_) => "slow-broker",
            Self::SlowLink(_) => "slow-link",
            Self::SlowOthers => "slow-others",
            Self::Hashing => "hashing",
            Self::NullKey => "null-key",
            Self::Rack(_) => "rack",
            Self::Chance => "chance",
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
    let count = partitions.len() as u32;
    let loads: Vec<Placer<'_>> = placers(config, topic).collect();
    if loads
        .iter()
        .any(|load| load.placing == Placing::Named(fullest.number))
    {
        return Cause::Named;
    }
    let null_place = |load: &Placer<'_>| {
        let is_null = load.load.keys.keys.is_empty();
        is_null.then(|| load.placing.place(None, count)).flatten()
    };
    if loads
        .iter()
        .any(|load| null_place(load) == Some(fullest.number))
    {
        return Cause::NullKey;
    }
    if loads.iter().any(|load| load.is_keyed(count)) {
        cause_among_keys(simulation, partitions, fullest)
    } else {
        cause_without_keys(simulation, &loads, partitions, fullest)
    }
}

/// The cause where keys decide.
fn cause_among_keys(
    simulation: &Simulation,
    partitions: &[PartitionView],
    fullest: &PartitionView,
) -> Cause {
    let topic = fullest.topic;
    let (keys, keyed) = simulation.keys_sent(topic);
    if 0 < keys && keys < partitions.len() as u64 {
        return Cause::FewKeys(keys);
    }
    let there = simulation.hottest_keys_of(topic, fullest.number, HOTTEST_MAX);
    match there.first() {
        Some(hot) if CAUSE_SHARE * fullest.records_in as f64 <= hot.records as f64 => {
            // Other producers may send the key elsewhere: its share is that of all its records.
            let everywhere = simulation.hottest_keys(topic, HOTTEST_MAX);
            let same = everywhere.iter().find(|count| count.key == hot.key);
            Cause::HotKey {
                key: shown(&hot.key),
                share: same.unwrap_or(hot).records as f64 / keyed.max(1) as f64,
            }
        }
        _ => Cause::Hashing,
    }
}

/// The cause where none does.
fn cause_without_keys(
    simulation: &Simulation,
    loads: &[Placer<'_>],
    partitions: &[PartitionView],
    fullest: &PartitionView,
) -> Cause {
    let Some(leader) = fullest.leader else {
        return Cause::Chance;
    };
    if let Some(rack) = preferred_rack(simulation.config(), loads, leader) {
        return Cause::Rack(rack.to_owned());
    }
    let slow = slow_brokers(simulation);
    if slow.contains(&leader) {
        return Cause::SlowBroker(leader);
    }
    if is_link_slow(simulation, loads, leader) {
        return Cause::SlowLink(leader);
    }
    let others: BTreeSet<_> = partitions.iter().map(|other| other.leader).collect();
    let is_behind = |other: Option<BrokerIndex>| {
        other.is_none_or(|other| slow.contains(&other) || is_link_slow(simulation, loads, other))
    };
    if others.into_iter().any(is_behind) {
        return Cause::SlowOthers;
    }
    Cause::Chance
}

/// The rack of a broker, where one of these loads prefers leaders there.
fn preferred_rack<'a>(
    config: &'a Config,
    loads: &[Placer<'_>],
    leader: BrokerIndex,
) -> Option<&'a str> {
    let rack = config.brokers.get(leader.index())?.rack.as_deref()?;
    let prefers = |load: &Placer<'_>| match load.placing {
        Placing::Java(settings) => settings.preferred_rack.as_deref() == Some(rack),
        Placing::Librdkafka(_) | Placing::Named(_) => false,
    };
    loads.iter().any(prefers).then_some(rack)
}

/// Whether the way of any of these loads to a broker is worse than configured.
fn is_link_slow(simulation: &Simulation, loads: &[Placer<'_>], broker: BrokerIndex) -> bool {
    loads.iter().any(|load| {
        let connections = simulation.producer(load.producer).connections;
        let mut there = connections
            .iter()
            .filter(|it| it.node == Node::Broker(broker));
        there.any(|connection| connection.link != LinkState::Up)
    })
}

/// Brokers that take less than what comes.
pub fn slow_brokers(simulation: &Simulation) -> BTreeSet<BrokerIndex> {
    let brokers = (0..simulation.config().brokers.len() as u16).map(BrokerIndex);
    let views: Vec<BrokerView> = brokers.map(|index| simulation.broker(index)).collect();
    let requests: u32 = views.iter().map(|view| view.requests).sum();
    let mean = f64::from(requests) / views.len().max(1) as f64;
    let quickest = views.iter().map(|view| view.request_time).min();
    let is_slow = |view: &&BrokerView| {
        let has_many =
            REQUESTS_MIN <= view.requests && REQUESTS_OVER_MEAN * mean < f64::from(view.requests);
        let takes_long =
            quickest.is_some_and(|least| least + REQUEST_TIME_BEHIND <= view.request_time);
        DISK_BEHIND <= view.disk_backlog || has_many || takes_long
    };
    views
        .iter()
        .filter(is_slow)
        .map(|view| view.index)
        .collect()
}

/// Whether records of a topic with so many partitions choose their partition one by one, by key or
/// by number.
fn is_keyed(config: &Config, topic: TopicIndex, partitions: u32) -> bool {
    placers(config, topic).any(|load| !load.is_free(partitions))
}

/// A key, harmless to show and not too long.
pub fn shown(key: &[u8]) -> String {
    let text = names::key(key);
    match text.char_indices().nth(KEY_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn is_enough(config: &Config, topic: TopicIndex, partitions: &[PartitionView]) -> bool {
    let count = partitions.len() as u64;
    let sum = |figure: fn(&PartitionView) -> u64| partitions.iter().map(figure).sum::<u64>();
    if is_keyed(config, topic, partitions.len() as u32) {
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
