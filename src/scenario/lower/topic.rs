//! Topics: partitions, their replicas, offsets and history.

use crate::kafka::config;
use crate::kafka::settings::TopicSettings;
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::scenario::tree::Node;
use crate::sim::config::Call;
use crate::sim::config::{
    ExistingTopic, HistoryDetail, PARTITIONS_MAX, ProducerConfig, TOPICS_MAX, TopicConfig,
};
use crate::sim::ids::BrokerIndex;

use super::settings::Settings;
use super::{World, too_many};

/// The `[[topic]]` tables.
pub(super) fn topics(world: &mut World<'_>, root: Fields<'_>) {
    let mut partitions_left = PARTITIONS_MAX;
    for (at, fields) in root.tables("topic").into_iter().enumerate() {
        if at >= TOPICS_MAX {
            return world.problem(too_many("topics", TOPICS_MAX, fields.place));
        }
        let partitions = fields.whole::<u32>("partitions").unwrap_or(1);
        if partitions > partitions_left {
            let most = PARTITIONS_MAX as usize;
            let place = fields.place_of("partitions");
            return world.problem(too_many("partitions over all topics", most, place));
        }
        partitions_left -= partitions;
        let existing = existing(world, &fields, partitions);
        let name = fields.text("name").unwrap_or("?").to_owned();
        world.topics.push(TopicConfig {
            name,
            existing: Some(existing),
        });
    }
}

fn existing(world: &mut World<'_>, fields: &Fields<'_>, partitions: u32) -> ExistingTopic {
    let leaders = leaders(world, fields, partitions);
    let copies = replication_factor(world, fields);
    let brokers = world.brokers.len();
    // Followers are the next brokers in a ring, as Kafka places them.
    let replicas = leaders
        .iter()
        .map(|leader| {
            (0..copies)
                .map(|n| BrokerIndex(((leader + n) % brokers) as u16))
                .collect()
        })
        .collect();
    ExistingTopic {
        replicas,
        start_offsets: start_offsets(world, fields, partitions),
        settings: settings(world, fields),
        history: match fields.text("history") {
            Some("records") => HistoryDetail::Records,
            Some("batches") => HistoryDetail::Batches,
            _ => HistoryDetail::Sums,
        },
    }
}

fn replication_factor(world: &mut World<'_>, fields: &Fields<'_>) -> usize {
    let copies = fields
        .whole::<usize>("replication-factor")
        .unwrap_or(1)
        .max(1);
    let brokers = world.brokers.len();
    if copies > brokers {
        let title = format!(
            "the target replication factor of {copies} cannot be reached because only {brokers} \
             broker(s) are registered"
        );
        let place = fields.place_of("replication-factor");
        let label = format!("expected at most {brokers}");
        world.problem(Problem::new(title).at(place, label));
    }
    copies.min(brokers)
}

/// The place of each partition's preferred leader among the brokers.
fn leaders(world: &mut World<'_>, fields: &Fields<'_>, partitions: u32) -> Vec<usize> {
    let brokers = world.brokers.len();
    let mut named = Vec::new();
    let items = fields.items("leaders");
    for item in items {
        let id = crate::scenario::shape::written(&item.value);
        let at = world
            .brokers
            .iter()
            .position(|broker| broker.id.to_string() == id);
        if at.is_none() {
            let problem = Problem::new(format!("there is no broker {id}"));
            world.problem(problem.at(item.place, "cannot lead a partition"));
        }
        named.push(at.unwrap_or(0));
    }
    if named.len() > partitions as usize {
        let title = format!("{} leaders for {partitions} partitions", named.len());
        let place = fields.place_of("leaders");
        world.problem(Problem::new(title).at(place, format!("expected at most {partitions}")));
    }
    if fields.has("leaders") && named.is_empty() {
        let problem = Problem::new("`leaders` names nobody");
        world.problem(problem.at(fields.place_of("leaders"), "expected broker ids"));
    }
    (0..partitions as usize)
        .map(|partition| match named.len() {
            0 => partition % brokers,
            len => named[partition % len],
        })
        .collect()
}

