//! Names of things as people know them, from the configuration of a run.

use crate::kafka::transaction::TRANSACTION_STATE_TOPIC;
use crate::kafka::transaction_message::AwaitedOperation;
use crate::sim::config::{ClientConfig, Config, Peer};
use crate::sim::fact::Node;
use crate::sim::ids::{
    BrokerIndex, ConsumerIndex, GroupIndex, PartitionIndex, ProducerIndex, TopicIndex,
    TopicPartition,
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

/// A transactional call as a producer's client names it.
pub fn transactional_call(
    config: &Config,
    producer: ProducerIndex,
    operation: AwaitedOperation,
) -> &'static str {
    let known = config.producers.get(producer.index());
    match known.map(|producer| &producer.client) {
        Some(ClientConfig::Rdkafka(_)) => operation.rdkafka_call(),
        _ => operation.method(),
    }
}

/// The name of a topic; behind those of the configuration comes the coordinators' own.
pub fn topic(config: &Config, topic: TopicIndex) -> &str {
    config
        .topics
        .get(topic.index())
        .map_or(TRANSACTION_STATE_TOPIC, |topic| &topic.name)
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
    topic_partition(config, partition.name())
}

/// A partition as `TOPIC-N`, whether it exists already or not.
pub fn topic_partition(config: &Config, name: TopicPartition) -> String {
    format!("{}-{}", topic(config, name.topic), name.number)
}

/// A serialized key as text that a terminal shows and does not obey.
pub fn key(key: &[u8]) -> String {
    shown(&String::from_utf8_lossy(key))
}

/// Text with everything that a terminal might obey, or hide, written as an escape.
pub fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '"' | '\'' | '\\') {
            shown.push(c);
        } else {
            shown.extend(c.escape_debug());
        }
    }
    shown
}

/// Numbers of partitions in a row: `1, 2 and 5`.
pub fn numbers(numbers: &[u32]) -> String {
    let (last, most) = match numbers {
        [] => return String::new(),
        [only] => return only.to_string(),
        [most @ .., last] => (last, most),
    };
    let most: Vec<String> = most.iter().map(u32::to_string).collect();
    format!("{} and {last}", most.join(", "))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_shown_and_not_obeyed() {
        assert_eq!(key(b"a\x1b[2J\n"), "a\\u{1b}[2J\\n");
        assert_eq!(key("Zürich \"1\" ✓".as_bytes()), "Zürich \"1\" ✓");
        assert_eq!(key(&[b'k', 0xff]), "k\u{fffd}");
    }

    #[test]
    fn partitions_are_listed_as_people_list_them() {
        assert_eq!(numbers(&[]), "");
        assert_eq!(numbers(&[4]), "4");
        assert_eq!(numbers(&[1, 2, 5]), "1, 2 and 5");
    }
}
