//! Names of things as people know them, from the configuration of a run.

use crate::sim::config::{Config, Peer};
use crate::sim::fact::Node;
use crate::sim::ids::{
    BrokerIndex, ConsumerIndex, GroupIndex, PartitionIndex, ProducerIndex, TopicIndex,
};

/// The name of a producer.
pub fn producer(config: &Config, producer: ProducerIndex) -> &str {
    config
        .producers
        .get(producer.index())
        .map_or("?", |producer| &producer.name)
}

/// The name of a consumer group.
pub fn group(config: &Config, group: GroupIndex) -> &str {
    config
        .groups
        .get(group.index())
        .map_or("?", |group| &group.name)
}

/// A consumer as `GROUP/N`.
pub fn consumer(config: &Config, consumer: ConsumerIndex) -> String {
    match config.consumers.get(consumer.index()) {
        Some(known) => format!("{}/{}", group(config, known.group), known.number),
        None => "?".to_owned(),
    }
}

/// The name of a topic.
pub fn topic(config: &Config, topic: TopicIndex) -> &str {
    config
        .topics
        .get(topic.index())
        .map_or("?", |topic| &topic.name)
}

/// A broker by its Kafka node id.
pub fn broker(config: &Config, broker: BrokerIndex) -> String {
    config
        .brokers
        .get(broker.index())
        .map_or_else(|| "?".to_owned(), |broker| broker.id.to_string())
}

/// A partition as `TOPIC-N`.
pub fn partition(config: &Config, partition: PartitionIndex) -> String {
    match topic_of(config, partition) {
        Some((topic_index, number)) => format!("{}-{number}", topic(config, topic_index)),
        None => "?".to_owned(),
    }
}

/// A node as the client's log shows it: bootstrap addresses are `-1`, `-2`, ….
pub fn node(config: &Config, node: Node) -> String {
    match node {
        Node::Bootstrap(index) => format!("-{}", index.index() + 1),
        Node::Broker(index) => broker(config, index),
    }
}

/// One end of a link, in words.
pub fn peer(config: &Config, peer: Peer) -> String {
    match peer {
        Peer::Producer(index) => format!("producer {}", producer(config, index)),
        Peer::Broker(index) => format!("broker {}", broker(config, index)),
        Peer::Group(index) => format!("group {}", group(config, index)),
        Peer::Member(index, number) => format!("consumer {}/{number}", group(config, index)),
        Peer::Controller => "the controller".to_owned(),
        Peer::Any => "everybody".to_owned(),
    }
}

/// How many partitions a topic has; none where it does not exist.
pub fn partitions_of(config: &Config, topic: TopicIndex) -> u32 {
    let topic = config.topics.get(topic.index());
    topic
        .and_then(|topic| topic.existing.as_ref())
        .map_or(0, |topic| topic.replicas.len() as u32)
}

/// The partition `number` of a topic: partitions count over all topics, in topic order.
pub fn partition_index(config: &Config, topic: TopicIndex, number: u32) -> Option<PartitionIndex> {
    if partitions_of(config, topic) <= number {
        return None;
    }
    let before = (0..topic.0)
        .map(|index| partitions_of(config, TopicIndex(index)))
        .sum::<u32>();
    Some(PartitionIndex(before + number))
}

/// The topic of a partition, and its number there.
pub fn topic_of(config: &Config, partition: PartitionIndex) -> Option<(TopicIndex, u32)> {
    let mut number = partition.0;
    for index in 0..config.topics.len() {
        let topic = TopicIndex(index as u16);
        let partitions = partitions_of(config, topic);
        if number < partitions {
            return Some((topic, number));
        }
        number -= partitions;
    }
    None
}

/// Partitions over all topics.
pub fn partition_count(config: &Config) -> u32 {
    (0..config.topics.len())
        .map(|index| partitions_of(config, TopicIndex(index as u16)))
        .sum()
}