fn start_offsets(world: &mut World<'_>, fields: &Fields<'_>, partitions: u32) -> Vec<u64> {
    let mut offsets = vec![0; partitions as usize];
    let table = fields.node("start-offsets").and_then(Node::as_table);
    for entry in table
        .map(|table| table.entries.as_slice())
        .unwrap_or_default()
    {
        let value = crate::scenario::shape::written(&entry.node.value).parse::<u64>();
        let (Ok(partition), Ok(offset)) = (entry.key.parse::<u32>(), value) else {
            continue;
        };
        let Some(slot) = offsets.get_mut(partition as usize) else {
            let problem = Problem::new(format!("there is no partition {partition}"));
            let last = partitions.saturating_sub(1);
            world.problem(problem.at(entry.key_place, format!("expected 0 to {last}")));
            continue;
        };
        *slot = offset;
    }
    offsets
}

fn settings(world: &mut World<'_>, fields: &Fields<'_>) -> TopicSettings {
    let mut settings = Settings::default();
    settings.put_table(fields);
    let defaults = world
        .brokers
        .first()
        .map_or_else(TopicSettings::defaults, |broker| {
            broker.settings.topic_defaults.clone()
        });
    match config::topic::validate(world.kafka, &defaults, &settings.pairs()) {
        Ok((effective, notes)) => {
            settings.noted(notes, fields.place, world.findings);
            effective
        }
        Err(problems) => {
            settings.refused(problems, fields.place, world.findings);
            defaults
        }
    }
}

/// Keeps every record where somebody will ask for it: scripts, traced keys, compaction, logs
/// that an expectation names.
pub(super) fn histories(world: &mut World<'_>, root: Fields<'_>, producers: &[ProducerConfig]) {
    let tables = root.tables("topic");
    let named: Vec<&str> = root
        .tables("expect")
        .iter()
        .filter_map(|expect| expect.text("log")?.rsplit_once('-'))
        .map(|(topic, _)| topic)
        .collect();
    for (at, fields) in tables.iter().enumerate() {
        let is_chosen = fields.has("history");
        let Some(topic) = world.topics.get_mut(at) else {
            continue;
        };
        let is_named = named.contains(&topic.name.as_str());
        let Some(existing) = &mut topic.existing else {
            continue;
        };
        let needs_records = is_named
            || existing.settings.cleanup_policy.compacts()
            || producers.iter().any(|producer| remembers(producer, at));
        if needs_records && !is_chosen {
            existing.history = HistoryDetail::Records;
        }
        let compacts = existing.settings.cleanup_policy.compacts();
        if compacts && existing.history != HistoryDetail::Records {
            let problem = Problem::new("the cleaner of a compacted topic needs every record");
            world.findings.problem(problem.at(
                fields.place_of("history"),
                "expected \"records\", or no `history`",
            ));
        }
        if is_named && existing.history != HistoryDetail::Records {
            let problem = Problem::new("a log expectation needs every record of this topic");
            world.findings.problem(problem.at(
                fields.place_of("history"),
                "expected \"records\", or no `history`",
            ));
        }
    }
}

/// Whether a producer's records are looked at one by one in this topic.
fn remembers(producer: &ProducerConfig, topic: usize) -> bool {
    let scripted = producer
        .script
        .iter()
        .any(|step| matches!(&step.call, Call::Produce(record) if record.topic.index() == topic));
    let traced = !producer.trace.is_empty()
        && producer
            .loads
            .iter()
            .any(|load| load.topic.index() == topic);
    let loads = producer.loads.iter();
    let copied = loads
        .filter_map(|load| load.replay)
        .any(|source| source.index() == topic);
    scripted || traced || copied
}
