//! Diagnoses about where records of a topic go.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Checkup, Diagnosis, Scope, Subject, Verdict};
use crate::insight::names;
use crate::insight::placing::{Placer, placers};
use crate::insight::reading::of_topic;
use crate::insight::skew::{self, Finding};
use crate::sim::config::Config;
use crate::sim::ids::TopicIndex;

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
        let (placers, count) = (distinct(config, topic), partitions.len() as u32);
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

/// The ways in which keys of a topic are placed, each once.
fn distinct(config: &Config, topic: TopicIndex) -> Vec<Placer<'_>> {
    let mut distinct: Vec<Placer<'_>> = Vec::new();
    for placer in placers(config, topic).filter(|placer| !placer.load.keys.keys.is_empty()) {
        let is_known = distinct.iter().any(|known| {
            known.placing == placer.placing && Arc::ptr_eq(&known.load.keys, &placer.load.keys)
        });
        if !is_known {
            distinct.push(placer);
        }
    }
    distinct
}

/// A key that two loads of different producers place differently.
fn apart<'a>(one: &Placer<'a>, other: &Placer<'a>, partitions: u32) -> Option<&'a Vec<u8>> {
    if one.placing == other.placing || one.producer == other.producer {
        return None;
    }
    let compared = |placer: &Placer<'a>| placer.load.keys.keys.iter().take(COMPARED_KEYS_MAX);
    let known: BTreeSet<&Vec<u8>> = compared(one).collect();
    compared(other).find(|key| {
        let places = [one, other].map(|placer| placer.placing.place(Some(key), partitions));
        known.contains(key) && places[0] != places[1]
    })
}
