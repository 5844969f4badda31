//! How evenly the records of topics are spread.

use std::collections::BTreeMap;

use crate::insight::names;
use crate::insight::reading::Spread;
use crate::insight::skew::{self, Finding};
use crate::report::model::{HotKey, Measured, SkewSummary, TopicSummary, rounded};
use crate::session::Session;
use crate::sim::ids::TopicIndex;
use crate::sim::view::PartitionView;

/// Hottest keys of a topic that are told at most.
const HOTTEST_MAX: usize = 10;

/// All topics by name.
pub(super) fn of(session: &Session) -> BTreeMap<String, TopicSummary> {
    let views = session.simulation().partition_views();
    let topics = views.chunk_by(|one, next| one.topic == next.topic);
    let named = topics.filter_map(|partitions| {
        let topic = partitions.first()?.topic;
        let name = names::topic(session.simulation().config(), topic);
        Some((name.to_owned(), summary(session, topic, partitions)))
    });
    named.collect()
}

/// Records of each topic, by its index.
pub(super) fn totals(session: &Session) -> Vec<u64> {
    let simulation = session.simulation();
    let mut totals = vec![0; simulation.config().topics.len()];
    for partition in simulation.partitions() {
        let (topic, records) = simulation.records_in(partition);
        totals[topic.index()] += records;
    }
    totals
}

fn summary(session: &Session, topic: TopicIndex, partitions: &[PartitionView]) -> TopicSummary {
    let simulation = session.simulation();
    let config = simulation.config();
    let spread = Spread::of(partitions);
    let skew = match skew::find(simulation, topic, partitions) {
        Finding::Skewed(skew) => Some(SkewSummary {
            partition: names::partition(config, skew.spread.fullest),
            cause: skew.cause.name(),
            text: skew.cause.words(config),
        }),
        Finding::Even | Finding::TooFew => None,
    };
    let (_, keyed) = simulation.keys_sent(topic);
    let hottest = simulation.hottest_keys(topic, HOTTEST_MAX);
    TopicSummary {
        partitions: partitions.len() as u64,
        records_in: partitions
            .iter()
            .map(|partition| partition.records_in)
            .sum(),
        bytes_in: partitions.iter().map(|partition| partition.bytes_in).sum(),
        max_over_mean: Measured::new(spread.map(|spread| spread.max_over_mean)),
        cv: Measured::new(spread.map(|spread| spread.cv)),
        hottest_keys: hottest
            .iter()
            .map(|key| HotKey {
                key: skew::shown(&key.key),
                partition: key.partition,
                records: key.records,
                share: rounded(key.records as f64 / keyed.max(1) as f64),
            })
            .collect(),
        skew,
    }
}
