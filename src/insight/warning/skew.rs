//! Diagnoses about where records of a topic go.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Checkup, Diagnosis, Scope, Subject, Verdict};
use crate::insight::names;
use crate::insight::reading::of_topic;
use crate::insight::skew::{self, Finding};
use crate::kafka::rdkafka_partitioner::{Choice, RdkafkaPartitioner};
use crate::kafka::settings::PartitionerSettings;
use crate::sim::config::{ClientConfig, Config, KeyConfig, LoadConfig, ProducerConfig};
use crate::sim::ids::{ProducerIndex, TopicIndex};

/// Keys of a load that are compared with those of another at most.
const COMPARED_KEYS_MAX: usize = 4_096;

/// One partition gets far more than its share.
pub(super) struct SkewedPartitions;

impl Diagnosis for SkewedPartitions {
    fn name(&self) -> &'static str {
        "skewed-partitions"
    }

    fn summary(&self) -> &'static str {
        "topics are skewed"
    }

    fn scope(&self) -> Scope {
        Scope::Topics
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Subject::Topic(topic) = subject else {
            return Verdict::Quiet;
        };
        let config = checkup.config();
        let partitions = of_topic(checkup.partitions, topic);
        match skew::find(checkup.simulation, topic, partitions) {
            Finding::TooFew if partitions.iter().all(|partition| partition.records_in == 0) => {
                Verdict::Quiet
            }
            Finding::TooFew => Verdict::Unsure,
            Finding::Even => Verdict::Quiet,
            Finding::Skewed(skew) => Verdict::Raised(format!(
                "{} gets {:.1} times the mean of topic {} because {}: its leader is full long \
                 before the others",
                names::partition(config, skew.spread.fullest),
                skew.spread.max_over_mean,
                names::topic(config, topic),
                skew.cause.words(config),
            )),
        }
    }
}

/// Two producers put the same key on different partitions.
pub(super) struct MixedHashing;

/// How a load finds the partition of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placing<'a> {
    /// As the Java client's partitioner does.
    Java(&'a PartitionerSettings),
    /// As librdkafka's does.
    Librdkafka(RdkafkaPartitioner),
    /// The application names it.
    Named(u32),
}

/// A load that places keys in its own way.
struct Placer<'a> {
    producer: ProducerIndex,
    placing: Placing<'a>,
    keys: &'a Arc<KeyConfig>,
}

impl Diagnosis for MixedHashing {
    fn name(&self) -> &'static str {
        "mixed-hashing"
    }

    fn summary(&self) -> &'static str {
        "topics have keys on several partitions"
    }

    fn scope(&self) -> Scope {
        Scope::Topics
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Subject::Topic(topic) = subject else {
            return Verdict::Quiet;
        };
        let partitions = of_topic(checkup.partitions, topic);
        if partitions.iter().all(|partition| partition.records_in == 0) {
            return Verdict::Quiet;
        }
        let config = checkup.config();
        let (placers, count) = (placers(config, topic), partitions.len() as u32);
        for (at, one) in placers.iter().enumerate() {
            for other in &placers[at + 1..] {
                if let Some(key) = apart(one, other, count) {
                    return Verdict::Raised(format!(
                        "key {} of topic {} is on several partitions: producer {} {}, producer \
                         {} {}; its history is split",
                        skew::shown(key),
                        names::topic(config, topic),
                        names::producer(config, one.producer),
                        one.placing.words(key, count),
                        names::producer(config, other.producer),
                        other.placing.words(key, count),
                    ));
                }
            }
        }
        Verdict::Quiet
    }
}

impl<'a> Placing<'a> {
    fn of(producer: &'a ProducerConfig, load: &LoadConfig) -> Self {
        if let Some(number) = load.keys.explicit_partition {
            return Self::Named(number);
        }
        match &producer.client {
            ClientConfig::Java(settings) => Self::Java(&settings.partitioner),
            ClientConfig::Rdkafka(settings) => Self::Librdkafka(settings.partitioner),
        }
    }

    /// The partition of a key; nothing where it goes to several.
    fn place(self, key: &[u8], partitions: u32) -> Option<u32> {
        match self {
            Self::Java(settings) => settings.partition_of(key, partitions),
            Self::Librdkafka(partitioner) => match partitioner.choice(Some(key), partitions) {
                Choice::Partition(number) => Some(number),
                Choice::Free => None,
            },
            Self::Named(number) => Some(number),
        }
    }

    fn words(self, key: &[u8], partitions: u32) -> String {
        match (self, self.place(key, partitions)) {
            (Self::Named(number), _) => format!("names partition {number}"),
            (_, Some(place)) => format!("puts it on partition {place}"),
            (_, None) => "puts it on any".to_owned(),
        }
    }
}

/// The ways in which keys of a topic are placed, each once.
fn placers(config: &Config, topic: TopicIndex) -> Vec<Placer<'_>> {
    let mut placers: Vec<Placer<'_>> = Vec::new();
    for (index, producer) in config.producers.iter().enumerate() {
        let keyed = producer.loads.iter().filter(|load| load.topic == topic);
        for load in keyed.filter(|load| !load.keys.keys.is_empty()) {
            let placing = Placing::of(producer, load);
            let is_known = placers
                .iter()
                .any(|known| known.placing == placing && Arc::ptr_eq(known.keys, &load.keys));
            if !is_known {
                placers.push(Placer {
                    producer: ProducerIndex(index as u16),
                    placing,
                    keys: &load.keys,
                });
            }
        }
    }
    placers
}

/// A key that two loads of different producers place differently.
fn apart<'a>(one: &Placer<'a>, other: &Placer<'a>, partitions: u32) -> Option<&'a Vec<u8>> {
    if one.placing == other.placing || one.producer == other.producer {
        return None;
    }
    let compared = |placer: &Placer<'a>| placer.keys.keys.iter().take(COMPARED_KEYS_MAX);
    let known: BTreeSet<&Vec<u8>> = compared(one).collect();
    compared(other).find(|key| {
        let places = [one, other].map(|placer| placer.placing.place(key, partitions));
        known.contains(key) && places[0] != places[1]
    })
}
